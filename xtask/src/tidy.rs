//! `cargo xtask tidy`: the project's rules about its own files, as a test and not as prose.

use std::fs;

use anyhow::{Context, Result, bail};

use crate::shell;

/// Longest source file, in lines.
const FILE_LINES: usize = 700;

/// Longest line of source text, in characters.
const LINE_CHARS: usize = 100;

/// Places that may hold unsafe blocks.
const UNSAFE_HOMES: [&str; 2] = ["crates/sys/", "crates/memory/src/kernel/"];

/// Checks every tracked file.
///
/// # Errors
/// Every broken rule, or git cannot list the files.
pub fn check() -> Result<()> {
    let root = shell::root();
    let list = shell::capture(&[
        "git",
        "ls-files",
        "--cached",
        "--others",
        "--exclude-standard",
    ])
    .context("tidy looks at the files that git knows")?;
    let mut broken = Vec::new();
    let mut files = 0;
    for path in list.lines() {
        // Binary files and links that lead nowhere have no text to look at.
        let Ok(text) = fs::read_to_string(root.join(path)) else {
            continue;
        };
        files += 1;
        broken.extend(
            findings(path, &text)
                .into_iter()
                .map(|what| format!("{path}{what}")),
        );
    }
    if !broken.is_empty() {
        bail!("tidy: {} finding(s)\n{}", broken.len(), broken.join("\n"));
    }
    eprintln!("tidy: {files} files in order");
    Ok(())
}

/// What is wrong with one file: `:LINE: text`.
fn findings(path: &str, text: &str) -> Vec<String> {
    let mut out = Vec::new();
    for (index, line) in text.lines().enumerate() {
        for what in line_findings(path, line) {
            out.push(format!(":{}: {what}", index + 1));
        }
    }
    if path.ends_with(".rs") {
        out.extend(source_findings(path, text));
    }
    if text.len() > 1 && !text.ends_with('\n') && !path.starts_with("LICENSE") {
        out.push(": no newline at the end".into());
    }
    out
}

fn line_findings(path: &str, line: &str) -> Vec<String> {
    let mut out = Vec::new();
    // Spelled in pieces so that this file passes its own check.
    for folder in [["/wo", "rk/"], ["/ro", "ot/"], ["/home", "/"]] {
        let folder = folder.concat();
        if line.contains(&folder) {
            out.push(format!("a path of one machine: {folder}"));
        }
    }
    if !path.ends_with(".rs") {
        return out;
    }
    for word in [
        ["to", "do!("],
        ["unimple", "mented!("],
        ["FIX", "ME"],
        ["db", "g!("],
        ["TO", "DO"],
    ] {
        let word = word.concat();
        if line.contains(&word) {
            out.push(format!("unfinished: {word}"));
        }
    }
    // Only text between quotes may be longer: rustfmt does not break it either.
    if line.chars().count() > LINE_CHARS && !line.contains('"') {
        out.push(format!("longer than {LINE_CHARS} characters"));
    }
    if !line.is_ascii() && !line.contains('"') && !line.contains('\'') {
        out.push("not ASCII".into());
    }
    if line.trim_start().starts_with("#[allow(dead_code") {
        out.push("dead code is deleted, not allowed".into());
    }
    out
}

fn source_findings(path: &str, text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let lines = text.lines().count();
    if lines > FILE_LINES {
        out.push(format!(": {lines} lines, split it at a natural seam"));
    }
    if !text.starts_with("//!") && !text.starts_with("#!") {
        out.push(": the file does not begin by saying what it decides (`//!`)".into());
    }
    let code = |line: &&str| !line.trim_start().starts_with("//");
    let holds_unsafe = |line: &str| line.contains("unsafe {") || line.contains("unsafe fn");
    let home = UNSAFE_HOMES.iter().any(|home| path.starts_with(home));
    if !home && path != "xtask/src/tidy.rs" && text.lines().filter(code).any(holds_unsafe) {
        out.push(format!(": unsafe outside {}", UNSAFE_HOMES.join(", ")));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::findings;

    #[test]
    fn each_rule_finds_its_breach() {
        for (path, text) in [
            ("crates/a/src/b.rs", "fn main() {}\n"),
            ("crates/a/src/b.rs", "//! B.\nfn f() { unsafe { g() } }\n"),
            (
                "crates/a/src/b.rs",
                &["//! B.\nfn f() { to", "do!() }\n"].concat(),
            ),
            (
                "crates/a/src/b.rs",
                &["//! B.\n// FIX", "ME later\n"].concat(),
            ),
            (
                "crates/a/src/b.rs",
                &format!("//! B.\n// {}\n", "x".repeat(100)),
            ),
            (
                "crates/a/src/b.rs",
                &format!("//! B.\n{}", "\n".repeat(701)),
            ),
            ("docs/a.md", &["see /wo", "rk/x\n"].concat()),
            ("docs/a.md", "no end"),
        ] {
            assert!(!findings(path, text).is_empty(), "{path}: {text:?}");
        }
    }

    #[test]
    fn ordinary_files_pass() {
        let source = "//! What this decides.\n// SAFETY is for sys.\nfn f() {}\n";
        assert_eq!(findings("crates/a/src/b.rs", source), Vec::<String>::new());
        let system = "//! Calls.\nfn f() { unsafe { g() } }\n";
        assert_eq!(
            findings("crates/sys/src/b.rs", system),
            Vec::<String>::new()
        );
    }
}
