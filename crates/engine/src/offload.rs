//! `io_submit_mode=offload`: the requests of any engine, each served by a thread of its own.
//!
//! There is a server, an engine of depth one, for each slot, and a thread for each server. A
//! request travels to its thread together with its server and comes back with it, so that whoever
//! has the server has the buffer, and nothing is shared. The threads say when they began and when
//! they had the result: how late the job's own thread looks does not count.

use crate::api::{Caps, Engine, EngineError, Io, NoOptions, Queued, Setup};
use std::io;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;
use sys::clock::monotonic_ns;
use sys::file::File;
use sys::process::{Usage, thread_usage};

/// `EIO`.
const EIO: i32 = 5;
/// Stack of a serving thread, bytes: engines keep nothing large on it.
const STACK_BYTES: usize = 256 << 10;

/// An engine of depth one as the threads see it.
pub trait Serve: Send {
    /// Serves one request for slot 0 to its end: bytes or `-errno`, and when it had been issued,
    /// nanoseconds of the monotonic clock.
    fn serve(&mut self, io: Io) -> (i32, u64);
    /// The buffer.
    fn buffer(&self) -> &[u8];
    /// The buffer, writable.
    fn buffer_mut(&mut self) -> &mut [u8];
    /// The I/O priority of the requests that follow.
    fn priority(&mut self, priority: u16);
    /// Where requests for this file number go, for messages.
    fn path(&self, file: u16) -> Option<&Path>;
    /// Why its last request failed, where the error number does not tell all.
    fn reason(&self) -> Option<&str>;
    /// Messages that were lost.
    fn dropped(&self) -> u64;
}

impl<E: Engine + Send> Serve for E {
    fn serve(&mut self, io: Io) -> (i32, u64) {
        // Synchronous requests are issued when they begin, others when the kernel has them.
        let mut issued_ns = monotonic_ns();
        let failed = |error: io::Error| -error.raw_os_error().unwrap_or(EIO);
        match self.queue(io) {
            Queued::Done(result) => return (result, issued_ns),
            Queued::Staged => {}
            Queued::Full | Queued::Aside => return (-EIO, issued_ns),
        }
        if let Err(error) = self.commit(0) {
            return (failed(error), issued_ns);
        }
        if !E::CAPS.sync {
            issued_ns = monotonic_ns();
        }
        loop {
            if let Err(error) = self.wait(1) {
                return (failed(error), issued_ns);
            }
            let mut result = -EIO;
            if self.reap(1, |_, found| result = found) > 0 {
                return (result, issued_ns);
            }
        }
    }

    fn buffer(&self) -> &[u8] {
        self.slot(0)
    }

    fn buffer_mut(&mut self) -> &mut [u8] {
        self.slot_mut(0)
    }

    fn priority(&mut self, priority: u16) {
        self.set_priority(priority);
    }

    fn path(&self, file: u16) -> Option<&Path> {
        Engine::path(self, file)
    }

    fn reason(&self) -> Option<&str> {
        Engine::reason(self, 0)
    }

    fn dropped(&self) -> u64 {
        Engine::dropped(self)
    }
}

type Server = Box<dyn Serve>;

/// Where a thread finds its work.
#[derive(Default)]
struct Desk {
    order: Mutex<Order>,
    changed: Condvar,
}

#[derive(Default)]
enum Order {
    #[default]
    None,
    Serve(Server, Io),
    Leave,
}

/// A request that is over.
struct Served {
    slot: u32,
    server: Server,
    result: i32,
    issued_ns: u64,
    done_ns: u64,
}

/// Where the threads put what is over; room for all slots.
struct Tray {
    served: Mutex<Vec<Served>>,
    changed: Condvar,
}

/// The engine. Its slots are those of its servers.
pub struct Offloaded {
    desks: Box<[Arc<Desk>]>,
    threads: Vec<JoinHandle<Usage>>,
    tray: Arc<Tray>,
    /// Servers that are not with their threads.
    servers: Box<[Option<Server>]>,
    /// What was taken from the tray and not handed out yet.
    taken: Vec<Served>,
    /// Issue and end of the last request of each slot, nanoseconds of the monotonic clock.
    times: Box<[(u64, u64)]>,
    priority: Option<u16>,
    queued: u32,
    in_flight: u32,
    files: Vec<File>,
}

impl Offloaded {
    /// One thread for each of `servers`, which serve requests for `files`.
    ///
    /// # Errors
    /// The kernel has no thread left.
    pub fn new(servers: Vec<Server>, files: Vec<File>) -> io::Result<Offloaded> {
        let tray = Arc::new(Tray {
            served: Mutex::new(Vec::with_capacity(servers.len())),
            changed: Condvar::new(),
        });
        let mut pool = Offloaded {
            desks: servers.iter().map(|_| Arc::default()).collect(),
            threads: Vec::with_capacity(servers.len()),
            tray,
            taken: Vec::with_capacity(servers.len()),
            times: vec![(0, 0); servers.len()].into(),
            servers: servers.into_iter().map(Some).collect(),
            priority: None,
            queued: 0,
            in_flight: 0,
            files,
        };
        for (slot, desk) in pool.desks.iter().enumerate() {
            let (desk, tray) = (Arc::clone(desk), Arc::clone(&pool.tray));
            let thread = std::thread::Builder::new()
                .name("submit".into())
                .stack_size(STACK_BYTES)
                .spawn(move || work(slot as u32, &desk, &tray))?;
            pool.threads.push(thread);
        }
        Ok(pool)
    }

