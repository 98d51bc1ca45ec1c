//! The journal of what a run creates: written before anything is made, removed at the end, and
//! read by `assay cleanup` when a run ended without an end (killed, power lost).
//!
//! One text file per run, below [`directory`]: a line about the process, then one line per thing,
//! and, once files have been made, one more for each that says which inode it is.
//! Bytes of paths that are no plain characters are written as `%XX`. A file is taken back only
//! when it is the one that was made, or, where the run did not come so far as to note that, when
//! it was born after the journal was written: what was there before, or has been put in the place
//! of a file that is gone, stays.

use crate::layout::{Layout, Make};
use host::Root;
use std::fs;
use std::io::{self, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const HEADER: &str = "assay-journal-1";

/// One thing that a run makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// A file that does not exist yet.
    File(PathBuf),
    /// A file that is made longer.
    Extended {
        /// Which.
        path: PathBuf,
        /// Its size before, bytes.
        from_bytes: u64,
        /// Its size afterwards, bytes.
        to_bytes: u64,
        /// Its inode.
        inode: u64,
    },
    /// A directory that does not exist yet.
    Directory(PathBuf),
}

/// The journal of this run; the file goes with this value, unless the program fails in a panic.
#[derive(Debug)]
pub struct Journal {
    file: PathBuf,
}

impl Journal {
    /// Writes the journal of `items` into `directory`, through to the disk. `None` when there is
    /// nothing to note.
    ///
    /// # Errors
    /// What the system said; the run may go on without a journal.
    pub fn write(directory: &Path, items: &[Item]) -> io::Result<Option<Journal>> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        if items.is_empty() {
            return Ok(None);
        }
        let pid = std::process::id();
        let process = Process::of(&Root::default(), pid).unwrap_or_default();
        let mut text = format!(
            "{HEADER} {pid} {} {} {}\n",
            process.started,
            process.boot,
            epoch_ms(SystemTime::now())
        );
        for item in items {
            text += &line(item);
        }
        fs::create_dir_all(directory)?;
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let file = directory.join(format!("{pid}-{}-{number}", process.started));
        let mut open = fs::File::create(&file)?;
        let journal = Journal { file };
        open.write_all(text.as_bytes())?;
        open.sync_all()?;
        Ok(Some(journal))
    }

    /// Notes which files have been made, so that others that take their places are told apart.
    ///
    /// # Errors
    /// What the system said; without the note a file is known by its age alone.
    pub fn made<'a>(&self, files: impl IntoIterator<Item = &'a Path>) -> io::Result<()> {
        let mut text = String::new();
        for path in files {
            let path = std::path::absolute(path)?;
            let (inode, born_ns) = birth(&fs::symlink_metadata(&path)?);
            text += &format!("made {inode} {born_ns} {}\n", escape(&path));
        }
        if text.is_empty() {
            return Ok(());
        }
        let mut open = fs::OpenOptions::new().append(true).open(&self.file)?;
        open.write_all(text.as_bytes())?;
        open.sync_all()
    }
}

/// Inode and time of birth, which tell two files of one name apart; inodes are used again.
fn birth(meta: &fs::Metadata) -> (u64, u128) {
    let born = meta
        .created()
        .ok()
        .and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    (meta.ino(), born.unwrap_or_default().as_nanos())
}

impl Drop for Journal {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            // A journal that cannot be removed names files that the next cleanup looks at.
            let _ = fs::remove_file(&self.file);
        }
    }
}

/// Where the journals of this user lie: below `$XDG_STATE_HOME`, `~/.local/state`, or, for a
/// process without a home, `/var/tmp`.
pub fn directory() -> PathBuf {
    let set = |name: &str| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|p| p.is_absolute())
    };
    let state = set("XDG_STATE_HOME").or_else(|| Some(set("HOME")?.join(".local/state")));
    match state {
        Some(state) => state.join("assay/journal"),
        None => format!("/var/tmp/assay-{}/journal", own_uid()).into(),
    }
}

