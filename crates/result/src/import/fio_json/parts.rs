//! The pieces of a fio job entry, each as the type a `Run` keeps.

use crate::{
    CpuIdle, Direction, Disk, DiskCounters, PriorityLatency, Stated, Steady, SteadyMetric,
    SyncStats,
};
use measure::{BatchMap, DepthMap, Histogram, Latency, Moments, Samples};
use serde::Deserialize;
use std::collections::{BTreeMap, HashMap};

/// Calls assumed for a table of batch shares; only their ratio was written.
const CALLS: u64 = 100_000_000;
/// No run has more I/Os than this; damaged numbers have. Sums of such counts stay in range.
const MOST: u64 = 1 << 48;
/// The same of bytes and of nanoseconds in sum.
const MOST_SUM: u64 = 1 << 60;

pub(super) fn count(share: f64, total: u64) -> u64 {
    // Syncs are counted with the I/Os that they follow, so that shares may sum to more than all.
    ((share / 100.0 * total as f64).round() as u64).min(MOST)
}

pub(super) fn depth_map(shares: &HashMap<String, f64>, ios: u64) -> DepthMap {
    const LABELS: [&str; 7] = ["1", "2", "4", "8", "16", "32", ">=64"];
    DepthMap(LABELS.map(|label| {
        let share = shares.get(label).copied().unwrap_or(0.0);
        count(share, ios).max(u64::from(share > 0.0))
    }))
}

pub(super) fn batch_map(shares: &HashMap<String, f64>) -> BatchMap {
    const LABELS: [&str; 7] = ["0", "4", "8", "16", "32", "64", ">=64"];
    let slots = LABELS.map(|label| count(shares.get(label).copied().unwrap_or(0.0), CALLS));
    let calls = if slots.iter().any(|slot| *slot > 0) {
        CALLS
    } else {
        0
    };
    BatchMap { slots, calls }
}

#[derive(Deserialize)]
pub(super) struct FioDirection {
    io_bytes: u64,
    runtime: u64,
    #[serde(default)]
    total_ios: u64,
    #[serde(default)]
    short_ios: u64,
    #[serde(default)]
    drop_ios: u64,
    #[serde(default)]
    pub(super) slat_ns: FioLatency,
    #[serde(default)]
    pub(super) clat_ns: FioLatency,
    #[serde(default)]
    pub(super) lat_ns: FioLatency,
    /// Ours, of texts: rates as printed.
    assay_iops: Option<f64>,
    assay_bytes_per_s: Option<f64>,
    /// Ours, not fio's.
    #[serde(default)]
    lat_intended_ns: Option<FioLatency>,
    #[serde(default)]
    prios: Vec<FioPriority>,
    #[serde(default)]
    bw_min: u64,
    #[serde(default)]
    bw_max: u64,
    #[serde(default)]
    bw_mean: f64,
    #[serde(default)]
    bw_dev: f64,
    #[serde(default)]
    bw_samples: u64,
    #[serde(default)]
    iops_min: u64,
    #[serde(default)]
    iops_max: u64,
    #[serde(default)]
    iops_mean: f64,
    #[serde(default)]
    iops_stddev: f64,
    #[serde(default)]
    iops_samples: u64,
}

impl FioDirection {
    pub(super) fn to_direction(&self) -> Direction {
        let ios = self.total_ios.min(MOST);
        Direction {
            bytes: self.io_bytes.min(MOST_SUM),
            issued: ios,
            ios,
            short: self.short_ios.min(MOST),
            dropped: self.drop_ios.min(MOST),
            runtime_ms: self.runtime.min(MOST),
            slat: self.slat_ns.to_latency(),
            clat: self.clat_ns.to_latency(),
            lat: self.lat_ns.to_latency(),
            lat_intended: self.lat_intended_ns.as_ref().map(FioLatency::to_latency),
            bw: samples(
                self.bw_samples,
                self.bw_min,
                self.bw_max,
                self.bw_mean,
                self.bw_dev,
            ),
            iops: samples(
                self.iops_samples,
                self.iops_min,
                self.iops_max,
                self.iops_mean,
                self.iops_stddev,
            ),
            cache_hits: None,
            priorities: self.prios.iter().map(FioPriority::to_latency).collect(),
            stated: self.stated(),
        }
    }