    fn server(&self, slot: u32) -> &Server {
        self.servers[slot as usize]
            .as_ref()
            .expect("a slot in flight is with its thread")
    }

    /// Takes over what the threads have put on the tray, after waiting for `min` of it.
    fn collect(&mut self, min: u32) {
        let mut served = lock(&self.tray.served);
        while self.taken.len() + served.len() < min.min(self.in_flight) as usize {
            served = self
                .tray
                .changed
                .wait(served)
                .expect("nothing panics under this lock");
        }
        self.taken.append(&mut served);
    }

    /// Ends the threads; what they have used.
    fn dismiss(&mut self) -> Usage {
        for desk in &self.desks {
            *lock(&desk.order) = Order::Leave;
            desk.changed.notify_one();
        }
        let used = self.threads.drain(..).filter_map(|t| t.join().ok());
        used.fold(Usage::default(), Usage::and)
    }
}

impl Drop for Offloaded {
    fn drop(&mut self) {
        self.collect(self.in_flight);
        self.dismiss();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("nothing panics under this lock")
}

/// The life of a serving thread.
fn work(slot: u32, desk: &Desk, tray: &Tray) -> Usage {
    loop {
        let mut order = lock(&desk.order);
        let (mut server, io) = loop {
            match std::mem::take(&mut *order) {
                Order::Serve(server, io) => break (server, io),
                Order::Leave => return thread_usage(),
                Order::None => {}
            }
            order = desk
                .changed
                .wait(order)
                .expect("nothing panics under this lock");
        };
        drop(order);
        let (result, issued_ns) = server.serve(Io { slot: 0, ..io });
        let done_ns = monotonic_ns();
        lock(&tray.served).push(Served {
            slot,
            server,
            result,
            issued_ns,
            done_ns,
        });
        tray.changed.notify_one();
    }
}

impl Engine for Offloaded {
    type Options = NoOptions;
    const NAME: &'static str = "offload";
    const HELP: &'static str = "Requests of another engine in threads of their own";
    const CAPS: Caps = Caps {
        trims: true,
        queued_syncs: true,
        ..Caps::NONE
    };
    const TIMED: bool = true;

    fn start(_setup: Setup<'_, NoOptions>) -> Result<Self, EngineError> {
        Err(EngineError::Unsupported {
            engine: Self::NAME,
            what: "is made of the servers of another engine".into(),
        })
    }

    fn queue(&mut self, io: Io) -> Queued {
        let mut server = self.servers[io.slot as usize]
            .take()
            .expect("a slot in flight is not queued again");
        if let Some(priority) = self.priority.take() {
            server.priority(priority);
        }
        let desk = &self.desks[io.slot as usize];
        *lock(&desk.order) = Order::Serve(server, io);
        desk.changed.notify_one();
        self.queued += 1;
        self.in_flight += 1;
        Queued::Staged
    }

    fn commit(&mut self, min: u32) -> io::Result<u32> {
        self.wait(min)?;
        Ok(std::mem::take(&mut self.queued))
    }

    fn wait(&mut self, min: u32) -> io::Result<()> {
        self.collect(min);
        Ok(())
    }

    fn reap(&mut self, max: u32, mut done: impl FnMut(u32, i32)) -> u32 {
        self.collect(0);
        let n = self.taken.len().min(max as usize);
        for served in self.taken.drain(..n) {
            let slot = served.slot as usize;
            self.servers[slot] = Some(served.server);
            self.times[slot] = (served.issued_ns, served.done_ns);
            done(served.slot, served.result);
        }
        self.in_flight -= n as u32;
        n as u32
    }

    fn times(&self, slot: u32) -> (u64, u64) {
        self.times[slot as usize]
    }

    fn slot(&self, slot: u32) -> &[u8] {
        self.server(slot).buffer()
    }

    fn slot_mut(&mut self, slot: u32) -> &mut [u8] {
        self.servers[slot as usize]
            .as_mut()
            .expect("a slot in flight is with its thread")
            .buffer_mut()
    }

    fn files(&self) -> &[File] {
        &self.files
    }

    fn set_priority(&mut self, priority: u16) {
        self.priority = Some(priority);
    }

    fn path(&self, file: u16) -> Option<&Path> {
        match self.files.get(usize::from(file)) {
            Some(file) => Some(file.path()),
            None => self.servers.iter().flatten().next()?.path(file),
        }
    }

    fn reason(&self, slot: u32) -> Option<&str> {
        self.server(slot).reason()
    }

    fn dropped(&self) -> u64 {
        self.servers.iter().flatten().map(|s| s.dropped()).sum()
    }

    fn helpers(&mut self) -> Usage {
        self.dismiss()
    }
}
