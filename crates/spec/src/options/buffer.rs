//! Content and memory of the I/O buffers.

use crate::kinds::{DedupeMode, Mem, Pattern};

option::options! {
    /// Buffers: content and memory
    pub struct Buffer {
        /// Write zeroes.
        zero_buffers: bool, bare();
        /// Fill buffers with new random data before every write.
        refill_buffers: bool, bare();
        /// Stamp each 512 bytes with offset and time when buffers are not refilled.
        scramble_buffers: bool = "1";
        /// Compressibility of written data in percent.
        buffer_compress_percentage: Option<u32>, range(0, 100);
        /// Bytes of the unit that is partly compressible.
        buffer_compress_chunk: u32 = "512", bytes(), parent("buffer_compress_percentage");
        /// Fixed content: 0xHEX, a number, "text", 'file', in any order.
        buffer_pattern: Pattern;
        /// Percentage of writes that repeat earlier data.
        dedupe_percentage: Option<u32>, range(0, 100);
        /// How repeated buffers are chosen.
        dedupe_mode: DedupeMode = "repeat", parent("dedupe_percentage");
        /// Size of the working set in percent of the file.
        dedupe_working_set_percentage: u32 = "5", range(0, 100), parent("dedupe_percentage");
        /// Share one working set between all jobs that ask for it.
        dedupe_global: bool = "0";
        /// Where the buffers live.
        mem: Mem = "malloc", aliases(&["iomem"]);
        /// Alignment of the first buffer in bytes.
        iomem_align: u32 = "0", aliases(&["mem_align"]), bytes(), parent("mem");
        /// Size of a huge page.
        hugepage_size: u64 = "2097152", name("hugepage-size"), bytes();
        /// Memory to lock down per worker.
        lockmem: u64 = "0", bytes();
        /// GPU whose memory is used.
        gpu_dev_id: u32 = "0", refused("needs a CUDA driver");
    }
}
