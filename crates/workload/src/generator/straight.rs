//! Short loops for the most common jobs. Each must give what [`super::general`] gives.

use super::Requests;
use crate::batch::Batch;
use crate::rng::{TWO_POW_MINUS_32, Taus};
use crate::spec::Direction;
use units::Ddir;

impl Requests {
    /// How many of `want` requests of `bytes` bytes the limits allow.
    fn allowed(&self, want: usize, bytes: u64) -> usize {
        if self.spec.time_based {
            return want;
        }
        let progress = &self.progress;
        let counted = progress.counted(self.spec.direction);
        let left = progress
            .pass_limit
            .saturating_sub(progress.pass_bytes)
            .min(progress.total_limit.saturating_sub(counted));
        let ios = progress
            .number_ios
            .saturating_sub(progress.issues.iter().sum());
        left.div_ceil(bytes).min(ios).min(want as u64) as usize
    }

    /// The only direction of an unmixed job.
    fn only(&self) -> Ddir {
        match self.spec.direction {
            Direction::Read | Direction::RandRead => Ddir::Read,
            Direction::Write | Direction::RandWrite => Ddir::Write,
            _ => Ddir::Trim,
        }
    }

    /// Uniform offsets of one file with one block size.
    pub(super) fn uniform<const MIXED: bool, const MAPPED: bool>(
        &mut self,
        batch: &mut Batch,
        want: usize,
    ) -> usize {
        let only = self.only();
        let d = if MIXED { Ddir::Read } else { only }.index();
        let bytes = self.sizes[d].min;
        let want = self.allowed(want, bytes);
        // Opens the file in a new pass.
        if self
            .service
            .next(&mut self.files, &mut self.streams.file)
            .is_none()
        {
            return 0;
        }
        let file = &mut self.files[0];
        let blocks = file.last[d] as f64 * TWO_POW_MINUS_32;
        let base = file.base;
        let Taus::Narrow(rand) = &mut self.streams.offset else {
            unreachable!("this loop is chosen for narrow streams only")
        };
        // Locals, so that the loop keeps them in registers.
        let mut taus = rand.clone();
        let mut made = 0;
        let mut used_up = false;
        for (i, (offset, ddir)) in batch.offset.iter_mut().zip(&mut batch.ddir).enumerate() {
            if i == want {
                break;
            }
            *ddir = only;
            if MIXED {
                let drawn = self.mix.next(&self.progress.issues, &mut self.streams.mix);
                *ddir = if drawn == 0 { Ddir::Read } else { Ddir::Write };
            }
            let mut block = (f64::from(taus.draw()) * blocks) as u64;
            if MAPPED && let Some(map) = &mut file.map {
                if map.is_set(block) {
                    let mut free = map.next_free(block);
                    if free.is_none() && self.spec.time_based {
                        map.reset();
                        free = Some((f64::from(taus.draw()) * blocks) as u64);
                    }
                    let Some(free) = free else {
                        used_up = true;
                        break;
                    };
                    block = free;
                }
                map.set(block);
            }
            *offset = block * bytes + base;
            if MIXED {
                self.progress.issues[ddir.index()] += 1;
                self.progress.bytes[ddir.index()] += bytes;
            }
            made = i + 1;
        }
        *rand = taus;
        if used_up {
            self.service.finish(file);
        }
        batch.len[..made].fill(bytes as u32);
        batch.file[..made].fill(0);
        self.progress.pass_bytes += bytes * made as u64;
        if !MIXED {
            self.progress.issues[d] += made as u64;
            self.progress.bytes[d] += bytes * made as u64;
        }
        made
    }

    /// Ascending offsets of one file with one block size and direction.
    pub(super) fn ascending(&mut self, batch: &mut Batch, want: usize) -> usize {
        let only = self.only();
        let d = only.index();
        let bytes = self.sizes[d].min;
        let want = self.allowed(want, bytes);
        if self
            .service
            .next(&mut self.files, &mut self.streams.file)
            .is_none()
        {
            return 0;
        }
        let file = &mut self.files[0];
        let end = file.end();
        // The last place where a request can start.
        let last = end.saturating_sub(1).min(file.size.saturating_sub(bytes));
        let fits = file.size >= bytes && file.length > 0 && file.base <= last;
        let mut position = file.position[d];
        let mut made = 0;
        while made < want {
            if self.spec.time_based && position >= end {
                position = file.base;
            }
            if !fits || position > last {
                self.service.finish(file);
                break;
            }
            batch.offset[made] = position;
            position += bytes;
            made += 1;
        }
        file.position[d] = position;
        batch.len[..made].fill(bytes as u32);
        batch.ddir[..made].fill(only);
        batch.file[..made].fill(0);
        self.progress.issues[d] += made as u64;
        self.progress.bytes[d] += bytes * made as u64;
        self.progress.pass_bytes += bytes * made as u64;
        made
    }
}
