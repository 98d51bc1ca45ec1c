//! Finds what is wrong with blocks that were read.

use super::content::{Content, is_sequence};
use super::header::{Format, Header, crc_mismatch};
use super::mismatch::{Digests, Mismatch, Reason};
use super::pattern::PatternCheck;
use super::spec::{VerifyKind, VerifySpec};
use super::stamper::{Stamp, block_bytes, swap_front, write};
use crate::checksum::Digest;

/// What is known about the write that should be read, besides its offset and length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Expect {
    /// Number of the write. `None`: not known, not compared.
    pub numberio: Option<u64>,
    /// Seed of the write. `None`: not known, not compared.
    pub seed: Option<u64>,
    /// The range was trimmed after it was written.
    pub trimmed: bool,
}

impl Expect {
    /// A block that some earlier run wrote.
    pub const ANY: Expect = Expect {
        numberio: None,
        seed: None,
        trimmed: false,
    };

    /// True where this worker wrote the block, with requests of the same size.
    fn is_own(&self) -> bool {
        self.numberio.is_some() || self.seed.is_some()
    }
}

/// Checks the reads of one worker. Clones check in other threads.
#[derive(Clone, Debug)]
pub struct Verifier {
    spec: VerifySpec,
    pattern: Option<PatternCheck>,
    /// A block with its front swapped back, where `verify_offset` is in effect.
    swapped: Vec<u8>,
}

/// A request and what is known about it.
struct Request<'a> {
    offset: u64,
    len: usize,
    expect: &'a Expect,
}

impl Verifier {
    /// A verifier for blocks stamped as `spec` says.
    pub fn new(spec: &VerifySpec) -> Self {
        let pattern = spec.pattern.as_ref();
        Verifier {
            pattern: pattern.map(|pattern| PatternCheck::new(pattern, spec.pattern_interval)),
            spec: spec.clone(),
            swapped: Vec::new(),
        }
    }

    /// Checks the request of `buf.len()` bytes read at `offset`.
    ///
    /// # Errors
    /// The first bad block.
    pub fn check(&mut self, buf: &[u8], offset: u64, expect: &Expect) -> Result<(), Mismatch> {
        let mut first = None;
        self.check_each(buf, offset, expect, |mismatch| {
            first = Some(mismatch);
            false
        });
        first.map_or(Ok(()), Err)
    }

    /// Checks every block of the request and reports each bad one until `report` returns
    /// false. Returns the number reported.
    pub fn check_each(
        &mut self,
        buf: &[u8],
        offset: u64,
        expect: &Expect,
        mut report: impl FnMut(Mismatch) -> bool,
    ) -> usize {
        if self.spec.kind == VerifyKind::Null || buf.is_empty() {
            return 0;
        }
        let request = Request {
            offset,
            len: buf.len(),
            expect,
        };
        if expect.trimmed {
            let bad = self
                .spec
                .trim_zero
                .then(|| buf.iter().position(|&byte| byte != 0));
            let Some(at) = bad.flatten() else { return 0 };
            let reason = Reason::NotZero { at: at as u32 };
            report(self.mismatch(reason, &request, 0, buf.len(), None));
            return 1;
        }
        let bytes = block_bytes(&self.spec, buf.len());
        let mut reported = 0;
        for (nth, block) in buf.chunks(bytes).enumerate() {
            let (found, kind) = self.block(block, nth * bytes, &request);
            if let Some(reason) = found {
                reported += 1;
                if !report(self.mismatch(reason, &request, nth * bytes, block.len(), kind)) {
                    break;
                }
            }
        }
        reported
    }

    #[cold]
    fn mismatch(
        &self,
        reason: Reason,
        request: &Request,
        at: usize,
        len: usize,
        media: Option<u8>,
    ) -> Mismatch {
        let given = self.spec.kind.code();
        let pattern = matches!(reason, Reason::Byte { .. }) && self.pattern.is_some();
        Mismatch {
            reason,
            kind: if pattern {
                "pattern"
            } else {
                self.spec.kind.name()
            },
            kind_codes: media
                .filter(|media| *media != given)
                .map(|media| (media, given)),
            offset: request.offset + at as u64,
            len: len as u32,
            request_offset: request.offset,
            request_len: request.len as u32,
        }
    }

    /// What is wrong with the block `at` bytes into its request, and the kind its header names.
    fn block(
        &mut self,
        block: &[u8],
        at: usize,
        request: &Request,
    ) -> (Option<Reason>, Option<u8>) {
        if !self.spec.kind.has_header() {
            return (self.pattern_difference(block, 0, at, request.offset), None);
        }
        // The layout is told by the byte behind the magic, wherever the header stands.
        let place = self.spec.offset as usize;
        let versioned = block.get(place + 2).is_some_and(|byte| byte & 0x80 != 0);
        let format = if versioned { Format::V1 } else { Format::V0 };
        let front = self.spec.kind.front_bytes(format);
        if place + front > block.len() {
            let wanted = block.len() as u32;
            return (
                Some(Reason::Length {
                    found: (place + front) as u32,
                    wanted,
                }),
                None,
            );
        }
        if place == 0 {
            return self.unswapped(block, front, at, request);
        }
        let mut swapped = std::mem::take(&mut self.swapped);
        swapped.clear();
        swapped.extend_from_slice(block);
        swap_front(&mut swapped, front, place);
        let result = self.unswapped(&swapped, front, at, request);
        self.swapped = swapped;
        result
    }

