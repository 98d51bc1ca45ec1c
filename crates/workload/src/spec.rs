//! The numbers that decide a worker's requests. Options and host facts have been resolved
//! before: nothing here is a percentage of a size, a string or a path.

use thiserror::Error;
use units::PerDdir;

/// The `rw` option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Sequential reads.
    Read,
    /// Sequential writes.
    Write,
    /// Sequential trims.
    Trim,
    /// Random reads.
    RandRead,
    /// Random writes.
    RandWrite,
    /// Random trims.
    RandTrim,
    /// Sequential reads and writes, each with its own position.
    ReadWrite,
    /// Random reads and writes.
    RandReadWrite,
    /// Each block trimmed, then written, in order.
    TrimWrite,
    /// Each block trimmed, then written, at random.
    RandTrimWrite,
}

impl Direction {
    /// True for the `rand*` modes.
    pub fn is_random(self) -> bool {
        use Direction::*;
        matches!(
            self,
            RandRead | RandWrite | RandTrim | RandReadWrite | RandTrimWrite
        )
    }

    /// True where reads occur.
    pub fn reads(self) -> bool {
        use Direction::*;
        matches!(self, Read | RandRead | ReadWrite | RandReadWrite)
    }

    /// True where writes occur.
    pub fn writes(self) -> bool {
        !matches!(
            self,
            Direction::Read | Direction::RandRead | Direction::Trim
        ) && self != Direction::RandTrim
    }

    /// True where trims occur.
    pub fn trims(self) -> bool {
        use Direction::*;
        matches!(self, Trim | RandTrim | TrimWrite | RandTrimWrite)
    }

    /// True for the modes that mix reads and writes by `rwmixread`.
    pub fn is_mixed(self) -> bool {
        matches!(self, Direction::ReadWrite | Direction::RandReadWrite)
    }

    /// True for the modes that trim each block before they write it.
    pub fn is_trim_write(self) -> bool {
        matches!(self, Direction::TrimWrite | Direction::RandTrimWrite)
    }
}

/// One entry of `bssplit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizeShare {
    /// Block size, bytes.
    pub bytes: u64,
    /// Share of the requests in percent; blank shares have been filled in.
    pub percent: u32,
}

/// Block sizes of one direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockSize {
    /// Smallest size, bytes; with `split`: the smallest of its sizes.
    pub min: u64,
    /// Largest size, bytes; with `split`: the largest of its sizes.
    pub max: u64,
    /// `bssplit`, in the order the user wrote it; empty: sizes of `bsrange` or one size.
    pub split: Vec<SizeShare>,
}

impl BlockSize {
    /// One size for all requests.
    pub fn fixed(bytes: u64) -> Self {
        BlockSize {
            min: bytes,
            max: bytes,
            split: Vec::new(),
        }
    }

    /// Sizes between two bounds (`bsrange`).
    pub fn range(min: u64, max: u64) -> Self {
        BlockSize {
            min,
            max,
            split: Vec::new(),
        }
    }

    /// Weighted sizes (`bssplit`).
    pub fn split(split: Vec<SizeShare>) -> Self {
        let min = split.iter().map(|share| share.bytes).min().unwrap_or(0);
        let max = split.iter().map(|share| share.bytes).max().unwrap_or(0);
        BlockSize { min, max, split }
    }
}

/// The region of one file or device that a worker covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileRegion {
    /// First byte of the region (`offset` with its increments).
    pub offset: u64,
    /// Bytes from `offset` that the worker may cover.
    pub length: u64,
    /// Size of the file or device; for engines without a disk the end of the region.
    pub file_size: u64,
    /// [`name_hash`](crate::name_hash) of the file's name as fio would print it. Only the
    /// zipf, pareto and normal distributions depend on it.
    pub name_hash: u32,
}

impl FileRegion {
    /// A region that ends where its file ends.
    pub fn new(offset: u64, length: u64) -> Self {
        FileRegion {
            offset,
            length,
            file_size: offset.saturating_add(length),
            name_hash: 0,
        }
    }
}

/// How the next file is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileServiceKind {
    /// One after the other.
    RoundRobin,
    /// One file until it is done.
    Sequential,
    /// At random.
    Random,
    /// At random, as [`Spec::file_skew`] says.
    Skewed,
}

/// The `file_service_type` option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileService {
    /// Choice of the next file.
    pub kind: FileServiceKind,
    /// Requests before the next choice (the `:N` suffix), at least 1.
    pub requests: u32,
}

