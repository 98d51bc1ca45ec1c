//! One device of the tree.

use super::{bytes, count, join};
use result::host::{Device, Direct, Nvme, Pci, Queue, Raid, Signature, Smart};

const LABEL: usize = 10;

/// Name, kind, size and who it is.
pub(super) fn headline(device: &Device) -> String {
    let layer = device.layer.as_ref();
    let name = layer.and_then(|layer| layer.name.clone());
    let raid = device.raid.as_ref().map(|raid| raid.level.clone());
    let mode = layer.and_then(|layer| layer.mode.clone());
    let state = layer.and_then(|layer| layer.state.clone());
    let firmware = device
        .firmware
        .as_ref()
        .map(|text| format!("firmware {text}"));
    let kind = join([Some(device.kind.word().to_owned()), raid], " ");
    let flag = |on: bool, word: &str| on.then(|| word.to_owned());
    let what = join(
        [
            Some(kind),
            name,
            Some(bytes(device.size_bytes)),
            device.transport.clone().filter(|_| device.disk.is_none()),
            device.model.clone().filter(|_| device.disk.is_none()),
            firmware.filter(|_| device.disk.is_none()),
            mode,
            state,
            flag(device.read_only, "read-only"),
            flag(device.removable, "removable"),
            flag(device.swap, "IN USE AS SWAP"),
        ],
        ", ",
    );
    format!("{}  {what}", device.name)
}

/// What direct I/O wants, in words.
pub(super) fn direct(direct: &Direct) -> String {
    if direct.memory_bytes == direct.offset_bytes {
        return format!("direct I/O in {} B", direct.offset_bytes);
    }
    format!(
        "direct I/O in {} B from {} B of memory",
        direct.offset_bytes, direct.memory_bytes
    )
}

/// The lines below the headline.
pub(super) fn lines(device: &Device) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = |label: &str, value: String| {
        if !value.is_empty() {
            lines.push(format!("{label:LABEL$}{value}"));
        }
    };
    line("identity", identity(device));
    if let Some(file) = &device.backing {
        let at = (file.offset_bytes > 0).then(|| format!("from {}", bytes(file.offset_bytes)));
        let direct = file.direct.then(|| "past the page cache".to_owned());
        line("file", join([Some(file.path.clone()), at, direct], ", "));
    }
    if device.disk.is_none() {
        line("blocks", blocks(device));
        line("queue", queue(&device.queue));
        line("medium", medium(&device.queue));
    }
    if let Some(pci) = &device.pci
        && device.disk.is_none()
    {
        line("pci", bus(pci, device.numa_node));
    }
    if let Some(nvme) = &device.nvme {
        line("nvme", controller(nvme));
    }
    if let Some(smart) = &device.smart {
        line("health", health(smart));
    }
    if let Some(ebs) = &device.ebs {
        let seconds = |us: u64| format!("{:.1} s", us as f64 / 1e6);
        let parts = [
            ("volume IOPS", ebs.volume_iops_exceeded_us),
            ("volume throughput", ebs.volume_throughput_exceeded_us),
            ("instance IOPS", ebs.instance_iops_exceeded_us),
            ("instance throughput", ebs.instance_throughput_exceeded_us),
        ];
        let parts = parts.map(|(word, us)| Some(format!("{word} {}", seconds(us))));
        line("exceeded", join(parts, ", "));
    }
    if let Some(raid) = &device.raid {
        line("array", array(raid));
    }
    line("content", content(device));
    let elsewhere = device
        .mounts
        .iter()
        .filter(|place| place.contains("(seen by "));
    for place in elsewhere {
        line("mounted", place.clone());
    }
    lines
}

fn identity(device: &Device) -> String {
    let named = |word: &str, id: &Option<String>| id.as_ref().map(|id| format!("{word} {id}"));
    // A partition has its disk's serial number; its own id tells it apart.
    let own = device.disk.is_none();
    join(
        [
            named("serial", &device.serial).filter(|_| own),
            named("wwid", &device.wwid).filter(|_| own),
            named("uuid", &device.uuid),
            (!device.by_id.is_empty()).then(|| format!("by-id {}", device.by_id.join(" "))),
        ],
        ", ",
    )
}

fn blocks(device: &Device) -> String {
    let optimal = device
        .optimal_io_bytes
        .map(|n| format!("optimal {}", bytes(n)));
    let minimum = device
        .minimum_io_bytes
        .filter(|n| *n != device.physical_block_bytes)
        .map(|n| format!("at least {}", bytes(n)));
    join(
        [
            Some(format!("logical {} B", device.logical_block_bytes)),
            Some(format!("physical {} B", device.physical_block_bytes)),
            minimum,
            optimal,
            device.direct.as_ref().map(direct),
        ],
        ", ",
    )
}

fn queue(queue: &Queue) -> String {
    let scheduler = queue.scheduler.as_ref().map(|chosen| {
        let others: Vec<&str> = queue
            .schedulers
            .iter()
            .filter(|name| *name != chosen)
            .map(String::as_str)
            .collect();
        match others.is_empty() {
            true => format!("scheduler {chosen}"),
            false => format!("scheduler {chosen} (or {})", others.join(", ")),
        }
    });
    let hardware = queue
        .hardware_queues
        .map(|n| count(n.into(), "hardware queue", "hardware queues"));
    // The kernel writes "no limit" as nearly all of 32 bits of KiB.
    let largest = queue
        .max_request_bytes
        .map(|n| format!("at most {} a request", bytes(n)));
    let merges = match queue.nomerges {
        Some(1) => Some("simple merges only".to_owned()),
        Some(2) => Some("no merges".to_owned()),
        _ => None,
    };
    join(
        [
            scheduler,
            queue.requests.map(|n| count(n, "request", "requests")),
            hardware,
            largest,
            queue
                .read_ahead_bytes
                .map(|n| format!("read-ahead {}", bytes(n))),
            merges,
        ],
        ", ",
    )
}

