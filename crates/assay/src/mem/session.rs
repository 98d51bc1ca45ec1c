//! What all sections of one invocation share: the machine, the options, the document so far.

use super::conditions::Before;
use super::{Options, Pages, dimms};
use crate::history::Keeping;
use anyhow::Context;
use memory::machine::{Machine, Threads};
use memory::place::{self, Home, Wish};
use memory::prefetch::{self, Off};
use memory::sample::Rule;
use result::Run;
use result::memory::Memory;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long one figure may take when its interval has to become narrow.
const UNTIL_CAP: Duration = Duration::from_secs(60);

/// One invocation.
pub struct Session {
    /// CPUs, nodes, caches, limits.
    pub machine: Machine,
    /// The document so far.
    document: Arc<Mutex<Document>>,
    before: Before,
    begun: Instant,
    json: bool,
    until: Option<f64>,
    all_threads: bool,
    cpus_named: bool,
    /// Node of the memory, where one was named.
    pub node: Option<u32>,
    /// Bytes of a buffer, where they were named.
    pub buffer: Option<u64>,
    pages: Pages,
    /// Instructions that were asked for.
    pub isa: Option<memory::kernel::Isa>,
    prefetch_off: bool,
    progress: bool,
}

/// What is written at the end, also after a signal.
pub struct Document {
    memory: Memory,
    output: Option<PathBuf>,
    json: bool,
    keeping: Keeping,
}

/// The document of an invocation, or of each repetition in turn; signals write what it holds and
/// end the process from now on.
///
/// # Errors
/// Nothing can listen for signals.
pub fn begin(options: &Options) -> anyhow::Result<Arc<Mutex<Document>>> {
    let document = Arc::new(Mutex::new(Document {
        memory: Memory::default(),
        output: options.output.clone(),
        json: options.json,
        keeping: options.keeping.clone(),
    }));
    let last = Arc::clone(&document);
    crate::signals::end_at_signal(move || {
        eprintln!("\nassay: mem: ended by a signal");
        if let Err(error) = lock(&last).write(true) {
            eprintln!("assay: mem: {error:#}");
        }
    })
    .context("signals")?;
    Ok(document)
}

impl Session {
    /// Looks at the machine, and begins the document anew.
    pub fn new(options: &Options, document: &Arc<Mutex<Document>>) -> anyhow::Result<Session> {
        lock(document).memory = Memory::default();
        let mut machine = Machine::read(&host::Root::default())?;
        if let Some(list) = &options.cpus {
            for cpu in &list.0 {
                machine.check_cpu(*cpu)?;
            }
            machine.cpus.retain(|cpu| list.0.contains(&cpu.id));
        }
        if let Some(node) = options.node {
            machine.check_node(node)?;
        }
        let session = Session {
            before: Before::look(machine.root()),
            begun: Instant::now(),
            json: options.json,
            until: options.until_ci,
            all_threads: options.all_threads,
            cpus_named: options.cpus.is_some(),
            node: options.node,
            buffer: options.buffer,
            pages: options.pages,
            isa: options.isa,
            prefetch_off: options.prefetch_off,
            progress: std::io::stderr().is_terminal(),
            machine,
            document: Arc::clone(document),
        };
        let sheet = options.dimms.clone();
        session.memory(|memory| {
            memory.data_sheet = sheet.or_else(|| dimms::of_firmware(session.machine.root()));
        });
        if let Some(left) = prefetch::left(session.machine.root()) {
            session.remark(left);
        }
        // Before anything is measured: whether it can be done at all.
        if let Some(off) = session.prefetchers(&[session.first_cpu()])? {
            off.end()?;
        }
        let sizes = session.machine.sizes(session.cpus().len(), session.node);
        if let Some(warning) = sizes.warning.filter(|_| session.buffer.is_none()) {
            session.remark(warning);
        }
        Ok(session)
    }

    /// Turns the prefetchers of the CPUs that are about to measure latency off, if that was asked
    /// for.
    ///
    /// # Errors
    /// They cannot be turned off.
    pub fn prefetchers(&self, cpus: &[u32]) -> anyhow::Result<Option<Off>> {
        let root = self.machine.root();
        Ok(self
            .prefetch_off
            .then(|| Off::new(root, cpus))
            .transpose()?)
    }

    /// Changes the document.
    pub fn memory<T>(&self, change: impl FnOnce(&mut Memory) -> T) -> T {
        change(&mut lock(&self.document).memory)
    }

    /// Adds a remark about what makes the figures hard to compare, once.
    pub fn remark(&self, text: String) {
        self.memory(|memory| {
            let remarks = &mut memory.conditions.remarks;
            if !remarks.contains(&text) {
                remarks.push(text);
            }
        });
    }

    /// How to sample, for a figure that may take `cap` when no interval was asked for.
    pub fn rule(&self, samples: usize, cap: Duration) -> Rule {
        Rule {
            samples,
            until: self.until,
            warm_up: 1,
            cap: self.until.map_or(cap, |_| UNTIL_CAP),
        }
    }

