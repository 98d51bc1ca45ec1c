//! From a [`Spec`] to requests: the state of one worker's sequence and how it starts over.
//!
//! [`general`] holds every rule; [`straight`] holds short loops for the common jobs on the
//! same state. Which one runs is decided once, here.

mod check;
mod files;
mod general;
mod size;
mod straight;

use crate::batch::{Amended, Batch, Fill, Steer};
use crate::offset::Zones;
use crate::rng::{Taus, Taus88};
use crate::seeds::{Purpose, Seeds};
use crate::spec::{Direction, Distribution, FioRules, Generator, Spec, SpecError};
use files::File;
use size::Size;
use units::Ddir;

/// Makes the generator of one worker's requests. All memory it needs is allocated here.
///
/// # Errors
/// A [`SpecError`] names the number that makes no sense.
pub fn generator(spec: &Spec) -> Result<Box<dyn Fill>, SpecError> {
    Ok(Box::new(Requests::new(spec)?))
}

/// The loops to choose from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Loop {
    /// Uniform offsets in one file: one direction or a mix, with or without a map, of one or
    /// several sizes.
    Uniform {
        mixed: bool,
        mapped: bool,
        sized: bool,
    },
    /// Ascending offsets, one size, one file, one direction.
    Ascending,
    /// Everything else.
    General,
}

/// Random streams; one per purpose, as in fio.
#[derive(Clone, Debug)]
struct Streams {
    size: [Taus; 3],
    mix: Taus88,
    file: Taus,
    offset: Taus,
    sequential_or_random: [Taus88; 3],
    zone: Taus88,
}

impl Streams {
    fn new(spec: &Spec, seeds: &Seeds, wide: bool, wide_offsets: bool) -> Self {
        let read = seeds.of(Purpose::SizeRead);
        // A verifying read and a write that follows a trim draw the same sizes as their
        // counterpart.
        let write = if spec.verify {
            read
        } else {
            seeds.of(Purpose::SizeWrite)
        };
        let trim = if spec.direction.is_trim_write() {
            write
        } else {
            seeds.of(Purpose::SizeTrim)
        };
        let narrow = |purpose| Taus88::new(seeds.of(purpose) as u32);
        Streams {
            size: [read, write, trim].map(|seed| Taus::new(seed, wide)),
            mix: narrow(Purpose::Mix),
            file: Taus::new(seeds.of(Purpose::File), wide),
            offset: Taus::new(seeds.of(Purpose::Offset), wide_offsets),
            sequential_or_random: std::array::from_fn(|_| narrow(Purpose::SequentialOrRandom)),
            zone: narrow(Purpose::Zone),
        }
    }
}

/// What has been issued, and where that ends.
#[derive(Clone, Debug)]
struct Progress {
    /// Requests per direction, over all passes.
    issues: [u64; 3],
    /// Bytes per direction, over all passes.
    bytes: [u64; 3],
    /// Bytes of this pass.
    pass_bytes: u64,
    /// A pass ends here.
    pass_limit: u64,
    /// Everything ends here.
    total_limit: u64,
    /// Requests after which everything ends.
    number_ios: u64,
    /// Nothing more comes in this pass.
    ended: bool,
    /// Passes that `loops` still asks for.
    loops_left: u64,
}

/// The state of one worker's sequence.
#[derive(Clone, Debug)]
struct Requests {
    spec: Spec,
    seeds: Seeds,
    kind: Loop,
    files: Vec<File>,
    streams: Streams,
    progress: Progress,
    sizes: [Size; 3],
    align: [u64; 3],
    zones: [Option<Zones>; 3],
    /// 64-bit streams for everything once the streams start over.
    wide: bool,
    /// A map is kept: blocks do not repeat in a pass.
    mapped: bool,
    seq_left: u32,
    mix: general::Mix,
    syncs: general::Syncs,
    service: files::Service,
    zone_bytes: u64,
    /// `zone_bytes` modulo `zonerange`.
    zone_phase: u64,
    /// The last request that was made with somebody at its side, and its file.
    last: Option<(usize, general::Request)>,
    /// Its first block, if that is yet to be marked.
    unmarked: Option<u64>,
}

