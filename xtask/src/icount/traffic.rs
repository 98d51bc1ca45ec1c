//! Do the memory kernels load and store the bytes that they claim?
//!
//! Every kernel goes once over a small area under callgrind, which counts data reads and writes.
//! Both must equal the declared bytes over the width of an instruction, up to the few accesses of
//! the call itself. valgrind does not know AVX-512; those kernels come from the same macros, and
//! are compared with scalar results in their crate.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::shell;

/// Data accesses of a call around its loop.
const CALL: u64 = 200;

/// A kernel's declared accesses, as the probe prints them.
#[derive(Debug, PartialEq, Eq)]
struct Declared {
    name: String,
    loads: u64,
    stores: u64,
}

/// Runs the probe and compares.
///
/// # Errors
/// The probe or valgrind failed, or a kernel's counts are not those declared.
pub fn check() -> Result<()> {
    shell::run(&["cargo", "build", "--quiet", "--package", "probe"])?;
    let folder = shell::target().join("traffic");
    fs::remove_dir_all(&folder).or_else(|error| match error.kind() {
        std::io::ErrorKind::NotFound => Ok(()),
        _ => Err(error),
    })?;
    fs::create_dir_all(&folder)?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--quiet", "--cache-sim=yes"])
        .args([
            "--zero-before=probe::counted_pass",
            "--dump-after=probe::counted_pass",
        ])
        .arg(format!(
            "--callgrind-out-file={}",
            folder.join("out").display()
        ))
        .arg(shell::target().join("debug/probe"))
        .args(["kernels", "1"])
        .output()
        .context("valgrind")?;
    ensure!(
        output.status.success(),
        "probe kernels: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8(output.stdout)?;
    let declared: Vec<Declared> = text
        .lines()
        .map(declared)
        .collect::<Option<_>>()
        .context("the probe's list of kernels")?;
    ensure!(
        declared.len() > 50,
        "the probe ran {} kernels",
        declared.len()
    );
    let mut wrong = Vec::new();
    for (index, kernel) in declared.iter().enumerate() {
        let profile = profile(&folder, index + 1)?;
        let (loads, stores) = accesses(&profile).context("callgrind's totals")?;
        let close = |got: u64, want: u64| got >= want && got - want <= CALL;
        if !close(loads, kernel.loads) || !close(stores, kernel.stores) {
            wrong.push(format!(
                "{}: {loads} loads and {stores} stores, declared {} and {}",
                kernel.name, kernel.loads, kernel.stores
            ));
        }
    }
    fs::remove_dir_all(&folder)?;
    if !wrong.is_empty() {
        bail!(
            "kernels move other bytes than they claim:\n{}",
            wrong.join("\n")
        );
    }
    eprintln!(
        "traffic: {} memory kernels load and store what they claim",
        declared.len()
    );
    Ok(())
}

fn profile(folder: &Path, number: usize) -> Result<String> {
    let path = folder.join(format!("out.{number}"));
    fs::read_to_string(&path).with_context(|| path.display().to_string())
}

/// `NAME LOADS STORES`.
fn declared(line: &str) -> Option<Declared> {
    let mut words = line.split_whitespace();
    Some(Declared {
        name: words.next()?.to_owned(),
        loads: words.next()?.parse().ok()?,
        stores: words.next()?.parse().ok()?,
    })
}

/// Data reads and writes: the columns `Dr` and `Dw` of the totals.
fn accesses(profile: &str) -> Option<(u64, u64)> {
    let after = |key: &str| profile.lines().find_map(|line| line.strip_prefix(key));
    let events: Vec<&str> = after("events:")?.split_whitespace().collect();
    let totals = after("totals:").or_else(|| after("summary:"))?;
    let totals: Vec<u64> = totals
        .split_whitespace()
        .map(|word| word.parse().ok())
        .collect::<Option<_>>()?;
    let column = |name: &str| {
        let place = events.iter().position(|event| *event == name)?;
        // Columns at the end that are zero are left out.
        Some(totals.get(place).copied().unwrap_or(0))
    };
    Some((column("Dr")?, column("Dw")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_found_by_name() {
        let profile = "version: 1\nevents: Ir Dr Dw I1mr\nfn=(1)\nsummary: 9 8\ntotals: 10 20 30\n";
        assert_eq!(accesses(profile), Some((20, 30)));
        assert_eq!(accesses("events: Ir Dr Dw\ntotals: 10 20\n"), Some((20, 0)));
        assert_eq!(accesses("events: Ir\ntotals: 10\n"), None);
        let kernel = Declared {
            name: "copy-sse2-2s".into(),
            loads: 4,
            stores: 5,
        };
        assert_eq!(declared("copy-sse2-2s 4 5"), Some(kernel));
    }
}
