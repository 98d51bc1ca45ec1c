//! One job on its way into the plan: its options with everything that one option says about
//! another already applied, the way fio's fix-ups do it.

use crate::error::Fault;
use crate::model::{Depth, Stamps};
use engine::{Caps, EngineKind};
use spec::Options;
use spec::kinds::{self, Distribution, VerifyKind};
use units::{Ddir, PerDdir};
use workload::{BlockSize, SizeShare};

/// Files that a worker can tell apart.
const MAX_FILES: u32 = 65_536;

/// A job's options and what follows from them before anything is known about its files.
#[derive(Clone, Debug)]
pub(crate) struct Job<'a> {
    pub name: &'a str,
    pub options: &'a Options,
    pub kind: EngineKind,
    pub caps: Caps,
    /// Block sizes of all directions, used or not.
    pub block: PerDdir<BlockSize>,
    /// Smallest block of the directions that fio bounds sizes by, bytes.
    pub min_bs: u64,
    pub norandommap: bool,
    pub overwrite: bool,
    pub time_based: bool,
    pub refill: bool,
    pub depth: Depth,
    /// Submission latency is measured.
    pub slat: bool,
    /// What a recording that is replayed holds, instead of what `rw` and `bs` say.
    pub recorded: Option<Recorded>,
}

/// The requests of a recording, for the questions that `rw` and `bs` answer otherwise.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recorded {
    pub uses: PerDdir<bool>,
    /// Longest request, bytes.
    pub longest: u64,
}

