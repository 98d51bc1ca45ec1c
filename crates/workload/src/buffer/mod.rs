//! What written buffers hold: the options, and the machine that fills a slot's buffer.

mod filler;

pub use filler::Filler;

/// Blocks that repeat under `dedupe_mode=working_set`, made from a seed when they are needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkingSet {
    /// Start of the contents; sets of one seed hold the same blocks.
    pub seed: u64,
    /// Number of blocks.
    pub blocks: u64,
}

/// The buffer options, resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FillPolicy {
    /// `zero_buffers`: all zeros.
    pub zero: bool,
    /// `buffer_pattern`: these bytes over and over; empty: random bytes.
    pub pattern: Vec<u8>,
    /// `refill_buffers`: new contents for each write.
    pub refill: bool,
    /// `scramble_buffers`: contents made once per slot and stamped for each write.
    pub scramble: bool,
    /// `buffer_compress_percentage`: share of zeros (or of the pattern) in each chunk.
    pub compress_percent: u32,
    /// `buffer_compress_chunk`, bytes; 0: the whole buffer is one chunk.
    pub compress_chunk: u32,
    /// `dedupe_percentage`: share of the writes that repeat earlier contents. Implies new
    /// contents for the others.
    pub dedupe_percent: u32,
    /// `dedupe_mode=working_set`: what they repeat; empty: the last unique contents.
    pub working_sets: Vec<WorkingSet>,
    /// Start of the random contents; differs per worker.
    pub seed: u64,
}

impl Default for FillPolicy {
    /// fio's defaults: random once, scrambled.
    fn default() -> Self {
        FillPolicy {
            zero: false,
            pattern: Vec::new(),
            refill: false,
            scramble: true,
            compress_percent: 0,
            compress_chunk: 512,
            dedupe_percent: 0,
            working_sets: Vec::new(),
            seed: 0x89,
        }
    }
}