fn own_uid() -> u32 {
    fs::metadata("/proc/self").map_or(0, |meta| meta.uid())
}

/// What making `layouts` will create, directories before what is in them.
pub fn items(layouts: &[Layout]) -> Vec<Item> {
    let mut items: Vec<Item> = Vec::new();
    let mut add = |item: Item| {
        if !items.contains(&item) {
            items.push(item);
        }
    };
    for file in layouts.iter().flat_map(|layout| &layout.files) {
        let path = std::path::absolute(file.path.as_path());
        let path = path.unwrap_or_else(|_| file.path.to_path_buf());
        let missing: Vec<&Path> = path
            .ancestors()
            .skip(1)
            .take_while(|dir| !dir.exists())
            .collect();
        for directory in missing.into_iter().rev() {
            add(Item::Directory(directory.to_owned()));
        }
        match fs::metadata(&path) {
            Ok(meta) if meta.is_file() && file.how != Make::Directory => add(Item::Extended {
                path,
                from_bytes: meta.len(),
                to_bytes: file.to_bytes,
                inode: meta.ino(),
            }),
            Ok(_) => {}
            Err(_) => add(Item::File(path)),
        }
    }
    items
}

/// What a run that has no end has left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leftover {
    /// Its journal.
    pub journal: PathBuf,
    /// Its process.
    pub pid: u32,
    /// When the journal was written.
    pub since: SystemTime,
    /// What it was to make, in order.
    pub items: Vec<Item>,
    /// Files that it made: inode and time of birth of each.
    made: Vec<(PathBuf, (u64, u128))>,
}

/// What became of one thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Undone {
    /// It has been removed; for a file with its size in bytes.
    Removed(PathBuf, Option<u64>),
    /// It has been cut to its old size in bytes.
    Cut(PathBuf, u64),
    /// It stays, for this reason.
    Kept(PathBuf, String),
}

/// The journals in `directory` whose processes are gone. Files that are no journals are passed
/// over.
pub fn leftovers(root: &Root, directory: &Path) -> Vec<Leftover> {
    let Ok(entries) = fs::read_dir(directory) else {
        return Vec::new();
    };
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    files
        .into_iter()
        .filter_map(|file| leftover(root, file))
        .collect()
}

fn leftover(root: &Root, journal: PathBuf) -> Option<Leftover> {
    let text = fs::read_to_string(&journal).ok()?;
    let (first, rest) = text.split_once('\n')?;
    let mut words = first.strip_prefix(HEADER)?.split_whitespace();
    let pid = words.next()?.parse().ok()?;
    let process = Process {
        started: words.next()?.parse().ok()?,
        boot: words.next()?.to_owned(),
    };
    let since = UNIX_EPOCH + Duration::from_millis(words.next()?.parse().ok()?);
    let alive = Process::of(root, pid).is_some_and(|now| now == process);
    // A last line without an end was being written: nothing of it had been made.
    let lines = || {
        rest.split_inclusive('\n')
            .filter(|line| line.ends_with('\n'))
    };
    (!alive).then(|| Leftover {
        journal,
        pid,
        since,
        items: lines().filter_map(item).collect(),
        made: lines().filter_map(made).collect(),
    })
}

impl Leftover {
    /// Things that are still there as the run left them.
    pub fn present(&self) -> impl Iterator<Item = &Item> {
        self.items
            .iter()
            .filter(|item| matches!(self.state(item), State::Left(_)))
    }

