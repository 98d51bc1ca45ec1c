//! `ignore_error`: error numbers that do not end a job.

use option::{Ctx, Kind, Scanned, Value, ValueError};

/// The names of Linux's first error numbers, in order from 1.
const NAMES: [&str; 34] = [
    "EPERM", "ENOENT", "ESRCH", "EINTR", "EIO", "ENXIO", "E2BIG", "ENOEXEC", "EBADF", "ECHILD",
    "EAGAIN", "ENOMEM", "EACCES", "EFAULT", "ENOTBLK", "EBUSY", "EEXIST", "EXDEV", "ENODEV",
    "ENOTDIR", "EISDIR", "EINVAL", "ENFILE", "EMFILE", "ENOTTY", "ETXTBSY", "EFBIG", "ENOSPC",
    "ESPIPE", "EROFS", "EMLINK", "EPIPE", "EDOM", "ERANGE",
];

/// Error numbers to ignore, by the sort of operation that met them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IgnoreErrors {
    /// For reads.
    pub read: Vec<i32>,
    /// For writes.
    pub write: Vec<i32>,
    /// For verification.
    pub verify: Vec<i32>,
}

impl IgnoreErrors {
    /// True when nothing is ignored.
    pub fn is_empty(&self) -> bool {
        self.read.is_empty() && self.write.is_empty() && self.verify.is_empty()
    }
}

fn number(name: &str) -> Option<i32> {
    if let Some(at) = NAMES.iter().position(|n| *n == name) {
        return i32::try_from(at + 1).ok();
    }
    match name {
        // Names past the classic 34 that storage really returns (the block layer's blk_errors,
        // and those of network file systems).
        "ENOSYS" => Some(38),
        "EBADE" => Some(52),
        "ENODATA" => Some(61),
        "ETIME" => Some(62),
        "ENOLINK" => Some(67),
        "EOVERFLOW" => Some(75),
        "EILSEQ" => Some(84),
        "EOPNOTSUPP" => Some(95),
        "ETOOMANYREFS" => Some(109),
        "ETIMEDOUT" => Some(110),
        "ESTALE" => Some(116),
        "EREMOTEIO" => Some(121),
        "EDQUOT" => Some(122),
        _ => name
            .parse::<i32>()
            .ok()
            .and_then(i32::checked_abs)
            .filter(|n| (1..4096).contains(n)),
    }
}

impl Value for IgnoreErrors {
    const KIND: Kind = Kind::Text;

    fn parse(text: &str, _: &Ctx<'_>) -> Result<Scanned<Self>, ValueError> {
        let mut lists = [Vec::new(), Vec::new(), Vec::new()];
        for (at, part) in text.trim().split(',').enumerate() {
            let list = lists.get_mut(at).ok_or_else(|| {
                ValueError::syntax(text, "expected at most three lists: read,write,verify")
            })?;
            for name in part.split(':').map(str::trim).filter(|n| !n.is_empty()) {
                list.push(number(name).ok_or_else(|| {
                    ValueError::syntax(name, "expected an error name such as EIO, or its number")
                })?);
            }
        }
        let [read, write, verify] = lists;
        Ok(Scanned {
            value: IgnoreErrors {
                read,
                write,
                verify,
            },
            note: None,
        })
    }

    fn show(&self) -> String {
        let list = |l: &Vec<i32>| l.iter().map(i32::to_string).collect::<Vec<_>>().join(":");
        format!(
            "{},{},{}",
            list(&self.read),
            list(&self.write),
            list(&self.verify)
        )
    }
}
