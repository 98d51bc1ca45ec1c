//! A directory that is there for a file system which is not mounted.

use crate::Evidence;
use crate::say::{With, finding};
use result::{Finding, Severity};

/// Below these, directories are there to be mounted on.
const PLACES: [&str; 3] = ["/mnt/", "/media/", "/run/media/"];

pub(crate) fn rule(evidence: &Evidence<'_>) -> Vec<Finding> {
    let targets = evidence.run.host.iter().flat_map(|host| &host.targets);
    let mut found: Vec<Finding> = Vec::new();
    for target in targets {
        let Some(at) = &target.mount_point else {
            continue;
        };
        let (meant, why) = match &target.not_mounted {
            Some(meant) => (meant.as_str(), "fstab has a file system for it"),
            None if at == "/" && target.fs_type.as_deref() != Some("overlay") => {
                let place = PLACES.iter().find(|place| target.path.starts_with(**place));
                let Some(place) = place else { continue };
                let end = target.path[place.len()..].find('/');
                let end = end.map_or(target.path.len(), |n| place.len() + n);
                (&target.path[..end], "such directories are there for that")
            }
            None => continue,
        };
        let devices = target.devices.join(", ");
        let text = format!(
            "nothing is mounted at {meant}, and {why}: the file system at {at} ({devices}) did the \
             I/O"
        );
        let advice = "mount it and look at df of the directory, then measure again";
        let one = finding("not-mounted", Severity::Warning, text, advice);
        let one = one.word("meant", meant).word("mount_point", at);
        if !found.contains(&one) {
            found.push(one);
        }
    }
    found
}
