//! `zonemode=zbd`: the zones of each target, from the device or from the options, and regions that
//! begin and end with them.

use crate::error::Fault;
use crate::job::Job;
use crate::model::{TargetKind, ZonedTarget, ZonedWork};
use crate::regions::{Found, Region};
use host::{BlockDevice, Facts};
use spec::kinds::{Mode, VerifyKind, ZoneMode};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use sys::file::{File, Open};
use sys::nvme::Namespace;
use units::{Amount, Ddir};
use workload::zones::{MOST_OPEN, Table, Zone};

/// The zones of all targets of a plan; fio keeps them for each file name as well.
#[derive(Debug, Default)]
pub(crate) struct ZoneBook(HashMap<String, Arc<ZonedTarget>>);

/// The zones of a device, and how many of them it lets be open.
type Zoned = (u64, Vec<sys::zones::Zone>, Option<u32>);

/// Bytes of an amount whose zones have this size.
pub(crate) fn in_bytes(amount: Amount, zone_bytes: u64) -> Amount {
    match amount {
        Amount::Zones(zones) if zone_bytes > 0 => {
            Amount::Bytes(u64::from(zones).saturating_mul(zone_bytes))
        }
        other => other,
    }
}

/// `zoneskip` in bytes.
pub(crate) fn skip_bytes(job: &Job<'_>, zone_bytes: u64) -> u64 {
    match in_bytes(job.options.zone.zoneskip, zone_bytes) {
        Amount::Bytes(bytes) => bytes,
        // Refused when the job was settled.
        Amount::Percent(_) | Amount::Zones(_) => 0,
    }
}

/// What the options say about each other, before any target is looked at.
pub(crate) fn conflicts(job: &Job<'_>, faults: &mut Vec<Fault>, notes: &mut Vec<String>) {
    let options = job.options;
    let zone = &options.zone;
    let zbd = zone.zonemode == ZoneMode::Zbd;
    if zone.zonemode == ZoneMode::Strided && zone.zonesize == 0 {
        let text = "zonesize= must be given with zonemode=strided";
        faults.push(Fault::option("zonesize", text));
    }
    if matches!(zone.zoneskip, Amount::Percent(1..)) {
        faults.push(Fault::option("zoneskip", "zoneskip= takes bytes or zones"));
    }
    if zone.zonemode == ZoneMode::None {
        if options.was_set("zonesize") {
            let text = "zonesize= and zonemode=none are not compatible";
            faults.push(Fault::option("zonesize", text));
        }
        // fio takes these alone, and so job files may have them.
        for option in ["zonerange", "zoneskip"] {
            if options.was_set(option) {
                notes.push(format!("{option}= has no effect without zonesize="));
            }
        }
    }
    if !zbd {
        let only = [
            "zonecapacity",
            "read_beyond_wp",
            "max_open_zones",
            "job_max_open_zones",
            "ignore_zone_limits",
            "zone_reset_threshold",
            "zone_reset_frequency",
            "recover_zbd_write_error",
        ];
        for option in only.into_iter().filter(|option| options.was_set(option)) {
            let text = format!("{}: {option}= has no effect without zonemode=zbd", job.name);
            notes.push(text);
        }
        return;
    }
    if options.was_set("zonerange") {
        let text = format!("{}: zonerange= has no effect with zonemode=zbd", job.name);
        notes.push(text);
    }
    let verifies = options.verify.verify != VerifyKind::None;
    let resets = zone.zone_reset_frequency.is_some_and(|share| share > 0.0);
    let replays = options.replay.read_iolog.is_some();
    let trims = options.io.trim_percentage > 0;
    let split = &options.block.bssplit[Ddir::Trim];
    let trim = &job.block[Ddir::Trim];
    let uneven = job.uses(Ddir::Trim) && (!split.is_empty() || trim.min != trim.max);
    for (option, wrong, text) in [
        (
            "read_iolog",
            replays,
            "read_iolog= says where requests go, and so does zonemode=zbd",
        ),
        (
            "verify_only",
            verifies && options.verify.verify_only,
            "verify_only=1 cannot know again where zonemode=zbd has written",
        ),
        (
            "verify_state_load",
            verifies && options.verify.verify_state_load,
            "verify_state_load=1 cannot know again where zonemode=zbd has written",
        ),
        (
            "fill_device",
            options.target.fill_device,
            "fill_device=1 ends where the device does, and zonemode=zbd where its zones do",
        ),
        (
            "trim_percentage",
            trims,
            "trim_percentage= trims blocks, but with zonemode=zbd a trim resets a zone",
        ),
        (
            "zone_reset_frequency",
            resets && verifies,
            "zone_reset_frequency= erases what verify= is to find",
        ),
        (
            "bs",
            uneven,
            "bsrange and bssplit are not allowed for trim with zonemode=zbd",
        ),
    ] {
        if wrong {
            faults.push(Fault::option(option, text));
        }
    }
}

