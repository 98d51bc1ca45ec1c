//! What should have been measured: limits that were bought, and which of them binds.
//!
//! The model: each limit is one of I/Os per second, of bytes per second, or both, with a unit up
//! to which an I/O counts as one. A job may do, per second, the least that any of them allows at
//! its block size. A mix of reads and writes on a drive obeys `r / R + w / W <= 1`, a rule of
//! thumb. Facts stand in `data/`, each with its source and date; what cannot be read from the
//! machine is declared, and what is neither known nor declared is not judged.

mod data;
mod run;
mod verdict;

#[cfg(test)]
mod tests;

pub(crate) use run::{Judged, of_run};
pub use verdict::{Measured, verdict};

use data::{Quantity, Volume};
use result::Host;
use result::host::{DeviceKind, Pci};
use std::str::FromStr;

const MIB: f64 = 1_048_576.0;
const MB: f64 = 1e6;

/// What was bought, such as `type=io1,gib=300,iops=15000,count=6,instance=m5d.4xlarge`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Declared {
    /// Volume type, or `instance-store`.
    pub kind: Option<String>,
    /// Size of one volume in GiB.
    pub gib: f64,
    /// Provisioned I/Os per second of one volume.
    pub iops: Option<f64>,
    /// Provisioned MiB/s of one volume.
    pub mib_s: Option<f64>,
    /// Volumes or drives used at the same time.
    pub count: u32,
    /// Instance type.
    pub instance: Option<String>,
    /// Devices that are meant: kernel names, paths, serial numbers or other names that stay.
    pub devices: Vec<String>,
}

/// Why a declaration cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectError(String);

impl std::fmt::Display for ExpectError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ExpectError {}

fn wrong<T>(text: String) -> Result<T, ExpectError> {
    Err(ExpectError(text))
}

impl FromStr for Declared {
    type Err = ExpectError;

    fn from_str(text: &str) -> Result<Self, ExpectError> {
        let mut declared = Declared {
            count: 1,
            ..Declared::default()
        };
        for part in text
            .split(',')
            .map(str::trim)
            .filter(|part| !part.is_empty())
        {
            let Some((key, value)) = part.split_once('=') else {
                return wrong(format!("`{part}`: expected key=value"));
            };
            let number = || match value.parse::<f64>() {
                Ok(n) if n > 0.0 && n.is_finite() => Ok(n),
                _ => wrong(format!("{key}={value}: expected a number above 0")),
            };
            match key {
                "type" => declared.kind = Some(value.to_owned()),
                "instance" => declared.instance = Some(value.to_owned()),
                "device" if !value.is_empty() => declared.devices.push(value.to_owned()),
                "gib" => declared.gib = number()?,
                "iops" => declared.iops = Some(number()?),
                "mib" => declared.mib_s = Some(number()?),
                "count" => declared.count = number()?.round().max(1.0) as u32,
                _ => {
                    let keys = "type, gib, iops, mib, count, instance, device";
                    return wrong(format!("`{key}` is none of {keys}"));
                }
            }
        }
        declared.check()?;
        Ok(declared)
    }
}