impl Requests {
    fn new(spec: &Spec) -> Result<Self, SpecError> {
        check::check(spec)?;
        let seeds = Seeds::new(spec);
        let align = align(spec);
        let mapped = spec.direction.is_random()
            && !spec.norandommap
            && spec.generator != Generator::Lfsr
            && spec.distribution == Distribution::Random
            && (0..3).all(|d| align[d] == spec.block.0[d].min);
        let mut files = Vec::with_capacity(spec.files.len());
        for region in &spec.files {
            files.push(File::new(spec, region, &seeds, align, mapped)?);
        }
        let asked_wide = spec.generator == Generator::Tausworthe64;
        let outgrown = spec.generator == Generator::Auto
            && spec.direction.is_random()
            && files.iter().any(|file| file.blocks > u64::from(u32::MAX));
        let wide_offsets = asked_wide || (outgrown && spec.rules == FioRules::V3_42);
        let sizes = std::array::from_fn(|d| Size::new(&spec.block.0[d], spec.bs_unaligned));
        let mut new = Requests {
            streams: Streams::new(spec, &seeds, asked_wide, wide_offsets),
            kind: Loop::General,
            zones: zones(spec, align)?,
            progress: Progress::new(spec),
            mix: general::Mix::new(spec.rwmix_read),
            syncs: general::Syncs::new(spec),
            service: files::Service::new(spec, &seeds)?,
            wide: asked_wide || outgrown,
            seq_left: 1,
            zone_bytes: 0,
            zone_phase: 0,
            last: None,
            unmarked: None,
            spec: spec.clone(),
            seeds,
            files,
            sizes,
            align,
            mapped,
        };
        new.kind = new.choose();
        Ok(new)
    }

    /// The shortest loop that has all the rules this job needs.
    fn choose(&self) -> Loop {
        let spec = &self.spec;
        let direction = spec.direction;
        let used = |d: Ddir| match d {
            Ddir::Read => direction.reads(),
            Ddir::Write => direction.writes(),
            _ => direction.trims(),
        };
        let used = || Ddir::DATA.into_iter().filter(|&d| used(d)).map(Ddir::index);
        let first = used().next().unwrap_or(0);
        let block = &spec.block.0;
        let smallest = block.iter().map(|block| block.min).min().unwrap_or(0);
        let one_size =
            used().all(|d| (block[d].min, block[d].max) == (block[first].min, block[first].min));
        let plain = self.files.len() == 1
            && !direction.is_trim_write()
            && !spec.bs_is_seq_rand
            && spec.strided.is_none()
            && !(direction.writes() && self.syncs.any());
        if !direction.is_random() {
            let ascending = one_size && spec.sequence_add == 0 && !direction.is_mixed();
            return if plain && ascending {
                Loop::Ascending
            } else {
                Loop::General
            };
        }
        let uniform = spec.distribution == Distribution::Random
            && spec.generator != Generator::Lfsr
            && matches!(self.streams.offset, Taus::Narrow(_))
            // The streams could become wide with the next pass.
            && !self.wide
            && spec.sequence_count == 1
            && used().all(|d| spec.percentage_random.0[d] == 100)
            && used().all(|d| self.align[d] == block[d].min)
            && used().all(|d| (1..=u64::from(u32::MAX)).contains(&self.files[0].last[d]));
        if !(plain && uniform) {
            return Loop::General;
        }
        let sized = !one_size || block[first].min != smallest;
        Loop::Uniform {
            mixed: direction.is_mixed(),
            mapped: self.mapped,
            sized,
        }
    }
}

