//! From runs to `assay serve`: a line of JSON for each interval, as a datagram on the same machine.
//!
//! A server has a socket in a directory that only its user can enter; a run sends each line to
//! every socket that is there. Nobody waits for anybody: what a server has no room for is lost, and
//! either may come and go while the other lasts.

use result::Run;
use serde_json::{Map, Value};
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Largest datagram; the kernel's default takes three times as much.
const LARGEST: usize = 64 << 10;
/// How the sockets' names end.
const ENDING: &str = "live";

/// The directory of the sockets. `None` where it belongs to somebody else or lets others in.
fn directory() -> Option<PathBuf> {
    let own = fs::metadata("/proc/self").ok()?.uid();
    let given = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let path = match given.filter(|path| path.is_absolute()) {
        Some(path) => path.join("assay"),
        None => format!("/tmp/assay-{own}").into(),
    };
    // It may be there already; what it is decides.
    let _ = DirBuilder::new().mode(0o700).create(&path);
    let meta = fs::symlink_metadata(&path).ok()?;
    (meta.is_dir() && meta.uid() == own && meta.mode() & 0o077 == 0).then_some(path)
}

fn sockets(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    let of_ours = |path: &PathBuf| path.extension().is_some_and(|ending| ending == ENDING);
    paths.filter(of_ours).collect()
}

/// True where a server listens.
pub fn heard() -> bool {
    let (Some(directory), Ok(socket)) = (directory(), UnixDatagram::unbound()) else {
        return false;
    };
    sockets(&directory)
        .iter()
        .any(|path| socket.connect(path).is_ok())
}

/// The side of a run.
pub struct Channel {
    socket: UnixDatagram,
    directory: PathBuf,
    /// What tells this run from others, in every line.
    own: Map<String, Value>,
    begun: Instant,
}

impl Channel {
    /// Sends from now on; `None` where that is not possible, which no run should fail for.
    pub fn open(command: &str) -> Option<Channel> {
        let socket = UnixDatagram::unbound().ok()?;
        // A server that is slow must not make the run wait.
        socket.set_nonblocking(true).ok()?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
        let mut own = Map::new();
        own.insert("pid".into(), std::process::id().into());
        own.insert("since_ms".into(), (now.as_millis() as u64).into());
        own.insert("command".into(), command.into());
        Some(Channel {
            socket,
            directory: directory()?,
            own,
            begun: Instant::now(),
        })
    }

    /// Tells a window, with the findings of the document that it was made of.
    pub fn tell(&self, mut line: Map<String, Value>, run: &Run) {
        let listeners = sockets(&self.directory);
        if listeners.is_empty() {
            return;
        }
        let at_s = self.begun.elapsed().as_secs_f64();
        line.insert("at_s".into(), ((at_s * 1e3).round() / 1e3).into());
        let findings = run.judgement.iter().flat_map(|judged| &judged.findings);
        let told = findings.filter_map(|finding| serde_json::to_value(finding).ok());
        line.insert("findings".into(), told.collect());
        self.send(&listeners, line);
    }

    fn send(&self, listeners: &[PathBuf], line: Map<String, Value>) {
        let mut whole = self.own.clone();
        whole.extend(line);
        let mut text = Value::Object(whole.clone()).to_string();
        if text.len() > LARGEST {
            // Thousands of jobs: their sum still fits.
            let jobs = whole.remove("jobs");
            let jobs = jobs.as_ref().and_then(Value::as_array).map_or(0, Vec::len);
            whole.insert("jobs_left_out".into(), jobs.into());
            text = Value::Object(whole).to_string();
        }
        for path in listeners {
            match self.socket.send_to(text.as_bytes(), path) {
                // Its server was killed.
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                    let _ = fs::remove_file(path);
                }
                _ => {}
            }
        }
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        let mut line = Map::new();
        line.insert("gone".into(), true.into());
        self.send(&sockets(&self.directory), line);
    }
}

/// The side of a server.
pub struct Ear {
    socket: UnixDatagram,
    path: PathBuf,
}

impl Ear {
    /// Listens from now on.
    ///
    /// # Errors
    /// There is no directory that is the user's own, or no socket can be made in it.
    pub fn open() -> io::Result<Ear> {
        let none = || io::Error::other("no directory of the user's own for sockets");
        let directory = directory().ok_or_else(none)?;
        let path = directory.join(format!("{}.{ENDING}", std::process::id()));
        // One that a killed process of the same number has left.
        let _ = fs::remove_file(&path);
        let socket = UnixDatagram::bind(&path)?;
        Ok(Ear { socket, path })
    }

    /// The socket's name, to be removed at the end.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The next line; `None` for what is no object.
    ///
    /// # Errors
    /// The socket is of no use any more.
    pub fn next(&self) -> io::Result<Option<Map<String, Value>>> {
        let mut bytes = vec![0; LARGEST];
        let n = self.socket.recv(&mut bytes)?;
        match serde_json::from_slice(&bytes[..n]) {
            Ok(Value::Object(line)) => Ok(Some(line)),
            _ => Ok(None),
        }
    }
}
