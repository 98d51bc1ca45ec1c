//! What written buffers hold: the options, and the machine that fills a slot's buffer.

mod filler;

pub use filler::Filler;

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
    /// `dedupe_percentage`: share of the writes that repeat the contents of the one before
    /// (`dedupe_mode=repeat`). Implies new contents for the others.
    pub dedupe_percent: u32,
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
            seed: 0x89,
        }
    }
}
