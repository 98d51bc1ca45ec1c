//! A request with its flags turned into CPUs, buffers, orders and loops, on this machine.

use super::paper::put;
use anyhow::{Context, bail};
use memory::kernel::{Isa, Op};
use memory::latency::{Sampling, Subject};
use memory::layout::Layout;
use memory::machine::{Machine, Threads};
use memory::mixer::Window;
use memory::place::{Home, Pages, Placement, Wish};
use memory::prefetch::{self, Off};
use memory::sample::Rule;
use render::mlc as text;
use spec::mlc::{self, Flags, Mode, Request, Target, ThreadRow, Traffic};
use std::time::Duration;

/// Bytes of a latency buffer and of a load buffer that MLC's manual gives; more where the
/// last-level cache is too large for them.
const LATENCY_BYTES: u64 = 200_000 * 1024;
const LOAD_BYTES: u64 = 100_000 * 1024;
/// Seconds of a point.
const SECONDS: f64 = 2.0;
/// Stride and window of a random order in which no prefetcher helps.
const STRIDE: usize = 256;
const WINDOW_LINES: u64 = 4096;
const LINE: u64 = 64;
/// Buffers below this get small pages unless large ones are asked for.
const SMALL_BYTES: u64 = 4 << 20;
/// More samples than fit into any time: the time decides.
const ENDLESS: usize = usize::MAX;

/// See the module.
pub struct Setup {
    /// What there is.
    pub machine: Machine,
    /// What is measured.
    pub mode: Mode,
    /// The flags as given.
    pub flags: Flags,
    /// Rows of a file of threads.
    pub rows: Vec<ThreadRow>,
    /// Delays in cycles.
    pub delays: Vec<u32>,
    /// Lines that fill the load's buffers.
    pub pattern: Vec<[u8; 64]>,
    /// The prefetchers of the latency thread are to be off.
    pub prefetch_off: bool,
}

impl Setup {
    /// Reads the files, looks at the machine, refuses what cannot be.
    pub fn new(request: &Request) -> anyhow::Result<Setup> {
        let flags = request.flags.clone();
        refuse_what_is_not_built(request.mode, &flags)?;
        let file = |name: &String| std::fs::read_to_string(name).with_context(|| name.clone());
        let parsed = |name: &String, wrong: String| anyhow::anyhow!("{name}: {wrong}");
        let rows = match &flags.threads_file {
            Some(name) => mlc::threads(&file(name)?).map_err(|e| parsed(name, e))?,
            None => Vec::new(),
        };
        let delays = match (&flags.delays, flags.delay) {
            (Some(name), _) => mlc::delays(&file(name)?).map_err(|e| parsed(name, e))?,
            (None, Some(delay)) => vec![delay],
            (None, None) => mlc::DELAYS.to_vec(),
        };
        let mut pattern = match &flags.pattern {
            Some(name) => mlc::pattern(&file(name)?).map_err(|e| parsed(name, e))?,
            None => Vec::new(),
        };
        if flags.check_data && pattern.is_empty() {
            pattern.push(std::array::from_fn(|byte| byte as u8 ^ 0x5a));
        }
        let setup = Setup {
            machine: Machine::read(&host::Root::default())?,
            mode: request.mode,
            flags,
            rows,
            delays,
            pattern,
            prefetch_off: request.prefetch_off,
        };
        setup.check()?;
        Ok(setup)
    }

    /// Whether a row flushes what it stores: `-Q` wherever it is, `-P` in mapped files.
    pub fn flushes(&self, op: Op, on_files: bool) -> bool {
        let asked = self.flags.flush || self.flags.flush_pmem && on_files;
        asked && op.traffic().stores > 0
    }

