//! The recorded pattern of a job (`write_iolog`): fio's version 3, which `read_iolog` replays.
//!
//! A line is `microseconds file action`, and for requests `offset length` besides. Files are
//! added at the start, opened when a pass first uses them and closed when it ends.

use super::row::push_number;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use units::Ddir;

/// First line, and the `add` lines of all files.
pub fn push_header<'a>(text: &mut Vec<u8>, files: impl Iterator<Item = &'a Path>) {
    text.extend_from_slice(b"fio version 3 iolog\n");
    for file in files {
        push_action(text, 0, file, "add");
    }
}

/// A file was added, opened or closed.
pub fn push_action(text: &mut Vec<u8>, time_us: u64, file: &Path, action: &str) {
    push_start(text, time_us, file, action);
    text.push(b'\n');
}

/// A request was issued.
pub fn push_request(
    text: &mut Vec<u8>,
    time_us: u64,
    file: &Path,
    (ddir, offset, len): (Ddir, u64, u32),
) {
    push_start(text, time_us, file, ddir.name());
    text.push(b' ');
    push_number(text, offset);
    text.push(b' ');
    push_number(text, u64::from(len));
    text.push(b'\n');
}

fn push_start(text: &mut Vec<u8>, time_us: u64, file: &Path, action: &str) {
    push_number(text, time_us);
    text.push(b' ');
    text.extend_from_slice(file.as_os_str().as_bytes());
    text.push(b' ');
    text.extend_from_slice(action.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_those_of_version_3() {
        let (a, b) = (Path::new("a.0.0"), Path::new("/dev/x"));
        let mut text = Vec::new();
        push_header(&mut text, [a, b].into_iter());
        push_action(&mut text, 93, a, "open");
        push_request(&mut text, 96, a, (Ddir::Write, 61440, 4096));
        push_request(&mut text, 97, b, (Ddir::DataSync, 0, 0));
        push_action(&mut text, 571, a, "close");
        assert_eq!(
            String::from_utf8(text).unwrap(),
            "fio version 3 iolog\n0 a.0.0 add\n0 /dev/x add\n93 a.0.0 open\n\
             96 a.0.0 write 61440 4096\n97 /dev/x datasync 0 0\n571 a.0.0 close\n"
        );
    }
}
