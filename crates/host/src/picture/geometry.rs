//! How a file system lays data out, against the stripes of what lies below it.
//!
//! Places in superblocks: xfs "Algorithms & Data Structures", `sb_blocksize`, `sb_unit`,
//! `sb_width`; kernel documentation of ext4, `s_raid_stride`, `s_raid_stripe_width`.

use crate::{Mount, Root};
use result::host::{Device, DeviceKind, Geometry};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// The unit of xfs's mount options.
const SECTOR: u64 = 512;

/// The geometry of the file system of `mount`, whose blocks are `block_bytes` long and which lies
/// on `device`. `content` allows a look at the superblock.
pub(super) fn of(
    root: &Root,
    mount: &Mount,
    block_bytes: Option<u64>,
    device: Option<&Device>,
    content: bool,
) -> Option<Geometry> {
    let mut geometry = Geometry {
        block_bytes,
        ..Geometry::default()
    };
    let superblock = || {
        let path = root.path("dev").join(&device.filter(|_| content)?.name);
        let mut block = vec![0; 2048];
        let file = File::open(path).ok()?;
        file.read_exact_at(&mut block, 0).ok()?;
        Some(block)
    };
    match mount.fs_type.as_str() {
        "xfs" => xfs(&mut geometry, mount),
        "ext4" => ext4(&mut geometry, mount, superblock().as_deref()),
        "btrfs" => geometry.data_profiles = profiles(root, &device?.name),
        _ => {}
    }
    if let Some((chunk, stripe)) = device.and_then(stripes) {
        geometry.device_chunk_bytes = Some(chunk);
        geometry.device_stripe_bytes = stripe;
    }
    (geometry != Geometry::default()).then_some(geometry)
}

fn option(mount: &Mount, key: &str) -> Option<u64> {
    let value = |option: &String| option.strip_prefix(key)?.strip_prefix('=')?.parse().ok();
    mount.options.iter().find_map(value)
}

/// xfs lists its stripe among its options, and lists none where it was made for none.
fn xfs(geometry: &mut Geometry, mount: &Mount) {
    let bytes = |key: &str| option(mount, key).unwrap_or(0).saturating_mul(SECTOR);
    geometry.stripe_unit_bytes = Some(bytes("sunit"));
    geometry.stripe_width_bytes = Some(bytes("swidth"));
}

fn ext4(geometry: &mut Geometry, mount: &Mount, superblock: Option<&[u8]>) {
    let Some(block) = superblock.filter(|block| block[1080..1082] == [0x53, 0xef]) else {
        let width = option(mount, "stripe").zip(geometry.block_bytes);
        geometry.stripe_width_bytes = width.map(|(blocks, size)| blocks.saturating_mul(size));
        return;
    };
    let word = |at: usize| {
        let bytes = [block[at], block[at + 1], block[at + 2], block[at + 3]];
        u64::from(u32::from_le_bytes(bytes))
    };
    let size = 1024u64 << word(1024 + 24).min(6);
    geometry.block_bytes = Some(size);
    geometry.stripe_unit_bytes = Some((word(1024 + 356) & 0xffff) * size);
    geometry.stripe_width_bytes = Some(word(1024 + 368) * size);
}

/// The profiles of a btrfs's data; more than one while it is being converted.
fn profiles(root: &Root, device: &str) -> Vec<String> {
    let base = "sys/fs/btrfs";
    let name = device.replace('/', "!");
    let own = root
        .names(base)
        .into_iter()
        .find(|id| root.names(format!("{base}/{id}/devices")).contains(&name));
    let Some(id) = own else { return Vec::new() };
    let data = format!("{base}/{id}/allocation/data");
    let is_profile = |name: &String| root.path(&data).join(name).is_dir();
    root.names(&data).into_iter().filter(is_profile).collect()
}

/// Chunk and full stripe of a striped device. What is stacked on one passes both on.
fn stripes(device: &Device) -> Option<(u64, Option<u64>)> {
    let optimal = device.optimal_io_bytes;
    let stacked = matches!(
        device.kind,
        DeviceKind::Lvm | DeviceKind::Mapping | DeviceKind::Crypt | DeviceKind::Partition
    );
    let chunk = match device.raid.as_ref() {
        Some(raid) => raid.chunk_bytes?,
        None => device
            .minimum_io_bytes
            .filter(|chunk| stacked && optimal.is_some_and(|full| full > *chunk))?,
    };
    Some((chunk, optimal.filter(|full| full.is_multiple_of(chunk))))
}

/// The path of a device's content.
pub(super) fn content_path(root: &Root, name: &str) -> std::path::PathBuf {
    root.path(Path::new("dev").join(name))
}