    /// `-P` and `-Q` need stores in order, and `-P` a file.
    fn check_flushes(&self) -> anyhow::Result<()> {
        let flags = &self.flags;
        if !flags.flush && !flags.flush_pmem {
            return Ok(());
        }
        let letter = if flags.flush { 'Q' } else { 'P' };
        let loads = match self.rows.as_slice() {
            [] => vec![(self.traffic(), flags.random_load, false)],
            rows => {
                let file = |row: &ThreadRow| matches!(row.target, Target::Directory(_));
                let of = |row: &ThreadRow| (row.traffic, row.random, file(row));
                rows.iter().map(of).collect()
            }
        };
        let wanted = |file: &bool| flags.flush || *file;
        let mut stores = loads
            .iter()
            .filter(|(traffic, _, file)| wanted(file) && op(*traffic).traffic().stores > 0)
            .peekable();
        if stores.peek().is_none() {
            let where_to = if flags.flush { "" } else { " to a mapped file" };
            bail!("`-{letter}` flushes what was stored, and nothing is stored{where_to} here");
        }
        if stores.any(|(_, random, _)| *random) {
            bail!(
                "`-{letter}` does not go with stores in random order: they cannot be found again"
            );
        }
        Ok(())
    }

    fn check(&self) -> anyhow::Result<()> {
        self.check_flushes()?;
        let flags = &self.flags;
        let named = [flags.cpu, flags.touch_cpu, flags.writer];
        let lists = flags.cpus.iter().flat_map(|list| list.0.iter());
        let mask = flags.mask.iter().flat_map(|mask| mask.0.iter());
        let rows = self.rows.iter().flat_map(|row| row.cpus.iter());
        let spin = flags.spin.iter().flat_map(|list| list.0.iter());
        let all = named.iter().flatten().chain(lists).chain(mask).chain(rows);
        for cpu in all.chain(spin) {
            self.machine.check_cpu(*cpu)?;
        }
        for node in flags.node.iter().chain(self.nodes_of_rows()) {
            self.machine.check_node(*node)?;
        }
        let isa = self.isa();
        if !isa.supported() {
            bail!("`-{}`: this processor has no {}", letter(isa), isa.name());
        }
        Ok(())
    }

    fn nodes_of_rows(&self) -> impl Iterator<Item = &u32> {
        let second = self.rows.iter().filter_map(|row| row.second.as_ref());
        let targets = self.rows.iter().map(|row| &row.target);
        let targets = targets.chain(second.map(|(target, _)| target));
        targets.filter_map(|target| match target {
            Target::Node(node) => Some(node),
            Target::Directory(_) => None,
        })
    }

    /// The CPU that measures latency.
    pub fn latency_cpu(&self) -> u32 {
        let first = self.machine.cpus.first().map_or(0, |cpu| cpu.id);
        self.flags.cpu.unwrap_or(first)
    }

    /// All hardware threads or one of each core.
    pub fn threads(&self) -> Threads {
        match self.flags.one_per_core {
            true => Threads::Cores,
            false => Threads::All,
        }
    }

    /// CPUs that were named for the load.
    pub fn named_cpus(&self) -> Option<Vec<u32>> {
        let list = self.flags.cpus.as_ref().map(|list| list.0.clone());
        list.or_else(|| self.flags.mask.as_ref().map(|mask| mask.0.clone()))
    }

    /// Instructions of the load: the narrowest unless more was asked for, as MLC does.
    pub fn isa(&self) -> Isa {
        let narrow = || Isa::ALL.into_iter().find(|isa| isa.supported());
        match (self.flags.avx2, self.flags.avx512) {
            _ if self.flags.whole_lines == 0 => Isa::Part,
            (true, _) => Isa::Avx2,
            (_, true) => Isa::Avx512,
            _ => narrow().unwrap_or(Isa::Sse2),
        }
    }

    /// The mix of the load.
    pub fn traffic(&self) -> Traffic {
        self.flags.traffic.unwrap_or(Traffic::READS)
    }

    fn pages(&self, bytes: u64) -> Pages {
        match (self.flags.huge_pages, self.flags.gib_pages) {
            (true, _) => Pages::Reserved(2 << 20),
            (_, true) => Pages::Reserved(1 << 30),
            // A large page would make a buffer of a cache's size larger than it was asked to be.
            _ if bytes < SMALL_BYTES => Pages::Small,
            _ => Pages::Large,
        }
    }

