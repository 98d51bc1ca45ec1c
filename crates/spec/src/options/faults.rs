//! What happens after an error.

use crate::kinds::{ContinueOn, IgnoreErrors};

option::options! {
    /// Errors
    pub struct Faults {
        /// After which errors the job goes on.
        continue_on_error: ContinueOn = "none";
        /// Errors that do not count, as names or numbers: reads, writes, verification.
        ignore_error: IgnoreErrors, parent("rw");
        /// Print each ignored error.
        error_dump: bool = "0";
        /// End every job when one fails.
        exitall_on_error: bool, bare();
    }
}
