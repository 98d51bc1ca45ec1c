//! The picture of the host as text: the machine, then a tree from disks up to file systems.

mod device;

use device::lines as device_lines;
use result::host::{Device, FileSystem, Host, Limits};
use units::Human;

/// Width of the words at the start of the lines about the machine.
const LABEL: usize = 10;

/// The whole picture.
pub fn inspect(host: &Host) -> String {
    let mut text = machine(host);
    let tree = Tree { host };
    let targets = tree.targets();
    if !targets.is_empty() {
        text += "\n";
        text += &targets;
    }
    for root in host
        .devices
        .iter()
        .filter(|device| tree.parents(device).is_empty())
    {
        text += "\n";
        tree.device(root, "", "", &mut text);
    }
    for system in host
        .file_systems
        .iter()
        .filter(|system| system.devices.is_empty())
    {
        text += "\n";
        tree.file_system(system, "", "", &mut text);
    }
    text
}

pub(super) fn bytes(n: u64) -> String {
    Human::bytes(4, 1024).show(n)
}

fn line(label: &str, value: &str, text: &mut String) {
    if !value.is_empty() {
        *text += format!("{label:LABEL$}{value}").trim_end();
        *text += "\n";
    }
}

/// The parts that are there, joined.
pub(super) fn join(parts: impl IntoIterator<Item = Option<String>>, with: &str) -> String {
    parts
        .into_iter()
        .flatten()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(with)
}

pub(super) fn count(n: u64, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

fn machine(host: &Host) -> String {
    let mut text = String::new();
    let system = join(
        [
            Some(host.hostname.clone()),
            host.system.clone(),
            Some(format!("Linux {} {}", host.kernel, host.architecture)),
        ],
        ", ",
    );
    line("host", &system, &mut text);
    let cloud = host.cloud.as_ref().map(|cloud| {
        let id = cloud
            .instance_id
            .as_ref()
            .map(|id| format!("instance {id}"));
        join(
            [
                Some(cloud.provider.clone()),
                cloud.instance_type.clone(),
                id,
            ],
            " ",
        )
    });
    let named = join(
        [host.machine.vendor.clone(), host.machine.product.clone()],
        " ",
    );
    let machine = join([Some(named), cloud, host.machine.firmware.clone()], ", ");
    line("machine", &machine, &mut text);
    let container = host
        .container
        .as_ref()
        .map(|kind| format!("in a container ({kind})"));
    let virtualised = join([host.virtualisation.clone(), container], ", ");
    line("virtual", &virtualised, &mut text);
    processors(host, &mut text);
    memory(host, &mut text);
    if let Some(limits) = &host.limits {
        line("limits", &limited(limits), &mut text);
    }
    text
}

fn processors(host: &Host, text: &mut String) {
    let cpu = &host.cpu;
    let sockets = cpu.sockets.map(|n| count(n.into(), "socket", "sockets"));
    let cores = cpu.cores.map(|n| count(n.into(), "core", "cores"));
    let threads = Some(count(cpu.threads.into(), "thread", "threads"));
    line(
        "cpu",
        &join([cpu.model.clone(), sockets, cores, threads], ", "),
        text,
    );
    let caches = cpu.caches.iter().map(|cache| {
        let kind = match cache.kind.as_str() {
            "Data" => "d",
            "Instruction" => "i",
            _ => "",
        };
        Some(format!("L{}{kind} {}", cache.level, bytes(cache.bytes)))
    });
    line("caches", &join(caches, ", "), text);
    let governors =
        (!cpu.governors.is_empty()).then(|| format!("governor {}", cpu.governors.join(" and ")));
    let boost = cpu
        .boost
        .map(|on| format!("boost {}", if on { "on" } else { "off" }));
    let max = cpu
        .max_khz
        .map(|khz| format!("up to {:.2} GHz", khz as f64 / 1e6));
    let frequency = join([max, governors, cpu.frequency_driver.clone(), boost], ", ");
    line("frequency", &frequency, text);
    let states = cpu.idle_states.iter().map(|state| {
        let off = if state.disabled { " off" } else { "" };
        Some(format!("{} {} us{off}", state.name, state.exit_latency_us))
    });
    let states = join(states, ", ");
    let who = join([cpu.idle_driver.clone(), cpu.idle_governor.clone()], ", ");
    let idle = join([Some(who), Some(states)], ": ");
    line("idle", &idle, text);
}

fn memory(host: &Host, text: &mut String) {
    let memory = &host.memory;
    let huge = (memory.huge_page_bytes > 0)
        .then(|| format!("huge pages {}", bytes(memory.huge_page_bytes)));
    let swap = (!memory.swap.is_empty()).then(|| format!("swap {}", memory.swap.join(", ")));
    let nodes = count(host.nodes.len() as u64, "NUMA node", "NUMA nodes");
    let total = Some(bytes(memory.total_bytes));
    line(
        "memory",
        &join([total, Some(nodes), huge, swap], ", "),
        text,
    );
    if host.nodes.len() > 1 {
        for node in &host.nodes {
            let label = format!("  node {}", node.id);
            let cpus = count(node.cpus.len() as u64, "CPU", "CPUs");
            line(
                &label,
                &format!("{cpus}, {}", bytes(node.memory_bytes)),
                text,
            );
        }
    }
}

fn limited(limits: &Limits) -> String {
    let cpus = limits.cpus.map(|cpus| format!("{cpus:.2} CPUs"));
    let set = limits.cpu_set.as_ref().map(|set| format!("CPUs {set}"));
    let memory = limits
        .memory_bytes
        .map(|n| format!("{} of memory", bytes(n)));
    let devices = limits.devices.iter().map(|device| {
        let rate = |word: &str, limit: Option<u64>| limit.map(|n| format!("{word} {}/s", bytes(n)));
        let iops = |word: &str, limit: Option<u64>| limit.map(|n| format!("{word} {n} IOPS"));
        let all = [
            rate("read", device.read_bytes_per_s),
            rate("write", device.write_bytes_per_s),
            iops("read", device.read_iops),
            iops("write", device.write_iops),
        ];
        Some(format!("device {}: {}", device.number, join(all, " ")))
    });
    let group = Some(format!("control group {}", limits.group));
    join(
        [cpus, set, memory]
            .into_iter()
            .chain(devices)
            .chain([group]),
        ", ",
    )
}

/// Who stands on whom.
struct Tree<'a> {
    host: &'a Host,
}