impl Declared {
    fn check(&self) -> Result<(), ExpectError> {
        let instance = match &self.instance {
            Some(name) => Some(known_instance(name)?),
            None => None,
        };
        let unknown = |row: &data::Instance, what: &str| {
            let name = &row.name;
            wrong(format!(
                "instance={name}: data/instances.toml does not know its {what}"
            ))
        };
        let Some(kind) = &self.kind else {
            return match &instance {
                Some(row) if row.ebs.is_none() && row.disks.is_none() => unknown(
                    row,
                    "limit for volumes; type=instance-store judges its local drives",
                ),
                None if self.devices.is_empty() => {
                    wrong("none of type=, instance= and device= is given".to_owned())
                }
                _ => Ok(()),
            };
        };
        if kind == STORE {
            return match &instance {
                Some(row) if row.drive.is_none() => unknown(row, "local drives"),
                Some(_) => Ok(()),
                None => wrong(format!("type={STORE} needs instance=")),
            };
        }
        if data::drives().iter().any(|row| row.name == *kind) {
            return Ok(());
        }
        let volumes = data::volumes();
        let Some(row) = volumes.iter().find(|row| row.name == *kind) else {
            let drives = data::drives().into_iter().map(|row| row.name);
            let known = names(volumes.into_iter().map(|row| row.name).chain(drives));
            return wrong(format!("type={kind} is none of {known}, {STORE}"));
        };
        if let Some(instance) = &instance {
            let ebs = row.provider == "aws" && instance.ebs.is_some();
            let other = instance.disks.as_ref().is_some_and(|disks| disks.are(row));
            if !ebs && !other {
                return unknown(instance, &format!("limit for {kind}"));
            }
        }
        let sized = [Some(row.iops), row.write_iops, row.mib_s]
            .into_iter()
            .flatten()
            .any(|q| q.per_gib > 0.0 || q.per_gib_max.is_some());
        if sized && self.gib <= 0.0 {
            return wrong(format!("type={kind} needs gib=, the size of a volume"));
        }
        if row.iops.provisioned && row.iops.base == 0.0 && self.iops.is_none() {
            return wrong(format!("type={kind} needs iops=, as provisioned"));
        }
        Ok(())
    }
}

/// The row of an instance type, or those that are near it.
fn known_instance(name: &str) -> Result<data::Instance, ExpectError> {
    let mut rows = data::instances();
    if let Some(at) = rows.iter().position(|row| row.name == name) {
        return Ok(rows.swap_remove(at));
    }
    let family = |name: &str| {
        let end = name.find('.').or_else(|| name.rfind('-'));
        name[..end.unwrap_or(name.len())].to_owned()
    };
    let own: Vec<String> = rows
        .iter()
        .filter(|row| family(&row.name) == family(name))
        .map(|row| row.name.clone())
        .collect();
    let known = match own.is_empty() {
        false => names(own.into_iter()),
        true => {
            let mut all: Vec<String> = rows.iter().map(|row| family(&row.name)).collect();
            all.dedup();
            format!("sizes of {}", names(all.into_iter()))
        }
    };
    wrong(format!(
        "instance={name}: not in data/instances.toml, which knows {known}"
    ))
}

fn names(list: impl Iterator<Item = String>) -> String {
    list.collect::<Vec<_>>().join(", ")
}

/// The type of local drives of an instance.
const STORE: &str = "instance-store";

/// What a job does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Workload {
    /// Bytes of one I/O.
    pub block_bytes: u64,
    /// Share of reads, 0 to 1.
    pub read_share: f64,
}

/// One limit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Limit {
    /// What limits, such as `io1 volume` or `m5d.4xlarge EBS limit`.
    pub name: String,
    /// I/Os per second.
    pub iops: Option<f64>,
    /// An I/O of up to so many bytes counts as one.
    pub io_unit_bytes: Option<u64>,
    /// Bytes per second.
    pub bytes_per_s: Option<f64>,
    /// What holds only for a while, in words.
    pub while_it_lasts: Option<String>,
    /// What is left when a burst is over.
    pub burst: Option<Burst>,
    /// I/Os in flight with which the figure was made, where its source says so.
    pub rated_depth: Option<u64>,
    /// Where the figure is from.
    pub source: String,
    /// When it was read there, `YYYY-MM`; empty for what the machine itself tells.
    pub as_of: String,
}

/// What is left of a limit when a burst is over.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Burst {
    /// I/Os per second, where these burst.
    pub iops: Option<f64>,
    /// Bytes per second, where these burst.
    pub bytes_per_s: Option<f64>,
    /// Seconds that full credits last at the full burst.
    pub seconds: Option<f64>,
}

/// What one limit allows at a block size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Allowed {
    /// I/Os of the job per second.
    pub iops: f64,
    /// The limit of bytes is the tighter one.
    pub by_bytes: bool,
}

