//! What each machine has and does.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::image::Image;
use super::initramfs;
use super::machine::Machine;
use crate::shell;

/// A script and the machine it needs.
#[derive(Debug)]
pub struct Scenario {
    pub name: &'static str,
    pub script: &'static str,
    /// Kernel modules, loaded in this order.
    pub modules: &'static [&'static str],
    /// Words for qemu; `$D` is a directory for images.
    pub devices: &'static str,
    /// Images to make in that directory: name and MiB.
    pub images: &'static [(&'static str, u64)],
    /// Text files to make there.
    pub files: &'static [(&'static str, &'static str)],
}

/// Longest time of one machine; a boot takes about three seconds of an idle CPU.
const LIMIT: Duration = Duration::from_secs(240);

/// All of them.
pub const SCENARIOS: [Scenario; 2] = [
    Scenario {
        name: "nvme",
        script: include_str!("scenarios/nvme.sh"),
        modules: &["nvme"],
        devices: "-drive file=$D/nvme.img,if=none,id=n0,format=raw \
                  -device nvme,drive=n0,serial=lab0",
        images: &[("nvme.img", 64)],
        files: &[],
    },
    Scenario {
        name: "errors",
        script: include_str!("scenarios/errors.sh"),
        modules: &["nvme", "null_blk"],
        devices: "-drive file=blkdebug:$D/errors.conf:$D/nvme.img,if=none,id=n0,format=raw,\
                  rerror=report,werror=report -device nvme,drive=n0,serial=lab0",
        images: &[("nvme.img", 64)],
        files: &[(
            "errors.conf",
            "[inject-error]\nevent = \"none\"\nsector = \"2048\"\nerrno = \"5\"\nonce = \"off\"\n",
        )],
    },
];

/// Boots the machine, prints its checks; how many failed.
///
/// # Errors
/// The machine cannot be built or started.
pub fn run(scenario: &Scenario, image: &Image, assay: &Path) -> Result<usize> {
    let dir = shell::target().join("lab").join(scenario.name);
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(&dir).with_context(|| dir.display().to_string())?;
    let start = Instant::now();
    let initramfs = dir.join("initramfs");
    fs::write(&initramfs, initramfs::build(scenario, image, assay)?)?;
    for (name, mib) in scenario.images {
        let file = fs::File::create(dir.join(name))?;
        file.set_len(mib << 20)?;
    }
    for (name, text) in scenario.files {
        fs::write(dir.join(name), text)?;
    }
    let failures = watch(scenario, image, &initramfs, &dir)?;
    eprintln!(
        "lab: {} took {:.0} s",
        scenario.name,
        start.elapsed().as_secs_f64()
    );
    fs::remove_dir_all(&dir)?;
    Ok(failures)
}

fn watch(scenario: &Scenario, image: &Image, initramfs: &Path, dir: &Path) -> Result<usize> {
    let place = dir.display().to_string();
    let words = scenario.devices.split_whitespace();
    let devices: Vec<String> = words.map(|word| word.replace("$D", &place)).collect();
    let mut machine = Machine::start(&image.kernel(), initramfs, &devices, LIMIT)?;
    let (mut passed, mut failed, mut over) = (0, 0, false);
    let mut last = String::new();
    while let Some(line) = machine.line() {
        if line.starts_with("PASS ") {
            passed += 1;
            println!("{}: {line}", scenario.name);
        } else if line.starts_with("FAIL ") {
            failed += 1;
            println!("{}: {line}", scenario.name);
        } else if line == "LAB DONE" {
            over = true;
            break;
        } else if !line.is_empty() {
            last = line;
        }
    }
    machine.kill();
    if !over {
        failed += 1;
        println!(
            "{}: FAIL the machine did not end; last line: {last}",
            scenario.name
        );
    } else if passed == 0 {
        failed += 1;
        println!("{}: FAIL nothing was checked", scenario.name);
    }
    Ok(failed)
}
