//! Prefetchers turned off and on again, by a register of the processor, when asked to.
//!
//! The register is written through `/dev/cpu/N/msr`, read back, and put back by [`Off`] when it
//! goes, by [`end_all`] where a signal ends the program, or, after a crash, by [`recover`] in the
//! next run: before anything is written, the old values stand in a journal. Two runs cannot both
//! hold them, since the second would take the first one's change for the old value.

use crate::error::Error;
use crate::machine::ranges;
use host::Root;
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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
    held: Arc<Held>,
    guards: &'static Guards,
    /// CPUs whose prefetchers are off.
    cpus: Vec<u32>,
}

/// What one guard has to put back.
#[derive(Debug)]
struct Held {
    root: Root,
    old: Vec<Old>,
}

/// The guards of the process. Registers and journal are touched under this lock only, so that the
/// thread that ends the process after a signal never meets a guard halfway.
#[derive(Debug, Default)]
struct Guards(Mutex<Live>);

#[derive(Debug, Default)]
struct Live {
    held: Vec<Arc<Held>>,
    /// The process is about to end: no further guard may be made.
    ending: bool,
}

static GUARDS: Guards = Guards(Mutex::new(Live {
    held: Vec::new(),
    ending: false,
}));

impl Off {
    /// Turns the prefetchers of `cpus` off. A program that makes guards and ends by
    /// [`std::process::exit`], after a signal for instance, calls [`end_all`] before.
    ///
    /// # Errors
    /// The processor has no such register, it may not be written or does not keep what is
    /// written, another run holds it, or the process is ending. Nothing is changed then.
    pub fn new(root: &Root, cpus: &[u32]) -> Result<Off, Error> {
        GUARDS.turn_off(root, cpus)
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
        self.guards.turn_on(&self.held)
    }
}

impl Drop for Off {
    fn drop(&mut self) {
        // What cannot be put back stays in the journal.
        let _ = self.guards.turn_on(&self.held);
    }
}

/// Puts back what every guard of this process holds; from now on none can be made. For the thread
/// that is about to end the process.
///
/// # Errors
/// A register cannot be written; the journal stays for the next run.
pub fn end_all() -> Result<(), Error> {
    GUARDS.end()
}

impl Guards {
    fn live(&self) -> MutexGuard<'_, Live> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn turn_off(&'static self, root: &Root, cpus: &[u32]) -> Result<Off, Error> {
        let mut live = self.live();
        if live.ending {
            return Err(Error::refused("the process is ending"));
        }
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
        let held = Arc::new(Held {
            root: root.clone(),
            old,
        });
        if let Err(error) = switch(&held, register) {
            // What cannot be put back stays in the journal.
            let _ = held.put_back();
            return Err(error);
        }
        live.held.push(held.clone());
        Ok(Off {
            held,
            guards: self,
            cpus: cpus.to_vec(),
        })
    }

    /// Does nothing for a guard that has been put back.
    fn turn_on(&self, held: &Arc<Held>) -> Result<(), Error> {
        let mut live = self.live();
        let at = live.held.iter().position(|one| Arc::ptr_eq(one, held));
        at.map_or(Ok(()), |at| live.held.swap_remove(at).put_back())
    }

    fn end(&self) -> Result<(), Error> {
        let mut live = self.live();
        live.ending = true;
        let ends: Vec<_> = live.held.drain(..).map(|held| held.put_back()).collect();
        ends.into_iter().collect()
    }
}

/// Writes the registers and looks whether they keep it.
fn switch(held: &Held, register: Register) -> Result<(), Error> {
    for one in &held.old {
        let wanted = one.value | register.bits;
        write(&held.root, one.cpu, register.number, wanted)?;
        if read(&held.root, one.cpu, register.number)? != wanted {
            return Err(Error::refused(format!(
                "register {:#x} of CPU {} does not keep what is written to it (a hypervisor \
                 ignores it): the prefetchers stay as they are",
                register.number, one.cpu
            )));
        }
    }
    Ok(())
}

impl Held {
    fn put_back(&self) -> Result<(), Error> {
        put_back(&self.root, &self.old)?;
        let journal = self.root.path(JOURNAL);
        std::fs::remove_file(&journal).map_err(Error::system(journal.display().to_string()))
    }
}

/// Puts back what a run that did not end well has left, as [`recover`] does; what there was to be
/// said of it.
pub fn left(root: &Root) -> Option<String> {
    match recover(root) {
        Ok(0) => None,
        Ok(n) => Some(format!(
            "A run that was killed had left prefetchers off: {n} registers were put back"
        )),
        Err(error) => Some(format!("Prefetchers may be off: {error}")),
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

    /// A signal's thread may end the process at any moment, also while a guard is dropped.
    #[test]
    fn the_end_of_the_process_puts_back_and_allows_no_more() {
        let (_dir, root) = machine("GenuineIntel");
        let guards: &'static Guards = Box::leak(Box::default());
        let off = guards.turn_off(&root, &[0, 1]).unwrap();
        guards.end().unwrap();
        assert_eq!(values(&root), [0x10, 3]);
        assert!(!root.path(JOURNAL).exists());
        let late = guards.turn_off(&root, &[0]).unwrap_err().to_string();
        assert!(late.contains("is ending"), "{late}");
        // The guard has nothing left to do: what another run writes now stays.
        write(&root, 0, INTEL.number, 0x77).unwrap();
        drop(off);
        assert_eq!(values(&root), [0x77, 3]);
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