    fn unswapped(
        &mut self,
        block: &[u8],
        front: usize,
        at: usize,
        request: &Request,
    ) -> (Option<Reason>, Option<u8>) {
        match self.header(block, at, request) {
            Err(reason) => (Some(reason), None),
            Ok(header) => (
                self.data(block, front, at, &header, request),
                Some(header.kind),
            ),
        }
    }

    fn header(&self, block: &[u8], at: usize, request: &Request) -> Result<Header, Reason> {
        let header = Header::decode(block)?;
        let wanted = block.len() as u32;
        if header.len != wanted {
            return Err(Reason::Length {
                found: header.len,
                wanted,
            });
        }
        let seed = request
            .expect
            .seed
            .filter(|_| self.spec.check_seed && self.pattern.is_none());
        if let Some(wanted) = seed.filter(|&wanted| wanted != header.seed) {
            return Err(Reason::Seed {
                found: header.seed,
                wanted,
            });
        }
        let wanted = request.offset + at as u64;
        if header.offset != wanted {
            return Err(Reason::Offset {
                found: header.offset,
                wanted,
            });
        }
        let number = request.expect.numberio.filter(|_| self.spec.check_sequence);
        let number = number.map(|number| header.format.number(number));
        if let Some(wanted) = number.filter(|&wanted| wanted != header.numberio) {
            return Err(Reason::Sequence {
                found: header.numberio,
                wanted,
            });
        }
        crc_mismatch(header.format, block).map_or(Ok(header), Err)
    }

    /// Checks what stands behind a good header.
    fn data(
        &mut self,
        block: &[u8],
        front: usize,
        at: usize,
        header: &Header,
        request: &Request,
    ) -> Option<Reason> {
        let (head, data) = block.split_at(front);
        let Some(checksum) = self.spec.kind.checksum() else {
            return if self.pattern.is_some() {
                self.pattern_difference(data, front, at, request.offset)
            } else {
                self.content_difference(data, front, at, header.seed, request)
            };
        };
        let stored = &head[header.format.header_bytes()..];
        let calculated = checksum.of(data);
        let mut weak = checksum.is_weak();
        if calculated.as_bytes() != stored {
            // One of the forms of SHA-512 covers a part of the data only.
            weak = true;
            if checksum
                .old_form(data)
                .is_none_or(|old| old.as_bytes() != stored)
            {
                let stored = Digest::new(stored);
                return Some(Reason::Checksum(Box::new(Digests { stored, calculated })));
            }
        }
        if !weak {
            None
        } else if self.pattern.is_none() {
            self.content_difference(data, front, at, header.seed, request)
        } else if request.expect.is_own() {
            self.pattern_difference(data, front, at, request.offset)
        } else {
            None
        }
    }

    /// Compares data that begin `front` bytes into the block `at` bytes into the request.
    fn pattern_difference(
        &mut self,
        data: &[u8],
        front: usize,
        at: usize,
        offset: u64,
    ) -> Option<Reason> {
        let difference = self
            .pattern
            .as_mut()?
            .first_difference(data, at + front, offset);
        difference.map(|(place, found, wanted)| Reason::Byte {
            at: (front + place) as u32,
            found,
            wanted,
        })
    }

    /// Compares data with what their seed gives. The block may have been written by a request
    /// of another size; then its place in that request is unknown.
    fn content_difference(
        &self,
        data: &[u8],
        front: usize,
        at: usize,
        seed: u64,
        request: &Request,
    ) -> Option<Reason> {
        if !self.spec.check_content {
            return None;
        }
        let content = Content {
            seed,
            compress_percent: self.spec.compress_percent,
            fill_pattern: &self.spec.fill_pattern,
        };
        let (place, found, wanted) = content.first_difference(data, at + front, request.len)?;
        let elsewhere = !request.expect.is_own()
            && ((1..100).contains(&self.spec.compress_percent)
                || content
                    .first_difference(data, front, front + data.len())
                    .is_none()
                || is_sequence(data, front));
        (!elsewhere).then_some(Reason::Byte {
            at: (front + place) as u32,
            found,
            wanted,
        })
    }

    /// What should have been read instead of the block that `mismatch` names, for a dump: the
    /// fields of its header are taken over where they can be read, all else is made anew.
    /// `received` is the whole request.
    pub fn expected(&self, received: &[u8], mismatch: &Mismatch) -> Vec<u8> {
        let at = (mismatch.offset - mismatch.request_offset) as usize;
        let raw = received
            .get(at + self.spec.offset as usize..)
            .unwrap_or_default();
        let header = (raw.len() >= Format::V1.header_bytes())
            .then(|| Header::decode(raw).ok())
            .flatten();
        let mut spec = self.spec.clone();
        spec.format = header.map_or(spec.format, |header| header.format);
        let stamp = Stamp {
            offset: mismatch.request_offset,
            seed: header.map_or(0, |header| header.seed),
            numberio: header.map_or(0, |header| header.numberio),
            sec: header.map_or(0, |header| header.sec),
            nsec: header.map_or(0, |header| header.nsec),
            thread: header.map_or(0, |header| header.thread),
        };
        let mut request = vec![0; received.len()];
        write(&spec, &mut request, &stamp);
        request.drain(..at.min(request.len()));
        request.truncate(mismatch.len as usize);
        request
    }
}
