//! Recorded request sequences.

use crate::kinds::ReplaySkip;
use option::{Floats, Names};

option::options! {
    /// Recording and replay
    pub struct Replay {
        /// Record the issued requests to this file.
        write_iolog: Option<String>;
        /// Replay the requests of these files, one per clone.
        read_iolog: Option<Names>;
        /// Read the log in pieces instead of at once.
        read_iolog_chunked: bool = "0", parent("read_iolog");
        /// Ignore the recorded times.
        replay_no_stall: bool = "0", parent("read_iolog");
        /// Send all requests to this device.
        replay_redirect: Option<String>, parent("read_iolog");
        /// Divide the offsets by this.
        replay_scale: u32 = "1", parent("read_iolog");
        /// Round offsets down to a multiple of this power of two.
        replay_align: u32 = "0", parent("read_iolog"), bytes();
        /// Speed of the replay in percent.
        replay_time_scale: u32 = "100", at_least(1), parent("read_iolog");
        /// Kinds of entries to leave out: read, write, trim, sync.
        replay_skip: ReplaySkip, parent("read_iolog");
        /// Merge several traces into this file first.
        merge_blktrace_file: Option<String>, parent("read_iolog");
        /// Time scale of each merged trace.
        merge_blktrace_scalars: Floats, parent("read_iolog");
        /// Repetitions of each merged trace.
        merge_blktrace_iters: Floats, parent("read_iolog");
    }
}