impl Fill for Requests {
    fn fill(&mut self, batch: &mut Batch, want: usize) -> usize {
        batch.clear();
        let want = want.min(Batch::CAPACITY);
        if self.progress.ended {
            return 0;
        }
        batch.n = match self.kind {
            Loop::Uniform {
                mixed: false,
                mapped: false,
                sized: false,
            } => self.uniform::<false, false, false>(batch, want),
            Loop::Uniform {
                mixed: false,
                mapped: false,
                sized: true,
            } => self.uniform::<false, false, true>(batch, want),
            Loop::Uniform {
                mixed: false,
                mapped: true,
                sized: false,
            } => self.uniform::<false, true, false>(batch, want),
            Loop::Uniform {
                mixed: false,
                mapped: true,
                sized: true,
            } => self.uniform::<false, true, true>(batch, want),
            Loop::Uniform {
                mixed: true,
                mapped: false,
                sized: false,
            } => self.uniform::<true, false, false>(batch, want),
            Loop::Uniform {
                mixed: true,
                mapped: false,
                sized: true,
            } => self.uniform::<true, false, true>(batch, want),
            Loop::Uniform {
                mixed: true,
                mapped: true,
                sized: false,
            } => self.uniform::<true, true, false>(batch, want),
            Loop::Uniform {
                mixed: true,
                mapped: true,
                sized: true,
            } => self.uniform::<true, true, true>(batch, want),
            Loop::Ascending => self.ascending(batch, want),
            Loop::General => self.general(batch, want),
        };
        // What ended the pass ends it for good: asking again could draw on.
        self.progress.ended = batch.n < want;
        batch.n
    }

    fn fill_steered(&mut self, batch: &mut Batch, steer: &mut dyn Steer) -> usize {
        batch.clear();
        if self.progress.ended {
            return 0;
        }
        batch.n = self.steered(batch, steer);
        self.progress.ended = batch.n == 0;
        batch.n
    }

    fn amend(&mut self, became: Option<Amended>) {
        self.amended(became);
    }

    fn restart(&mut self) {
        let spec = &self.spec;
        self.progress.ended = false;
        self.progress.pass_bytes = 0;
        self.zone_bytes = 0;
        self.zone_phase = 0;
        self.mix.restart();
        self.service.restart();
        for file in &mut self.files {
            file.close();
        }
        if spec.repeats() {
            self.streams = Streams::new(spec, &self.seeds, self.wide, self.wide);
        }
    }

    fn more(&mut self) -> bool {
        if self.spec.time_based {
            return true;
        }
        if self.progress.loops_left > 0 {
            self.progress.loops_left -= 1;
            return true;
        }
        self.progress
            .more(&self.spec, self.files.iter().all(File::is_done))
    }
}

impl Progress {
    fn new(spec: &Spec) -> Self {
        let wanted = if spec.io_size > 0 {
            spec.io_size
        } else {
            spec.size
        };
        let loops = spec.loops.max(1);
        let may_exceed_size = (spec.direction.writes()
            && spec.direction.is_random()
            && (spec.norandommap || spec.distribution != Distribution::Random))
            || (spec.rules == FioRules::V3_42
                && spec.direction.is_mixed()
                && !spec.direction.is_random()
                && !spec.verify);
        let mut pass_limit = if may_exceed_size {
            spec.size.max(spec.io_size)
        } else {
            spec.size
        };
        let mut number_ios = spec.number_ios.saturating_mul(loops);
        if spec.direction.is_trim_write() {
            pass_limit = pass_limit.saturating_add(wanted.saturating_mul(loops));
            number_ios = number_ios.saturating_mul(2);
        }
        if !spec.queued {
            pass_limit = u64::MAX;
        }
        Progress {
            issues: [0; 3],
            bytes: [0; 3],
            pass_bytes: 0,
            pass_limit,
            total_limit: wanted.saturating_mul(loops),
            number_ios: if number_ios == 0 {
                u64::MAX
            } else {
                number_ios
            },
            ended: false,
            loops_left: loops,
        }
    }

    /// Bytes that count against `io_size`: in the trim-write modes only what is written.
    #[inline]
    fn counted(&self, direction: Direction) -> u64 {
        let [read, written, trimmed] = self.bytes;
        match direction {
            Direction::ReadWrite | Direction::RandReadWrite => read + written,
            _ if direction.writes() => written,
            _ if direction.reads() => read,
            _ => trimmed,
        }
    }

    /// fio's rule after the loops are used up: what is left must be worth a request.
    fn more(&self, spec: &Spec, all_done: bool) -> bool {
        if self.issues.iter().sum::<u64>() >= self.number_ios {
            return false;
        }
        let limit = if spec.io_size > 0 {
            spec.io_size
        } else {
            spec.size
        };
        let issued: u64 = self.bytes.iter().sum();
        let largest = spec
            .block
            .0
            .iter()
            .map(|block| block.max)
            .max()
            .unwrap_or(0);
        issued < limit && limit - issued >= largest && !(all_done && spec.io_size == 0)
    }
}

