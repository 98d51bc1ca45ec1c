//! The machine of the picture: firmware names, cloud, processors, limits of control groups.
//!
//! Which firmware name means which cloud is the provider's documentation: Amazon EC2 user guide,
//! "identify EC2 instances"; Google "detect if a VM runs in Compute Engine"; the chassis tag of
//! Azure is the one its guest agent looks for.

use crate::root::{attribute, word};
use crate::{Facts, Processor, Root, cgroup, cpu};
use result::host::{
    Cache, Cloud, Cpu, DeviceLimit, Host, IdleState, Limits, Machine, Memory, NumaNode,
};
use std::collections::BTreeSet;
use std::path::Path;

const AZURE_CHASSIS: &str = "7783-7084-3265-9085-8269-3286-77";
const DMI: &str = "sys/class/dmi/id";
const CPUS: &str = "sys/devices/system/cpu";

/// Everything of the picture but its storage.
pub(super) fn host(facts: &Facts) -> Host {
    let root = &facts.root;
    let dmi = Dmi(root);
    let processor = Processor::read(root);
    Host {
        hostname: facts.system.hostname.clone(),
        system: distribution(root),
        kernel: facts.system.kernel.clone(),
        architecture: std::env::consts::ARCH.to_owned(),
        machine: dmi.machine(),
        virtualisation: virtualisation(&processor),
        container: container(root),
        cloud: dmi.cloud(),
        cpu: processors(root, processor, facts.cpus.len()),
        memory: Memory {
            total_bytes: facts.system.memory_bytes,
            page_bytes: facts.system.page_bytes,
            huge_page_bytes: facts.system.huge_page_bytes,
            swap: facts
                .swaps
                .iter()
                .map(|swap| swap.path.display().to_string())
                .collect(),
        },
        nodes: facts.nodes.iter().map(node).collect(),
        limits: limits(root),
        ..Host::default()
    }
}

fn node(node: &cpu::Node) -> NumaNode {
    NumaNode {
        id: node.id,
        cpus: node.cpus.clone(),
        memory_bytes: node.memory_bytes,
    }
}

fn distribution(root: &Root) -> Option<String> {
    let text = root.text("etc/os-release").ok()?;
    let name = text.lines().find_map(|l| l.strip_prefix("PRETTY_NAME="))?;
    Some(name.trim_matches('"').to_owned()).filter(|name| !name.is_empty())
}

/// The firmware's names.
struct Dmi<'a>(&'a Root);

impl Dmi<'_> {
    fn word(&self, name: &str) -> Option<String> {
        // Makers fill what they do not set with words such as these.
        let empty = [
            "To be filled by O.E.M.",
            "Default string",
            "Not Specified",
            "None",
        ];
        word(&self.0.path(DMI), name).filter(|text| !empty.contains(&text.as_str()))
    }

    fn has(&self, name: &str, part: &str) -> bool {
        self.word(name)
            .is_some_and(|text| text.to_lowercase().contains(part))
    }

    fn machine(&self) -> Machine {
        let two = |a: Option<String>, b: Option<String>| match (a, b) {
            (Some(a), Some(b)) => Some(format!("{a} {b}")),
            (a, b) => a.or(b),
        };
        // Machines without DMI are named by their device tree, which ends in a zero byte.
        let tree = self
            .0
            .text("sys/firmware/devicetree/base/model")
            .ok()
            .map(|text| text.trim_matches(['\0', '\n']).to_owned());
        Machine {
            vendor: self.word("sys_vendor"),
            product: self.word("product_name").or(tree),
            board: two(self.word("board_vendor"), self.word("board_name")),
            firmware: two(self.word("bios_vendor"), self.word("bios_version")),
        }
    }

    fn cloud(&self) -> Option<Cloud> {
        let vendor = |part: &str| self.has("sys_vendor", part);
        let cloud = |provider: &str| Cloud {
            provider: provider.to_owned(),
            ..Cloud::default()
        };
        if vendor("amazon ec2") {
            let id = self
                .word("board_asset_tag")
                .filter(|tag| tag.starts_with("i-"));
            return Some(Cloud {
                instance_type: self.word("product_name"),
                instance_id: id,
                ..cloud("aws")
            });
        }
        // Instances on Xen do not tell their type.
        if self.has("bios_version", "amazon") || self.has("product_version", "amazon") {
            return Some(cloud("aws"));
        }
        if self.has("product_name", "google compute engine") {
            return Some(cloud("gcp"));
        }
        if self.word("chassis_asset_tag").as_deref() == Some(AZURE_CHASSIS) {
            return Some(cloud("azure"));
        }
        if self.has("chassis_asset_tag", "oraclecloud") {
            return Some(cloud("oracle"));
        }
        if self.has("product_name", "openstack") {
            return Some(cloud("openstack"));
        }
        [
            ("alibaba", "alibaba"),
            ("digitalocean", "digitalocean"),
            ("hetzner", "hetzner"),
        ]
        .into_iter()
        .find(|(part, _)| vendor(part))
        .map(|(_, name)| cloud(name))
    }
}

