//! Words with a number or a name behind a colon.

use super::{MemKind, Mode};
use option::{Choice, Ctx, Kind, Scanned, State, Value, ValueError};
use units::number;

/// Splits `word:rest`.
fn head(text: &str) -> (&str, Option<&str>) {
    match text.trim().split_once(':') {
        Some((word, rest)) => (word.trim(), Some(rest.trim())),
        None => (text.trim(), None),
    }
}

/// `rw=mode[:n]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rw {
    /// Direction and order.
    pub mode: Mode,
    /// Random modes: requests per drawn offset. Sequential modes: bytes to add after each
    /// request, negative to step back. `None` when nothing was given: 1 request, 0 bytes.
    pub every: Option<i64>,
}

impl Rw {
    /// Requests per drawn offset.
    pub fn requests_per_offset(self) -> u32 {
        match self.every {
            Some(n) if self.mode.is_random() => u32::try_from(n).unwrap_or(1).max(1),
            _ => 1,
        }
    }

    /// Bytes added to the offset after each sequential request.
    pub fn step_bytes(self) -> i64 {
        if self.mode.is_random() {
            0
        } else {
            self.every.unwrap_or(0)
        }
    }
}

impl Value for Rw {
    const KIND: Kind = Kind::Choice;
    const CHOICES: &'static [Choice] = Mode::CHOICES;

    fn parse(text: &str, ctx: &Ctx<'_>) -> Result<Scanned<Self>, ValueError> {
        let (word, rest) = head(text);
        let mode = Mode::parse(word, ctx)?.value;
        let Some(rest) = rest else {
            return Ok(Scanned {
                value: Rw { mode, every: None },
                note: None,
            });
        };
        let scanned = i64::parse(rest, ctx)?;
        if mode.is_random() && !(1..=i64::from(u32::MAX)).contains(&scanned.value) {
            return Err(ValueError::syntax(
                text,
                "expected a number of requests behind the colon",
            ));
        }
        Ok(scanned.map(|n| Rw {
            mode,
            every: Some(n),
        }))
    }

    fn show(&self) -> String {
        match self.every {
            None => self.mode.show(),
            Some(n) => format!("{}:{n}", self.mode.show()),
        }
    }
}

/// `mem=kind[:file]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mem {
    /// The sort of memory.
    pub kind: MemKind,
    /// The file to map, for the mapping kinds.
    pub file: Option<String>,
}

impl Value for Mem {
    const KIND: Kind = Kind::Choice;
    const CHOICES: &'static [Choice] = MemKind::CHOICES;

    fn parse(text: &str, ctx: &Ctx<'_>) -> Result<Scanned<Self>, ValueError> {
        let (word, rest) = head(text);
        let kind = MemKind::parse(word, ctx)?.value;
        let maps = matches!(
            kind,
            MemKind::Mmap | MemKind::MmapShared | MemKind::MmapHuge
        );
        if rest.is_some_and(str::is_empty) || (rest.is_some() && !maps) {
            return Err(ValueError::syntax(
                text,
                "a file may follow mmap kinds only",
            ));
        }
        let value = Mem {
            kind,
            file: rest.map(str::to_string),
        };
        Ok(Scanned { value, note: None })
    }

    fn show(&self) -> String {
        match &self.file {
            None => self.kind.show(),
            Some(file) => format!("{}:{file}", self.kind.show()),
        }
    }

    fn state(&self) -> State {
        self.kind.state()
    }
}

/// `sync_file_range=flag[,flag]:n`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SyncFileRange {
    /// Wait for earlier writeback first.
    pub wait_before: bool,
    /// Start writeback.
    pub write: bool,
    /// Wait for it.
    pub wait_after: bool,
    /// Call after this many writes.
    pub every: u32,
}

impl Value for SyncFileRange {
    const KIND: Kind = Kind::Text;

    fn parse(text: &str, ctx: &Ctx<'_>) -> Result<Scanned<Self>, ValueError> {
        let (flags, rest) = head(text);
        let mut value = SyncFileRange {
            every: 1,
            ..Self::default()
        };
        for flag in flags.split(',') {
            match flag.trim() {
                "wait_before" => value.wait_before = true,
                "write" => value.write = true,
                "wait_after" => value.wait_after = true,
                _ => {
                    let expected = "expected wait_before, write, wait_after, then :number";
                    return Err(ValueError::syntax(text, expected));
                }
            }
        }
        let Some(rest) = rest else {
            return Ok(Scanned { value, note: None });
        };
        let scanned = u32::parse(rest, ctx)?;
        value.every = scanned.value.max(1);
        Ok(Scanned {
            value,
            note: scanned.note,
        })
    }

    fn show(&self) -> String {
        let flags = [
            (self.wait_before, "wait_before"),
            (self.write, "write"),
            (self.wait_after, "wait_after"),
        ];
        let set: Vec<&str> = flags
            .iter()
            .filter(|(on, _)| *on)
            .map(|(_, word)| *word)
            .collect();
        format!("{}:{}", set.join(","), self.every)
    }
}

/// Kinds of replayed entries to leave out: `read,write,trim,sync`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReplaySkip {
    /// Leave out reads.
    pub read: bool,
    /// Leave out writes.
    pub write: bool,
    /// Leave out trims.
    pub trim: bool,
    /// Leave out syncs.
    pub sync: bool,
}

impl Value for ReplaySkip {
    const KIND: Kind = Kind::Text;

    fn parse(text: &str, _: &Ctx<'_>) -> Result<Scanned<Self>, ValueError> {
        let mut value = Self::default();
        for word in text.split(',') {
            match word.trim() {
                "read" => value.read = true,
                "write" => value.write = true,
                "trim" => value.trim = true,
                "sync" => value.sync = true,
                _ => {
                    return Err(ValueError::syntax(
                        text,
                        "expected read, write, trim or sync",
                    ));
                }
            }
        }
        Ok(Scanned { value, note: None })
    }

    fn show(&self) -> String {
        let all = [
            (self.read, "read"),
            (self.write, "write"),
            (self.trim, "trim"),
            (self.sync, "sync"),
        ];
        all.iter()
            .filter(|(on, _)| *on)
            .map(|(_, word)| *word)
            .collect::<Vec<_>>()
            .join(",")
    }
}

/// A number behind a colon that must be a plain float.
pub(super) fn float(text: &str) -> Result<f64, ValueError> {
    Ok(number::float(text)?)
}