    /// CPUs that take part, one for each core unless all threads were asked for.
    pub fn cpus(&self) -> Vec<u32> {
        let threads = match self.all_threads {
            true => Threads::All,
            false => Threads::Cores,
        };
        self.machine.workers(threads)
    }

    /// The CPUs were named one by one.
    pub fn cpus_named(&self) -> bool {
        self.cpus_named
    }

    /// Those of them that belong to a node.
    pub fn cpus_of(&self, node: u32) -> Vec<u32> {
        let mut cpus = self.cpus();
        cpus.retain(|cpu| self.machine.node_of(*cpu) == Some(node));
        cpus
    }

    /// The CPU that measures latency.
    pub fn first_cpu(&self) -> u32 {
        self.cpus().first().copied().unwrap_or(0)
    }

    /// The largest working set: `most`, or the buffer that was asked for.
    pub fn largest(&self, most: u64) -> u64 {
        self.buffer.unwrap_or(most)
    }

    /// A buffer for latency.
    pub fn latency_wish(&self) -> Wish {
        let sizes = self.machine.sizes(self.cpus().len(), self.node);
        self.wish(self.buffer.unwrap_or(sizes.latency_bytes))
    }

    /// A buffer for each of `threads` threads that read or write.
    pub fn load_wish(&self, threads: usize) -> Wish {
        let sizes = self.machine.sizes(threads, self.node);
        self.wish(self.buffer.unwrap_or(sizes.thread_bytes))
    }

    /// A buffer of `bytes` where the options say.
    pub fn wish(&self, bytes: u64) -> Wish {
        Wish {
            bytes,
            pages: match self.pages {
                Pages::Large => place::Pages::Large,
                Pages::Small => place::Pages::Small,
                Pages::Transparent => place::Pages::Transparent,
                Pages::TwoMiB => place::Pages::Reserved(2 << 20),
                Pages::OneGiB => place::Pages::Reserved(1 << 30),
            },
            home: self.node.map_or(Home::Here, Home::Node),
        }
    }

    /// Says on a terminal what is being measured.
    pub fn progress(&self, what: &str) {
        if self.progress {
            let elapsed = self.begun.elapsed().as_secs();
            eprint!("\r{:78}\r{elapsed:3} s  {what}", "");
            // A terminal that is gone takes no progress; the run goes on.
            let _ = std::io::stderr().flush();
        }
    }

    /// Prints a section that is done.
    ///
    /// # Errors
    /// Nobody reads it any more.
    pub fn print(&self, text: &str) -> anyhow::Result<()> {
        if self.progress {
            eprint!("\r{:78}\r", "");
        }
        if !self.json {
            crate::out::put(&format!("{text}\n"))?;
        }
        Ok(())
    }

    /// Completes the conditions, prints what has to be printed at the end, writes the file.
    pub fn finish(&self) -> anyhow::Result<()> {
        let isa = self.isa.or_else(memory::kernel::Isa::widest);
        let found = self
            .before
            .conditions(&self.machine, isa.map_or("none", |isa| isa.name()));
        let conditions = self.memory(|memory| {
            let known = std::mem::take(&mut memory.conditions);
            memory.conditions = result::memory::Conditions {
                pages: known.pages,
                prefetch: known.prefetch,
                remarks: known
                    .remarks
                    .into_iter()
                    .chain(found.remarks.clone())
                    .collect(),
                ..found
            };
            memory.elapsed_s = self.begun.elapsed().as_secs_f64();
            memory.conditions.clone()
        });
        if let Some(sheet) = self.memory(|memory| render::memory::data_sheet(memory)) {
            self.print(&sheet)?;
        }
        self.print(render::memory::conditions(&conditions).trim_end())?;
        lock(&self.document).write(false)
    }

    /// The whole document.
    pub fn document(&self) -> Memory {
        self.memory(|memory| memory.clone())
    }
}

fn lock(document: &Mutex<Document>) -> MutexGuard<'_, Document> {
    document.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Document {
    /// Writes the file, and the JSON to standard output, as far as they were asked for.
    fn write(&self, partial: bool) -> anyhow::Result<()> {
        if !self.json && self.output.is_none() && self.keeping.nothing() {
            return Ok(());
        }
        let now = std::time::SystemTime::now();
        let since = now
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap_or_default();
        let run = Run {
            schema: result::SCHEMA_VERSION,
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            finished_ms: since.as_millis() as u64,
            partial,
            memory: Some(Box::new(self.memory.clone())),
            command: Some(crate::history::command_line()),
            host: crate::history::machine(),
            ..Run::default()
        };
        let text = serde_json::to_string_pretty(&run).context("the document")? + "\n";
        if self.json {
            crate::out::put(&text)?;
        }
        if let Some(path) = &self.output {
            crate::out::file(path, text)?;
        }
        let kept = self.keeping.keep_and_tell(&run, "mem");
        if !self.json {
            crate::out::put(&kept)?;
        }
        Ok(())
    }
}