fn medium(queue: &Queue) -> String {
    let flag = |value: Option<bool>, yes: &str, no: &str| {
        value.map(|on| if on { yes } else { no }.to_owned())
    };
    let discard = queue.discard.map(|discard| {
        let (unit, most) = (bytes(discard.granularity_bytes), bytes(discard.max_bytes));
        format!("discard in {unit} up to {most}")
    });
    let zones = queue.zones.as_ref().map(|zones| {
        let n = zones.count.map(|n| count(n, "zone", "zones"));
        let size = zones.bytes.map(|n| format!("of {}", bytes(n)));
        join([Some(zones.model.clone()), n, size], " ")
    });
    join(
        [
            flag(queue.rotational, "rotational", "not rotational"),
            queue
                .write_cache
                .as_ref()
                .map(|cache| format!("cache {cache}")),
            flag(queue.fua, "FUA", "no FUA"),
            discard.or_else(|| Some("no discard".to_owned())),
            zones,
            queue
                .atomic_write_bytes
                .map(|n| format!("atomic writes up to {}", bytes(n))),
        ],
        ", ",
    )
}

fn bus(pci: &Pci, node: Option<u32>) -> String {
    let link = |speed: &Option<String>, width: Option<u32>| {
        let width = width.map(|n| format!("x{n}"));
        join([speed.clone(), width], " ")
    };
    let now = link(&pci.link_speed, pci.link_width);
    let max = link(&pci.max_link_speed, pci.max_link_width);
    let link = match (now.is_empty(), pci.is_slowed()) {
        (true, _) => None,
        (_, true) => Some(format!("link {now}, SLOWER THAN IT COULD BE: {max}")),
        (_, false) => Some(format!("link {now}, the device's best")),
    };
    let node = node.map(|node| format!("NUMA node {node}"));
    join([Some(pci.address.clone()), link, node], ", ")
}

fn controller(nvme: &Nvme) -> String {
    join(
        [
            nvme.version
                .as_ref()
                .map(|version| format!("NVMe {version}")),
            Some(format!("vendor {:04x}", nvme.vendor)),
            nvme.max_transfer_bytes
                .map(|n| format!("at most {} a command", bytes(n))),
            nvme.volatile_write_cache
                .then(|| "volatile write cache".to_owned()),
            nvme.mapped_name
                .as_ref()
                .map(|name| format!("mapped as {name}")),
        ],
        ", ",
    )
}

fn health(smart: &Smart) -> String {
    let warning = (smart.critical_warning != 0)
        .then(|| format!("CRITICAL WARNING {:#04x}", smart.critical_warning));
    let throttled: u32 = smart.throttle_seconds.iter().sum();
    let throttled = (throttled > 0).then(|| format!("throttled for {throttled} s so far"));
    let hot = u64::from(smart.warning_minutes) + u64::from(smart.critical_minutes);
    let hot = (hot > 0).then(|| format!("too hot for {hot} min so far"));
    let errors = (smart.media_errors > 0).then(|| format!("{} media errors", smart.media_errors));
    join(
        [
            warning,
            Some(format!("{} C", smart.celsius)),
            Some(format!("{} % used", smart.used_percent)),
            Some(format!("spare {} %", smart.spare_percent)),
            Some(format!("written {}", bytes(smart.written_bytes))),
            Some(format!("on for {} h", smart.power_on_hours)),
            errors,
            throttled,
            hot,
        ],
        ", ",
    )
}

fn array(raid: &Raid) -> String {
    let names: Vec<String> = raid
        .members
        .iter()
        .map(|member| match member.state.as_deref() {
            None | Some("in_sync") => member.name.clone(),
            Some(state) => format!("{} ({state})", member.name),
        })
        .collect();
    let missing = raid
        .degraded
        .filter(|n| *n > 0)
        .map(|n| format!("DEGRADED BY {n}"));
    let action = raid
        .sync_action
        .as_ref()
        .filter(|action| *action != "idle")
        .map(|action| match raid.sync_percent {
            Some(percent) => format!("{action} at {percent:.1} %"),
            None => action.clone(),
        });
    join(
        [
            raid.state.clone(),
            missing,
            raid.chunk_bytes.map(|n| format!("chunk {}", bytes(n))),
            raid.disks.map(|n| count(n.into(), "disk", "disks")),
            raid.metadata
                .as_ref()
                .map(|version| format!("metadata {version}")),
            action,
            Some(names.join(" ")),
        ],
        ", ",
    )
}

/// What the content declares itself to be.
fn content(device: &Device) -> String {
    if device.probed && device.signatures.is_empty() {
        return "no known signature".to_owned();
    }
    join(
        device.signatures.iter().map(|found| Some(signature(found))),
        "; ",
    )
}

fn signature(found: &Signature) -> String {
    let kind = found.kind.word();
    // "swap area swap" would say it twice.
    let name = match kind.split(' ').next() == Some(found.name.as_str()) {
        true => kind.to_owned(),
        false => format!("{} {kind}", found.name),
    };
    let label = found.label.as_ref().map(|label| format!("\"{label}\""));
    join([Some(name), label, found.uuid.clone()], " ")
}
