//! A root file system in memory, as a cpio archive in the `newc` form the kernel unpacks
//! (Documentation/driver-api/early-userspace/buffer-format.rst).

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::image::Image;
use super::scenario::Scenario;
use crate::shell;

const DIRECTORY: u32 = 0o040_755;
const PROGRAM: u32 = 0o100_755;
const LINK: u32 = 0o120_777;

/// What runs first: mounts, modules, the scenario, off.
const INIT: &str = include_str!("scenarios/init.sh");

/// An archive under construction.
#[derive(Debug, Default)]
struct Archive {
    bytes: Vec<u8>,
    inode: u32,
}

impl Archive {
    fn add(&mut self, name: &str, mode: u32, content: &[u8]) {
        self.inode += 1;
        let mut header = String::from("070701");
        let links = if mode == DIRECTORY { 2 } else { 1 };
        let size = content.len() as u32;
        let name_size = name.len() as u32 + 1;
        // inode, mode, uid, gid, links, mtime, size, four device numbers, name size, checksum
        let fields = [
            self.inode, mode, 0, 0, links, 0, size, 0, 0, 0, 0, name_size, 0,
        ];
        for field in fields {
            write!(header, "{field:08x}").expect("a string takes everything");
        }
        self.bytes.extend_from_slice(header.as_bytes());
        self.bytes.extend_from_slice(name.as_bytes());
        self.bytes.push(0);
        self.pad();
        self.bytes.extend_from_slice(content);
        self.pad();
    }

    fn pad(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }
}

/// Builds the archive for a scenario.
///
/// # Errors
/// A program or module cannot be read.
pub fn build(scenario: &Scenario, image: &Image, assay: &Path) -> Result<Vec<u8>> {
    let mut archive = Archive::default();
    for dir in [
        "bin",
        "dev",
        "proc",
        "sys",
        "tmp",
        "mnt",
        "modules",
        "lib",
        "lib64",
        "usr",
        "usr/lib",
        "lib/x86_64-linux-gnu",
        "usr/lib/x86_64-linux-gnu",
    ] {
        archive.add(dir, DIRECTORY, &[]);
    }
    archive.add("init", PROGRAM, INIT.as_bytes());
    archive.add("scenario", PROGRAM, scenario.script.as_bytes());
    archive.add("bin/busybox", PROGRAM, &fs::read(image.busybox())?);
    archive.add("bin/sh", LINK, b"busybox");
    let stripped = shell::target().join("lab-assay");
    let (from, to) = (assay.display().to_string(), stripped.display().to_string());
    shell::capture(&["strip", "-o", &to, &from])?;
    archive.add("bin/assay", PROGRAM, &fs::read(&stripped)?);
    fs::remove_file(&stripped)?;
    archive.add("bin/fio", LINK, b"assay");
    for library in libraries(&from)? {
        let content = fs::read(&library).with_context(|| library.clone())?;
        archive.add(library.trim_start_matches('/'), PROGRAM, &content);
    }
    let mut list = String::new();
    for (name, content) in image.modules(scenario.modules)? {
        archive.add(&format!("modules/{name}"), PROGRAM, &content);
        list += &name;
        list.push('\n');
    }
    archive.add("modules/list", PROGRAM, list.as_bytes());
    archive.add("TRAILER!!!", 0, &[]);
    Ok(archive.bytes)
}

/// Shared libraries of a program, and its loader, by path.
fn libraries(program: &str) -> Result<Vec<String>> {
    let text = shell::capture(&["ldd", program])?;
    let paths = text.lines().filter_map(|line| {
        let line = line.trim();
        let path = line.split_once("=> ").map_or(line, |(_, path)| path);
        path.starts_with('/')
            .then(|| path.split(' ').next().unwrap_or(path).to_owned())
    });
    Ok(paths.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_aligned_and_sized() {
        let mut archive = Archive::default();
        archive.add("ab", PROGRAM, b"xyz");
        archive.add("TRAILER!!!", 0, &[]);
        assert_eq!(&archive.bytes[..14], b"07070100000001");
        assert_eq!(archive.bytes.len() % 4, 0);
        let text = String::from_utf8_lossy(&archive.bytes).into_owned();
        // Size and length of the name stand in their fields.
        assert_eq!(&text[6 + 6 * 8..6 + 7 * 8], "00000003");
        assert_eq!(&text[6 + 11 * 8..6 + 12 * 8], "00000003");
        assert!(text.contains("xyz"));
    }
}