    /// Takes everything back and removes the journal, if nothing is in the way.
    pub fn undo(&self) -> Vec<Undone> {
        let mut done = Vec::new();
        let mut failed = false;
        for item in self.items.iter().rev() {
            let size = match self.state(item) {
                State::Gone => continue,
                State::Changed(path) => {
                    let why = "it is not what the run made".to_owned();
                    done.push(Undone::Kept(path, why));
                    continue;
                }
                State::Left(size) => size,
            };
            let (path, result, undone) = match item {
                Item::File(path) => {
                    let undone = Undone::Removed(path.clone(), Some(size));
                    (path, fs::remove_file(path), undone)
                }
                Item::Directory(path) => (
                    path,
                    fs::remove_dir(path),
                    Undone::Removed(path.clone(), None),
                ),
                Item::Extended {
                    path, from_bytes, ..
                } => {
                    let open = fs::OpenOptions::new().write(true).open(path);
                    let cut = open.and_then(|file| file.set_len(*from_bytes));
                    (path, cut, Undone::Cut(path.clone(), *from_bytes))
                }
            };
            match result {
                Ok(()) => done.push(undone),
                Err(error) => {
                    // A directory that others have filled stays, and that is right.
                    failed |= !matches!(item, Item::Directory(_));
                    done.push(Undone::Kept(path.clone(), error.to_string()));
                }
            }
        }
        if !failed {
            let _ = fs::remove_file(&self.journal);
        }
        done
    }

    fn state(&self, item: &Item) -> State {
        // File systems keep times in coarse steps.
        let slack = Duration::from_secs(2);
        let born_since = |meta: &fs::Metadata| {
            let born = meta.created().or_else(|_| meta.modified());
            born.is_ok_and(|born| born + slack >= self.since)
        };
        let path = match item {
            Item::File(path) | Item::Directory(path) | Item::Extended { path, .. } => path,
        };
        let Ok(meta) = fs::symlink_metadata(path) else {
            return State::Gone;
        };
        let ours = match item {
            Item::File(path) => {
                let made = self.made.iter().rev().find(|(known, _)| known == path);
                let same = made.map_or_else(|| born_since(&meta), |(_, one)| *one == birth(&meta));
                meta.is_file() && same
            }
            Item::Directory(_) => meta.is_dir() && born_since(&meta),
            Item::Extended {
                from_bytes,
                to_bytes,
                inode,
                ..
            } => {
                if meta.is_file() && meta.len() == *from_bytes {
                    return State::Gone;
                }
                let grown = (*from_bytes..=*to_bytes).contains(&meta.len());
                meta.is_file() && meta.ino() == *inode && grown
            }
        };
        match ours {
            true => State::Left(meta.len()),
            false => State::Changed(path.clone()),
        }
    }
}

/// What is at a path of the journal.
enum State {
    Gone,
    Changed(PathBuf),
    /// As the run made it, with its size in bytes.
    Left(u64),
}

/// A process, told apart from later ones with the same number.
#[derive(Debug, Default, PartialEq, Eq)]
struct Process {
    /// Clock ticks from the start of the system to that of the process.
    started: u64,
    /// The start of the system.
    boot: String,
}

impl Process {
    fn of(root: &Root, pid: u32) -> Option<Process> {
        let stat = root.text(format!("proc/{pid}/stat")).ok()?;
        // The second field is the name in parentheses and may hold anything.
        let after = stat.rsplit_once(") ")?.1;
        let boot = root.text("proc/sys/kernel/random/boot_id").ok()?;
        Some(Process {
            started: after.split_whitespace().nth(19)?.parse().ok()?,
            boot: boot.trim().to_owned(),
        })
    }
}

fn epoch_ms(time: SystemTime) -> u128 {
    time.duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_millis()
}

fn line(item: &Item) -> String {
    match item {
        Item::File(path) => format!("file {}\n", escape(path)),
        Item::Directory(path) => format!("directory {}\n", escape(path)),
        Item::Extended {
            path,
            from_bytes,
            to_bytes,
            inode,
        } => format!(
            "extended {from_bytes} {to_bytes} {inode} {}\n",
            escape(path)
        ),
    }
}

fn item(line: &str) -> Option<Item> {
    let mut words = line.split_whitespace();
    match words.next()? {
        "file" => Some(Item::File(unescape(words.next()?)?)),
        "directory" => Some(Item::Directory(unescape(words.next()?)?)),
        "extended" => {
            let mut number = || words.next()?.parse().ok();
            let (from_bytes, to_bytes, inode) = (number()?, number()?, number()?);
            Some(Item::Extended {
                path: unescape(words.next()?)?,
                from_bytes,
                to_bytes,
                inode,
            })
        }
        _ => None,
    }
}

