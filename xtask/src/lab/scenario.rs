//! What each machine has and does.

use std::collections::VecDeque;
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

/// Lines of the console that are shown of a machine that did not end.
const LAST: usize = 40;

/// All of them.
pub const SCENARIOS: [Scenario; 7] = [
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
    Scenario {
        name: "io_uring_cmd",
        script: include_str!("scenarios/io_uring_cmd.sh"),
        modules: &["nvme"],
        devices: "-drive file=$D/nvme.img,if=none,id=n0,format=raw,discard=unmap \
                  -device nvme,drive=n0,serial=lab0",
        images: &[("nvme.img", 64)],
        files: &[],
    },
    Scenario {
        name: "zoned",
        script: include_str!("scenarios/zoned.sh"),
        modules: &["nvme", "null_blk"],
        devices: "-drive file=$D/zoned.img,if=none,id=n0,format=raw \
                  -device nvme,id=c0,serial=lab0 -device nvme-ns,drive=n0,bus=c0,zoned=on,\
                  zoned.zone_size=1M,zoned.zone_capacity=768K,zoned.max_open=4,\
                  zoned.max_active=6 -drive file=blkdebug:$D/once.conf:$D/once.img,if=none,id=n1,\
                  format=raw,rerror=report,werror=report -device nvme,id=c1,serial=lab1 \
                  -device nvme-ns,drive=n1,bus=c1,zoned=on,zoned.zone_size=1M",
        images: &[("zoned.img", 24), ("once.img", 8)],
        // One write fails, 128 KiB behind the start of the third zone.
        files: &[(
            "once.conf",
            "[inject-error]\nevent = \"none\"\niotype = \"write\"\nsector = \"4352\"\n\
             errno = \"5\"\nonce = \"on\"\n",
        )],
    },
    Scenario {
        name: "groups",
        script: include_str!("scenarios/groups.sh"),
        modules: &["null_blk"],
        devices: "",
        images: &[],
        files: &[],
    },
    Scenario {
        name: "power-cut",
        script: include_str!("scenarios/power-cut.sh"),
        modules: &["nvme"],
        devices: "-drive file=$D/data.img,if=none,id=n0,format=raw \
                  -drive file=$D/state.img,if=none,id=n1,format=raw \
                  -device nvme,id=c0,serial=lab0 -device nvme-ns,drive=n0,bus=c0,nsid=1 \
                  -device nvme-ns,drive=n1,bus=c0,nsid=2",
        images: &[("data.img", 64), ("state.img", 1)],
        files: &[],
    },
    Scenario {
        name: "numa",
        script: include_str!("scenarios/numa.sh"),
        modules: &["msr"],
        devices: "-cpu max,vendor=GenuineIntel,family=6 -object memory-backend-ram,id=m0,size=512M \
                  -object memory-backend-ram,id=m1,size=512M \
                  -numa node,nodeid=0,cpus=0,memdev=m0 -numa node,nodeid=1,cpus=1,memdev=m1",
        images: &[],
        files: &[],
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
    let boot = |stage| Machine::start(&image.kernel(), initramfs, &devices, stage, LIMIT);
    let mut machine = boot(1)?;
    let (mut passed, mut failed, mut over) = (0, 0, false);
    let mut last = VecDeque::new();
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
        } else if line == "LAB CUT" {
            // A machine that is on again finds its disks as they were.
            machine.kill();
            machine = boot(2)?;
        } else if !line.is_empty() {
            last.truncate(LAST - 1);
            last.push_front(line);
        }
    }
    machine.kill();
    if !over {
        failed += 1;
        println!(
            "{}: FAIL the machine did not end; its last lines:",
            scenario.name
        );
        last.iter().rev().for_each(|line| println!("    {line}"));
    } else if passed == 0 {
        failed += 1;
        println!("{}: FAIL nothing was checked", scenario.name);
    }
    Ok(failed)
}
