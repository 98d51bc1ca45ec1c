//! Engine, queue depth and batching.

use crate::kinds::{Reap, Stamps, SubmitMode};

option::options! {
    /// Engine, queue depth and batching
    pub struct Queue {
        /// How requests reach the device; `--enghelp` lists the engines.
        ioengine: String = "psync";
        /// Number of requests to keep in flight per clone.
        ///
        /// Synchronous engines have one in flight whatever is asked for.
        iodepth: u32 = "1", at_least(1);
        /// Requests to collect before a submission; 0 means `iodepth`.
        iodepth_batch: u32 = "1", aliases(&["iodepth_batch_submit"]), parent("iodepth");
        /// Fewest completions to wait for; 0 polls.
        iodepth_batch_complete_min: u32 = "1", aliases(&["iodepth_batch_complete"]),
            parent("iodepth");
        /// Most completions to take at once; as the minimum by default.
        iodepth_batch_complete_max: Option<u32>, parent("iodepth");
        /// Refill the queue when it has drained to this depth; `iodepth` by default.
        iodepth_low: Option<u32>, parent("iodepth");
        /// Hold back requests that overlap one in flight.
        serialize_overlap: bool = "0", parent("iodepth");
        /// Who submits the requests.
        io_submit_mode: SubmitMode = "inline";
        /// When asynchronous requests are stamped.
        ///
        /// Unlike fio, there is a choice: submission latency is the time of the submitting system
        /// call only with `fio` and `each`.
        stamps: Stamps = "fio";
        /// When completions are taken.
        ///
        /// Unlike fio, there is a choice: `prompt` keeps waiting for a full queue out of latency.
        reap: Reap = "fio";
    }
}
