//! The flags, one declaration each: letter, value, default, help.

use super::values::{Mask, Size, Traffic};
use option::{IdList, options};

options! {
    /// Flags
    pub struct Flags {
        /// Idle latency of every CPU in turn.
        all_cpus: bool, name("a"), bare();
        /// Buffer of each thread, KiB unless k, m or g follows.
        ///
        /// The default is 200000 for idle latency and 100000 for everything else, and more where
        /// the last-level cache is larger than that; what was used is printed.
        buffer: Option<Size>, name("b"), at_least(4096);
        /// Print what every thread reached.
        per_thread: bool, name("B"), bare();
        /// CPU of the latency thread, or the reader of a cache-to-cache transfer.
        cpu: Option<u32>, name("c");
        /// Window of a cache-to-cache transfer, KiB.
        window: Option<Size>, name("C"), at_least(64);
        /// One fixed delay in cycles between requests instead of the table.
        delay: Option<u32>, name("d"), range(0, 10_000_000);
        /// Window in which the latency thread jumps at random, in lines of the stride.
        latency_range: u64 = "4096", name("D"), range(2, 1 << 40);
        /// Leave the prefetchers as they are.
        keep_prefetchers: bool, name("e"), bare();
        /// KiB that the writer of a transfer reads afterwards, which pushes its lines outwards.
        writer_extra: Option<Size>, name("E");
        /// Histogram of latencies, buckets of 2^N cycles.
        histogram: Option<u32>, name("f"), range(0, 30);
        /// File with one delay per line instead of the table.
        delays: Option<String>, name("g");
        /// KiB that the reader of a transfer reads before.
        reader_extra: Option<Size>, name("G");
        /// Pages of 1 GiB.
        gib_pages: bool, name("h"), bare();
        /// Transfers of clean lines (HIT) only.
        clean: bool, name("H"), bare();
        /// CPU that touches the memory first, and so decides where it lies.
        touch_cpu: Option<u32>, name("i");
        /// Check what was read.
        check_data: bool, name("I"), bare();
        /// NUMA node of the memory.
        node: Option<u32>, name("j");
        /// Directory in which the buffers are mapped files.
        directory: Option<String>, name("J");
        /// CPUs that make the load, such as 3-6,9.
        cpus: Option<IdList>, name("k");
        /// 0 touches a part of each line, 1 all of it.
        whole_lines: u32 = "1", name("K"), range(0, 1);
        /// Bytes from one access to the next.
        stride: u64 = "64", name("l"), range(64, 1 << 30);
        /// Pages of 2 MiB from the kernel's pool.
        huge_pages: bool, name("L"), bare();
        /// CPUs that make the load, as a hexadecimal mask.
        mask: Option<Mask>, name("m");
        /// File of at most 256 lines whose bytes fill the memory.
        pattern: Option<String>, name("M");
        /// Random window of the load threads in lines; in a scan, the node of the CPUs.
        range: Option<u64>, name("n"), range(0, 1 << 40);
        /// File that gives each thread its own load.
        threads_file: Option<String>, name("o");
        /// CPUs that spin beside the measurement, so that their socket stays awake.
        spin: Option<IdList>, name("p");
        /// CLFLUSH behind every store, for persistent memory.
        flush_pmem: bool, name("P"), bare();
        /// Passes over each GiB of a scan.
        passes: u32 = "10", name("q"), range(1, 10_000);
        /// CLFLUSH behind every store, for any memory.
        flush: bool, name("Q"), bare();
        /// Random order for the latency thread.
        random: bool, name("r"), bare();
        /// Reads only.
        reads: bool, name("R"), bare();
        /// Named object through which another process gives the start.
        trigger: Option<String>, name("s"),
            refused("a start given by another process is not built");
        /// Third CPU of a transfer; in a scan, the width of its histogram's buckets in MB/s.
        third: Option<u32>, name("S");
        /// Seconds for each point; in a scan, the number of threads.
        seconds: Option<f64>, name("t"), within(0.01, 86_400.0);
        /// Bandwidth only: no latency thread, and every CPU may make load.
        only_load: bool, name("T"), bare();
        /// One buffer for all threads: bandwidth of the shared cache.
        shared: bool, name("u"), bare();
        /// Random order for the load threads.
        random_load: bool, name("U"), bare();
        /// Say more: spread, samples, pages, placement.
        verbose: bool, name("v"), bare();
        /// CPU of the writer.
        writer: Option<u32>, name("w");
        /// Mix of reads and writes.
        traffic: Option<Traffic>, name("W");
        /// Millions of steps instead of a time; 0 is one pass.
        steps: Option<u32>, name("x"), range(0, 1_000_000);
        /// One thread for each core.
        one_per_core: bool, name("X"), bare();
        /// Loads and stores of 32 bytes (AVX2).
        avx2: bool, name("Y"), bare();
        /// Loads and stores of 64 bytes (AVX-512).
        avx512: bool, name("Z"), bare();
    }
}