/// Alignment of random offsets per direction: `blockalign`, else the smallest block size.
fn align(spec: &Spec) -> [u64; 3] {
    std::array::from_fn(|d| match spec.block_align.0[d] {
        align if align > 0 && spec.direction.is_random() => align,
        _ => spec.block.0[d].min,
    })
}

fn zones(spec: &Spec, align: [u64; 3]) -> Result<[Option<Zones>; 3], SpecError> {
    let mut zones = [None, None, None];
    for (d, zone) in zones.iter_mut().enumerate() {
        *zone = match &spec.distribution {
            Distribution::Zoned(shares) => Zones::percent(&shares.0[d])?,
            Distribution::ZonedAbs(shares) => Zones::bytes(&shares.0[d], align[d])?,
            _ => None,
        };
    }
    Ok(zones)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{BlockSize, FileRegion, Seed, SizeShare};
    use proptest::prelude::*;
    use units::PerDdir;

    fn directions() -> impl Strategy<Value = Direction> {
        use Direction::*;
        prop::sample::select(vec![
            Read,
            Write,
            Trim,
            RandRead,
            RandWrite,
            RandTrim,
            RandReadWrite,
        ])
    }

    proptest! {
        /// The short loops are the general one, faster: same requests, same ends, same passes.
        #[test]
        fn short_loops_give_what_the_general_one_gives(
            direction in directions(),
            (offset, blocks, tail) in (0u64..100, 1u64..500, 0u64..4096),
            beyond in prop::sample::select(vec![0u64, 1, 4095, 4096, 1 << 20]),
            (seed, rwmix_read) in (any::<u64>(), 0u32..=100),
            (size, io_size) in (1u64..2_000_000, 0u64..3_000_000),
            (number_ios, loops) in (0u64..300, 1u64..4),
            (norandommap, time_based, queued, seeded) in any::<(bool, bool, bool, bool)>(),
            block in prop_oneof![
                Just(BlockSize::fixed(4096)),
                (1u64..9, 0u64..9)
                    .prop_map(|(min, more)| BlockSize::range(min * 1024, (min + more) * 1024)),
                (1u32..50, 1u32..50).prop_map(|(a, b)| BlockSize::split(vec![
                    SizeShare { bytes: 12288, percent: a },
                    SizeShare { bytes: 4096, percent: b },
                ])),
            ],
            (unaligned, write_kib) in (any::<bool>(), 1u64..20),
            wants in prop::collection::vec(1usize..=64, 60),
        ) {
            let length = blocks * 4096 + tail;
            let region = FileRegion::new(offset * 4096, length);
            let write = match write_kib {
                10.. => block.clone(),
                kib => BlockSize::fixed(kib * 2048),
            };
            let spec = Spec {
                direction,
                block: PerDdir([block.clone(), write, block]),
                bs_unaligned: unaligned,
                files: vec![FileRegion { file_size: region.file_size + beyond, ..region }],
                seed: Seed::Fixed(seed),
                randseed_given: seeded,
                rwmix_read, size, io_size, number_ios, loops, norandommap, time_based, queued,
                ..Spec::default()
            };
            let mut short = Requests::new(&spec).unwrap();
            // The general loop takes regions that are shorter than a block, too.
            prop_assert!(short.kind != Loop::General || !direction.is_random() || blocks < 20);
            let mut general = Requests { kind: Loop::General, ..short.clone() };
            let (mut a, mut b) = (Batch::default(), Batch::default());
            for want in wants {
                let n = short.fill(&mut a, want);
                prop_assert_eq!(n, general.fill(&mut b, want));
                prop_assert_eq!(&a.offset[..n], &b.offset[..n]);
                prop_assert_eq!(&a.len[..n], &b.len[..n]);
                prop_assert_eq!(&a.ddir[..n], &b.ddir[..n]);
                prop_assert_eq!(&a.file[..n], &b.file[..n]);
                if n == 0 {
                    let more = short.more();
                    prop_assert_eq!(more, general.more());
                    if !more {
                        break;
                    }
                    short.restart();
                    general.restart();
                }
            }
        }
    }
}
