//! Comparing what was read with what should have been, in the worker or in threads of its own
//! (`verify_async`). A thread gets a copy of the data, because the worker's buffer is used again
//! at once; copies are made before the run and go round.

use crate::failure::{EILSEQ, VERIFY, step};
use engine::Io;
use plan::model::{Target, Verify};
use result::Failure;
use std::collections::VecDeque;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use workload::verify::{Expect, Mismatch, Verifier};

/// Copies of read data for each checking thread.
const COPIES: usize = 4;

/// Checks reads and tells what is wrong with them.
#[derive(Clone)]
pub struct Checker {
    verifier: Verifier,
    paths: Arc<[Arc<PathBuf>]>,
    fatal: bool,
    dump: bool,
}

impl Checker {
    /// A checker for the targets of a worker.
    pub fn new(plan: &Verify, targets: &[Target]) -> Self {
        Checker {
            verifier: Verifier::new(&plan.content),
            paths: targets.iter().map(|t| Arc::clone(&t.path)).collect(),
            fatal: plan.fatal,
            dump: plan.dump,
        }
    }

    /// Checks the data of one request.
    ///
    /// # Errors
    /// Data that are not what was written, with errno 84.
    pub fn check(&mut self, io: &Io, data: &[u8], expect: &Expect) -> Result<(), Failure> {
        let mut found = Vec::new();
        let fatal = self.fatal;
        self.verifier
            .check_each(data, io.offset, expect, |mismatch| {
                found.push(mismatch);
                !fatal
            });
        let Some(first) = found.first() else {
            return Ok(());
        };
        let path = Arc::clone(&self.paths[usize::from(io.file)]);
        found
            .iter()
            .for_each(|mismatch| self.complain(&path, data, mismatch));
        let text = first.text(&path.display());
        let line = text.lines().next().unwrap_or_default();
        Err(Failure::new(EILSEQ, VERIFY, line))
    }

    /// Says at once what is wrong, as a run may last for days, and dumps the block if asked.
    #[cold]
    fn complain(&self, path: &Path, data: &[u8], mismatch: &Mismatch) {
        let mut text = mismatch.text(&path.display()) + "\n";
        if self.dump {
            let at = (mismatch.offset - mismatch.request_offset) as usize;
            let received = &data[at..at + mismatch.len as usize];
            if mismatch.reason.is_header() {
                text += &dump(path, mismatch.offset, "hdr_fail", received);
            } else {
                text += &dump(path, mismatch.offset, "received", received);
                let expected = self.verifier.expected(data, mismatch);
                text += &dump(path, mismatch.offset, "expected", &expected);
            }
        }
        // Nobody is left to tell if standard error is closed.
        let _ = std::io::stderr().lock().write_all(text.as_bytes());
    }
}

/// Writes a block to the current directory under fio's name; what there is to say about it.
fn dump(target: &Path, offset: u64, what: &str, block: &[u8]) -> String {
    let base = target
        .file_name()
        .unwrap_or(target.as_os_str())
        .to_string_lossy();
    let name = format!("{base}.{offset}.{what}");
    match std::fs::write(&name, block) {
        Ok(()) => format!("       {what} data dumped as {name}\n"),
        Err(error) => format!("       {what} data not dumped as {name}: {error}\n"),
    }
}

/// One request to check.
struct Task {
    io: Io,
    expect: Expect,
    data: Box<[u8]>,
}

/// What checking threads have found.
#[derive(Default)]
struct Found {
    any: AtomicBool,
    failures: Mutex<VecDeque<Failure>>,
}

impl Found {
    fn add(&self, failure: Failure) {
        if let Ok(mut failures) = self.failures.lock() {
            failures.push_back(failure);
            self.any.store(true, Ordering::Release);
        }
    }

    fn take(&self) -> Option<Failure> {
        if !self.any.load(Ordering::Acquire) {
            return None;
        }
        let mut failures = self.failures.lock().ok()?;
        let first = failures.pop_front();
        self.any.store(!failures.is_empty(), Ordering::Release);
        first
    }
}

/// The checking threads of one worker.
pub struct Inspectors {
    desks: Vec<SyncSender<Task>>,
    next: usize,
    free: Receiver<Box<[u8]>>,
    home: SyncSender<Box<[u8]>>,
    copies: usize,
    found: Arc<Found>,
    threads: Vec<JoinHandle<()>>,
}

impl Inspectors {
    /// Starts the threads that `plan` asks for; copies hold `longest` bytes.
    ///
    /// # Errors
    /// A thread cannot be started.
    pub fn start(plan: &Verify, checker: &Checker, longest: usize) -> Result<Self, Failure> {
        let threads = plan.threads as usize;
        let copies = threads * COPIES;
        let (home, free) = sync_channel(copies);
        for _ in 0..copies {
            let copy = vec![0; longest].into_boxed_slice();
            home.send(copy).expect("the channel has room for all");
        }
        let mut all = Inspectors {
            desks: Vec::with_capacity(threads),
            next: 0,
            free,
            home: home.clone(),
            copies,
            found: Arc::default(),
            threads: Vec::with_capacity(threads),
        };
        for _ in 0..threads {
            let (desk, inbox) = sync_channel::<Task>(copies);
            let (found, home) = (Arc::clone(&all.found), home.clone());
            let (mut checker, cpus) = (checker.clone(), plan.cpus.clone());
            let inspect = move || {
                if let Some(cpus) = cpus {
                    let cpus: Vec<usize> = cpus.iter().map(|cpu| *cpu as usize).collect();
                    if let Err(error) = sys::process::set_affinity(&cpus) {
                        found.add(step("verify_async_cpus", &error));
                    }
                }
                for task in inbox {
                    let data = &task.data[..task.io.len as usize];
                    if let Err(failure) = checker.check(&task.io, data, &task.expect) {
                        found.add(failure);
                    }
                    // A worker that is gone needs no copy.
                    drop(home.send(task.data));
                }
            };
            let started = std::thread::Builder::new()
                .name("verify".into())
                .spawn(inspect)
                .map_err(|error| step("start a verify thread", &error))?;
            all.desks.push(desk);
            all.threads.push(started);
        }
        Ok(all)
    }

    /// Hands over one request; what was found wrong with an earlier one.
    ///
    /// # Errors
    /// An earlier request's data, with errno 84.
    pub fn check(&mut self, io: &Io, data: &[u8], expect: &Expect) -> Result<(), Failure> {
        let mut copy = self.free.recv().expect("the sender is our own");
        copy[..data.len()].copy_from_slice(data);
        let task = Task {
            io: *io,
            expect: *expect,
            data: copy,
        };
        self.next = (self.next + 1) % self.desks.len();
        self.desks[self.next]
            .send(task)
            .expect("a checking thread ends after its worker");
        self.found.take().map_or(Ok(()), Err)
    }

    /// Waits until everything is checked; something that was found wrong.
    pub fn settle(&mut self) -> Option<Failure> {
        let idle: Vec<_> = (0..self.copies)
            .map_while(|_| self.free.recv().ok())
            .collect();
        for copy in idle {
            drop(self.home.send(copy));
        }
        self.found.take()
    }
}

impl Drop for Inspectors {
    fn drop(&mut self) {
        self.desks.clear();
        for thread in self.threads.drain(..) {
            // A thread that panicked has said so.
            let _ = thread.join();
        }
    }
}
