//! What can be asked of a ring.

/// Where data goes or comes from: `len` bytes at `offset` of a file, and the slot's bytes from
/// `at` on.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// Index into the ring's files.
    pub file: u16,
    /// Bytes from the start of the file.
    pub offset: u64,
    /// Bytes from the start of the slot.
    pub at: u32,
    /// Bytes.
    pub len: u32,
}

/// One request.
#[derive(Clone, Copy, Debug)]
pub enum Op {
    /// From the file into the slot.
    Read(Span),
    /// From the slot to the file.
    Write(Span),
    /// `fsync` of a file.
    Sync(u16),
    /// `fdatasync` of a file.
    DataSync(u16),
    /// `sync_file_range` with its flag bits; length 0 reaches to the end, `at` is ignored.
    SyncRange(Span, u32),
    /// Nothing: goes through the ring and comes back.
    Nop,
}
