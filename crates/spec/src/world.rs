//! The few things outside the text that the text may refer to.

use std::io::{self, Read};
use std::path::Path;

/// Environment, files and machine facts, as job files see them. Tests bring their own.
pub trait World {
    /// An environment variable.
    fn env(&self, name: &str) -> Option<String>;
    /// A job file's content; `-` is standard input.
    fn read(&self, path: &str) -> io::Result<Vec<u8>>;
    /// True when a file exists, to find includes.
    fn exists(&self, path: &str) -> bool;
    /// Number of CPUs configured, `$ncpus`.
    fn cpus(&self) -> u64;
    /// Bytes in a page, `$pagesize`.
    fn page_bytes(&self) -> u64;
    /// Main memory in MiB, `$mb_memory`.
    fn memory_mib(&self) -> u64;
}

/// This process's own surroundings.
#[derive(Clone, Copy, Debug, Default)]
pub struct ThisHost;

impl World for ThisHost {
    fn env(&self, name: &str) -> Option<String> {
        std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
    }

    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        if path == "-" {
            let mut text = Vec::new();
            io::stdin().lock().read_to_end(&mut text)?;
            return Ok(text);
        }
        std::fs::read(path)
    }

    fn exists(&self, path: &str) -> bool {
        Path::new(path).exists()
    }

    fn cpus(&self) -> u64 {
        let present = std::fs::read_to_string("/sys/devices/system/cpu/present").ok();
        let highest = present.as_deref().and_then(|list| {
            list.trim()
                .rsplit([',', '-'])
                .next()
                .and_then(|last| last.parse::<u64>().ok())
        });
        let running = || std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
        highest.map_or_else(running, |last| last + 1)
    }

    fn page_bytes(&self) -> u64 {
        rustix::param::page_size() as u64
    }

    fn memory_mib(&self) -> u64 {
        let info = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
        let total = info.lines().find_map(|line| line.strip_prefix("MemTotal:"));
        let kib = total.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
        kib.unwrap_or(0) / 1024
    }
}