impl ZoneBook {
    /// The zones of a job's targets.
    pub fn targets(
        &mut self,
        job: &Job<'_>,
        facts: &Facts,
        found: &[Found],
    ) -> Result<Vec<Arc<ZonedTarget>>, Fault> {
        found
            .iter()
            .map(|file| match self.0.get(&file.path) {
                Some(known) => Ok(Arc::clone(known)),
                None => {
                    let new = Arc::new(target(job, facts, file, found.len())?);
                    self.0.insert(file.path.clone(), Arc::clone(&new));
                    Ok(new)
                }
            })
            .collect()
    }
}

/// The zones of one target, and how many may be open.
fn target(job: &Job<'_>, facts: &Facts, file: &Found, files: usize) -> Result<ZonedTarget, Fault> {
    let zone = &job.options.zone;
    let Some((zone_bytes, zones, most)) = zoned(job, facts, file)? else {
        return Ok(ZonedTarget {
            table: emulated(job, file, files)?,
            most_open: zone.max_open_zones,
        });
    };
    if zone.zonesize != 0 && zone.zonesize != zone_bytes {
        return Err(mismatch(file, zone.zonesize, zone_bytes));
    }
    if let Some(at) = (0..zones.len()).find(|at| zones[*at].start != *at as u64 * zone_bytes) {
        return Err(refuse(
            file,
            format!("invalid zone data: zone {at} is out of line"),
        ));
    }
    let known = |zone: &sys::zones::Zone| Zone {
        start: zone.start,
        capacity: zone.capacity,
        pointer: zone.pointer,
        sequential: zone.sequential,
        open: zone.open,
        offline: zone.offline,
    };
    let table = Table {
        zone_bytes,
        zones: zones.iter().map(known).collect(),
        managed: true,
    };
    let most = most.filter(|_| !zone.ignore_zone_limits);
    let most_open = match (most, zone.max_open_zones) {
        (Some(most), 0) => most.min(MOST_OPEN as u32),
        (Some(most), asked) if asked > most => {
            let text = format!("Specified --max_open_zones ({asked}) is larger than max ({most})");
            return Err(Fault::option("max_open_zones", text));
        }
        (_, asked) => asked,
    };
    Ok(ZonedTarget { table, most_open })
}

/// Zones of a file or device that has none of its own.
fn emulated(job: &Job<'_>, file: &Found, files: usize) -> Result<Table, Fault> {
    let (size, capacity) = (job.options.zone.zonesize, job.options.zone.zonecapacity);
    let wrong = |option, what: String| Err(Fault::option(option, format!("{}: {what}", file.path)));
    if size == 0 {
        let what = "Specifying the zone size is mandatory for regular file/block device with \
                    --zonemode=zbd (zonesize=)";
        return wrong("zonesize", what.into());
    }
    if size < 512 {
        let what = "zone size must be at least 512 bytes for --zonemode=zbd";
        return wrong("zonesize", what.into());
    }
    if capacity > size {
        let what = format!("job parameter zonecapacity {capacity} is larger than zone size {size}");
        return wrong("zonecapacity", what);
    }
    let there = file
        .size_bytes
        .unwrap_or_else(|| match job.options.extent.size {
            Amount::Bytes(bytes) => bytes / files as u64,
            Amount::Zones(zones) => u64::from(zones).saturating_mul(size) / files as u64,
            Amount::Percent(_) => 0,
        });
    if there < size {
        let what = format!("file/device size {there} is smaller than zone size {size}");
        return wrong("zonesize", what);
    }
    let capacity = if capacity == 0 { size } else { capacity };
    Ok(Table::emulated(there, size, capacity))
}

/// Asks a device for its zones.
fn zoned(job: &Job<'_>, facts: &Facts, file: &Found) -> Result<Option<Zoned>, Fault> {
    let path = Path::new(&file.path);
    let open = || {
        let how = Open {
            read: true,
            ..Open::default()
        };
        File::open(path, how).map_err(|error| refuse(file, format!("cannot be opened: {error}")))
    };
    let unread = |error| refuse(file, format!("report zones failed: {error}"));
    match file.kind {
        TargetKind::File | TargetKind::Pipe | TargetKind::None => Ok(None),
        TargetKind::Block => {
            let device = BlockDevice::by_path(&facts.root, path);
            let Some(limits) = device.and_then(|device| device.zoned()) else {
                return Ok(None);
            };
            let zones = sys::zones::report(&open()?, 0).map_err(unread)?;
            let Some(first) = zones.first() else {
                return Err(refuse(file, "report zones is empty".into()));
            };
            Ok(Some((first.length.max(1), zones, limits.max_open)))
        }
        TargetKind::Char if job.caps.namespaces => {
            let device = open()?;
            let space = Namespace::of(&device).map_err(unread)?;
            let Some((blocks, most)) = space.zoned(&device) else {
                return Ok(None);
            };
            let zones = space.zones(&device, blocks, 0).map_err(unread)?;
            let zone_bytes = blocks.saturating_mul(space.block_bytes().into());
            Ok(Some((zone_bytes, zones, most)))
        }
        TargetKind::Char => Err(refuse(
            file,
            "zonemode=zbd works on files, block devices and NVMe namespaces".into(),
        )),
    }
}