    fn stated(&self) -> Option<Box<Stated>> {
        let stated = Stated {
            iops: self.assay_iops,
            bytes_per_s: self.assay_bytes_per_s,
            slat_percentiles: self.slat_ns.stated(),
            clat_percentiles: self.clat_ns.stated(),
            lat_percentiles: self.lat_ns.stated(),
        };
        (stated != Stated::default()).then(|| Box::new(stated))
    }
}

#[derive(Deserialize)]
struct FioPriority {
    prioclass: u8,
    prio: u8,
    /// Younger than fio 3.33.
    #[serde(default)]
    priohint: u16,
    #[serde(alias = "lat_ns")]
    clat_ns: FioLatency,
}

impl FioPriority {
    fn to_latency(&self) -> PriorityLatency {
        PriorityLatency {
            class: self.prioclass,
            level: self.prio,
            hint: self.priohint,
            latency: self.clat_ns.to_latency(),
        }
    }
}

fn samples(n: u64, min: u64, max: u64, mean: f64, stddev: f64) -> Samples {
    let spread = stddev * stddev * n.saturating_sub(1) as f64;
    Samples {
        n,
        min,
        max,
        mean,
        spread,
    }
}

#[derive(Deserialize)]
pub(super) struct FioSteady {
    ss: String,
    duration: u64,
    attained: u64,
    criterion: String,
    max_deviation: f64,
    slope: f64,
    data: FioSteadyData,
}

#[derive(Deserialize)]
struct FioSteadyData {
    iops: Vec<u64>,
    bw: Vec<u64>,
    #[serde(default)]
    lat_ns: Vec<u64>,
}

impl FioSteady {
    /// `None` for a criterion that fio does not have.
    pub(super) fn into_steady(self) -> Option<Steady> {
        let number = |text: &str| text.trim_end_matches('%').parse::<f64>().ok();
        let (what, limit) = self.ss.split_once(':')?;
        let metric = match what.trim_end_matches("_slope") {
            "iops" => SteadyMetric::Iops,
            "bw" => SteadyMetric::Bandwidth,
            "lat" => SteadyMetric::Latency,
            _ => return None,
        };
        Some(Steady {
            metric,
            by_slope: what.ends_with("_slope"),
            limit: number(limit)?,
            percent: limit.ends_with('%'),
            duration_s: self.duration,
            attained: self.attained > 0,
            criterion: number(&self.criterion)?,
            deviation: self.max_deviation,
            slope: self.slope,
            iops: self.data.iops,
            bytes_per_s: self.data.bw,
            lat_ns: self.data.lat_ns,
        })
    }
}

#[derive(Deserialize)]
pub(super) struct FioSync {
    total_ios: u64,
    pub(super) lat_ns: FioLatency,
}

impl FioSync {
    pub(super) fn to_stats(&self) -> SyncStats {
        SyncStats {
            ios: self.total_ios,
            lat: self.lat_ns.to_latency(),
        }
    }
}

#[derive(Default, Deserialize)]
pub(super) struct FioLatency {
    #[serde(default)]
    min: u64,
    #[serde(default)]
    max: u64,
    #[serde(default)]
    mean: f64,
    #[serde(default)]
    stddev: f64,
    #[serde(default, rename = "N")]
    pub(super) n: u64,
    pub(super) percentile: Option<BTreeMap<String, u64>>,
    bins: Option<HashMap<String, u64>>,
}

impl FioLatency {
    fn to_latency(&self) -> Latency {
        let histogram = self.bins.as_ref().map(|bins| {
            let mut histogram = Histogram::default();
            for (value, count) in bins {
                if let Ok(value) = value.parse() {
                    histogram.add(value, (*count).min(MOST));
                }
            }
            histogram
        });
        Latency {
            moments: self.moments(),
            histogram,
        }
    }

    /// Percentiles that no bins stand behind.
    fn stated(&self) -> Vec<(f64, u64)> {
        let list = self.percentile.iter().filter(|_| self.bins.is_none());
        let pairs = list.flatten();
        let mut stated: Vec<(f64, u64)> = pairs
            .filter_map(|(percent, value)| Some((super::percent(percent)?, *value)))
            .collect();
        stated.sort_by(|a, b| a.0.total_cmp(&b.0));
        stated
    }

