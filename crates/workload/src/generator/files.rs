//! The files of a worker: their state, and which one the next request goes to.

use crate::map::Map;
use crate::offset::Skew;
use crate::rng::{Lfsr, Taus};
use crate::seeds::{Purpose, Seeds};
use crate::spec::{FileRegion, FileServiceKind, Generator, Spec, SpecError};

/// No request has gone to the file yet.
pub(super) const NOWHERE: u64 = u64::MAX;
/// Logarithm of the ranks that a skewed choice gives to each file, as in fio.
const RANKS_PER_FILE: u32 = 10;

/// One file and what has been asked of it.
#[derive(Clone, Debug)]
pub(super) struct File {
    /// Start of the region as given.
    pub(super) start: u64,
    /// Start of the current zone; `start` without zones.
    pub(super) base: u64,
    pub(super) length: u64,
    pub(super) size: u64,
    /// End of the last request per direction.
    pub(super) position: [u64; 3],
    /// Start of the last request per direction, or [`NOWHERE`].
    pub(super) previous: [u64; 3],
    /// Number of aligned blocks that random offsets choose from, per direction.
    pub(super) last: [u64; 3],
    /// Blocks of the smallest size in the region.
    pub(super) blocks: u64,
    pub(super) map: Option<Map>,
    pub(super) lfsr: Option<Lfsr>,
    pub(super) skew: Option<Skew>,
    lfsr_seed: u64,
    /// Bounds of what has been written since the last synchronisation.
    pub(super) written: Option<(u64, u64)>,
    open: bool,
    done: bool,
}

impl File {
    pub(super) fn new(
        spec: &Spec,
        region: &FileRegion,
        seeds: &Seeds,
        align: [u64; 3],
        mapped: bool,
    ) -> Result<Self, SpecError> {
        let block = |d: usize| spec.block.0[d].min;
        let covered = region.length.min(region.file_size);
        let range = spec.strided.map_or(covered, |zone| zone.range);
        let smallest = block(0).min(block(1)).min(block(2));
        let blocks = range / smallest;
        let random = spec.direction.is_random();
        let ranks = covered.div_ceil(block(0).min(block(1)));
        let seed = seeds.skew(spec, region.name_hash);
        let lfsr_seed = seeds.of(Purpose::Offset);
        let lfsr = match spec.generator {
            Generator::Lfsr if random => {
                Some(Lfsr::new(blocks, lfsr_seed).ok_or(SpecError::Value {
                    what: "random_generator=lfsr",
                    reason: "the region must have between 1 and 2^63 blocks",
                })?)
            }
            _ => None,
        };
        let map = match mapped.then(|| Map::new(blocks)) {
            Some(Err(_)) if spec.softrandommap => None,
            other => other.transpose()?,
        };
        Ok(File {
            start: region.offset,
            base: region.offset,
            length: region.length,
            size: region.file_size,
            position: [region.offset; 3],
            previous: [NOWHERE; 3],
            last: std::array::from_fn(|d| {
                range.saturating_sub(block(d).saturating_sub(align[d])) / align[d]
            }),
            blocks,
            map,
            lfsr,
            skew: match random {
                true => Skew::new(&spec.distribution, ranks, seed)?,
                false => None,
            },
            lfsr_seed,
            written: None,
            open: false,
            done: false,
        })
    }

    /// Forgets positions and visited blocks.
    pub(super) fn reset(&mut self) {
        self.position = [self.base; 3];
        self.previous = [NOWHERE; 3];
        if let Some(map) = &mut self.map {
            map.reset();
        } else if let Some(lfsr) = &mut self.lfsr {
            // The seed was accepted when the register was made.
            lfsr.reset(self.lfsr_seed);
        }
    }

    /// Returns to the state before the first pass; the reset follows when it is opened.
    pub(super) fn close(&mut self) {
        self.open = false;
        self.done = false;
        self.base = self.start;
    }

    pub(super) fn is_done(&self) -> bool {
        self.done
    }

    /// End of the region as given.
    pub(super) fn end(&self) -> u64 {
        self.length.wrapping_add(self.start)
    }
}

/// Chooses files.
#[derive(Clone, Debug)]
pub(super) struct Service {
    kind: FileServiceKind,
    requests: u32,
    may_open: usize,
    open: usize,
    done: usize,
    next: usize,
    current: Option<usize>,
    left: u32,
    skew: Option<Skew>,
}

impl Service {
    pub(super) fn new(spec: &Spec, seeds: &Seeds) -> Result<Self, SpecError> {
        let all = spec.files.len();
        let skew = match &spec.file_skew {
            Some(distribution) => {
                let ranks = (all as u64) << RANKS_PER_FILE;
                Skew::new(distribution, ranks, seeds.of(Purpose::File) as u32)?
            }
            None => None,
        };
        let may_open = match spec.open_files as usize {
            0 => all,
            some => some.min(all),
        };
        Ok(Service {
            kind: spec.file_service.kind,
            requests: spec.file_service.requests,
            may_open,
            open: 0,
            done: 0,
            next: 0,
            current: None,
            left: 0,
            skew: skew.map(Skew::without_spreading),
        })
    }

    /// All files are closed, and none is done.
    pub(super) fn restart(&mut self) {
        self.open = 0;
        self.done = 0;
    }

    /// The file for the next request; `None` when all are done.
    #[inline]
    pub(super) fn next(&mut self, files: &mut [File], rand: &mut Taus) -> Option<usize> {
        if self.done >= files.len() {
            return None;
        }
        if let Some(current) = self.current.filter(|&current| files[current].open) {
            if self.kind == FileServiceKind::Sequential {
                return Some(current);
            }
            if self.left > 0 {
                self.left -= 1;
                return Some(current);
            }
        }
        self.current = match self.kind {
            FileServiceKind::Random | FileServiceKind::Skewed => self.random(files, rand),
            _ => self.round_robin(files),
        };
        self.left = self.requests - 1;
        self.current
    }

    /// A file has no request left; it is not chosen again in this pass. Popular files start
    /// over instead, so that they stay popular.
    pub(super) fn finish(&mut self, file: &mut File) {
        file.open = false;
        self.open -= 1;
        if self.kind == FileServiceKind::Skewed {
            return;
        }
        file.done = true;
        self.done += 1;
    }

    fn round_robin(&mut self, files: &mut [File]) -> Option<usize> {
        // Twice around: a closed file may have to be passed before an open one is found.
        for _ in 0..2 * files.len() {
            let at = self.next;
            self.next = if at + 1 == files.len() { 0 } else { at + 1 };
            if self.usable(&mut files[at]) {
                return Some(at);
            }
        }
        None
    }

    fn random(&mut self, files: &mut [File], rand: &mut Taus) -> Option<usize> {
        loop {
            let at = match &mut self.skew {
                Some(skew) => (skew.next() >> RANKS_PER_FILE) as usize,
                None => rand.below(files.len() as f64) as usize,
            };
            if self.usable(files.get_mut(at)?) {
                return Some(at);
            }
        }
    }

    /// Opens the file if that is allowed.
    fn usable(&mut self, file: &mut File) -> bool {
        if file.done || (!file.open && self.open >= self.may_open) {
            return false;
        }
        if !file.open {
            file.open = true;
            self.open += 1;
            file.reset();
        }
        true
    }
}