/// One entry of a `zoned` or `zoned_abs` distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZoneShare {
    /// Share of the accesses in percent; the shares of a direction add up to 100.
    pub access_percent: u8,
    /// Size of the zone: percent for `zoned`, bytes for `zoned_abs`.
    pub size: u64,
}

/// The `random_distribution` option.
#[derive(Clone, Debug, PartialEq)]
pub enum Distribution {
    /// Uniform.
    Random,
    /// Zipf with exponent `theta`; `center` in 0..=1 puts the hottest block there.
    Zipf {
        /// Exponent, not 1.
        theta: f64,
        /// Place of the hottest block as a fraction, or `None` for a random one.
        center: Option<f64>,
    },
    /// Pareto with power `h`.
    Pareto {
        /// Power, between 0 and 1.
        h: f64,
        /// Place of the hottest block as a fraction, or `None` for a random one.
        center: Option<f64>,
    },
    /// Normal with a deviation in percent of the blocks.
    Normal {
        /// Deviation, percent, 0 to 100.
        deviation: f64,
        /// Place of the hottest block as a fraction.
        center: Option<f64>,
    },
    /// Shares of accesses over shares of the region, per direction.
    Zoned(PerDdir<Vec<ZoneShare>>),
    /// Shares of accesses over sizes in bytes, per direction.
    ZonedAbs(PerDdir<Vec<ZoneShare>>),
}

/// The `random_generator` option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generator {
    /// Not given: 32-bit Tausworthe, changed to the 64-bit one above 2^32 blocks.
    Auto,
    /// 32-bit Tausworthe.
    Tausworthe,
    /// 64-bit Tausworthe.
    Tausworthe64,
    /// Linear feedback shift register: each block once, without a map.
    Lfsr,
}

/// The `rw_sequencer` option: what `:N` of a random mode means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RwSequencer {
    /// N requests in sequence from each random offset.
    Sequential,
    /// N requests at each random offset.
    Identical,
}

/// Where the random streams start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seed {
    /// `randseed` (fio's default is 0x89).
    Fixed(u64),
    /// Fresh entropy for each run (`randrepeat=0` without `randseed`); the caller draws it.
    Entropy(u64),
}

/// Which fio's rules decide where versions differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FioRules {
    /// fio 3.33, which Debian 12 ships and the tests compare with. Offsets do not follow
    /// `randseed` while `randrepeat` is on; a change to the 64-bit generator for large regions
    /// takes effect with the second pass; synchronisation also follows reads; a mixed
    /// sequential job whose `io_size` exceeds `size` starts both positions over together.
    V3_33,
    /// fio 3.42, as its source describes it: the other way in all four.
    V3_42,
}

/// `zonemode=strided`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strided {
    /// Bytes transferred in a zone before the next one (`zonesize`).
    pub size: u64,
    /// Bytes of a zone (`zonerange`).
    pub range: u64,
    /// Gap between two zones (`zoneskip`).
    pub skip: u64,
}

