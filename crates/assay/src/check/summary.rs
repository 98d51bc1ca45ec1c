//! The ten lines at the end of the check.

use super::Measured;
use super::file::Ground;
use measure::Latency;
use render::human::{count, rate, time};
use result::{Run, SelfCheck};
use std::path::Path;

/// What was measured: directory, device, file system.
pub struct Place {
    dir: String,
    device: String,
    file_system: String,
}

impl Place {
    /// Looks at the host.
    pub fn of(dir: &Path) -> anyhow::Result<Place> {
        let facts = host::Facts::read(&host::Root::default())?;
        if let Some(device) = host::BlockDevice::by_path(&facts.root, dir) {
            return Ok(Place {
                dir: dir.display().to_string(),
                device: name(&device),
                file_system: "no file system between".to_owned(),
            });
        }
        let dir = &dir.canonicalize()?;
        let mount = facts.mounts.of_path(dir);
        let file_system = mount.map_or_else(
            || "unknown file system".to_owned(),
            |mount| format!("{} on {}", mount.fs_type, mount.mount_point.display()),
        );
        let devices = host::block::below_path(&facts.root, &facts.mounts, dir);
        let names: Vec<String> = devices
            .iter()
            .map(|device| name(&device.whole_disk()))
            .collect();
        let device = if names.is_empty() {
            "no block device".to_owned()
        } else {
            names.join(" + ")
        };
        Ok(Place {
            dir: dir.display().to_string(),
            device,
            file_system,
        })
    }

    /// The device and what lies between it and the user.
    pub fn storage(&self) -> String {
        format!("{} ({})", self.device, self.file_system)
    }

    /// One line for the start.
    pub fn headline(&self, memory: bool) -> String {
        let (what, seconds) = match memory {
            true => (" and the memory", 25),
            false => ("", 15),
        };
        format!(
            "Measuring {} ({}, {}){what}; about {seconds} s",
            self.dir, self.device, self.file_system
        )
    }
}

fn name(disk: &host::BlockDevice) -> String {
    let size = match disk.size_bytes {
        small @ 0..0x4000_0000 => format!("{} MiB", small >> 20),
        large => format!("{:.0} GiB", large as f64 / (1u64 << 30) as f64),
    };
    match disk.model.as_str() {
        "" => format!("{} {size}", disk.name),
        model => format!("{} {model} {size}", disk.name),
    }
}

/// The summary: ten lines.
pub fn text(
    place: &Place,
    own: &Ground,
    size_bytes: u64,
    measured: &[Measured],
    tool: &anyhow::Result<SelfCheck>,
) -> String {
    let mode = if own.direct {
        "direct I/O"
    } else {
        "buffered I/O (no O_DIRECT here: the page cache is part of these figures)"
    };
    let mut text = format!(
        "{}    {}\nstorage      {}, {}\nmethod       {} through {}, {}\n\n",
        if own.own { "directory" } else { "device   " },
        place.dir,
        place.device,
        place.file_system,
        mode,
        own.engine(),
        match (own.own, own.writable) {
            (true, _) => format!("own file of {} MiB, removed", size_bytes >> 20),
            (false, true) => "its content is overwritten".to_owned(),
            (false, false) => "only read".to_owned(),
        }
    );
    text += &format!(
        "{:20} {:>12} {:>10} {:>11} {:>11}\n",
        "", "bandwidth", "IOPS", "mean lat", "p99 lat"
    );
    for phase in measured {
        let dir = &phase.job.dirs[phase.ddir];
        let seconds = dir.runtime_ms.max(1) as f64 / 1000.0;
        text += &format!(
            "{:20} {:>12} {:>10} {:>11} {:>11}\n",
            phase.title,
            rate(dir.bytes as f64 / seconds),
            count(dir.ios as f64 / seconds),
            time(dir.lat.moments.mean()),
            time(p99(&dir.clat)),
        );
    }
    let tool = match tool {
        Ok(tool) => tool,
        Err(error) => return text + &format!("{:20} not measured: {error:#}\n", "Assay itself"),
    };
    let share = |phase: &Measured| {
        let dir = &phase.job.dirs[phase.ddir];
        let seconds = dir.runtime_ms.max(1) as f64 / 1000.0;
        tool.share(phase.iodepth, dir.ios as f64 / seconds)
    };
    let most = measured.iter().map(share).fold(0.0, f64::max);
    text += &format!(
        "{:20} {:.0} ns of its own per I/O, at most {:.1} % of the time above\n",
        "Assay itself",
        tool.sync_ns,
        most * 100.0
    );
    text
}

/// Verdicts and findings, one a line; more than a few are left to the page.
pub fn judgement(run: &Run) -> String {
    const MOST: usize = 5;
    let Some(judgement) = &run.judgement else {
        return String::new();
    };
    let mut text = String::new();
    for one in &judgement.expectations {
        if let Some(verdict) = &one.verdict {
            text += &format!("{:20} {}: {verdict}\n", "verdict", one.subject);
        }
    }
    for finding in judgement.findings.iter().take(MOST) {
        let (word, id) = (finding.severity.word(), &finding.id);
        text += &format!("{word:20} {} [{id}]\n", finding.text);
    }
    match judgement.findings.len() {
        0 => text += &format!("{:20} none\n", "findings"),
        n if n > MOST => text += &format!("{:20} {} more in the report\n", "findings", n - MOST),
        _ => {}
    }
    format!("\n{text}")
}

fn p99(class: &Latency) -> f64 {
    let bins = class.histogram.as_ref();
    bins.and_then(|bins| bins.percentiles(&[99.0]).first().copied())
        .unwrap_or(0) as f64
}
