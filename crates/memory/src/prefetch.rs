//! Prefetchers turned off and on again, by a register of the processor, when asked to.
//!
//! The register is written through `/dev/cpu/N/msr`, read back, and put back by [`Off`] when it
//! goes, when a signal ends the program, or, after a crash, by the next run: before anything is
//! written, the old values stand in a journal. Two runs cannot both hold them, since the second
//! would take the first one's change for the old value.

use crate::error::Error;
use crate::machine::ranges;
use host::Root;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// The journal, below the root.
const JOURNAL: &str = "run/assay-prefetchers";

/// A register that switches prefetchers off by ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Register {
    number: u32,
    bits: u64,
}

/// Intel (Nehalem and later): L2 stream, L2 adjacent line, L1 stream, L1 by instruction.
const INTEL: Register = Register {
    number: 0x1a4,
    bits: 0b1111,
};
/// AMD (Zen 3 and later): L1 stream, stride and region, L2 stream and up/down.
const AMD: Register = Register {
    number: 0xc000_0108,
    bits: 0b10_1111,
};

/// The old value of one CPU's register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Old {
    cpu: u32,
    register: u32,
    value: u64,
}

/// Prefetchers that are off as long as this lives.
#[derive(Debug)]
pub struct Off {
    shared: Arc<Shared>,
    handle: Handle,
    watcher: Option<JoinHandle<()>>,
    /// CPUs whose prefetchers are off.
    cpus: Vec<u32>,
}

#[derive(Debug)]
struct Shared {
    root: Root,
    /// What is still to be put back; empty once that is done.
    old: Mutex<Vec<Old>>,
}

impl Off {
    /// Turns the prefetchers of `cpus` off.
    ///
    /// # Errors
    /// The processor has no such register, it may not be written or does not keep what is
    /// written, or another run holds it. Nothing is changed then.
    pub fn new(root: &Root, cpus: &[u32]) -> Result<Off, Error> {
        let register = register(root)?;
        recover(root)?;
        let mut old = Vec::new();
        for &cpu in cpus {
            let value = read(root, cpu, register.number)?;
            old.push(Old {
                cpu,
                register: register.number,
                value,
            });
        }
        write_journal(root, &old)?;
        let shared = Arc::new(Shared {
            root: root.clone(),
            old: Mutex::new(old.clone()),
        });
        let mut signals = match Signals::new([SIGINT, SIGTERM, SIGHUP, SIGQUIT]) {
            Ok(signals) => signals,
            Err(source) => {
                let _ = std::fs::remove_file(root.path(JOURNAL));
                return Err(Error::system("watching for signals")(source));
            }
        };
        let handle = signals.handle();
        let watching = shared.clone();
        let watcher = std::thread::spawn(move || {
            if let Some(signal) = signals.forever().next() {
                let _ = watching.put_back();
                let _ = signal_hook::low_level::emulate_default_handler(signal);
            }
        });
        // From here on the guard puts back what has been changed, also on an error.
        let off = Off {
            shared,
            handle,
            watcher: Some(watcher),
            cpus: cpus.to_vec(),
        };
        for one in old {
            let wanted = one.value | register.bits;
            write(root, one.cpu, register.number, wanted)?;
            if read(root, one.cpu, register.number)? != wanted {
                return Err(Error::refused(format!(
                    "register {:#x} of CPU {} does not keep what is written to it (a hypervisor \
                     ignores it): the prefetchers stay as they are",
                    register.number, one.cpu
                )));
            }
        }
        Ok(off)
    }

    /// What was done, in words for reports.
    pub fn describe(&self) -> String {
        format!("off on CPU {}", ranges(&self.cpus))
    }

    /// Turns them on again now.
    ///
    /// # Errors
    /// A register cannot be written; the journal stays for the next run.
    pub fn end(self) -> Result<(), Error> {
        self.shared.put_back()
    }
}

impl Drop for Off {
    fn drop(&mut self) {
        // What cannot be put back stays in the journal.
        let _ = self.shared.put_back();
        self.handle.close();
        if let Some(watcher) = self.watcher.take() {
            let _ = watcher.join();
        }
    }
}