impl<'a> Job<'a> {
    /// Applies the fix-ups. Remarks go to `notes`, everything impossible to `faults`.
    pub fn settle(
        name: &'a str,
        options: &'a Options,
        kind: EngineKind,
        notes: &mut Vec<String>,
        faults: &mut Vec<Fault>,
    ) -> Job<'a> {
        let caps = kind.caps();
        let block = block_sizes(options);
        let mode = options.io.rw.mode;
        let verifies = options.verify.verify != VerifyKind::None;
        let aligned = mode.is_random()
            && Ddir::DATA
                .into_iter()
                .any(|d| options.block.ba[d].unwrap_or(0) > 0);
        let mut norandommap = options.io.norandommap;
        let foreign = |d: Ddir| options.block.ba[d].is_some_and(|ba| ba != block[d].min);
        if aligned && !norandommap && Ddir::DATA.into_iter().any(foreign) {
            notes.push(format!(
                "{name}: any use of blockalign= turns the random map off"
            ));
            norandommap = true;
        }
        norandommap |= options.io.random_distribution != Distribution::Random;
        // The contradictions themselves were told when the options were checked.
        let limited = options.extent.time_based && !options.extent.runtime.is_zero();
        let time_based = limited || caps.no_io;
        let writes_only = mode.writes() && !mode.reads();
        if verifies && writes_only && options.verify.do_verify && limited {
            notes.push(format!(
                "{name}: the read-back of verify= never starts, because the writes use all of \
                 runtime="
            ));
        }
        if verifies && norandommap && !fixed(&block) {
            notes.push(format!(
                "{name}: norandommap with varying block sizes leaves verify= incomplete"
            ));
        }
        let job = Job {
            name,
            options,
            kind,
            caps,
            min_bs: smallest(options, &block),
            norandommap,
            overwrite: options.target.overwrite || mode.reads(),
            time_based,
            refill: options.buffer.refill_buffers
                || (verifies && !options.was_set("refill_buffers")),
            slat: !options.measure.disable_slat,
            depth: depth(options, options.queue.iodepth),
            block,
            recorded: None,
        };
        job.remarks(notes);
        job.conflicts(faults);
        crate::zoned::conflicts(&job, faults, notes);
        job
    }

    /// True when the job writes, trims, or changes its targets in another way.
    pub fn modifies(&self) -> bool {
        self.caps.alters || self.uses(Ddir::Write) || self.uses(Ddir::Trim)
    }

    /// The job as it replays a recording, at the depth that the recording shows.
    pub fn replaying(&self, recorded: Recorded, depth_shown: Option<u32>) -> Job<'a> {
        let mut job = self.clone();
        job.recorded = Some(recorded);
        if let Some(shown) = depth_shown.filter(|_| !self.options.was_set("iodepth")) {
            job.depth = depth(self.options, shown);
        }
        job
    }

    /// True when requests of this direction may occur, read-back of written blocks included.
    pub fn uses(&self, ddir: Ddir) -> bool {
        if let Some(recorded) = &self.recorded {
            return recorded.uses[ddir];
        }
        let mode = self.options.io.rw.mode;
        match ddir {
            Ddir::Read => mode.reads(),
            Ddir::Write => mode.writes(),
            _ => mode.trims(),
        }
    }

    /// Largest request, bytes. `bs_is_seq_rand` keeps sizes under other names.
    pub fn max_bs(&self) -> u64 {
        let seq_rand = self.options.block.bs_is_seq_rand;
        let used = Ddir::DATA.into_iter().filter(|d| self.uses(*d) || seq_rand);
        let most = used.map(|d| self.block[d].max).max().unwrap_or(0);
        self.recorded
            .map_or(most, |recorded| recorded.longest.max(1))
    }

    fn remarks(&self, notes: &mut Vec<String>) {
        let options = self.options;
        if options.replay.read_iolog.is_some() && options.replay.write_iolog.is_some() {
            notes.push(format!("{}: read_iolog overrides write_iolog", self.name));
        }
        let verify = &options.verify;
        let reads_back = verify.verify != VerifyKind::None && verify.do_verify;
        if options.io.trim_percentage > 0 && (options.io.trim_backlog == 0 || !reads_back) {
            notes.push(format!(
                "{}: trim_percentage= trims nothing without trim_backlog= and verify=",
                self.name
            ));
        }
        let buffer = &options.buffer;
        if options.verify.verify != VerifyKind::None && buffer.dedupe_percentage.is_some() {
            notes.push(format!(
                "{}: verified writes are never equal, dedupe_percentage has no effect",
                self.name
            ));
        }
        if self.caps.sync && options.queue.iodepth > 1 && !self.depth.offload {
            notes.push(
                "both iodepth >= 1 and synchronous I/O engine are selected, \
                 queue depth will be capped at 1"
                    .to_owned(),
            );
        }
        if options.block.bs_unaligned && options.io.direct {
            notes.push(format!(
                "{}: bs_unaligned may not work with direct=1",
                self.name
            ));
        }
        let shared = options.target.filename.is_some()
            || !options.target.filename_format.contains("$jobnum");
        if options.verify.verify != VerifyKind::None
            && options.io.rw.mode.writes()
            && options.verify.do_verify
            && options.process.numjobs > 1
            && shared
        {
            notes.push(format!(
                "{}: several writers share a file; they may overwrite each other's blocks and \
                 fail verification",
                self.name
            ));
        }
    }

    /// Options that exclude each other, and numbers that lead nowhere.
    fn conflicts(&self, faults: &mut Vec<Fault>) {
        let options = self.options;
        for ddir in Ddir::DATA {
            let size = &self.block[ddir];
            if self.uses(ddir) && (size.max > i32::MAX as u64 || size.min == 0) {
                let text = format!("bs={}: a request moves 1 to 2147483647 bytes", size.max);
                faults.push(Fault::option("bs", text));
            }
        }
        if options.process.numjobs == 0 {
            faults.push(Fault::option(
                "numjobs",
                "numjobs=0: a job needs at least one clone",
            ));
        }
        if options.target.nrfiles == 0 && options.target.filename.is_none() {
            faults.push(Fault::option(
                "nrfiles",
                "nrfiles=0: a job needs at least one file",
            ));
        }
        if options.target.nrfiles > MAX_FILES {
            let text = format!("nrfiles={}: at most {MAX_FILES}", options.target.nrfiles);
            faults.push(Fault::option("nrfiles", text));
        }
        if options.replay.read_iolog.is_some() && (self.caps.by_name.is_some() || self.caps.no_io) {
            let text = format!(
                "read_iolog=: ioengine={} replays nothing",
                options.queue.ioengine
            );
            faults.push(Fault::option("read_iolog", text));
        }
        if options.target.fill_device && !options.io.rw.mode.writes() {
            faults.push(Fault::option(
                "fill_device",
                "fill_device=1 needs a job that writes",
            ));
        }
        if options.target.fill_device && options.io.rw.mode.is_random() {
            let text = format!("fill_device=1 fills in order, rw={} is random", self.rw());
            faults.push(Fault::option("fill_device", text));
        }
        if self.depth.offload && !self.caps.offloads {
            let text = format!(
                "io_submit_mode=offload: ioengine={} cannot be used by several threads; psync, \
                 libaio and others can",
                self.kind.name()
            );
            faults.push(Fault::option("io_submit_mode", text));
        }
        let verifies = options.verify.verify != VerifyKind::None;
        let no_data = self.caps.no_io || self.caps.by_name.is_some();
        if verifies && (no_data || (self.caps.fake && !self.caps.diskless)) {
            let text = format!("verify=: ioengine={} writes no data", self.kind.name());
            faults.push(Fault::option("verify", text));
        }
        if self.caps.no_io && !options.pace.thinktime.is_zero() {
            let text = format!("thinktime=: ioengine={} has its own", self.kind.name());
            faults.push(Fault::option("thinktime", text));
        }
        if self.caps.no_io && options.extent.number_ios > 0 {
            let text = format!("number_ios=: ioengine={} ends by time", self.kind.name());
            faults.push(Fault::option("number_ios", text));
        }
        if options.io.atomic && !self.caps.atomic {
            let text = format!(
                "atomic=1: ioengine={} cannot; pvsync2, libaio and io_uring can",
                options.queue.ioengine
            );
            faults.push(Fault::option("atomic", text));
        }
        let buffer = &options.buffer;
        if buffer.dedupe_global && buffer.dedupe_mode != kinds::DedupeMode::WorkingSet {
            let text = "dedupe_global=1 shares working sets, which dedupe_mode=working_set makes";
            faults.push(Fault::option("dedupe_global", text));
        }
        if options.io.trim_percentage > 0 && !self.caps.trims {
            let text = format!(
                "trim_percentage=: ioengine={} cannot trim",
                self.kind.name()
            );
            faults.push(Fault::option("trim_percentage", text));
        }
        if options.io.rw.mode.trims() && !self.caps.trims {
            let text = format!(
                "rw={}: ioengine={} cannot trim",
                self.rw(),
                options.queue.ioengine
            );
            faults.push(Fault::option("rw", text));
        }
    }

    /// `rw` as fio prints it.
    pub fn rw(&self) -> &'static str {
        self.options.io.rw.mode.word()
    }
}

