//! Direction, order, caching and durability of the requests.

use crate::kinds::{Distribution, Generator, Rw, Sequencer, SyncFileRange, SyncMode};
use units::PerDdir;

option::options! {
    /// I/O type, direction and durability
    pub struct Io {
        /// Direction and order of the requests.
        ///
        /// A number behind a colon means, for random modes, that many requests per drawn
        /// offset; for sequential modes, that many bytes added after each request
        /// (negative steps back).
        rw: Rw = "read", aliases(&["readwrite"]);
        /// What the number behind `rw=` means for random modes.
        rw_sequencer: Sequencer = "sequential";
        /// Bypass the page cache (O_DIRECT).
        direct: bool = "0", inverse("buffered");
        /// Go through the page cache; the opposite of `direct`.
        buffered: bool = "1", inverse("direct");
        /// Writes that are atomic in the device; implies `direct`.
        atomic: bool = "0";
        /// Synchronous writes by open flag.
        sync: SyncMode = "none";
        /// fsync(2) after this many writes.
        fsync: u32 = "0";
        /// fdatasync(2) after this many writes.
        fdatasync: u32 = "0";
        /// Make every Nth write a barrier.
        write_barrier: u32 = "0", refused("Linux has no barrier writes any more");
        /// sync_file_range(2) after every N writes: flags and N.
        sync_file_range: Option<SyncFileRange>;
        /// fsync(2) each file when the write phase ends.
        end_fsync: bool = "0";
        /// One syncfs(2) instead of an fsync(2) per file at the end.
        end_syncfs: bool = "0";
        /// fsync(2) a written file at each close.
        fsync_on_close: bool = "0";
        /// Percentage of reads in a mixed workload.
        rwmixread: u32 = "50", range(0, 100), inverse("rwmixwrite");
        /// Percentage of writes in a mixed workload; the later of the two wins.
        rwmixwrite: u32 = "50", range(0, 100), inverse("rwmixread");
        /// Length of a direction's turn in a mixed workload.
        rwmixcycle: Option<u32>, hidden(), refused("fio removed it");
        /// Percentage of a random job's requests that are random, by direction.
        percentage_random: PerDdir<u32> = "100", range(0, 100);
        /// Percentage of a random job's requests that are sequential.
        percentage_sequential: Option<u32>, hidden(),
            refused("fio removed it; use percentage_random");
        /// How random offsets are spread over the file.
        ///
        /// Any but `random` turns the random map off.
        random_distribution: Distribution = "random";
        /// Advance through a `sequence` distribution from cycle to cycle.
        random_sequence_stride: u32 = "0", refused("random_distribution=sequence");
        /// Keep no map of visited blocks: repeats and omissions may occur.
        norandommap: bool, bare(), parent("rw");
        /// Go on without a map when there is no memory for one.
        softrandommap: bool = "0", parent("norandommap");
        /// The generator behind random offsets.
        random_generator: Generator = "tausworthe";
        /// Draw the same sequence in every run.
        randrepeat: bool = "1", aliases(&["allrandrepeat"]), parent("rw");
        /// Seed of the random generators; overrides `randrepeat`.
        randseed: u64 = "0x89", parent("rw");
        /// SanDisk's pseudo-random preconditioning.
        sprandom: bool = "0", refused("vendor preconditioning scheme");
        /// Regions for `sprandom`.
        spr_num_regions: u32 = "100", parent("sprandom"), refused("vendor preconditioning scheme");
        /// Over-provisioning ratio for `sprandom`.
        spr_op: f64 = "0.15", parent("sprandom"), refused("vendor preconditioning scheme");
        /// Write cache size of the device, for `sprandom`.
        spr_cs: u64 = "0", parent("sprandom"), bytes(), refused("vendor preconditioning scheme");
        /// Percentage of verified blocks to trim.
        trim_percentage: u32 = "0", range(0, 100);
        /// Expect trimmed blocks to read as zeroes.
        trim_verify_zero: bool = "1", parent("trim_percentage");
        /// Trim after this many written blocks.
        trim_backlog: u64 = "0", parent("trim_percentage");
        /// Blocks per batch of trims.
        trim_backlog_batch: u32 = "0", parent("trim_percentage");
        /// Ranges per trim command.
        num_range: u32 = "1", range(1, 256), refused("needs NVMe passthrough");
    }
}
