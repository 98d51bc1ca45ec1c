//! The pieces of a fio job entry, each as the type a `Run` keeps.

use crate::{
    CpuIdle, Direction, Disk, DiskCounters, PriorityLatency, Steady, SteadyMetric, SyncStats,
};
use measure::{BatchMap, DepthMap, Histogram, Latency, Moments, Samples};
use serde::Deserialize;
use std::collections::{BTreeMap, HashMap};

/// Calls assumed for a table of batch shares; only their ratio was written.
const CALLS: u64 = 100_000_000;

pub(super) fn count(share: f64, total: u64) -> u64 {
    (share / 100.0 * total as f64).round() as u64
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
    total_ios: u64,
    short_ios: u64,
    drop_ios: u64,
    pub(super) slat_ns: FioLatency,
    pub(super) clat_ns: FioLatency,
    pub(super) lat_ns: FioLatency,
    /// Ours, not fio's.
    #[serde(default)]
    lat_intended_ns: Option<FioLatency>,
    #[serde(default)]
    prios: Vec<FioPriority>,
    bw_min: u64,
    bw_max: u64,
    bw_mean: f64,
    bw_dev: f64,
    bw_samples: u64,
    iops_min: u64,
    iops_max: u64,
    iops_mean: f64,
    iops_stddev: f64,
    iops_samples: u64,
}

impl FioDirection {
    pub(super) fn to_direction(&self) -> Direction {
        Direction {
            bytes: self.io_bytes,
            issued: self.total_ios,
            ios: self.total_ios,
            short: self.short_ios,
            dropped: self.drop_ios,
            runtime_ms: self.runtime,
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
        }
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

#[derive(Deserialize)]
pub(super) struct FioLatency {
    min: u64,
    max: u64,
    mean: f64,
    stddev: f64,
    #[serde(rename = "N")]
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
                    histogram.add(value, *count);
                }
            }
            histogram
        });
        Latency {
            moments: self.moments(),
            histogram,
        }
    }

    /// Integer moments with this mean and deviation.
    fn moments(&self) -> Moments {
        if self.n == 0 {
            return Moments::default();
        }
        let sum = (self.mean * self.n as f64).round() as u64;
        let (n, wide) = (u128::from(self.n), u128::from(sum));
        let centred = self.stddev * self.stddev * (self.n - 1) as f64;
        let rest = (wide % n * wide % n) as f64 / self.n as f64;
        Moments {
            n: self.n,
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
}

impl FioDisk {
    pub(super) fn into_disk(self) -> Disk {
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