    /// The pages of a buffer as the flags say.
    pub fn pages_of(&self, wish: &Wish) -> Pages {
        match (self.flags.huge_pages, self.flags.gib_pages) {
            (false, false) => Pages::Large,
            _ => self.pages(wish.bytes),
        }
    }

    fn home(&self) -> Home {
        let flags = &self.flags;
        match (&flags.directory, flags.node, flags.touch_cpu) {
            (Some(directory), _, _) => Home::Files(directory.into()),
            (_, Some(node), _) => Home::Node(node),
            (_, _, Some(cpu)) => Home::Cpu(cpu),
            _ => Home::Here,
        }
    }

    /// The buffer of the latency thread.
    pub fn latency_wish(&self) -> Wish {
        let sizes = self.machine.sizes(self.machine.cpus.len(), self.flags.node);
        let least = LATENCY_BYTES.min(self.machine.room(self.flags.node).bytes / 2);
        let default = sizes.latency_bytes.max(least);
        let bytes = self.flags.buffer.map_or(default, |size| size.0);
        Wish {
            bytes,
            pages: self.pages(bytes),
            home: self.home(),
        }
    }

    /// The buffer of each of `threads` threads that read or write, on `node` if one is given.
    pub fn load_wish(&self, threads: usize, node: Option<u32>) -> Wish {
        let sizes = self.machine.sizes(threads, node);
        let room = self.machine.room(node).bytes / 2 / threads.max(1) as u64;
        let default = sizes.thread_bytes.max(LOAD_BYTES.min(room));
        let bytes = self.flags.buffer.map_or(default, |size| size.0);
        Wish {
            bytes,
            pages: self.pages(bytes),
            home: node.map_or(Home::Here, Home::Node),
        }
    }

    /// A buffer as a row of a file of threads describes it.
    pub fn row_wish(&self, bytes: u64, target: &Target) -> Wish {
        Wish {
            bytes,
            pages: self.pages(bytes),
            home: match target {
                Target::Node(node) => Home::Node(*node),
                Target::Directory(directory) => Home::Files(directory.into()),
            },
        }
    }

    /// Turns the prefetchers of the CPUs that measure latency off, if that was asked for, and says
    /// which way they are.
    ///
    /// # Errors
    /// They cannot be turned off.
    pub fn prefetchers(&self, cpus: &[u32]) -> anyhow::Result<Option<Off>> {
        if !self.prefetch_off {
            if !self.flags.keep_prefetchers && !self.flags.random {
                put(text::PREFETCHERS_KEPT)?;
            }
            return Ok(None);
        }
        let off = Off::new(self.machine.root(), cpus)?;
        put(&text::remark(&format!("Prefetchers {}", off.describe())))?;
        Ok(Some(off))
    }

    /// Before the first line: whether they can be turned off, if that was asked for, and what a
    /// run that was killed has left, in words.
    ///
    /// # Errors
    /// They cannot.
    pub fn settle_prefetchers(&self) -> anyhow::Result<Option<String>> {
        let root = self.machine.root();
        let left = prefetch::left(root);
        if self.prefetch_off {
            Off::new(root, &[self.latency_cpu()])?.end()?;
        }
        Ok(left)
    }

    /// Dependent loads follow each other in ascending order, which is right without prefetchers.
    pub fn ascending(&self) -> bool {
        self.prefetch_off && !self.flags.random && self.flags.latency_range == WINDOW_LINES
    }

    /// The order of dependent loads in a buffer of `bytes`: random within a window while the
    /// prefetchers are on.
    pub fn layout(&self, bytes: u64) -> Layout {
        if self.ascending() {
            let stride = self.flags.stride as usize;
            return Layout::Sequential { stride };
        }
        let stride_given = self.flags.stride != LINE;
        let lines = self.flags.latency_range;
        let stride = match (stride_given, lines == WINDOW_LINES) {
            (true, _) => self.flags.stride as usize,
            (false, true) => STRIDE,
            (false, false) => LINE as usize,
        };
        let window = lines.saturating_mul(LINE).min(bytes) as usize;
        // A window that is no multiple of the stride would leave its end out.
        let window = (window / stride * stride).max(stride);
        Layout::Window { stride, window }
    }