fn fixed(block: &PerDdir<BlockSize>) -> bool {
    let first = block[Ddir::Read].min;
    block
        .0
        .iter()
        .all(|size| size.min == first && size.max == first)
}

/// fio bounds sizes by the smaller of read and write blocks, and trim blocks where trims occur.
fn smallest(options: &Options, block: &PerDdir<BlockSize>) -> u64 {
    let both = block[Ddir::Read].min.min(block[Ddir::Write].min);
    let trims = options.io.rw.mode.trims();
    if trims {
        both.min(block[Ddir::Trim].min)
    } else {
        both
    }
}

fn block_sizes(options: &Options) -> PerDdir<BlockSize> {
    let block = &options.block;
    PerDdir::from_fn(|ddir| {
        let split = &block.bssplit[ddir];
        if !split.is_empty() {
            let share = |(bytes, percent): &(u64, u32)| SizeShare {
                bytes: *bytes,
                percent: *percent,
            };
            return BlockSize::split(split.0.iter().map(share).collect());
        }
        match block.bsrange[ddir] {
            Some(range) => BlockSize::range(range.lo, range.hi),
            None => BlockSize::fixed(block.bs[ddir]),
        }
    })
}

/// Depth and batches, each within the other as fio bounds them.
fn depth(options: &Options, iodepth: u32) -> Depth {
    let queue = &options.queue;
    let within = |value: u32| {
        if value == 0 || value > iodepth {
            iodepth
        } else {
            value
        }
    };
    let min = queue.iodepth_batch_complete_min;
    let max = queue
        .iodepth_batch_complete_max
        .unwrap_or(0)
        .max(min)
        .max(1);
    let offload = queue.io_submit_mode == kinds::SubmitMode::Offload;
    // Each thread submits and reaps one request.
    let batch = |size: u32, one: u32| if offload { one } else { size };
    Depth {
        iodepth,
        low: batch(within(queue.iodepth_low.unwrap_or(0)), iodepth),
        batch_submit: batch(within(queue.iodepth_batch), 1),
        batch_complete_min: batch(min, 1),
        batch_complete_max: batch(max, iodepth),
        // A trim must not meet a newer write of its range in flight.
        serialize_overlap: (queue.serialize_overlap || options.io.trim_percentage > 0)
            && iodepth > 1
            && (options.replay.read_iolog.is_some()
                || options.io.rw.mode.writes()
                || options.io.rw.mode.trims()),
        stamps: match queue.stamps {
            kinds::Stamps::Fio => Stamps::Fio,
            kinds::Stamps::Early => Stamps::Early,
            kinds::Stamps::Each => Stamps::Each,
        },
        prompt: offload || queue.reap == kinds::Reap::Prompt,
        offload,
    }
}
