//! Files and devices of the rows, made once and removed at the end.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::rows::Target;
use crate::shell;

/// Size of every target.
const SIZE_MIB: usize = 256;

/// Where the rows' `$T` point, or why they cannot.
#[derive(Debug)]
pub struct Places {
    cached: PathBuf,
    logs: PathBuf,
    tmpfs: Result<PathBuf, String>,
    zram: Result<Zram, String>,
}

impl Places {
    /// Makes and fills everything that this machine allows.
    ///
    /// # Errors
    /// Not even the build directory can hold a file.
    pub fn prepare() -> Result<Self> {
        let cached = shell::target().join("bench.data");
        fill(&cached).with_context(|| cached.display().to_string())?;
        let logs = shell::target().join("bench.logs");
        fs::create_dir_all(&logs).with_context(|| logs.display().to_string())?;
        Ok(Places {
            cached,
            logs,
            tmpfs: tmpfs(),
            zram: Zram::new(),
        })
    }

    /// Prefix of the names of log files.
    pub fn logs(&self) -> String {
        self.logs.join("log").display().to_string()
    }

    /// Removes the logs of a run.
    pub fn remove_logs(&self) {
        for entry in fs::read_dir(&self.logs).into_iter().flatten().flatten() {
            // What is left behind costs space only.
            let _ = fs::remove_file(entry.path());
        }
    }

    /// Brings a cached target back into the page cache, from which anybody may have driven it.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn warm(&self, target: Target) -> std::io::Result<()> {
        if target == Target::Cached {
            std::io::copy(&mut File::open(&self.cached)?, &mut std::io::sink())?;
        }
        Ok(())
    }

    /// The path of a target.
    ///
    /// # Errors
    /// Why there is none on this machine.
    pub fn path(&self, target: Target) -> Result<String, String> {
        let text = |path: &Path| path.display().to_string();
        match target {
            Target::None => Ok(String::new()),
            Target::Cached => Ok(text(&self.cached)),
            Target::Tmpfs => self
                .tmpfs
                .as_ref()
                .map(|path| text(path))
                .map_err(Clone::clone),
            Target::Zram => self
                .zram
                .as_ref()
                .map(|z| text(&z.device))
                .map_err(Clone::clone),
        }
    }
}

impl Drop for Places {
    fn drop(&mut self) {
        // What is left behind costs space only; there is nobody to tell.
        let _ = fs::remove_file(&self.cached);
        let _ = fs::remove_dir_all(&self.logs);
        if let Ok(path) = &self.tmpfs {
            let _ = fs::remove_file(path);
        }
    }
}

/// Incompressible data from a small xorshift generator.
fn fill(path: &Path) -> std::io::Result<()> {
    let mut file = File::options()
        .create(true)
        .truncate(true)
        .write(true)
        .open(path)?;
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut block = vec![0_u8; 1 << 20];
    for _ in 0..SIZE_MIB {
        for word in block.chunks_exact_mut(8) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            word.copy_from_slice(&state.to_le_bytes());
        }
        file.write_all(&block)?;
    }
    file.flush()
}

fn tmpfs() -> Result<PathBuf, String> {
    let path = PathBuf::from(format!("/dev/shm/assay-bench-{}", std::process::id()));
    fill(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let direct = shell::capture(&[
        "dd",
        &format!("if={}", path.display()),
        "of=/dev/null",
        "bs=4k",
        "count=1",
        "iflag=direct",
    ]);
    if let Err(error) = direct {
        let _ = fs::remove_file(&path);
        return Err(format!("this kernel's tmpfs takes no direct I/O: {error}"));
    }
    Ok(path)
}

/// A RAM disk of this run's own, never one that somebody may be using.
#[derive(Debug)]
struct Zram {
    number: String,
    device: PathBuf,
}

const CONTROL: &str = "/sys/class/zram-control";

impl Zram {
    fn new() -> Result<Self, String> {
        if !Path::new(CONTROL).exists() {
            // Built in or loaded already is fine too; the check below decides.
            let _ = shell::capture(&["modprobe", "zram"]);
        }
        let number = fs::read_to_string(format!("{CONTROL}/hot_add"))
            .map_err(|error| format!("no zram device can be added: {error}"))?
            .trim()
            .to_owned();
        let device = PathBuf::from(format!("/dev/zram{number}"));
        let zram = Zram { device, number };
        let size = format!("/sys/block/zram{}/disksize", zram.number);
        fs::write(size, format!("{SIZE_MIB}M")).map_err(|error| format!("zram: {error}"))?;
        if !zram.device.exists() {
            return Err(format!("{} did not appear", zram.device.display()));
        }
        fill(&zram.device).map_err(|error| format!("zram: {error}"))?;
        Ok(zram)
    }
}

impl Drop for Zram {
    fn drop(&mut self) {
        let _ = fs::write(format!("/sys/block/zram{}/reset", self.number), "1");
        let _ = fs::write(format!("{CONTROL}/hot_remove"), &self.number);
    }
}