/// Everything that decides the requests of one worker.
#[derive(Clone, Debug, PartialEq)]
pub struct Spec {
    /// `rw`.
    pub direction: Direction,
    /// Percent of reads in the mixed modes (`rwmixread`).
    pub rwmix_read: u32,
    /// `bs`, `bsrange` and `bssplit` of read, write and trim.
    pub block: PerDdir<BlockSize>,
    /// Sizes need not be multiples of the smallest one.
    pub bs_unaligned: bool,
    /// Read sizes are for sequential and write sizes for random requests.
    pub bs_is_seq_rand: bool,
    /// `blockalign`; 0: the smallest block size. Other values switch the random map off.
    pub block_align: PerDdir<u64>,
    /// Sequential modes: bytes added after each request (`rw=write:4k`), may be negative.
    pub sequence_add: i64,
    /// Random modes: requests per offset (`rw=randread:8`), at least 1.
    pub sequence_count: u32,
    /// What follows a random offset where `sequence_count` is above 1.
    pub rw_sequencer: RwSequencer,
    /// Percent of a random job's requests that are random.
    pub percentage_random: PerDdir<u32>,
    /// The regions, in the order of their file numbers.
    pub files: Vec<FileRegion>,
    /// Choice of the next file.
    pub file_service: FileService,
    /// Which files are popular, for [`FileServiceKind::Skewed`].
    pub file_skew: Option<Distribution>,
    /// Files that may be open at once; 0: all.
    pub open_files: u32,
    /// Bytes of one pass (`size`, resolved; for several files the sum).
    pub size: u64,
    /// Bytes in total where that differs from `size` (`io_size`); 0: `size`.
    pub io_size: u64,
    /// Requests in total; 0: no limit. The trim-write modes count pairs.
    pub number_ios: u64,
    /// Passes.
    pub loops: u64,
    /// Sequential positions and maps start over where they end, until the caller stops.
    pub time_based: bool,
    /// Blocks may repeat and be missed.
    pub norandommap: bool,
    /// Go on without a map where memory for it cannot be had.
    pub softrandommap: bool,
    /// `random_generator`.
    pub generator: Generator,
    /// `random_distribution`. All but `Random` switch the random map off.
    pub distribution: Distribution,
    /// Start of the random streams.
    pub seed: Seed,
    /// `randrepeat` as given (default true).
    pub randrepeat: bool,
    /// Whether `randseed` was given: fio then does not start the streams over in each pass.
    pub randseed_given: bool,
    /// `allrandrepeat`.
    pub all_rand_repeat: bool,
    /// Number of the worker in the whole run, from 1; seeds derive from it.
    pub thread_number: u32,
    /// Whether the engine queues requests instead of completing them when they are issued.
    /// fio ends a pass after `size` bytes only then; other engines go on until the regions or
    /// the total are used up.
    pub queued: bool,
    /// Rules where versions of fio differ.
    pub rules: FioRules,
    /// Whether contents are verified: reads and writes then draw their sizes alike.
    pub verify: bool,
    /// `fsync` after this many writes; 0: never.
    pub fsync: u32,
    /// `fdatasync` after this many writes; 0: never.
    pub fdatasync: u32,
    /// `sync_file_range` after this many writes; 0: never.
    pub sync_file_range: u32,
    /// `zonemode=strided`.
    pub strided: Option<Strided>,
}

impl Default for Spec {
    fn default() -> Self {
        Spec {
            direction: Direction::Read,
            rwmix_read: 50,
            block: PerDdir::splat(BlockSize::fixed(4096)),
            bs_unaligned: false,
            bs_is_seq_rand: false,
            block_align: PerDdir::splat(0),
            sequence_add: 0,
            sequence_count: 1,
            rw_sequencer: RwSequencer::Sequential,
            percentage_random: PerDdir::splat(100),
            files: Vec::new(),
            file_service: FileService {
                kind: FileServiceKind::RoundRobin,
                requests: 1,
            },
            file_skew: None,
            open_files: 0,
            size: 0,
            io_size: 0,
            number_ios: 0,
            loops: 1,
            time_based: false,
            norandommap: false,
            softrandommap: false,
            generator: Generator::Auto,
            distribution: Distribution::Random,
            seed: Seed::Fixed(0x89),
            randrepeat: true,
            randseed_given: false,
            all_rand_repeat: false,
            thread_number: 1,
            queued: false,
            rules: FioRules::V3_33,
            verify: false,
            fsync: 0,
            fdatasync: 0,
            sync_file_range: 0,
            strided: None,
        }
    }
}

impl Spec {
    /// Whether the random streams start over in each pass.
    pub fn repeats(&self) -> bool {
        self.randrepeat && !self.randseed_given
    }
}

/// Why a [`Spec`] asks for no possible sequence of requests.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SpecError {
    /// No file to work on, or more than file numbers can name.
    #[error("a worker needs between 1 and 65536 files, not {0}")]
    Files(usize),
    /// A block size of 0, a smallest above the largest, or more than one transfer can carry.
    #[error("block size {min}-{max}: needs 1 <= smallest <= largest <= 2147483647 bytes")]
    BlockSize {
        /// Smallest size, bytes.
        min: u64,
        /// Largest size, bytes.
        max: u64,
    },
    /// Shares in percent that do not fit their meaning.
    #[error("{what}: {percent} percent is not between {low} and {high}")]
    Percent {
        /// The option.
        what: &'static str,
        /// The value or sum.
        percent: u64,
        /// Smallest valid value.
        low: u64,
        /// Largest valid value.
        high: u64,
    },
    /// A number outside its range.
    #[error("{what}: {reason}")]
    Value {
        /// The option.
        what: &'static str,
        /// What is needed.
        reason: &'static str,
    },
    /// Memory for the random map could not be had.
    #[error("no memory for a random map of {bytes} bytes; try norandommap or softrandommap")]
    MapMemory {
        /// Bytes of the map.
        bytes: u64,
    },
}
