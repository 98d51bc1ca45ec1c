/* A chase as one writes it down: chase MEGABYTES SECONDS. All lines of a buffer on large pages are
   linked in one ring of random order and followed once before anything is timed. Prints the median
   time of a load over blocks of 20 ms, in ns. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

enum { LINE = 64, LARGE = 2 << 20, MOST_BLOCKS = 1000 };

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

int main(int argc, char **argv)
{
    static double blocks[MOST_BLOCKS];
    uint64_t draw = 88172645463325252u;
    size_t bytes, lines, k, other, loads;
    uint32_t *order, swap;
    char *map, *base, **at;
    double start, begun, each;
    int n = 0;

    if (argc != 3)
        return 1;
    bytes = (size_t)atol(argv[1]) << 20;
    lines = bytes / LINE;
    map = mmap(0, bytes + LARGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    order = malloc(lines * sizeof *order);
    if (map == MAP_FAILED || !order)
        return 1;
    base = (char *)(((uintptr_t)map + LARGE - 1) & ~(uintptr_t)(LARGE - 1));
    madvise(base, bytes, MADV_HUGEPAGE);
    for (k = 0; k < lines; k++)
        order[k] = k;
    for (k = lines - 1; k > 0; k--) {
        draw ^= draw << 13;
        draw ^= draw >> 7;
        draw ^= draw << 17;
        other = draw % (k + 1);
        swap = order[k];
        order[k] = order[other];
        order[other] = swap;
    }
    for (k = 0; k < lines; k++)
        *(char **)(base + (size_t)LINE * order[k]) = base + (size_t)LINE * order[(k + 1) % lines];
    at = (char **)base;
    begun = now_ns();
    for (k = 0; k < lines; k++)
        at = (char **)*at;
    each = (now_ns() - begun) / lines;
    loads = 20e6 / each;
    begun = now_ns();
    do {
        start = now_ns();
        for (k = 0; k < loads; k++)
            at = (char **)*at;
        blocks[n++] = (now_ns() - start) / loads;
    } while (n < MOST_BLOCKS && now_ns() - begun < atof(argv[2]) * 1e9);
    qsort(blocks, n, sizeof *blocks, ascending);
    /* The address keeps the loop alive. */
    printf("%.2f %p\n", blocks[n / 2], (void *)at);
    return 0;
}
