//! The rows: which work is compared, with the exact words both tools get.

use anyhow::Result;

use super::{Bench, Tool, bare, load, memory, startup, table::Round};

/// What a row measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// I/Os per second, and user CPU time per I/O.
    Iops,
    /// The same for a fixed number of I/Os, by the wall time of the whole process: fio writes
    /// its logs after its jobs.
    Whole,
    /// Peak memory of the whole process tree.
    Memory,
    /// Time from start to the first I/O.
    Startup,
    /// CPU time per I/O of a loop with statistics, beside a bare loop in fio's place.
    Bare(Loop),
    /// I/Os per second and job of this many jobs, as a share of what one job does.
    Scaling(u32),
}

/// A figure of `assay selfcheck`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loop {
    /// Requests that do nothing.
    Nop,
    /// Reads of a cached file.
    File,
}

/// What a row's `$T` stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Nothing: the null engine.
    None,
    /// A file in the page cache.
    Cached,
    /// A file in memory (tmpfs), which direct I/O reaches without a device.
    Tmpfs,
    /// A compressed RAM disk that was filled.
    Zram,
}

/// One line of the table.
#[derive(Debug)]
pub struct Row {
    pub name: &'static str,
    pub measure: Measure,
    pub target: Target,
    /// fio's words, without size bound and run time. `$L` is a prefix for log files.
    pub words: &'static str,
    /// Words that only Assay knows.
    pub own: &'static str,
    /// I/Os of a quick run, which is bounded by size so that both must count the same.
    pub quick_ios: u64,
}

const fn iops(name: &'static str, target: Target, quick_ios: u64, words: &'static str) -> Row {
    Row {
        name,
        measure: Measure::Iops,
        target,
        words,
        own: "",
        quick_ios,
    }
}

const RING: &str = "--ioengine=io_uring --fixedbufs --registerfiles --iodepth=32 \
     --iodepth_batch_submit=32 --iodepth_batch_complete_min=32 --rw=randread --norandommap \
     --invalidate=0 --filename=$T --size=1m";
/// The same over a file that only memory can hold, so that copying costs more than anything else.
const RING_WIDE: &str = "--ioengine=io_uring --fixedbufs --registerfiles --iodepth=32 \
     --iodepth_batch_submit=32 --iodepth_batch_complete_min=32 --rw=randread --norandommap \
     --invalidate=0 --filename=$T --size=256m";

const fn beside(name: &'static str, which: Loop) -> Row {
    Row {
        name,
        measure: Measure::Bare(which),
        target: Target::Cached,
        words: "",
        own: "",
        quick_ios: 0,
    }
}

const fn scaling(name: &'static str, target: Target, jobs: u32, words: &'static str) -> Row {
    Row {
        name,
        measure: Measure::Scaling(jobs),
        target,
        words,
        own: "",
        quick_ios: 0,
    }
}

const NULL_JOBS: &str = "--ioengine=null --rw=randread --norandommap --size=8g";
const CACHED_JOBS: &str = "--ioengine=psync --rw=randread --norandommap --invalidate=0 \
     --filename=$T --size=256m";

