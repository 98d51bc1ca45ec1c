//! The rows: which work is compared, with the exact words both tools get.

use anyhow::Result;

use super::{Bench, load, memory, startup, table::Round};

/// What a row measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// I/Os per second, and user CPU time per I/O.
    Iops,
    /// Peak memory of the whole process tree.
    Memory,
    /// Time from start to the first I/O.
    Startup,
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
    /// fio's words, without size bound and run time.
    pub words: &'static str,
    /// I/Os of a quick run, which is bounded by size so that both must count the same.
    pub quick_ios: u64,
}

const fn iops(name: &'static str, target: Target, quick_ios: u64, words: &'static str) -> Row {
    Row {
        name,
        measure: Measure::Iops,
        target,
        words,
        quick_ios,
    }
}

/// Every row, in the order of the table.
pub const ROWS: [Row; 11] = [
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
    iops(
        "uring-batch",
        Target::Cached,
        400_000,
        "--ioengine=io_uring --fixedbufs --registerfiles --iodepth=32 --iodepth_batch_submit=32 \
         --iodepth_batch_complete_min=32 --rw=randread --norandommap --invalidate=0 \
         --filename=$T --size=256m",
    ),
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
        quick_ios: 0,
    },
    Row {
        name: "first-io",
        measure: Measure::Startup,
        target: Target::Cached,
        words: "--ioengine=psync --rw=read --invalidate=0 --filename=$T --size=4k",
        quick_ios: 0,
    },
];

impl Row {
    /// Why this machine cannot run the row.
    pub fn missing(&self, bench: &Bench) -> Option<String> {
        bench.places().path(self.target).err()
    }

    /// The words after `fio`, with the target filled in.
    pub fn arguments(&self, bench: &Bench) -> Vec<String> {
        let target = bench.places().path(self.target).unwrap_or_default();
        let fill = |word: &str| word.replace("$T", &target);
        let mut words = vec![format!("--name={}", self.name), "--bs=4k".to_owned()];
        words.extend(self.words.split_whitespace().map(fill));
        words
    }

    /// One round.
    ///
    /// # Errors
    /// A tool that failed, or that counted other than the job fixes.
    pub fn measure(&self, bench: &Bench, round: usize) -> Result<Round> {
        match self.measure {
            Measure::Iops => load::round(self, bench, round),
            Measure::Memory => memory::round(self, bench, round),
            Measure::Startup => startup::round(self, bench, round),
        }
    }
}
