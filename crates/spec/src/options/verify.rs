//! Verification of written data.

use crate::kinds::{Pattern, VerifyKind, VerifyPolicy};
use option::IdList;

option::options! {
    /// Verification
    pub struct Verify {
        /// Checksum or pattern that written blocks carry and that is checked on reading.
        verify: VerifyKind = "0";
        /// Read back and check after writing.
        do_verify: bool = "1", parent("verify");
        /// Check what an earlier run wrote, without writing.
        verify_only: bool, bare(), parent("verify");
        /// Position of the header within the block.
        verify_offset: u32 = "0", bytes(), parent("verify");
        /// Bytes that one header covers; the block size by default.
        verify_interval: Option<u32>, at_least(96), bytes(), parent("verify");
        /// Content to verify: 0xHEX, a number, "text", 'file', %o for the offset.
        verify_pattern: Pattern, parent("verify");
        /// Repeat the pattern anew every so many bytes.
        verify_pattern_interval: u32 = "0", bytes(), parent("verify_pattern");
        /// Which writes an offline check covers.
        verify_policy: VerifyPolicy = "completed", parent("verify"),
            refused("offline verification scopes");
        /// Stop at the first mismatch.
        verify_fatal: bool = "0", parent("verify");
        /// Save the expected and the received block to files on a mismatch.
        verify_dump: bool = "0", parent("verify");
        /// Threads that check.
        verify_async: u32 = "0", parent("verify");
        /// CPUs of the checking threads.
        verify_async_cpus: Option<IdList>, parent("verify_async");
        /// Check after every so many written blocks.
        verify_backlog: u64 = "0", parent("verify");
        /// Blocks per batch of checks.
        verify_backlog_batch: u32 = "0", parent("verify");
        /// Save what was written when a run is interrupted.
        verify_state_save: bool = "1", parent("verify");
        /// Stop checking where the saved state ends.
        verify_state_load: bool = "0", parent("verify");
        /// Generate the sequence again instead of keeping it.
        experimental_verify: bool = "0", parent("verify");
        /// Check the write counter in the header.
        verify_write_sequence: bool = "1", parent("verify");
        /// Check the seed in the header.
        verify_header_seed: bool = "1", parent("verify");
        /// Sort the record of writes.
        verifysort: Option<String>, hidden(), obsolete("fio ignores it as well");
        /// Entries of the record to sort.
        verifysort_nr: Option<String>, hidden(), obsolete("fio ignores it as well");
    }
}
