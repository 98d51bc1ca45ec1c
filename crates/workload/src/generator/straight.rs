//! Short loops for the most common jobs. Each must give what [`super::general`] gives.

use super::{Progress, Requests};
use crate::batch::Batch;
use crate::map::Map;
use crate::rng::{TWO_POW_MINUS_32, Taus, Taus88};
use crate::spec::Direction;
use units::Ddir;

impl Requests {
    /// The bytes that the limits allow, and how many of `want` requests.
    fn budget(&self, want: usize) -> (u64, usize) {
        if self.spec.time_based {
            return (u64::MAX, want);
        }
        let progress = &self.progress;
        let pass = progress.pass_limit.saturating_sub(progress.pass_bytes);
        let total = progress
            .total_limit
            .saturating_sub(progress.counted(self.spec.direction));
        let ios = progress
            .number_ios
            .saturating_sub(progress.issues.iter().sum());
        (pass.min(total), ios.min(want as u64) as usize)
    }

    /// The only direction of an unmixed job.
    fn only(&self) -> Ddir {
        match self.spec.direction {
            Direction::Read | Direction::RandRead => Ddir::Read,
            Direction::Write | Direction::RandWrite => Ddir::Write,
            _ => Ddir::Trim,
        }
    }

    /// Uniform offsets of one file. `SIZED`: block sizes vary; otherwise there is one.
    pub(super) fn uniform<const MIXED: bool, const MAPPED: bool, const SIZED: bool>(
        &mut self,
        batch: &mut Batch,
        want: usize,
    ) -> usize {
        let only = self.only();
        let (mut budget, want) = self.budget(want);
        // Opens the file in a new pass.
        if self
            .service
            .next(&mut self.files, &mut self.streams.file)
            .is_none()
        {
            return 0;
        }
        let file = &mut self.files[0];
        let scale = file.last.map(|blocks| blocks as f64 * TWO_POW_MINUS_32);
        let (base, end, file_size) = (file.base, file.end(), file.size);
        let Taus::Narrow(rand) = &mut self.streams.offset else {
            unreachable!("this loop is chosen for narrow streams only")
        };
        // Locals, so that the loop keeps them in registers.
        let mut taus = rand.clone();
        let Progress {
            mut issues,
            mut bytes,
            ..
        } = self.progress;
        let mut made = 0;
        let mut used_up = false;
        while made < want && budget > 0 {
            let ddir = match MIXED {
                true => [Ddir::Read, Ddir::Write][self.mix.next(&issues, &mut self.streams.mix)],
                false => only,
            };
            let d = ddir.index();
            let size = &self.sizes[d];
            let map = if MAPPED { file.map.as_mut() } else { None };
            let again = self.spec.time_based;
            let Some(block) = draw(&mut taus, scale[d], map, again) else {
                used_up = true;
                break;
            };
            let offset = block * size.min + base;
            let mut len = size.min;
            if SIZED {
                let room = end.saturating_sub(offset);
                let drawn = size.next(&mut self.streams.size[d], room);
                let fits = |&len: &u64| room > 0 && offset + len <= file_size;
                let Some(drawn) = drawn.filter(fits) else {
                    used_up = true;
                    break;
                };
                len = drawn;
            }
            if MAPPED && let Some(map) = &mut file.map {
                if SIZED {
                    len = len.min(map.set_run(block, size.blocks(len)) * size.min);
                } else {
                    map.set(block);
                }
            }
            batch.offset[made] = offset;
            batch.len[made] = len as u32;
            batch.ddir[made] = ddir;
            issues[d] += 1;
            bytes[d] += len;
            budget = budget.saturating_sub(len);
            made += 1;
        }
        *rand = taus;
        if used_up {
            self.service.finish(file);
        }
        batch.file[..made].fill(0);
        let before: u64 = self.progress.bytes.iter().sum();
        self.progress.pass_bytes += bytes.iter().sum::<u64>() - before;
        (self.progress.issues, self.progress.bytes) = (issues, bytes);
        made
    }

    /// Ascending offsets of one file with one block size and direction.
    pub(super) fn ascending(&mut self, batch: &mut Batch, want: usize) -> usize {
        let only = self.only();
        let d = only.index();
        let bytes = self.sizes[d].min;
        let (budget, want) = self.budget(want);
        let want = want.min(budget.div_ceil(bytes).min(want as u64) as usize);
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

/// A uniform block: the one drawn, or the next free one. `None` where all are taken, unless
/// the map starts over.
#[inline(always)]
fn draw(taus: &mut Taus88, scale: f64, map: Option<&mut Map>, again: bool) -> Option<u64> {
    let block = (f64::from(taus.draw()) * scale) as i64 as u64;
    let Some(map) = map.filter(|map| map.is_set(block)) else {
        return Some(block);
    };
    map.next_free(block).or_else(|| {
        again.then(|| {
            map.reset();
            (f64::from(taus.draw()) * scale) as i64 as u64
        })
    })
}