impl Limit {
    /// What it allows; `None` for a limit without figures.
    pub fn allows(&self, block_bytes: u64) -> Option<Allowed> {
        let block = block_bytes.max(1) as f64;
        let by_iops = self.iops.map(|iops| {
            let unit = self.io_unit_bytes.map_or(block, |unit| unit as f64);
            iops / (block / unit).ceil().max(1.0)
        });
        let by_bytes = self.bytes_per_s.map(|bytes| bytes / block);
        match (by_iops, by_bytes) {
            (Some(a), Some(b)) if b < a => Some(Allowed {
                iops: b,
                by_bytes: true,
            }),
            (Some(a), _) => Some(Allowed {
                iops: a,
                by_bytes: false,
            }),
            (None, Some(b)) => Some(Allowed {
                iops: b,
                by_bytes: true,
            }),
            (None, None) => None,
        }
    }
}

/// The limits of what was declared, for a workload on all of it at once.
pub fn limits(declared: &Declared, work: &Workload) -> Vec<Limit> {
    let mut limits = Vec::new();
    let volumes = data::volumes();
    let volume = volumes
        .iter()
        .find(|row| Some(&row.name) == declared.kind.as_ref());
    limits.extend(volume.map(|row| of_volume(row, declared, work)));
    let drives = data::drives();
    let drive = drives
        .iter()
        .find(|row| Some(&row.name) == declared.kind.as_ref());
    limits.extend(drive.map(|row| of_drive(row, declared, work)));
    let instances = data::instances();
    let instance = instances
        .iter()
        .find(|row| Some(&row.name) == declared.instance.as_ref());
    let Some(row) = instance else { return limits };
    let on_ebs = volume.is_some_and(|volume| volume.provider == "aws");
    limits.extend(ebs_of(row).filter(|_| on_ebs || declared.kind.is_none()));
    limits.extend(disks_of(row, volume));
    if let Some(drive) = row
        .drive
        .filter(|_| declared.kind.as_deref() == Some(STORE))
    {
        let count = f64::from(declared.count.min(drive.count));
        let mixed = |read: f64, write: f64| {
            let share = work.read_share / read + (1.0 - work.read_share) / write;
            count / share
        };
        let drives = match declared.count.min(drive.count) {
            1 => "local drive".to_owned(),
            n => format!("{n} local drives"),
        };
        limits.push(Limit {
            name: format!("{} {drives}", row.name),
            iops: Some(mixed(drive.read_iops, drive.write_iops)),
            io_unit_bytes: None,
            bytes_per_s: Some(mixed(drive.read_b_s, drive.write_b_s)),
            source: row.source.clone(),
            as_of: row.as_of.clone(),
            ..Limit::default()
        });
    }
    limits
}

/// What an instance allows to all its EBS volumes together.
fn ebs_of(row: &data::Instance) -> Option<Limit> {
    let ebs = row.ebs?;
    let base = ebs.base_mb_s.zip(ebs.base_iops);
    Some(Limit {
        name: format!("{} EBS limit", row.name),
        iops: Some(ebs.iops),
        io_unit_bytes: Some(256 << 10),
        bytes_per_s: Some(ebs.mb_s * MB),
        while_it_lasts: base
            .map(|(mb_s, iops)| format!("30 minutes a day, else {mb_s} MB/s and {iops:.0} IOPS")),
        burst: base.map(|(mb_s, iops)| Burst {
            iops: Some(iops),
            bytes_per_s: Some(mb_s * MB),
            seconds: Some(1800.0),
        }),
        rated_depth: None,
        source: row.source.clone(),
        as_of: row.as_of.clone(),
    })
}

/// What a machine allows to all its disks of the declared type together, or of those it is known
/// for.
fn disks_of(row: &data::Instance, volume: Option<&Volume>) -> Option<Limit> {
    let disks = row.disks.as_ref()?;
    if !volume.is_none_or(|volume| disks.are(volume)) {
        return None;
    }
    let kinds = match disks.types.as_slice() {
        [] => disks.provider.clone(),
        types => types.join(", "),
    };
    let mib = disks.mib_s.map(|mib| mib * MIB);
    Some(Limit {
        name: format!("{} limit for all its {kinds} disks", row.name),
        iops: Some(disks.iops),
        bytes_per_s: mib.or(disks.mb_s.map(|mb| mb * MB)),
        source: row.source.clone(),
        as_of: row.as_of.clone(),
        ..Limit::default()
    })
}

