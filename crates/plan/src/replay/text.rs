//! fio's own logs, versions 2 and 3: one line per request.
//!
//! Version 3: `microseconds file action [offset length]`. Version 2 has no times; its `wait`
//! names the milliseconds since the start at which the next request is due.

use super::{Asked, FileRef, Item, Stamped};
use std::io::{self, BufRead};
use units::Ddir;

const MICRO: u64 = 1_000;
const MILLI: u64 = 1_000_000;

/// The lines of a log behind its headline.
pub(super) struct Lines {
    input: Box<dyn BufRead + Send>,
    /// Lines have a time.
    timed: bool,
    line: u64,
    text: Vec<u8>,
}

impl Lines {
    /// Reads the headline.
    pub fn new(mut input: Box<dyn BufRead + Send>) -> io::Result<Lines> {
        let mut text = Vec::new();
        input.read_until(b'\n', &mut text)?;
        let timed = if text.starts_with(b"fio version 3 iolog") {
            true
        } else if text.starts_with(b"fio version 2 iolog") {
            false
        } else {
            let text = "is neither an iolog of version 2 or 3 nor a block trace";
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        };
        Ok(Lines {
            input,
            timed,
            line: 1,
            text,
        })
    }

    /// The next entry.
    pub fn next(&mut self) -> Option<Result<Stamped, String>> {
        loop {
            self.text.clear();
            self.line += 1;
            match self.input.read_until(b'\n', &mut self.text) {
                Ok(0) => return None,
                Ok(_) => {}
                Err(error) => return Some(Err(error.to_string())),
            }
            let line = String::from_utf8_lossy(&self.text);
            let line = line.trim();
            if line.is_empty() {
                continue;
            }
            let parsed = parse(line, self.timed);
            return Some(parsed.map_err(|why| format!("line {}: {why}: `{line}`", self.line)));
        }
    }
}

/// The last word of `text` and what stands before it.
fn split_last(text: &str) -> Option<(&str, &str)> {
    let (head, last) = text.trim_end().rsplit_once([' ', '\t'])?;
    Some((head.trim_end(), last))
}

/// One line. Names may hold blanks: they are what is left when the rest is taken away.
fn parse(line: &str, timed: bool) -> Result<Stamped, &'static str> {
    let (stamp, rest) = if timed {
        let (first, rest) = line.split_once([' ', '\t']).ok_or("too few words")?;
        let micros: u64 = first.parse().map_err(|_| "begins with no time")?;
        (Some(micros.saturating_mul(MICRO)), rest.trim_start())
    } else {
        (None, line)
    };
    let (head, last) = split_last(rest).ok_or("too few words")?;
    if matches!(last, "add" | "open" | "close") {
        return Ok((stamp, Item::File(head.to_owned())));
    }
    let len: u32 = last
        .parse()
        .map_err(|_| "ends with neither an action nor a length")?;
    let (head, offset) = split_last(head).ok_or("too few words")?;
    let offset: u64 = offset.parse().map_err(|_| "has no offset")?;
    let (name, action) = split_last(head).ok_or("too few words")?;
    let ddir = match action {
        "read" => Ddir::Read,
        "write" => Ddir::Write,
        "trim" => Ddir::Trim,
        "sync" => Ddir::Sync,
        "datasync" => Ddir::DataSync,
        "sync_file_range" => Ddir::SyncFileRange,
        "wait" if timed => return Err("version 3 has times instead of `wait`"),
        "wait" => return Ok((None, Item::Wait(offset.saturating_mul(MILLI)))),
        _ => return Err("unknown action; expected read, write, trim, sync or datasync"),
    };
    if ddir.is_data() && (len == 0 || len > i32::MAX as u32) {
        return Err("a request moves 1 to 2147483647 bytes");
    }
    if offset
        .checked_add(len.into())
        .is_none_or(|end| end > i64::MAX as u64)
    {
        return Err("lies beyond the largest file offset");
    }
    let (offset, len) = match ddir {
        Ddir::Sync | Ddir::DataSync => (0, 0),
        _ => (offset, len),
    };
    let asked = Asked {
        file: FileRef::Name(name.to_owned()),
        ddir,
        offset,
        len,
    };
    Ok((stamp, Item::Request(asked)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(name: &str, ddir: Ddir, offset: u64, len: u32) -> Item {
        Item::Request(Asked {
            file: FileRef::Name(name.into()),
            ddir,
            offset,
            len,
        })
    }

    #[test]
    fn lines_of_both_versions() {
        let file = |name: &str| Item::File(name.into());
        assert_eq!(parse("12 a add", true), Ok((Some(12_000), file("a"))));
        assert_eq!(parse("a b open", false), Ok((None, file("a b"))));
        assert_eq!(
            parse("7 my file read 4096 512", true),
            Ok((Some(7_000), request("my file", Ddir::Read, 4096, 512)))
        );
        assert_eq!(
            parse("a datasync 3 3", false),
            Ok((None, request("a", Ddir::DataSync, 0, 0)))
        );
        assert_eq!(
            parse("a wait 250 0", false),
            Ok((None, Item::Wait(250_000_000)))
        );
    }

    #[test]
    fn what_makes_no_sense_is_an_error() {
        for (line, timed) in [
            ("garbage", true),
            ("x a add", true),
            ("1 a wait 5 0", true),
            ("1 a bogus 0 0", true),
            ("1 a read 0 0", true),
            ("1 a read x 5", true),
            ("1 a write 9223372036854775807 4096", true),
            ("a read 0", false),
        ] {
            assert!(parse(line, timed).is_err(), "{line}");
        }
    }
}