/// The hypervisor's name, or `virtual machine` for one that does not tell it.
fn virtualisation(processor: &Processor) -> Option<String> {
    let name = processor.hypervisor.as_deref()?;
    let known = if name == "unknown" {
        "virtual machine"
    } else {
        name
    };
    Some(known.to_owned())
}

fn container(root: &Root) -> Option<String> {
    if let Some(name) = word(&root.path("run/systemd"), "container") {
        return Some(name);
    }
    if root.path("run/.containerenv").exists() {
        return Some("podman".to_owned());
    }
    let groups = root.text("proc/self/cgroup").unwrap_or_default();
    let kinds = ["kubepods", "docker", "libpod", "lxc", "containerd"];
    if let Some(kind) = kinds.iter().find(|kind| groups.contains(**kind)) {
        return Some((*kind).to_owned());
    }
    root.path(".dockerenv")
        .exists()
        .then(|| "docker".to_owned())
}

fn processors(root: &Root, processor: Processor, threads: usize) -> Cpu {
    let base = root.path(CPUS);
    let mut sockets = BTreeSet::new();
    let mut cores = BTreeSet::new();
    let mut governors = BTreeSet::new();
    for name in root.names(CPUS) {
        let number = name.strip_prefix("cpu").filter(|rest| !rest.is_empty());
        if !number.is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit())) {
            continue;
        }
        let dir = base.join(&name);
        let package: Option<i64> = attribute(&dir, "topology/physical_package_id");
        if let (Some(package), Some(core)) = (package, attribute::<i64>(&dir, "topology/core_id")) {
            sockets.insert(package);
            cores.insert((package, core));
        }
        governors.extend(word(&dir, "cpufreq/scaling_governor"));
    }
    let count = |n: usize| (n > 0).then_some(n as u32);
    let first = base.join("cpu0");
    Cpu {
        model: Some(processor.name).filter(|name| !name.is_empty()),
        sockets: count(sockets.len()),
        cores: count(cores.len()),
        threads: threads as u32,
        max_khz: attribute(&first, "cpufreq/cpuinfo_max_freq"),
        caches: caches(&first),
        frequency_driver: word(&first, "cpufreq/scaling_driver"),
        governors: governors.into_iter().collect(),
        boost: processor.boost,
        idle_driver: word(&base, "cpuidle/current_driver").filter(|name| name != "none"),
        idle_governor: word(&base, "cpuidle/current_governor")
            .or_else(|| word(&base, "cpuidle/current_governor_ro")),
        idle_states: idle_states(&first),
    }
}

fn caches(cpu: &Path) -> Vec<Cache> {
    let dir = cpu.join("cache");
    let mut caches: Vec<Cache> = crate::root::names(&dir)
        .iter()
        .filter(|name| name.starts_with("index"))
        .filter_map(|name| {
            let at = dir.join(name);
            Some(Cache {
                level: attribute(&at, "level")?,
                kind: word(&at, "type")?,
                bytes: cache_bytes(&word(&at, "size")?)?,
                shared_by: word(&at, "shared_cpu_list").unwrap_or_default(),
            })
        })
        .collect();
    caches.sort_by(|a, b| (a.level, &a.kind).cmp(&(b.level, &b.kind)));
    caches
}

