//! Running other programs from the repository's root, and saying what is run.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Instant;

use anyhow::{Context, Result, bail};

/// The repository's root: the parent of this crate.
pub fn root() -> PathBuf {
    let manifest = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().map_or(manifest.clone(), PathBuf::from)
}

/// Where cargo puts what it builds.
pub fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// A command in the root; cargo means the cargo that runs this chore.
pub fn command(words: &[&str]) -> Command {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let program = if words[0] == "cargo" {
        cargo.as_str()
    } else {
        words[0]
    };
    let mut command = Command::new(program);
    command.args(&words[1..]).current_dir(root());
    command
}

/// Says what comes next, and how long the chore has taken so far.
pub fn announce(what: &str) {
    static START: OnceLock<Instant> = OnceLock::new();
    let start = START.get_or_init(Instant::now);
    eprintln!("[{:4} s] $ {what}", start.elapsed().as_secs());
}

/// Runs a command with its output passed through.
///
/// # Errors
/// The command cannot be started or does not succeed.
pub fn run(words: &[&str]) -> Result<()> {
    run_with(words, &[])
}

/// Runs a command with environment variables that name places.
///
/// # Errors
/// The command cannot be started or does not succeed.
pub fn run_with(words: &[&str], places: &[(&str, &Path)]) -> Result<()> {
    announce(&words.join(" "));
    let status = command(words)
        .envs(places.iter().copied())
        .status()
        .with_context(|| words[0].to_owned())?;
    if !status.success() {
        bail!("`{}` failed", words.join(" "));
    }
    Ok(())
}

/// Runs a command and returns its standard output.
///
/// # Errors
/// The command cannot be started or does not succeed.
pub fn capture(words: &[&str]) -> Result<String> {
    let output = command(words)
        .output()
        .with_context(|| words[0].to_owned())?;
    if !output.status.success() {
        let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
        bail!("`{}` failed: {}", words.join(" "), complaint.trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Builds the release binaries that chores measure, always the same set: with another one cargo
/// would choose other features and link everything again. `ASSAY_TEST_BIN` names another Assay.
///
/// # Errors
/// The build failed.
pub fn assay() -> Result<PathBuf> {
    if let Some(path) = std::env::var_os("ASSAY_TEST_BIN") {
        return Ok(path.into());
    }
    run(&[
        "cargo",
        "build",
        "--release",
        "--quiet",
        "--package",
        "assay",
        "--package",
        "probe",
    ])?;
    Ok(target().join("release/assay"))
}