impl Tree<'_> {
    fn targets(&self) -> String {
        let mut text = String::new();
        for target in &self.host.targets {
            let place = target.mount_point.as_ref().map(|at| {
                format!(
                    "{} at {at}",
                    target.fs_type.as_deref().unwrap_or("file system")
                )
            });
            let on = (!target.devices.is_empty() && target.kind != "block device")
                .then(|| format!("on {}", target.devices.join(", ")));
            let no_device = (target.devices.is_empty() && target.mount_point.is_some())
                .then(|| "no block device below it".to_owned());
            let direct = target.direct.map(|direct| device::direct(&direct));
            let what = [Some(target.kind.clone()), place, on, no_device, direct];
            line(&format!("{} ", target.path), &join(what, ", "), &mut text);
        }
        text
    }

    /// What a device is made of, as far as the picture shows it.
    fn parents<'b>(&'b self, device: &'b Device) -> Vec<&'b str> {
        let backing = device.backing.iter().flat_map(|file| &file.devices);
        device
            .disk
            .iter()
            .chain(&device.members)
            .chain(backing)
            .map(String::as_str)
            .filter(|name| self.host.device(name).is_some() && *name != device.name)
            .collect()
    }

    /// A device with its own lines, and then what stands on it.
    fn device(&self, device: &Device, first: &str, rest: &str, text: &mut String) {
        *text += &format!("{first}{}\n", device::headline(device));
        let systems: Vec<&FileSystem> = self
            .host
            .file_systems
            .iter()
            .filter(|system| system.devices.contains(&device.name))
            .collect();
        let above: Vec<&Device> = self
            .host
            .devices
            .iter()
            .filter(|other| self.parents(other).contains(&device.name.as_str()))
            .collect();
        let more = systems.len() + above.len();
        let bar = if more > 0 { "|  " } else { "   " };
        for own in device_lines(device) {
            *text += &format!("{rest}{bar}  {own}\n");
        }
        let mut left = more;
        let mut next = || {
            left -= 1;
            let (first, more) = if left > 0 {
                ("|- ", "|  ")
            } else {
                ("`- ", "   ")
            };
            (format!("{rest}{first}"), format!("{rest}{more}"))
        };
        for system in systems {
            let (first, rest) = next();
            if system.devices.first() == Some(&device.name) {
                self.file_system(system, &first, &rest, text);
            } else {
                let place = system.mount_points.join(", ");
                *text += &format!(
                    "{first}{} at {place}, see {}\n",
                    system.fs_type, system.devices[0]
                );
            }
        }
        for other in above {
            let (first, rest) = next();
            // A device of several is shown whole at its first member.
            let home = self.parents(other)[0];
            if home == device.name {
                self.device(other, &first, &rest, text);
            } else {
                let kind = other.kind.word();
                *text += &format!("{first}{} {kind}, see {home}\n", other.name);
            }
        }
    }

    fn file_system(&self, system: &FileSystem, first: &str, rest: &str, text: &mut String) {
        let read_only = if system.read_only { ", read-only" } else { "" };
        *text += &format!(
            "{first}{} at {}{read_only}\n",
            system.fs_type,
            system.mount_points.join(", ")
        );
        let mut own = |label: &str, value: String| {
            if !value.is_empty() {
                *text += &format!("{rest}     {label:LABEL$}{value}\n");
            }
        };
        if let (Some(total), Some(available)) = (system.total_bytes, system.available_bytes) {
            own(
                "space",
                format!("{} free of {}", bytes(available), bytes(total)),
            );
        }
        if system.devices.len() > 1 {
            own("devices", system.devices.join(", "));
        }
        own("options", system.options.join(","));
        let Some(geometry) = &system.geometry else {
            return;
        };
        let size = |word: &str, n: Option<u64>| n.map(|n| format!("{word} {}", bytes(n)));
        let profiles = (!geometry.data_profiles.is_empty())
            .then(|| format!("data {}", geometry.data_profiles.join(" and ")));
        let stripes = match (geometry.stripe_unit_bytes, geometry.stripe_width_bytes) {
            (Some(0), Some(0)) => Some("no stripes".to_owned()),
            (unit, width) => Some(join(
                [size("stripe unit", unit), size("stripe width", width)],
                ", ",
            )),
        };
        let device = join(
            [
                size("chunk", geometry.device_chunk_bytes),
                size("full stripe", geometry.device_stripe_bytes),
            ],
            ", ",
        );
        let below = (!device.is_empty()).then(|| match geometry.matches() {
            Some(true) => format!("as the device: {device}"),
            Some(false) => format!("NOT as the device: {device}"),
            None => format!("device {device}"),
        });
        let block = size("blocks of", geometry.block_bytes);
        own("geometry", join([block, stripes, profiles, below], ", "));
    }
}

#[cfg(test)]
mod tests;
