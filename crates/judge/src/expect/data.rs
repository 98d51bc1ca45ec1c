//! The data files: what volume types, instances and links are known to do.

use serde::Deserialize;

const VOLUMES: &str = include_str!("../../../../data/volumes.toml");
const INSTANCES: &str = include_str!("../../../../data/instances.toml");
const DRIVES: &str = include_str!("../../../../data/drives.toml");
const LINKS: &str = include_str!("../../../../data/links.toml");

/// A quantity that depends on what was bought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Quantity {
    pub base: f64,
    pub per_gib: f64,
    pub per_iops: f64,
    pub min: Option<f64>,
    pub max: Option<f64>,
    /// A declared value of more than this, times the size, is not sold.
    pub per_gib_max: Option<f64>,
    /// A declared value takes its place.
    pub provisioned: bool,
}

impl Quantity {
    /// Its value; `declared` counts where it is provisioned.
    pub fn value(&self, gib: f64, iops: f64, declared: Option<f64>) -> f64 {
        let computed = self.base + self.per_gib * gib + self.per_iops * iops;
        let value = declared.filter(|_| self.provisioned).unwrap_or(computed);
        let most = self.per_gib_max.map_or(f64::INFINITY, |per| per * gib);
        // What is included in the price is not bounded by the size.
        let value = value.min(most.max(self.base));
        value
            .max(self.min.unwrap_or(0.0))
            .min(self.max.unwrap_or(f64::INFINITY))
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Volume {
    pub name: String,
    pub provider: String,
    /// `machine` where sizes of all volumes of the type add up.
    pub scope: Option<String>,
    pub iops: Quantity,
    pub write_iops: Option<Quantity>,
    pub mib_s: Option<Quantity>,
    pub mib_s_high: Option<Quantity>,
    pub mb_s: Option<Quantity>,
    pub small: Option<Small>,
    pub burst: Option<Burst>,
    pub io_unit_kib: Option<u64>,
    pub source: String,
    pub as_of: String,
}

/// Small volumes have a lower bandwidth.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Small {
    pub up_to_gib: f64,
    pub mib_s: f64,
}

/// What a volume does while credits last.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Burst {
    pub iops: Option<f64>,
    pub credits: Option<f64>,
    pub seconds: Option<f64>,
    pub mib_s: Option<Quantity>,
    pub mb_s: Option<Quantity>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Instance {
    pub name: String,
    pub ebs: Option<Ebs>,
    pub disks: Option<Disks>,
    pub drive: Option<Drive>,
    pub source: String,
    pub as_of: String,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Ebs {
    pub mb_s: f64,
    pub iops: f64,
    pub base_mb_s: Option<f64>,
    pub base_iops: Option<f64>,
}

/// What a machine allows to all its network disks of some types together.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Disks {
    pub provider: String,
    /// All types of the provider where none is named.
    #[serde(default)]
    pub types: Vec<String>,
    pub iops: f64,
    pub mib_s: Option<f64>,
    pub mb_s: Option<f64>,
}

impl Disks {
    /// Whether a volume is one of them.
    pub fn are(&self, volume: &Volume) -> bool {
        let named = self.types.is_empty() || self.types.contains(&volume.name);
        self.provider == volume.provider && named
    }
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Drive {
    pub count: u32,
    pub read_iops: f64,
    pub read_b_s: f64,
    pub write_iops: f64,
    pub write_b_s: f64,
}

/// What a drive's maker says of it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Model {
    pub name: String,
    pub title: String,
    pub read_iops: f64,
    pub write_iops: f64,
    pub read_mb_s: f64,
    pub write_mb_s: f64,
    pub depth: u64,
    pub conditions: String,
    pub source: String,
    pub as_of: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Links {
    pub pcie: Vec<Lane>,
    pub payload: Payload,
    pub bus: Vec<Bus>,
}

/// A bus with one speed for a drive, by the word for its transport.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Bus {
    pub transport: String,
    pub title: String,
    pub b_s: f64,
    pub source: String,
    pub as_of: String,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Lane {
    pub gt_s: f64,
    pub lane_b_s: f64,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Payload {
    pub share: f64,
    pub source: String,
    pub as_of: String,
}

#[derive(Deserialize)]
struct Volumes {
    volume: Vec<Volume>,
}

#[derive(Deserialize)]
struct Instances {
    instance: Vec<Instance>,
}

/// All volume types.
pub(super) fn volumes() -> Vec<Volume> {
    let read: Result<Volumes, _> = toml::from_str(VOLUMES);
    read.expect("the file is checked by a test").volume
}

#[derive(Deserialize)]
struct Drives {
    drive: Vec<Model>,
}

/// All drive models.
pub(super) fn drives() -> Vec<Model> {
    let read: Result<Drives, _> = toml::from_str(DRIVES);
    read.expect("the file is checked by a test").drive
}

/// All instance types.
pub(super) fn instances() -> Vec<Instance> {
    let read: Result<Instances, _> = toml::from_str(INSTANCES);
    read.expect("the file is checked by a test").instance
}

/// Links.
pub(super) fn links() -> Links {
    toml::from_str(LINKS).expect("the file is checked by a test")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn rows_have_names_of_their_own_a_source_and_a_date() {
        let volumes = volumes();
        let names: BTreeSet<_> = volumes.iter().map(|row| &row.name).collect();
        assert_eq!(names.len(), volumes.len());
        let rows = volumes.iter().map(|row| (&row.source, &row.as_of));
        let instances = instances();
        let rows = rows.chain(instances.iter().map(|row| (&row.source, &row.as_of)));
        let Links { payload, bus, .. } = links();
        let rows = rows.chain(bus.iter().map(|row| (&row.source, &row.as_of)));
        let drives = drives();
        assert!(
            drives
                .iter()
                .all(|row| !names.contains(&row.name) && row.depth > 0)
        );
        let rows = rows.chain(drives.iter().map(|row| (&row.source, &row.as_of)));
        for (source, as_of) in rows.chain([(&payload.source, &payload.as_of)]) {
            assert!(source.len() > 5, "{source}");
            let (year, month) = as_of.split_once('-').expect("YYYY-MM");
            assert!((2019..2100).contains(&year.parse::<u32>().expect("a year")));
            assert!((1..=12).contains(&month.parse::<u32>().expect("a month")));
        }
        let of_instances: BTreeSet<_> = instances.iter().map(|row| &row.name).collect();
        assert_eq!(of_instances.len(), instances.len());
        for row in &instances {
            let known = row.ebs.is_some() || row.disks.is_some() || row.drive.is_some();
            assert!(known, "nothing is known of {}", row.name);
            // What is left of a limit is not more than the limit.
            let ebs = row.ebs.unwrap_or(Ebs {
                mb_s: 1.0,
                iops: 1.0,
                base_mb_s: None,
                base_iops: None,
            });
            let base = (ebs.base_mb_s.unwrap_or(0.0), ebs.base_iops.unwrap_or(0.0));
            assert!(base.0 < ebs.mb_s && base.1 < ebs.iops, "{}", row.name);
            let types = row.disks.iter().flat_map(|disks| &disks.types);
            assert!(
                types.clone().all(|kind| names.contains(kind)),
                "{}",
                row.name
            );
        }
        for row in &volumes {
            assert!(
                row.mib_s.is_some() || row.mb_s.is_some(),
                "{} has no bandwidth",
                row.name
            );
        }
    }

    #[test]
    fn a_quantity_is_held_between_its_bounds() {
        let gp2 = Quantity {
            per_gib: 3.0,
            min: Some(100.0),
            max: Some(16_000.0),
            ..Quantity::default()
        };
        let at = |gib| gp2.value(gib, 0.0, None);
        assert_eq!(
            [at(10.0), at(500.0), at(16_000.0)],
            [100.0, 1500.0, 16_000.0]
        );
        assert_eq!(
            gp2.value(500.0, 0.0, Some(9000.0)),
            1500.0,
            "it is not provisioned"
        );
        let io1 = Quantity {
            per_gib_max: Some(50.0),
            provisioned: true,
            ..Quantity::default()
        };
        assert_eq!(io1.value(300.0, 0.0, Some(15_000.0)), 15_000.0);
        assert_eq!(io1.value(100.0, 0.0, Some(15_000.0)), 5_000.0);
    }
}