fn made(line: &str) -> Option<(PathBuf, (u64, u128))> {
    let mut words = line.strip_prefix("made ")?.split_whitespace();
    let birth = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    Some((unescape(words.next()?)?, birth))
}

fn escape(path: &Path) -> String {
    let mut text = String::new();
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'%' => text += "%25",
            0x21..=0x7e => text.push(char::from(*byte)),
            other => text += &format!("%{other:02X}"),
        }
    }
    text
}

fn unescape(text: &str) -> Option<PathBuf> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, more)) = rest.split_first() {
        if *first == b'%' {
            let code = std::str::from_utf8(more.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(code, 16).ok()?);
            rest = &more[2..];
        } else {
            bytes.push(*first);
            rest = more;
        }
    }
    Some(PathBuf::from(std::ffi::OsString::from_vec(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The journal of a process that is not there any more.
    fn orphaned(dir: &Path, items: &[Item]) -> PathBuf {
        let journal = Journal::write(dir, items).unwrap().unwrap();
        let file = journal.file.clone();
        std::mem::forget(journal);
        orphan(&file);
        file
    }

    /// Makes a journal one of a process that is not there any more.
    fn orphan(file: &Path) {
        let text = fs::read_to_string(file).unwrap();
        let pid = std::process::id().to_string();
        let started = text.split_whitespace().nth(2).unwrap().to_owned();
        fs::write(
            file,
            text.replacen(&format!("{pid} {started}"), &format!("{pid} 1"), 1),
        )
        .unwrap();
    }

    #[test]
    fn a_file_in_the_place_of_one_that_was_made_stays() {
        let dir = tempfile::tempdir().unwrap();
        let state = dir.path().join("state");
        let (left, replaced) = (dir.path().join("left"), dir.path().join("re placed"));
        let items = [left.clone(), replaced.clone()].map(Item::File);
        let journal = Journal::write(&state, &items).unwrap().unwrap();
        for path in [&left, &replaced] {
            fs::write(path, "of the run").unwrap();
        }
        let made = [left.as_path(), replaced.as_path()];
        journal.made(made).unwrap();
        let file = journal.file.clone();
        std::mem::forget(journal);
        orphan(&file);
        // Somebody cleans up by hand, and keeps something else there. Its inode may be the same.
        fs::remove_file(&replaced).unwrap();
        std::thread::sleep(Duration::from_millis(20));
        fs::write(&replaced, "precious").unwrap();
        let done = leftovers(&Root::default(), &state)[0].undo();
        assert!(
            matches!(
                &done[..],
                [Undone::Kept(a, _), Undone::Removed(b, _)] if *a == replaced && *b == left
            ),
            "{done:?}"
        );
        assert_eq!(fs::read_to_string(&replaced).unwrap(), "precious");
    }

    #[test]
    fn a_running_process_has_left_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let item = Item::File(dir.path().join("x"));
        let journal = Journal::write(dir.path(), std::slice::from_ref(&item)).unwrap();
        assert_eq!(leftovers(&Root::default(), dir.path()), []);
        drop(journal);
        assert_eq!(
            fs::read_dir(dir.path()).unwrap().count(),
            0,
            "the journal goes with the run"
        );
        assert!(Journal::write(dir.path(), &[]).unwrap().is_none());
    }

    #[test]
    fn what_a_killed_run_made_is_taken_back() {
        let dir = tempfile::tempdir().unwrap();
        let state = dir.path().join("state");
        let (made, new) = (
            dir.path().join("made dir"),
            dir.path().join("made dir/new\n%file"),
        );
        let (grown, missing) = (dir.path().join("grown"), dir.path().join("never made"));
        fs::write(&grown, "old").unwrap();
        let inode = fs::metadata(&grown).unwrap().ino();
        let items = [
            Item::Directory(made.clone()),
            Item::File(new.clone()),
            Item::File(missing),
            Item::Extended {
                path: grown.clone(),
                from_bytes: 3,
                to_bytes: 10,
                inode,
            },
        ];
        let journal = orphaned(&state, &items);
        fs::create_dir(&made).unwrap();
        fs::write(&new, "12345").unwrap();
        fs::write(&grown, "old+data").unwrap();
        let left = leftovers(&Root::default(), &state);
        assert_eq!(left.len(), 1);
        assert_eq!(left[0].items, items);
        assert_eq!(left[0].present().count(), 3);
        let expected = [
            Undone::Cut(grown.clone(), 3),
            Undone::Removed(new, Some(5)),
            Undone::Removed(made, None),
        ];
        assert_eq!(left[0].undo(), expected);
        assert_eq!(fs::read_to_string(&grown).unwrap(), "old");
        assert!(!journal.exists());
        assert_eq!(leftovers(&Root::default(), &state), []);
    }

    #[test]
    fn what_is_not_the_runs_own_stays() {
        let dir = tempfile::tempdir().unwrap();
        let state = dir.path().join("state");
        let (shrunk, shared, dirs) = (
            dir.path().join("shrunk"),
            dir.path().join("shared"),
            dir.path().join("dir"),
        );
        fs::write(&shrunk, "0123456789").unwrap();
        let inode = fs::metadata(&shrunk).unwrap().ino();
        let items = [
            Item::Directory(dirs.clone()),
            Item::Extended {
                path: shrunk.clone(),
                from_bytes: 20,
                to_bytes: 30,
                inode,
            },
            Item::Extended {
                path: shared.clone(),
                from_bytes: 1,
                to_bytes: 30,
                // No file system gives this number to a file.
                inode: u64::MAX,
            },
            Item::File(dirs.clone()),
        ];
        orphaned(&state, &items);
        fs::write(&shared, "another file").unwrap();
        fs::create_dir(&dirs).unwrap();
        fs::write(dirs.join("theirs"), "").unwrap();
        let done = leftovers(&Root::default(), &state)[0].undo();
        assert!(
            done.iter().all(|one| matches!(one, Undone::Kept(..))),
            "{done:?}"
        );
        assert_eq!(done.len(), 4);
        assert!(dirs.join("theirs").exists() && shared.exists());
        assert_eq!(fs::read(&shrunk).unwrap().len(), 10);
    }

    #[test]
    fn a_file_older_than_the_journal_stays() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("old");
        fs::write(&file, "x").unwrap();
        let leftover = Leftover {
            journal: dir.path().join("journal"),
            pid: 1,
            since: SystemTime::now() + Duration::from_secs(3600),
            items: vec![Item::File(file.clone())],
            made: Vec::new(),
        };
        assert_eq!(leftover.present().count(), 0);
        assert!(matches!(leftover.undo()[0], Undone::Kept(..)) && file.exists());
    }

    #[test]
    fn broken_journals_are_passed_over() {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in [
            ("a", ""),
            ("b", "hello\n"),
            ("c", "assay-journal-1 x y\n"),
            ("d", "assay-journal-1 1 2\nfile /x\n"),
        ] {
            fs::write(dir.path().join(name), text).unwrap();
        }
        assert_eq!(leftovers(&Root::default(), dir.path()), []);
        let text = "assay-journal-1 1 2 none 5\nfile /a\nfile /half";
        fs::write(dir.path().join("e"), text).unwrap();
        let left = leftovers(&Root::default(), dir.path());
        assert_eq!(left[0].items, [Item::File("/a".into())]);
    }

    proptest! {
        #[test]
        fn every_path_survives(bytes in proptest::collection::vec(1u8.., 1..40)) {
            let path = PathBuf::from(std::ffi::OsString::from_vec(bytes));
            let text = line(&Item::File(path.clone()));
            prop_assert_eq!(item(&text), Some(Item::File(path)));
        }

        #[test]
        fn no_line_panics(text in "\\PC{0,60}") {
            item(&text);
        }
    }
}