impl Shared {
    fn put_back(&self) -> Result<(), Error> {
        let mut old = self.old.lock().unwrap_or_else(PoisonError::into_inner);
        if old.is_empty() {
            return Ok(());
        }
        put_back(&self.root, &old)?;
        old.clear();
        let journal = self.root.path(JOURNAL);
        std::fs::remove_file(&journal).map_err(Error::system(journal.display().to_string()))
    }
}

/// Puts back what a run that did not end well has left; how many registers it were.
///
/// # Errors
/// Another run is still at it, or a register cannot be written.
pub fn recover(root: &Root) -> Result<usize, Error> {
    let path = root.path(JOURNAL);
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(Error::system(path.display().to_string())(error)),
    };
    let mut lines = text.lines();
    let owner = lines.next().unwrap_or_default();
    if let Some((process, begun)) = owner.split_once(' ')
        && started(root, process).as_deref() == Some(begun)
    {
        return Err(Error::refused(format!(
            "process {process} has turned the prefetchers off and is still running"
        )));
    }
    let old: Option<Vec<Old>> = lines.map(parse).collect();
    let old = old.ok_or_else(|| {
        Error::refused(format!(
            "{} is damaged; look at the registers and remove it",
            path.display()
        ))
    })?;
    put_back(root, &old)?;
    std::fs::remove_file(&path).map_err(Error::system(path.display().to_string()))?;
    Ok(old.len())
}

fn put_back(root: &Root, old: &[Old]) -> Result<(), Error> {
    let written = old
        .iter()
        .map(|one| write(root, one.cpu, one.register, one.value));
    // All of them are tried before an error is told.
    written.collect::<Vec<_>>().into_iter().collect()
}

fn write_journal(root: &Root, old: &[Old]) -> Result<(), Error> {
    let process = std::process::id().to_string();
    let mut text = format!(
        "{process} {}\n",
        started(root, &process).unwrap_or_default()
    );
    for one in old {
        let _ = writeln!(text, "{} {:x} {:x}", one.cpu, one.register, one.value);
    }
    let path = root.path(JOURNAL);
    let what = format!("the journal {}", path.display());
    let mut journal = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(path)
        .map_err(Error::system(&what))?;
    io::Write::write_all(&mut journal, text.as_bytes()).map_err(Error::system(&what))
}

fn parse(line: &str) -> Option<Old> {
    let mut words = line.split(' ');
    Some(Old {
        cpu: words.next()?.parse().ok()?,
        register: u32::from_str_radix(words.next()?, 16).ok()?,
        value: u64::from_str_radix(words.next()?, 16).ok()?,
    })
}

/// When a process began, in ticks since boot: a number alone may have been given out again.
fn started(root: &Root, process: &str) -> Option<String> {
    let stat = root.text(format!("proc/{process}/stat")).ok()?;
    // The name may hold blanks and ends with the last parenthesis; field 22 is the 20th behind.
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_whitespace().nth(19).map(str::to_owned)
}

fn register(root: &Root) -> Result<Register, Error> {
    let text = root.text("proc/cpuinfo")?;
    let value = |key: &str| {
        let line = text.lines().find(|line| line.starts_with(key))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    let family: u32 = value("cpu family")
        .and_then(|word| word.parse().ok())
        .unwrap_or(0);
    match value("vendor_id").as_deref() {
        Some("GenuineIntel") if family == 6 || family > 15 => Ok(INTEL),
        Some("AuthenticAMD") if family >= 0x19 => Ok(AMD),
        _ => Err(Error::refused(
            "no register is known that turns this processor's prefetchers off; the order of the \
             loads has to defeat them",
        )),
    }
}

fn path(root: &Root, cpu: u32) -> PathBuf {
    root.path(format!("dev/cpu/{cpu}/msr"))
}

fn open(root: &Root, cpu: u32, writing: bool) -> Result<File, Error> {
    let path = path(root, cpu);
    let opened = OpenOptions::new().read(true).write(writing).open(&path);
    opened.map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => Error::refused(format!(
            "there is no {}: the prefetchers stay as they are (try `modprobe msr`)",
            path.display()
        )),
        io::ErrorKind::PermissionDenied => Error::refused(format!(
            "{} may not be written: turning prefetchers off needs root",
            path.display()
        )),
        _ => Error::system(path.display().to_string())(source),
    })
}