/// Every row, in the order of the table.
pub const ROWS: [Row; 26] = [
    iops(
        "null-qd1",
        Target::None,
        2_000_000,
        "--ioengine=null --rw=randread --norandommap --size=8g",
    ),
    iops(
        "null-qd32",
        Target::None,
        2_000_000,
        "--ioengine=null --rw=randread --norandommap --size=8g --iodepth=32 --iodepth_batch=32 \
         --iodepth_batch_complete_min=32",
    ),
    iops(
        "null-randommap",
        Target::None,
        2_000_000,
        "--ioengine=null --rw=randread --size=8g",
    ),
    iops(
        "null-refill",
        Target::None,
        300_000,
        "--ioengine=null --rw=randwrite --norandommap --refill_buffers --size=8g",
    ),
    iops(
        "null-verify",
        Target::None,
        300_000,
        "--ioengine=null --rw=write --verify=crc32c --do_verify=0 \
         --verify_state_save=0 --size=8g",
    ),
    Row {
        measure: Measure::Whole,
        ..iops(
            "null-lat-log",
            Target::None,
            1_000_000,
            "--ioengine=null --rw=randread --norandommap --size=8g --write_lat_log=$L",
        )
    },
    iops(
        "psync-cached",
        Target::Cached,
        400_000,
        "--ioengine=psync --rw=randread --norandommap --invalidate=0 --filename=$T --size=256m",
    ),
    iops(
        "libaio-cached",
        Target::Cached,
        300_000,
        "--ioengine=libaio --iodepth=32 --rw=randread --norandommap --invalidate=0 \
         --filename=$T --size=256m",
    ),
    iops(
        "libaio-direct",
        Target::Tmpfs,
        300_000,
        "--ioengine=libaio --iodepth=32 --direct=1 --rw=randread --norandommap --filename=$T \
         --size=256m",
    ),
    iops("uring-batch", Target::Cached, 400_000, RING),
    Row {
        own: "--stamps=early --reap=prompt",
        ..iops("uring-early", Target::Cached, 400_000, RING)
    },
    iops("uring-batch-wide", Target::Cached, 400_000, RING_WIDE),
    Row {
        own: "--stamps=early --reap=prompt",
        ..iops("uring-early-wide", Target::Cached, 400_000, RING_WIDE)
    },
    beside("uring-bare", Loop::File),
    beside("nop-bare", Loop::Nop),
    iops(
        "uring-zram",
        Target::Zram,
        200_000,
        "--ioengine=io_uring --iodepth=32 --direct=1 --rw=randread --norandommap --filename=$T \
         --size=256m",
    ),
    Row {
        name: "idle-memory",
        measure: Measure::Memory,
        target: Target::None,
        words: "--ioengine=null --rw=randread --size=1g --rate_iops=1 --group_reporting",
        own: "",
        quick_ios: 0,
    },
    Row {
        name: "first-io",
        measure: Measure::Startup,
        target: Target::Cached,
        words: "--ioengine=psync --rw=read --invalidate=0 --filename=$T --size=4k",
        own: "",
        quick_ios: 0,
    },
    scaling("null-x2", Target::None, 2, NULL_JOBS),
    scaling("null-x4", Target::None, 4, NULL_JOBS),
    scaling("null-x8", Target::None, 8, NULL_JOBS),
    scaling("null-x16", Target::None, 16, NULL_JOBS),
    scaling("cached-x2", Target::Cached, 2, CACHED_JOBS),
    scaling("cached-x4", Target::Cached, 4, CACHED_JOBS),
    scaling("cached-x8", Target::Cached, 8, CACHED_JOBS),
    scaling("cached-x16", Target::Cached, 16, CACHED_JOBS),
];

impl Row {
    /// Why this machine cannot run the row.
    pub fn missing(&self, bench: &Bench) -> Option<String> {
        let cpus = std::thread::available_parallelism().map_or(1, usize::from);
        match self.measure {
            Measure::Scaling(jobs) if jobs as usize > cpus => Some(format!(
                "{jobs} jobs need as many CPUs, and here are {cpus}"
            )),
            _ => bench.places().path(self.target).err(),
        }
    }

    /// The words after `fio`, with target and log prefix filled in.
    pub fn arguments(&self, bench: &Bench, tool: Tool) -> Vec<String> {
        let target = bench.places().path(self.target).unwrap_or_default();
        let logs = bench.places().logs();
        let fill = |word: &str| word.replace("$T", &target).replace("$L", &logs);
        let mut words = vec![format!("--name={}", self.name), "--bs=4k".to_owned()];
        words.extend(self.words.split_whitespace().map(fill));
        if tool == Tool::Assay {
            words.extend(self.own.split_whitespace().map(str::to_owned));
        }
        words
    }

    /// One round.
    ///
    /// # Errors
    /// A tool that failed, or that counted other than the job fixes.
    pub fn measure(&self, bench: &Bench, round: usize) -> Result<Round> {
        match self.measure {
            Measure::Iops | Measure::Whole => load::round(self, bench, round),
            Measure::Memory => memory::round(self, bench, round),
            Measure::Startup => startup::round(self, bench, round),
            Measure::Bare(which) => bare::round(which, bench),
            Measure::Scaling(jobs) => load::scaling(self, jobs, bench, round),
        }
    }
}
