//! Programs that tests and benchmarks use, installed with apt-get where they are missing.

use anyhow::{Context, Result, bail};

use crate::shell;

/// A program and the Debian package that brings it.
pub type Needed = (&'static str, &'static str);

/// What the tests run.
pub const FOR_TESTS: [Needed; 4] = [
    ("fio", "fio"),
    ("strace", "strace"),
    ("mkfs.ext4", "e2fsprogs"),
    ("losetup", "mount"),
];

/// What the benchmark runs.
pub const FOR_BENCH: [Needed; 2] = [("fio", "fio"), ("taskset", "util-linux")];

/// What the benchmark of memory runs beside Assay. The compiler is that of Rust's linker.
pub const FOR_MEMORY: [Needed; 4] = [
    ("likwid-bench", "likwid"),
    ("sysbench", "sysbench"),
    ("taskset", "util-linux"),
    ("cc", "gcc"),
];

/// What opens report pages.
pub const FOR_PAGES: [Needed; 3] = [("chromium", "chromium"), ("node", "nodejs"), ("npm", "npm")];

/// What counts instructions.
pub const FOR_COUNTING: [Needed; 1] = [("valgrind", "valgrind")];

/// Installs the packages of programs that are not there.
///
/// # Errors
/// Something is missing and this is not root on a Debian system, or apt-get fails.
pub fn ensure(needed: &[Needed]) -> Result<()> {
    let mut packages: Vec<&str> = Vec::new();
    packages.extend(
        needed
            .iter()
            .filter(|(program, _)| !have(program))
            .map(|(_, p)| *p),
    );
    if packages.is_empty() {
        return Ok(());
    }
    let list = packages.join(" ");
    if !have("apt-get") {
        bail!("install these first, there is no apt-get here to do it: {list}");
    }
    let root = shell::capture(&["id", "-u"])?.trim() == "0";
    if !root {
        bail!("install these first (run as root, this chore does it): apt-get install {list}");
    }
    let install = |words: &[&str]| {
        let status = shell::command(&["apt-get", "-qq", "-o", "DPkg::Lock::Timeout=120"])
            .args(words)
            .env("DEBIAN_FRONTEND", "noninteractive")
            .stdout(std::process::Stdio::null())
            .status()
            .context("apt-get")?;
        if status.success() {
            Ok(())
        } else {
            bail!("apt-get {} failed", words.join(" "))
        }
    };
    eprintln!("installing {list}");
    install(&["update"])?;
    let mut words = vec!["install", "-y", "--no-install-recommends"];
    words.extend(&packages);
    install(&words)
}

/// Whether a program is on `PATH` or in the administrator's folders.
pub fn have(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let administrator = ["/usr/sbin".into(), "/sbin".into()];
    std::env::split_paths(&path)
        .chain(administrator)
        .any(|dir| dir.join(program).is_file())
}
