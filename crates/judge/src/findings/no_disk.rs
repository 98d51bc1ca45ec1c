//! Targets that are not on a disk of this machine.

use crate::Evidence;
use crate::say::{With, finding};
use result::{Finding, Severity};

const MEMORY: [&str; 3] = ["tmpfs", "ramfs", "hugetlbfs"];
const NETWORK: [&str; 11] = [
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "ceph",
    "9p",
    "lustre",
    "glusterfs",
    "fuse.sshfs",
    "virtiofs",
    "gpfs",
];

pub(crate) fn rule(evidence: &Evidence<'_>) -> Vec<Finding> {
    let targets = evidence.run.host.iter().flat_map(|host| &host.targets);
    let mut found: Vec<Finding> = Vec::new();
    for target in targets {
        let (Some(kind), Some(place)) = (&target.fs_type, &target.mount_point) else {
            continue;
        };
        let is = |list: &[&str]| list.contains(&kind.as_str());
        let path = &target.path;
        let one = if is(&MEMORY) {
            finding(
                "target-in-memory",
                Severity::Invalid,
                format!("{path} lies on {kind} at {place}: memory was measured, no storage"),
                "name a directory on the disk that is meant",
            )
        } else if is(&NETWORK) {
            finding(
                "target-on-network",
                Severity::Note,
                format!(
                    "{path} lies on {kind} at {place}: the network and a server are part of it"
                ),
                "compare with the server's own figures; local caches count as well",
            )
        } else if kind == "overlay" {
            finding(
                "target-on-overlay",
                Severity::Warning,
                format!(
                    "{path} lies in a container's layer (overlay at {place}), whose disk is hidden"
                ),
                "mount a volume into the container and measure there",
            )
        } else {
            continue;
        };
        if found.iter().all(|known| known.id != one.id) {
            found.push(one.word("fs_type", kind).word("mount_point", place));
        }
    }
    found
}