fn read(root: &Root, cpu: u32, register: u32) -> Result<u64, Error> {
    let mut bytes = [0; 8];
    open(root, cpu, false)?
        .read_exact_at(&mut bytes, u64::from(register))
        .map_err(|_| {
            Error::refused(format!(
                "CPU {cpu} or its hypervisor has no register {register:#x}: the prefetchers stay \
                 as they are"
            ))
        })?;
    Ok(u64::from_le_bytes(bytes))
}

fn write(root: &Root, cpu: u32, register: u32, value: u64) -> Result<(), Error> {
    open(root, cpu, true)?
        .write_all_at(&value.to_le_bytes(), u64::from(register))
        .map_err(Error::system(format!(
            "register {register:#x} of CPU {cpu}"
        )))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two CPUs whose registers are files, and this process.
    fn machine(vendor: &str) -> (tempfile::TempDir, Root) {
        let dir = tempfile::tempdir().unwrap();
        let root = Root::at(dir.path());
        let process = std::process::id();
        let stat = format!("{process} (a (b) c) R {}42 0", "1 ".repeat(18));
        let cpuinfo = format!("processor\t: 0\nvendor_id\t: {vendor}\ncpu family\t: 25\n");
        for (path, text) in [
            ("proc/cpuinfo".to_owned(), cpuinfo),
            (format!("proc/{process}/stat"), stat),
            ("run/.keep".to_owned(), String::new()),
        ] {
            let at = root.path(path);
            std::fs::create_dir_all(at.parent().unwrap()).unwrap();
            std::fs::write(at, text).unwrap();
        }
        for (cpu, value) in [(0, 0x10u64), (1, 0x3)] {
            let at = path(&root, cpu);
            std::fs::create_dir_all(at.parent().unwrap()).unwrap();
            std::fs::write(&at, b"").unwrap();
            write(&root, cpu, INTEL.number, value).unwrap();
        }
        (dir, root)
    }

    fn values(root: &Root) -> [u64; 2] {
        [0, 1].map(|cpu| read(root, cpu, INTEL.number).unwrap())
    }

    #[test]
    fn prefetchers_are_off_while_the_guard_lives() {
        let (_dir, root) = machine("GenuineIntel");
        let off = Off::new(&root, &[0, 1]).unwrap();
        assert_eq!(off.describe(), "off on CPU 0-1");
        assert_eq!(values(&root), [0x1f, 0xf]);
        let second = Off::new(&root, &[1]).unwrap_err().to_string();
        assert!(second.contains("is still running"), "{second}");
        drop(off);
        assert_eq!(values(&root), [0x10, 3]);
        assert!(!root.path(JOURNAL).exists());
        Off::new(&root, &[1]).unwrap().end().unwrap();
        assert_eq!(values(&root), [0x10, 3]);
    }

    #[test]
    fn the_next_run_puts_back_what_a_crash_has_left() {
        let (_dir, root) = machine("GenuineIntel");
        std::mem::forget(Off::new(&root, &[0, 1]).unwrap());
        // The process is gone, or its number was given to another.
        let journal = std::fs::read_to_string(root.path(JOURNAL)).unwrap();
        std::fs::write(root.path(JOURNAL), journal.replace(" 42\n", " 41\n")).unwrap();
        assert_eq!(recover(&root).unwrap(), 2);
        assert_eq!(values(&root), [0x10, 3]);
        assert_eq!(recover(&root).unwrap(), 0);
        std::fs::write(root.path(JOURNAL), "1 2\nnonsense\n").unwrap();
        assert!(
            recover(&root)
                .unwrap_err()
                .to_string()
                .contains("is damaged")
        );
    }

    #[test]
    fn what_stands_in_the_way_is_named() {
        let (_dir, root) = machine("GenuineIntel");
        let text = |root: &Root, cpus: &[u32]| Off::new(root, cpus).unwrap_err().to_string();
        assert!(text(&root, &[7]).contains("modprobe msr"));
        // A register that is not there reads nothing.
        let (_dir, amd) = machine("AuthenticAMD");
        assert!(text(&amd, &[0]).contains("no register 0xc0000108"));
        let (_dir, other) = machine("Other");
        assert!(text(&other, &[0]).contains("no register is known"));
        assert_eq!(values(&root), [0x10, 3]);
        assert!(!root.path(JOURNAL).exists() && !amd.path(JOURNAL).exists());
    }
}
