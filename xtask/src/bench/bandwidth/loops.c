/* What a compiler makes of plain loops over arrays of doubles: loops KERNEL MEGABYTES THREADS
   SECONDS. The kernels are r(ead), w(rite), c(opy), s(cale), a(dd) and t(riad). Prints the bytes
   loaded and stored per second. Every thread has arrays of its own and is bound to one CPU. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_THREADS = 256 };

static size_t n;
static double seconds;
static char kernel;
static pthread_barrier_t ready;
static double rates[MOST_THREADS];
static double *volatile keep;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static double pass(double *restrict a, const double *restrict b, const double *restrict c)
{
    size_t i;
    double sum = 0;
    switch (kernel) {
    case 'c': for (i = 0; i < n; i++) a[i] = b[i]; break;
    case 's': for (i = 0; i < n; i++) a[i] = 3.0 * b[i]; break;
    case 'a': for (i = 0; i < n; i++) a[i] = b[i] + c[i]; break;
    case 't': for (i = 0; i < n; i++) a[i] = b[i] + 3.0 * c[i]; break;
    case 'w': for (i = 0; i < n; i++) a[i] = 1.5; break;
    case 'r': for (i = 0; i < n; i++) sum += b[i]; break;
    }
    return sum;
}

static void *work(void *index)
{
    cpu_set_t set, one;
    long k = (long)index, cpu, seen = 0;
    int arrays = kernel == 'r' || kernel == 'w' ? 1 : kernel == 'c' || kernel == 's' ? 2 : 3;
    double *a, *b, *c, start, elapsed, sum = 0;
    long passes = 0;
    size_t i;

    sched_getaffinity(0, sizeof set, &set);
    for (cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &set) && seen++ == k)
            break;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    pthread_setaffinity_np(pthread_self(), sizeof one, &one);
    a = aligned_alloc(4096, n * 8);
    b = arrays > 1 || kernel == 'r' ? aligned_alloc(4096, n * 8) : a;
    c = arrays > 2 ? aligned_alloc(4096, n * 8) : b;
    if (!a || !b || !c)
        exit(1);
    for (i = 0; i < n; i++) {
        if (kernel != 'r')
            a[i] = 1.0;
        b[i] = 2.0;
        c[i] = 3.0;
    }
    keep = a;
    pass(a, b, c);
    pthread_barrier_wait(&ready);
    start = now();
    do {
        sum += pass(a, b, c);
        keep = a;
        passes++;
    } while ((elapsed = now() - start) < seconds);
    if (sum == 0.123)
        puts("");
    rates[k] = (double)passes * n * 8 * arrays / elapsed;
    return 0;
}

int main(int argc, char **argv)
{
    pthread_t threads[MOST_THREADS];
    double rate = 0;
    long k, count;
    int arrays;

    if (argc != 5)
        return 1;
    kernel = argv[1][0];
    arrays = strchr("rw", kernel) ? 1 : strchr("cs", kernel) ? 2 : 3;
    count = atol(argv[3]);
    seconds = atof(argv[4]);
    if (count < 1 || count > MOST_THREADS)
        return 1;
    n = (size_t)atol(argv[2]) * 1000000 / 8 / arrays / count / 512 * 512;
    pthread_barrier_init(&ready, 0, count);
    for (k = 0; k < count; k++)
        pthread_create(&threads[k], 0, work, (void *)k);
    for (k = 0; k < count; k++)
        pthread_join(threads[k], 0);
    for (k = 0; k < count; k++)
        rate += rates[k];
    printf("%.0f\n", rate);
    return 0;
}
