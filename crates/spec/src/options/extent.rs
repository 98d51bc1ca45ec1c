//! How much I/O, where, and for how long.

use units::{Amount, Range, Span};

option::options! {
    /// Region, amount and time
    pub struct Extent {
        /// Region of I/O per clone, and how much is transferred unless `io_size` says.
        ///
        /// Bytes, or a percentage of the files. The whole file or device by default.
        size: Amount;
        /// Bytes to transfer, less or more than `size`.
        io_size: Amount, aliases(&["io_limit"]), parent("size");
        /// Size of each file, or a range to draw it from.
        filesize: Option<Range<u64>>, bytes(), at_least(1);
        /// Where the region begins.
        offset: Amount = "0", aliases(&["fileoffset"]);
        /// Multiple that a percentage offset is rounded up to.
        offset_align: u64 = "0", bytes(), parent("offset");
        /// Added to the offset for each clone, to spread clones over a device.
        offset_increment: Amount = "0", parent("offset");
        /// Stop after this many requests.
        number_ios: u64 = "0";
        /// Times to repeat the workload.
        loops: u32 = "1";
        /// Longest time to run.
        runtime: Span = "0", aliases(&["timeout"]);
        /// Repeat the workload until `runtime` ends.
        time_based: bool, bare();
        /// Time to run before measuring begins; added to `runtime`.
        ramp_time: Span = "0";
        /// Bytes to transfer before measuring begins.
        ramp_size: u64 = "0", bytes();
        /// Time to wait before the job starts, or a range to draw it from.
        startdelay: Range<Span> = "0";
    }
}
