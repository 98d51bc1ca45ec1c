//! `cargo xtask page`: report pages, and those of `assay serve`, as a browser shows them.
//!
//! `check.mjs` opens each page in Chromium, narrow and wide, light and dark, with and without
//! script, and looks for what is broken; the screenshots stay for people to look at. Browser and
//! script runner are Debian's; `playwright-core` and `axe-core` come from npm into the folder of
//! built things, at the versions that stand here. Where one of them cannot be had, the check says
//! so and passes.

mod site;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::{packages, shell};
use site::Site;

const CHECK: &str = include_str!("check.mjs");

/// What npm brings, with versions.
const FROM_NPM: [&str; 2] = ["playwright-core@1.65.1", "axe-core@4.14.1"];

/// Opens the pages named, or those that the tests of `render` make and those of a server.
///
/// # Errors
/// A page has a problem.
pub fn run(words: &[String]) -> Result<()> {
    if words.is_empty() {
        let folder = made()?;
        shell::run_with(
            &[
                "cargo",
                "test",
                "--quiet",
                "--package",
                "render",
                "--test",
                "pages",
            ],
            &[("ASSAY_PAGES", &folder)],
        )?;
        return of_tests();
    }
    let path = |word: &String| {
        let path = fs::canonicalize(word).with_context(|| word.clone())?;
        Ok(path.display().to_string())
    };
    let pages: Vec<String> = words.iter().map(path).collect::<Result<_>>()?;
    let home = home();
    match ready(&home) {
        Ok(()) => check(&home, &pages),
        Err(error) => skipped(&error),
    }
}

/// An empty folder for the pages that tests make.
///
/// # Errors
/// The folder cannot be made.
pub fn made() -> Result<PathBuf> {
    let folder = home().join("pages");
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| folder.display().to_string())?;
    }
    fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    Ok(folder)
}

/// Opens the pages that tests have made, and those of a server.
///
/// # Errors
/// There are none, or one has a problem.
pub fn of_tests() -> Result<()> {
    let folder = home().join("pages");
    let entries = fs::read_dir(&folder).with_context(|| folder.display().to_string())?;
    let mut pages: Vec<String> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|ending| ending == "html"))
        .map(|path| path.display().to_string())
        .collect();
    pages.sort();
    if pages.is_empty() {
        bail!("page: the tests made no pages in {}", folder.display());
    }
    let home = home();
    if let Err(error) = ready(&home) {
        return skipped(&error);
    }
    let site = Site::start(&shell::assay()?, &home)?;
    pages.extend(site.pages());
    check(&home, &pages)
}

fn skipped(error: &anyhow::Error) -> Result<()> {
    println!("SKIPPED page: {error:#}");
    Ok(())
}

fn home() -> PathBuf {
    shell::target().join("page")
}

fn check(home: &Path, pages: &[String]) -> Result<()> {
    let out = home.join("shots");
    fs::create_dir_all(&out).with_context(|| out.display().to_string())?;
    let script = home.join("check.mjs");
    let mut words: Vec<String> = vec!["node".into(), script.display().to_string()];
    words.extend(["/usr/bin/chromium".to_owned(), out.display().to_string()]);
    words.extend(pages.iter().cloned());
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    shell::run(&words).context("page")?;
    println!("page: screenshots are in {}", out.display());
    Ok(())
}

/// Installs what is missing.
fn ready(home: &Path) -> Result<()> {
    packages::ensure(&packages::FOR_PAGES)?;
    fs::create_dir_all(home).with_context(|| home.display().to_string())?;
    fs::write(home.join("check.mjs"), CHECK).with_context(|| home.display().to_string())?;
    let wanted = FROM_NPM.join(" ");
    let note = home.join("from-npm");
    if fs::read_to_string(&note).is_ok_and(|have| have == wanted) {
        return Ok(());
    }
    let prefix = home.display().to_string();
    let mut words = vec![
        "npm",
        "install",
        "--silent",
        "--no-save",
        "--ignore-scripts",
    ];
    words.extend(["--no-audit", "--no-fund", "--prefix", &prefix]);
    words.extend(FROM_NPM);
    shell::capture(&words).context("npm cannot bring playwright-core and axe-core")?;
    fs::write(&note, wanted).with_context(|| note.display().to_string())
}