/// `48K`, `260M`.
fn cache_bytes(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(['K', 'M']);
    let factor = match &text[digits.len()..] {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(factor)
}

fn idle_states(cpu: &Path) -> Vec<IdleState> {
    let dir = cpu.join("cpuidle");
    let mut states: Vec<(u32, IdleState)> = crate::root::names(&dir)
        .iter()
        .filter_map(|name| {
            let number = name.strip_prefix("state")?.parse().ok()?;
            let at = dir.join(name);
            let state = IdleState {
                name: word(&at, "name")?,
                exit_latency_us: attribute(&at, "latency").unwrap_or(0),
                disabled: attribute::<u8>(&at, "disable") == Some(1),
            };
            Some((number, state))
        })
        .collect();
    states.sort_by_key(|(number, _)| *number);
    states.into_iter().map(|(_, state)| state).collect()
}

/// The strictest of the limits of the process's control group and of all above it, in either
/// hierarchy; `None` when nothing is limited.
fn limits(root: &Root) -> Option<Limits> {
    let text = root.text("proc/self/cgroup").ok()?;
    let shared = cgroup::Limits::read(root);
    let mut limits = Limits {
        cpus: shared.cpus,
        memory_bytes: shared.memory_bytes,
        ..Limits::default()
    };
    for line in text.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else {
            continue;
        };
        let mounts = match controllers {
            "" => vec![
                "sys/fs/cgroup".to_owned(),
                "sys/fs/cgroup/unified".to_owned(),
            ],
            list if list.starts_with("name=") => continue,
            list => list
                .split(',')
                .chain([list])
                .map(|name| format!("sys/fs/cgroup/{name}"))
                .collect(),
        };
        if controllers.is_empty() || limits.group.is_empty() {
            path.clone_into(&mut limits.group);
        }
        for mount in &mounts {
            // A group that is seen from inside its container stands at the mount itself.
            for group in Path::new(path).ancestors() {
                let below = group.strip_prefix("/").unwrap_or(group);
                read_group(&root.path(mount).join(below), &mut limits);
            }
        }
    }
    // A set of all CPUs limits nothing.
    let all = word(&root.path(CPUS), "online");
    limits.cpu_set = limits.cpu_set.filter(|set| Some(set) != all.as_ref());
    let told = Limits {
        group: limits.group.clone(),
        ..Limits::default()
    };
    (limits != told).then_some(limits)
}

fn read_group(dir: &Path, limits: &mut Limits) {
    if limits.cpu_set.is_none() {
        limits.cpu_set = word(dir, "cpuset.cpus");
    }
    for line in word(dir, "io.max").unwrap_or_default().lines() {
        let (number, rest) = line.split_once(' ').unwrap_or((line, ""));
        for (key, value) in rest.split(' ').filter_map(|pair| pair.split_once('=')) {
            limit_device(limits, number, key, value);
        }
    }
    for (file, key) in [
        ("blkio.throttle.read_bps_device", "rbps"),
        ("blkio.throttle.write_bps_device", "wbps"),
        ("blkio.throttle.read_iops_device", "riops"),
        ("blkio.throttle.write_iops_device", "wiops"),
    ] {
        for line in word(dir, file).unwrap_or_default().lines() {
            if let Some((number, value)) = line.split_once(' ') {
                limit_device(limits, number, key, value.trim());
            }
        }
    }
}

fn limit_device(limits: &mut Limits, number: &str, key: &str, value: &str) {
    let Ok(value) = value.parse::<u64>() else {
        return;
    };
    let at = limits
        .devices
        .iter()
        .position(|known| known.number == number);
    let at = at.unwrap_or_else(|| {
        limits.devices.push(DeviceLimit {
            number: number.to_owned(),
            ..DeviceLimit::default()
        });
        limits.devices.len() - 1
    });
    let device = &mut limits.devices[at];
    let place = match key {
        "rbps" => &mut device.read_bytes_per_s,
        "wbps" => &mut device.write_bytes_per_s,
        "riops" => &mut device.read_iops,
        "wiops" => &mut device.write_iops,
        _ => return,
    };
    *place = Some(place.map_or(value, |known| known.min(value)));
}