fn refuse(file: &Found, reason: String) -> Fault {
    Fault::Path {
        path: file.path.clone().into(),
        reason,
    }
}

fn mismatch(file: &Found, given: u64, zone_bytes: u64) -> Fault {
    let text = format!(
        "{}: job parameter zonesize {given} does not match disk zone size {zone_bytes}",
        file.path
    );
    Fault::option("zonesize", text)
}

/// Makes the regions begin and end with zones, and checks what the job asks of them.
pub(crate) fn settle(
    job: &Job<'_>,
    found: &[Found],
    targets: Vec<Arc<ZonedTarget>>,
    regions: &mut [Region],
    notes: &mut Vec<String>,
) -> Result<ZonedWork, Fault> {
    let zone = &job.options.zone;
    let verifies = job.options.verify.verify != VerifyKind::None;
    let mut skip = 0;
    for ((file, target), region) in found.iter().zip(&targets).zip(regions) {
        let table = &target.table;
        let direct = job.options.io.direct || job.caps.namespaces;
        if table.managed && job.uses(Ddir::Write) && !direct {
            let text = "Using direct I/O is mandatory for writing to ZBD drives (direct=1)";
            return Err(Fault::option("direct", text));
        }
        if region.length_bytes > 0 && table.index(region.offset_bytes) == table.zones.len() {
            let text = format!("{}: the region begins behind the last zone", file.path);
            return Err(Fault::option("offset", text));
        }
        let size = table.zone_bytes;
        skip = skip_bytes(job, size);
        if region.offset_bytes < region.file_bytes
            && table.has_sequential(region.offset_bytes, region.length_bytes)
        {
            align(job, file, table, region, notes)?;
            if zone.zonesize != 0 && zone.zonesize != size {
                return Err(mismatch(file, zone.zonesize, size));
            }
            if !skip.is_multiple_of(size) {
                let text = format!(
                    "{}: zoneskip {skip} is not a multiple of the device zone size {size}",
                    file.path
                );
                return Err(Fault::option("zoneskip", text));
            }
        }
        let trim = job.block[Ddir::Trim].min;
        if job.uses(Ddir::Trim) && trim != size {
            let path = &file.path;
            let text = format!("{path}: trim block size {trim} is not the zone size {size}");
            return Err(Fault::option("bs", text));
        }
        let odd = |bs: &u64| !size.is_multiple_of((*bs).max(1));
        if let Some(bs) = job.options.block.bs.0.iter().find(|bs| odd(bs) && verifies) {
            let path = &file.path;
            let text = format!("{path}: block size {bs} is not a divisor of the zone size {size}");
            return Err(Fault::option("bs", text));
        }
        let (mine, all) = (zone.job_max_open_zones, target.most_open);
        if zone.max_open_zones > 0 && all != zone.max_open_zones {
            let text = format!(
                "Different 'max_open_zones' values for {}: {all} and {}",
                file.path, zone.max_open_zones
            );
            return Err(Fault::option("max_open_zones", text));
        }
        if mine > 0 && all == 0 {
            let text = "'job_max_open_zones' cannot be used without a global open zones limit \
                 (max_open_zones=)";
            return Err(Fault::option("job_max_open_zones", text));
        }
        if mine > all {
            let text = format!("job_max_open_zones={mine}: {all} zones may be open in all");
            return Err(Fault::option("job_max_open_zones", text));
        }
    }
    Ok(ZonedWork {
        targets,
        read_beyond: zone.read_beyond_wp,
        most_open: zone.job_max_open_zones,
        threshold: zone.zone_reset_threshold.unwrap_or(0.0),
        frequency: zone.zone_reset_frequency.unwrap_or(0.0),
        skip_bytes: skip,
        recovers: zone.recover_zbd_write_error,
    })
}

/// Only sequential reads may begin and end inside of a zone.
fn align(
    job: &Job<'_>,
    file: &Found,
    table: &Table,
    region: &mut Region,
    notes: &mut Vec<String>,
) -> Result<(), Fault> {
    if job.options.io.rw.mode == Mode::Read {
        return Ok(());
    }
    let path = &file.path;
    let small = || Fault::option("size", format!("{path}: io_size must be at least one zone"));
    let start = table.start(table.index(region.offset_bytes));
    let end = region.offset_bytes + region.length_bytes;
    if region.offset_bytes != start {
        let next = start + table.zone_bytes;
        if next >= end {
            return Err(small());
        }
        let before = region.offset_bytes;
        notes.push(format!("{path}: rounded up offset from {before} to {next}"));
        (region.offset_bytes, region.length_bytes) = (next, end - next);
    }
    let last = table.start(table.index(end));
    if end != last {
        let length = last.checked_sub(region.offset_bytes).filter(|l| *l > 0);
        let length = length.ok_or_else(small)?;
        let before = region.length_bytes;
        notes.push(format!(
            "{path}: rounded down io_size from {before} to {length}"
        ));
        region.length_bytes = length;
    }
    Ok(())
}