    /// Integer moments with this mean and deviation.
    fn moments(&self) -> Moments {
        let count = self.n.min(MOST);
        if count == 0 {
            return Moments::default();
        }
        let sum = ((self.mean * count as f64).round() as u64).min(MOST_SUM);
        let (n, wide) = (u128::from(count), u128::from(sum));
        let spread = (self.stddev * self.stddev).min(1e24);
        let centred = spread * (count - 1) as f64;
        let rest = (wide % n * wide % n) as f64 / count as f64;
        Moments {
            n: count,
            min: self.min,
            max: self.max,
            sum,
            squares: wide / n * wide + wide % n * wide / n + (rest + centred).round() as u128,
        }
    }
}

#[derive(Deserialize)]
pub(super) struct FioDisk {
    name: String,
    read_ios: u64,
    write_ios: u64,
    #[serde(default)]
    read_sectors: u64,
    #[serde(default)]
    write_sectors: u64,
    read_merges: u64,
    write_merges: u64,
    read_ticks: u64,
    write_ticks: u64,
    in_queue: u64,
    util: f64,
    aggr_read_ios: Option<u64>,
    aggr_write_ios: Option<u64>,
}

impl FioDisk {
    fn into_disk(self) -> Disk {
        /// Length assumed for the observation, so that `util` keeps its six decimals.
        const ELAPSED_MS: u64 = 100_000_000;
        Disk {
            identity: None,
            name: self.name,
            counters: DiskCounters {
                ios: [self.read_ios, self.write_ios],
                merges: [self.read_merges, self.write_merges],
                sectors: [self.read_sectors, self.write_sectors],
                ticks_ms: [self.read_ticks, self.write_ticks],
                in_queue_ms: self.in_queue,
                busy_ms: count(self.util, ELAPSED_MS),
                elapsed_ms: ELAPSED_MS,
            },
            members: Vec::new(),
        }
    }
}

/// Devices, and behind one with averages over its members those members: the entries that
/// follow, where their mean is that average.
pub(super) fn disks(entries: Vec<FioDisk>) -> Vec<Disk> {
    let mut disks: Vec<Disk> = Vec::new();
    let mut entries = entries.into_iter().peekable();
    while let Some(entry) = entries.next() {
        let average = entry.aggr_read_ios.zip(entry.aggr_write_ios);
        let mut disk = entry.into_disk();
        if let Some((reads, writes)) = average {
            let mut members = Vec::new();
            while let Some(member) = entries.next_if(|next| next.aggr_read_ios.is_none()) {
                members.push(member.into_disk());
            }
            let count = members.len().max(1) as u64;
            let mean = |of: usize| {
                let sum = members.iter().map(|disk| disk.counters.ios[of]);
                sum.fold(0, u64::saturating_add) / count
            };
            let theirs = !members.is_empty() && (mean(0), mean(1)) == (reads, writes);
            if theirs {
                disk.members = members;
                disks.push(disk);
            } else {
                disks.push(disk);
                disks.append(&mut members);
            }
            continue;
        }
        disks.push(disk);
    }
    disks
}

pub(super) fn cpu_idle(from: &BTreeMap<String, f64>) -> CpuIdle {
    let value = |key: &str| from.get(key).copied().unwrap_or(0.0);
    let cpus_percent: Vec<f64> = (0..)
        .map_while(|cpu| from.get(&format!("cpu-{cpu}")).copied())
        .collect();
    CpuIdle {
        per_cpu: !cpus_percent.is_empty(),
        system_percent: value("system"),
        cpus_percent,
        unit_mean_us: value("unit_mean"),
        unit_stddev_us: value("unit_stddev"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_keep_mean_and_deviation() {
        let latency = FioLatency {
            min: 8_693,
            max: 31_196,
            mean: 11_622.125,
            stddev: 5_461.219,
            n: 16,
            percentile: None,
            bins: None,
        };
        let moments = latency.moments();
        assert!((moments.mean() - 11_622.125).abs() < 1e-6);
        assert!((moments.stddev() - 5_461.219).abs() < 1e-3);
    }
}
