//! `cargo xtask lab`: hardware that the machine at hand lacks, emulated.
//!
//! A scenario is a shell script that runs as the only program of a virtual machine with the
//! devices it asks for, under Debian's kernel and without KVM. It prints a line for each check,
//! `PASS what` or `FAIL what: why`, and `LAB DONE` at its end; anything else is a failure.

mod image;
mod initramfs;
mod machine;
mod scenario;

use anyhow::{Result, bail};

use crate::shell;
use image::Image;
use scenario::{SCENARIOS, Scenario};

/// Runs the scenarios named, or all.
///
/// # Errors
/// A name is unknown, a build failed, or a check did.
pub fn run(words: &[String]) -> Result<()> {
    let wanted: Vec<&Scenario> = if words.is_empty() {
        SCENARIOS.iter().collect()
    } else {
        words.iter().map(|word| find(word)).collect::<Result<_>>()?
    };
    let image = match Image::ready() {
        Ok(image) => image,
        Err(error) => {
            println!("SKIPPED lab: {error:#}");
            return Ok(());
        }
    };
    let assay = shell::assay()?;
    let mut failures = 0;
    for scenario in wanted {
        failures += scenario::run(scenario, &image, &assay)?;
    }
    if failures > 0 {
        bail!("lab: {failures} failure(s)");
    }
    Ok(())
}

fn find(name: &str) -> Result<&'static Scenario> {
    match SCENARIOS.iter().find(|scenario| scenario.name == name) {
        Some(scenario) => Ok(scenario),
        None => {
            let names: Vec<&str> = SCENARIOS.iter().map(|s| s.name).collect();
            bail!("no scenario `{name}`; there are {}", names.join(", "))
        }
    }
}
