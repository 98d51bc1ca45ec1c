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
        let (mut budget, mut want) = self.budget(want);
        if !MIXED && !SIZED {
            // All are of one size, so the bytes left are a number of requests.
            let bytes = self.sizes[only.index()].min;
            want = want.min(budget.div_ceil(bytes).min(want as u64) as usize);
            budget = u64::MAX;
        }
        // Opens the file in a new pass.
        if self
            .service
            .next(&mut self.files, &mut self.streams.file)
            .is_none()
        {
            return 0;
        }
        let file = &mut self.files[0];
        let scale = file.last.map(Scale::new);
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
        while made < want.min(Batch::CAPACITY) && budget > 0 {
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
            made += 1;
            if MIXED || SIZED {
                batch.len[made - 1] = len as u32;
                batch.ddir[made - 1] = ddir;
                issues[d] += 1;
                bytes[d] += len;
                budget = budget.saturating_sub(len);
            }
        }
        *rand = taus;
        if !MIXED && !SIZED {
            let (d, len) = (only.index(), self.sizes[only.index()].min);
            batch.len[..made].fill(len as u32);
            batch.ddir[..made].fill(only);
            issues[d] += made as u64;
            bytes[d] += made as u64 * len;
        }
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

/// A number of blocks to draw from, prepared for 32 random bits.
#[derive(Clone, Copy)]
struct Scale {
    blocks: u64,
    real: f64,
}

impl Scale {
    fn new(blocks: u64) -> Self {
        Scale {
            blocks,
            real: blocks as f64 * TWO_POW_MINUS_32,
        }
    }

    /// A block as [`Taus::below`] gives it. fio multiplies in floating point; 64 bits of product
    /// are rounded by at most 2^10 there, so the whole part can differ from that of the integer
    /// product only just below the next whole number.
    #[inline(always)]
    fn below(self, random: u32) -> u64 {
        let product = u64::from(random) * self.blocks;
        if product as u32 >= u32::MAX - (1 << 10) {
            return self.rounded(random);
        }
        product >> 32
    }

    #[cold]
    #[inline(never)]
    fn rounded(self, random: u32) -> u64 {
        (f64::from(random) * self.real) as u64
    }
}

/// A uniform block: the one drawn, or the next free one. `None` where all are taken, unless
/// the map starts over.
#[inline(always)]
fn draw(taus: &mut Taus88, scale: Scale, map: Option<&mut Map>, again: bool) -> Option<u64> {
    let block = scale.below(taus.draw());
    let Some(map) = map else {
        return Some(block);
    };
    map.free_near(block)
        .or_else(|| map.free_from_block(block))
        .or_else(|| {
            again.then(|| {
                map.reset();
                scale.below(taus.draw())
            })
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn same(blocks: u64, random: u32) {
        let want = (f64::from(random) * (blocks as f64 * TWO_POW_MINUS_32)) as u64;
        assert_eq!(
            Scale::new(blocks).below(random),
            want,
            "{random} of {blocks}"
        );
    }

    #[test]
    fn products_just_below_a_whole_number_are_rounded_as_in_floating_point() {
        // The inverse modulo 2^32 of an odd number of blocks finds the draws that end so.
        for blocks in [
            u64::from(u32::MAX),
            4_000_000_001,
            3_221_225_473,
            2_147_483_649,
        ] {
            let inverse = (0..5).fold(1u32, |x, _| {
                x.wrapping_mul(2u32.wrapping_sub((blocks as u32).wrapping_mul(x)))
            });
            for below in 1..3000u32 {
                same(blocks, 0u32.wrapping_sub(below).wrapping_mul(inverse));
            }
        }
    }

    proptest! {
        #[test]
        fn below_is_fios_product(blocks in 1..=u64::from(u32::MAX), random: u32) {
            same(blocks, random);
        }
    }
}