    /// What the latency thread follows.
    pub fn subject(&self) -> Subject {
        let wish = self.latency_wish();
        let layout = self.layout(wish.bytes);
        Subject { wish, layout }
    }

    /// Samples for the time of one point.
    pub fn sampling(&self) -> Sampling {
        Sampling {
            rule: self.rule(1),
            sample: Duration::from_millis(20),
        }
    }

    /// Samples of `rows` rows that are measured in turn, each for the time of one point.
    pub fn rule(&self, rows: u32) -> Rule {
        let seconds = self.flags.seconds.unwrap_or(SECONDS);
        Rule {
            samples: ENDLESS,
            until: None,
            warm_up: 1,
            cap: Duration::from_secs_f64(seconds) * rows,
        }
    }

    /// One sample of a load.
    pub fn window(&self) -> Window {
        Window::default()
    }

    /// More than the numbers.
    pub fn verbose(&self) -> bool {
        self.flags.verbose
    }

    /// Where a buffer is, in words.
    pub fn placed(what: &str, placement: &Placement) -> String {
        let node = |(node, share): &(u32, f64)| format!("node {node} {:.0} %", share * 100.0);
        let nodes: Vec<String> = placement.nodes.iter().map(node).collect();
        let nodes = match nodes.is_empty() {
            true => "no node known".to_owned(),
            false => nodes.join(", "),
        };
        let (pages, mib) = (placement.pages(), placement.bytes >> 20);
        text::remark(&format!("{what}: {mib} MiB on pages of {pages}, {nodes}"))
    }
}

/// The operation of a mix.
pub fn op(traffic: Traffic) -> Op {
    match traffic.0 {
        0 => Op::Read,
        number => Op::of_traffic_type(number.into()).unwrap_or(Op::Read),
    }
}

fn letter(isa: Isa) -> &'static str {
    match isa {
        Isa::Avx512 => "Z",
        Isa::Part => "K0",
        _ => "Y",
    }
}

fn refuse_what_is_not_built(mode: Mode, flags: &Flags) -> anyhow::Result<()> {
    if flags.range == Some(0) && mode != Mode::Scan {
        bail!("`-n0`: a window has at least one line");
    }
    let loads = [
        Mode::BandwidthMatrix,
        Mode::PeakInjection,
        Mode::MaxBandwidth,
    ];
    if loads.contains(&mode) {
        if flags.stride != LINE {
            bail!("`-l` is not supported here: the loops of a load touch every line");
        }
        if flags.pattern.is_some() {
            bail!("`-M` is not supported here; --loaded_latency takes it");
        }
    }
    if mode == Mode::CacheToCache {
        if flags.buffer.is_some() {
            bail!("`-b` is not supported here: the lines of the window (`-C`) are all there is");
        }
        if flags.latency_range != WINDOW_LINES || flags.steps.is_some() {
            bail!(
                "`-D` and `-x` are not supported here: the reader goes through all lines of `-C`"
            );
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mix_has_an_operation_that_counts_as_the_table_says() {
        for number in 0..=255 {
            let traffic = Traffic(number);
            let Some(lines) = traffic.lines() else {
                continue;
            };
            let got = op(traffic).traffic();
            assert_eq!(got.controller_reads(), lines.reads() as usize, "{traffic}");
            assert_eq!(got.stores, lines.writes() as usize, "{traffic}");
            assert!(
                memory::kernel::candidates(op(traffic), None)
                    .next()
                    .is_some()
            );
            let isa = Isa::ALL.into_iter().find(|isa| isa.supported()).unwrap();
            if traffic.random() {
                assert!(
                    memory::kernel::random(op(traffic), isa).is_some(),
                    "{traffic}"
                );
            }
        }
    }
}
