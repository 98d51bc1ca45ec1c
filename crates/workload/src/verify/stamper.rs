//! Puts checkable contents into write buffers.

use super::content::Content;
use super::header::Header;
use super::seeds::VerifySeeds;
use super::spec::{VerifyKind, VerifySpec};

/// Stamps the writes of one worker.
#[derive(Clone, Debug)]
pub struct Stamper {
    spec: VerifySpec,
    thread: u16,
    seeds: VerifySeeds,
}

/// What the headers of one request say, besides what follows from the spec.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    pub offset: u64,
    pub seed: u64,
    pub numberio: u64,
    pub sec: u32,
    pub nsec: u32,
    pub thread: u16,
}

impl Stamper {
    /// A stamper for the worker of this number (from 1). Only the low 16 bits of the number
    /// are stored. The spec has been validated against the smallest write.
    pub fn new(spec: &VerifySpec, thread_number: u32, seeds: VerifySeeds) -> Self {
        Stamper {
            spec: spec.clone(),
            thread: thread_number as u16,
            seeds,
        }
    }

    /// Fills the buffer of the write of `buf.len()` bytes at `offset`, headers and checksums
    /// included. `numberio` counts the worker's writes from 0, `now_ns` is a time of any fixed
    /// start. Returns the seed of the data, 0 with a pattern.
    #[inline]
    pub fn stamp(&mut self, buf: &mut [u8], offset: u64, numberio: u64, now_ns: u64) -> u64 {
        let seed = match (&self.spec.pattern, self.spec.kind) {
            (None, kind) if kind != VerifyKind::Null => self.seeds.draw(),
            _ => 0,
        };
        let stamp = Stamp {
            offset,
            seed,
            numberio,
            sec: (now_ns / 1_000_000_000) as u32,
            nsec: (now_ns % 1_000_000_000) as u32,
            thread: self.thread,
        };
        write(&self.spec, buf, &stamp);
        seed
    }

    /// The seeds of the writes from the first one on: `verify_only` draws them without writing.
    pub fn seeds(&mut self) -> &mut VerifySeeds {
        &mut self.seeds
    }
}

/// Fills a request's buffer and writes the headers of its blocks.
#[inline]
pub(super) fn write(spec: &VerifySpec, buf: &mut [u8], stamp: &Stamp) {
    if spec.kind == VerifyKind::Null {
        return;
    }
    match &spec.pattern {
        Some(pattern) => pattern.fill(buf, stamp.offset, spec.pattern_interval),
        None => Content {
            seed: stamp.seed,
            compress_percent: spec.compress_percent,
            fill_pattern: &spec.fill_pattern,
        }
        .fill(buf),
    }
    if !spec.kind.has_header() {
        return;
    }
    let block = block_bytes(spec, buf.len());
    let header_bytes = spec.format.header_bytes();
    let front = spec.kind.front_bytes(spec.format);
    for (block, offset) in buf
        .chunks_mut(block.max(1))
        .zip((stamp.offset..).step_by(block.max(1)))
    {
        if block.len() <= front {
            continue;
        }
        let header = Header {
            format: spec.format,
            kind: spec.kind.code(),
            len: block.len() as u32,
            seed: stamp.seed,
            offset,
            sec: stamp.sec,
            nsec: stamp.nsec,
            numberio: stamp.numberio,
            thread: stamp.thread,
        };
        header.encode(block);
        if let Some(checksum) = spec.kind.checksum() {
            let (head, data) = block.split_at_mut(front);
            match checksum
                .old_form(data)
                .filter(|_| spec.format == super::Format::V0)
            {
                Some(old) => head[header_bytes..].copy_from_slice(old.as_bytes()),
                None => checksum.put(data, &mut head[header_bytes..]),
            }
        }
        swap_front(block, front, spec.offset as usize);
    }
}

/// Bytes from one header to the next in a request of `len` bytes: the interval if it divides
/// the request, else the request.
pub(super) fn block_bytes(spec: &VerifySpec, len: usize) -> usize {
    let interval = spec.interval as usize;
    if interval > 0 && interval <= len && len.is_multiple_of(interval) {
        interval
    } else {
        len
    }
}

/// Exchanges the front of a block with what stands at `offset`. Doing it twice undoes it.
pub(super) fn swap_front(block: &mut [u8], front: usize, offset: usize) {
    if offset > 0 {
        let (head, rest) = block.split_at_mut(offset);
        head[..front].swap_with_slice(&mut rest[..front]);
    }
}
