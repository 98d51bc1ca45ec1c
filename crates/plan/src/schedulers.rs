//! Elevators of the devices below a job's targets (`ioscheduler`). Like fio, a run leaves them as
//! it set them.

use crate::error::Fault;
use crate::job::Job;
use crate::model::{Target, TargetKind};
use host::{BlockDevice, Facts};
use std::path::{Path, PathBuf};

/// The kernel's files to write the wanted word to: those of devices that use another elevator.
pub(crate) fn wanted(
    job: &Job<'_>,
    targets: &[Target],
    facts: &Facts,
) -> Result<Vec<(PathBuf, String)>, Fault> {
    let Some(word) = &job.options.target.ioscheduler else {
        return Ok(Vec::new());
    };
    let mut switches: Vec<(PathBuf, String)> = Vec::new();
    for target in targets {
        for device in devices(target, facts) {
            let file = device.whole_disk().sys_dir().join("queue/scheduler");
            // Stacked devices have none of their own.
            let Ok(offered) = std::fs::read_to_string(&file) else {
                continue;
            };
            let offered = offered.trim();
            let mut words = offered.split_whitespace();
            if !words
                .clone()
                .any(|have| have.trim_matches(['[', ']']) == word)
            {
                let name = &device.name;
                let text = format!("ioscheduler={word}: {name} offers {offered}");
                return Err(Fault::option("ioscheduler", text));
            }
            let in_use = words.any(|have| have == format!("[{word}]")) || offered == word;
            if !in_use && switches.iter().all(|(known, _)| *known != file) {
                switches.push((file, word.clone()));
            }
        }
    }
    Ok(switches)
}

fn devices(target: &Target, facts: &Facts) -> Vec<BlockDevice> {
    match target.kind {
        TargetKind::Block => BlockDevice::by_path(&facts.root, &target.path)
            .into_iter()
            .collect(),
        TargetKind::File => {
            let existing = target.path.ancestors().find(|at| at.exists());
            let existing = existing.unwrap_or(Path::new("."));
            host::block::below_path(&facts.root, &facts.mounts, existing)
        }
        _ => Vec::new(),
    }
}