/// The EBS limit of an instance type, where it is known.
fn instance_limit(name: &str) -> Option<Limit> {
    let instances = data::instances();
    ebs_of(instances.iter().find(|row| row.name == name)?)
}

/// What a drive's maker says, for drives used at the same time.
fn of_drive(row: &data::Model, declared: &Declared, work: &Workload) -> Limit {
    let count = f64::from(declared.count);
    let mixed =
        |read: f64, write: f64| count / (work.read_share / read + (1.0 - work.read_share) / write);
    Limit {
        name: match declared.count {
            0 | 1 => format!("{} datasheet", row.title),
            n => format!("{} datasheet x {n}", row.title),
        },
        iops: Some(mixed(row.read_iops, row.write_iops)),
        io_unit_bytes: None,
        bytes_per_s: Some(mixed(row.read_mb_s * MB, row.write_mb_s * MB)),
        rated_depth: Some(row.depth),
        source: format!("{}; {}", row.source, row.conditions),
        as_of: row.as_of.clone(),
        ..Limit::default()
    }
}

fn of_volume(row: &Volume, declared: &Declared, work: &Workload) -> Limit {
    let count = f64::from(declared.count);
    let adds_up = row.scope.as_deref() == Some("machine");
    // Volumes whose sizes add up are one large volume; others are so many of one.
    let (gib, times) = match adds_up {
        true => (declared.gib * count, 1.0),
        false => (declared.gib, count),
    };
    let value = |q: &Quantity, iops: f64, given| q.value(gib, iops, given);
    let reads = value(&row.iops, 0.0, declared.iops);
    let writes = row
        .write_iops
        .map_or(reads, |q| value(&q, 0.0, declared.iops));
    let mut iops = 1.0 / (work.read_share / reads + (1.0 - work.read_share) / writes);
    let mut lasting = None;
    let mut after: Option<Burst> = None;
    let given = declared.mib_s;
    let mib = |q: Option<Quantity>| q.map(|q| value(&q, reads, given) * MIB);
    let high = mib(row.mib_s_high).unwrap_or(0.0);
    let mb = row.mb_s.map(|q| value(&q, reads, given) * MB);
    let mut bytes = mib(row.mib_s).map(|low| low.max(high)).or(mb);
    if let Some(small) = row.small.filter(|small| gib <= small.up_to_gib) {
        bytes = Some(small.mib_s * MIB);
    }
    if let Some(burst) = row.burst {
        let peak = burst.iops.filter(|peak| *peak > iops);
        if let Some(peak) = peak {
            let credits = burst.credits.map(|credits| credits / (peak - iops));
            let seconds = credits.or(burst.seconds);
            let time = seconds.map_or_else(String::new, |s| format!("for {:.0} min, ", s / 60.0));
            lasting = Some(format!("{time}then {:.0} IOPS", iops * times));
            after.get_or_insert_default().iops = Some(iops * times);
            after.get_or_insert_default().seconds = seconds;
            iops = peak;
        }
        let fast = mib(burst.mib_s).or(burst.mb_s.map(|q| value(&q, reads, None) * MB));
        let fast = fast.filter(|fast| bytes.is_some_and(|base| *fast > base));
        if let Some((fast, base)) = fast.zip(bytes) {
            let rest = match row.mb_s {
                Some(_) => format!("{:.0} MB/s", base * times / MB),
                None => format!("{:.1} MiB/s", base * times / MIB),
            };
            lasting = Some(match lasting {
                Some(words) => format!("{words} and {rest}"),
                None => format!("while credits last, then {rest}"),
            });
            after.get_or_insert_default().bytes_per_s = Some(base * times);
            bytes = Some(fast);
        }
    }
    let several = match declared.count {
        0 | 1 => "volume".to_owned(),
        n => format!("volumes ({n})"),
    };
    let name = match adds_up {
        true => format!("machine's {} limit (shared by its disks)", row.name),
        false => format!("{} {several}", row.name),
    };
    Limit {
        name,
        iops: Some(iops * times),
        io_unit_bytes: row.io_unit_kib.map(|kib| kib << 10),
        bytes_per_s: bytes.map(|bytes| bytes * times),
        while_it_lasts: lasting,
        burst: after,
        rated_depth: None,
        source: row.source.clone(),
        as_of: row.as_of.clone(),
    }
}

/// What a PCI link carries; `None` for a generation that the data do not know.
pub fn link(name: &str, pci: &Pci) -> Option<Limit> {
    let speed: f64 = pci
        .link_speed
        .as_ref()?
        .split_whitespace()
        .next()?
        .parse()
        .ok()?;
    let links = data::links();
    let lane = links
        .pcie
        .iter()
        .find(|lane| (lane.gt_s - speed).abs() < 0.01)?;
    let width = pci.link_width?;
    Some(Limit {
        name: format!("{name} PCI link x{width}"),
        bytes_per_s: Some(lane.lane_b_s * f64::from(width) * links.payload.share),
        source: links.payload.source.clone(),
        as_of: links.payload.as_of,
        ..Limit::default()
    })
}

/// What the bus of a drive carries that says nothing of its own speed.
fn bus(device: &result::host::Device) -> Option<Limit> {
    let links = data::links();
    let row = links
        .bus
        .into_iter()
        .find(|row| Some(&row.transport) == device.transport.as_ref())?;
    Some(Limit {
        name: format!("{} {}", device.name, row.title),
        bytes_per_s: Some(row.b_s),
        source: row.source,
        as_of: row.as_of,
        ..Limit::default()
    })
}

/// The tightest of several limits.
pub fn binding(limits: &[Limit], block_bytes: u64) -> Option<(&Limit, Allowed)> {
    limits
        .iter()
        .filter_map(|limit| Some((limit, limit.allows(block_bytes)?)))
        .min_by(|a, b| a.1.iops.total_cmp(&b.1.iops))
}

/// The limits that the machine itself tells: links of drives, and throttles of control groups.
pub fn of_host(host: &Host, work: &Workload) -> Vec<Limit> {
    let mut limits = Vec::new();
    let disks = || {
        host.devices
            .iter()
            .filter(|device| device.kind == DeviceKind::Disk)
    };
    let links: Vec<Limit> = disks()
        // The PCI function above a SATA drive is its controller, which others share.
        .filter_map(|device| bus(device).or_else(|| link(&device.name, device.pci.as_ref()?)))
        .collect();
    // Members of a stripe share the load; a disk without a known link would make the sum wrong.
    if !links.is_empty() && links.len() == disks().count() {
        let sum = links.iter().filter_map(|limit| limit.bytes_per_s).sum();
        let name = match links.as_slice() {
            [one] => one.name.clone(),
            several => format!("links of {} disks", several.len()),
        };
        let first = links.into_iter().next().unwrap_or_default();
        limits.push(Limit {
            name,
            bytes_per_s: Some(sum),
            ..first
        });
    }
    let mixed = |read: Option<u64>, write: Option<u64>| {
        let part = |share: f64, limit: Option<u64>| match limit {
            Some(limit) if share > 0.0 => share / limit.max(1) as f64,
            _ => 0.0,
        };
        let sum = part(work.read_share, read) + part(1.0 - work.read_share, write);
        (sum > 0.0).then(|| 1.0 / sum)
    };
    let groups = host.limits.iter().flat_map(|limits| &limits.devices);
    // What holds one member back is no limit of all.
    let below: Vec<&String> = host
        .targets
        .iter()
        .flat_map(|target| &target.devices)
        .collect();
    let holds_all = |device: &result::host::Device| {
        let it = |name: &&String| {
            let whole = host.device(name).and_then(|part| part.disk.as_ref());
            **name == device.name || whole == Some(&device.name)
        };
        below.iter().all(it)
    };
    for throttle in groups {
        let known = host
            .devices
            .iter()
            .find(|device| device.number == throttle.number);
        let Some(device) = known.filter(|device| holds_all(device)) else {
            continue;
        };
        limits.push(Limit {
            name: format!("control group's throttle of {}", device.name),
            iops: mixed(throttle.read_iops, throttle.write_iops),
            bytes_per_s: mixed(throttle.read_bytes_per_s, throttle.write_bytes_per_s),
            source: "the control group".to_owned(),
            ..Limit::default()
        });
    }
    limits
}
