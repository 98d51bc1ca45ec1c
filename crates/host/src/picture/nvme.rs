//! What an NVMe controller answers, read byte by byte.
//!
//! Places: NVM Express base specification, "Identify Controller" and "SMART / Health
//! Information"; the log page of EBS volumes: Amazon EBS user guide, "detailed performance
//! statistics".

use result::host::{Device, Ebs, Nvme, Smart};
use std::path::Path;
use sys::file::{File, Open};
use sys::nvme;

const SMART_LOG: u8 = 0x02;
const SMART_BYTES: usize = 512;
const EBS_LOG: u8 = 0xd0;
const EBS_BYTES: usize = 4096;
const EBS_MAGIC: u32 = 0x3c23_b510;
const EBS_MODEL: &str = "Amazon Elastic Block Store";
const KELVIN: i32 = 273;
/// SMART counts data in thousands of 512 bytes.
const DATA_UNIT: u64 = 512_000;

/// Asks the controller of the namespace at `path`; nothing is added where it cannot be asked.
pub(super) fn ask(path: &Path, device: &mut Device) {
    let Some(file) = open(path) else { return };
    if let Ok(answer) = nvme::identify_controller(&file) {
        device.nvme = identity(&answer);
    }
    device.smart = health(&file);
    device.ebs = volume(&file, device);
}

/// The logs that change during a run.
pub(super) fn ask_again(path: &Path, device: &mut Device) {
    let Some(file) = open(path) else { return };
    device.smart_after = health(&file);
    device.ebs_after = volume(&file, device);
}

fn open(path: &Path) -> Option<File> {
    let how = Open {
        read: true,
        ..Open::default()
    };
    File::open(path, how).ok()
}

fn health(file: &File) -> Option<Smart> {
    smart(&nvme::log_page(file, SMART_LOG, SMART_BYTES).ok()?)
}

fn volume(file: &File, device: &Device) -> Option<Ebs> {
    let model = device.model.as_deref()?;
    if !model.contains(EBS_MODEL) {
        return None;
    }
    ebs(&nvme::log_page(file, EBS_LOG, EBS_BYTES).ok()?)
}

fn number<const N: usize>(answer: &[u8], at: usize) -> Option<u64> {
    let bytes = answer.get(at..at + N)?;
    let mut wide = [0; 8];
    wide[..N].copy_from_slice(bytes);
    Some(u64::from_le_bytes(wide))
}

/// The 16-byte counters of the health log; more than 64 bits are told as the most.
fn wide(answer: &[u8], at: usize) -> Option<u64> {
    let bytes: [u8; 16] = answer.get(at..at + 16)?.try_into().ok()?;
    Some(u64::try_from(u128::from_le_bytes(bytes)).unwrap_or(u64::MAX))
}

fn celsius(kelvin: u64) -> Option<i32> {
    (kelvin != 0).then(|| kelvin as i32 - KELVIN)
}

fn identity(answer: &[u8]) -> Option<Nvme> {
    let version = number::<4>(answer, 80)?;
    // A power of two of the smallest page, which is 4 KiB on every Linux machine.
    let transfer = *answer.get(77)?;
    let mapped = answer.get(3072..3104)?;
    let mapped = String::from_utf8_lossy(mapped);
    let mapped = mapped.trim_matches([' ', '\0']);
    let is_name = !mapped.is_empty() && mapped.chars().all(|c| c.is_ascii_graphic());
    let model = String::from_utf8_lossy(answer.get(24..64)?).into_owned();
    Some(Nvme {
        vendor: number::<2>(answer, 0)? as u16,
        version: (version != 0).then(|| format!("{}.{}", version >> 16, (version >> 8) & 0xff)),
        max_transfer_bytes: (transfer != 0)
            .then(|| 4096u64.checked_shl(transfer.into()))
            .flatten(),
        volatile_write_cache: answer.get(525)? & 1 != 0,
        total_bytes: wide(answer, 280).filter(|bytes| *bytes != 0),
        warning_celsius: celsius(number::<2>(answer, 266)?),
        mapped_name: (is_name && model.contains(EBS_MODEL)).then(|| mapped.to_owned()),
    })
}

fn smart(answer: &[u8]) -> Option<Smart> {
    let seconds = |at| number::<4>(answer, at).map(|n| n as u32);
    Some(Smart {
        critical_warning: *answer.first()?,
        celsius: celsius(number::<2>(answer, 1)?).unwrap_or_default(),
        spare_percent: *answer.get(3)?,
        used_percent: *answer.get(5)?,
        read_bytes: wide(answer, 32)?.saturating_mul(DATA_UNIT),
        written_bytes: wide(answer, 48)?.saturating_mul(DATA_UNIT),
        reads: wide(answer, 64)?,
        writes: wide(answer, 80)?,
        power_on_hours: wide(answer, 128)?,
        unsafe_shutdowns: wide(answer, 144)?,
        media_errors: wide(answer, 160)?,
        warning_minutes: seconds(192)?,
        critical_minutes: seconds(196)?,
        throttle_transitions: [seconds(216)?, seconds(220)?],
        throttle_seconds: [seconds(224)?, seconds(228)?],
    })
}

fn ebs(answer: &[u8]) -> Option<Ebs> {
    if number::<4>(answer, 0)? != u64::from(EBS_MAGIC) {
        return None;
    }
    let word = |index: usize| number::<8>(answer, 8 + 8 * index);
    Some(Ebs {
        reads: word(0)?,
        writes: word(1)?,
        read_bytes: word(2)?,
        written_bytes: word(3)?,
        volume_iops_exceeded_us: word(6)?,
        volume_throughput_exceeded_us: word(7)?,
        instance_iops_exceeded_us: word(8)?,
        instance_throughput_exceeded_us: word(9)?,
        queue_length: word(10)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_controller_tells_its_limits() {
        let mut answer = vec![0; 4096];
        answer[..2].copy_from_slice(&0x1d0f_u16.to_le_bytes());
        answer[24..50].copy_from_slice(EBS_MODEL.as_bytes());
        answer[77] = 6;
        answer[80..84].copy_from_slice(&0x0001_0400_u32.to_le_bytes());
        answer[266..268].copy_from_slice(&343_u16.to_le_bytes());
        answer[280..288].copy_from_slice(&(10u64 << 30).to_le_bytes());
        answer[525] = 1;
        answer[3072..3080].copy_from_slice(b"/dev/sdf");
        let nvme = identity(&answer).unwrap();
        let expected = Nvme {
            vendor: 0x1d0f,
            version: Some("1.4".into()),
            max_transfer_bytes: Some(256 << 10),
            volatile_write_cache: true,
            total_bytes: Some(10 << 30),
            warning_celsius: Some(70),
            mapped_name: Some("/dev/sdf".into()),
        };
        assert_eq!(nvme, expected);
        // The vendor's area means nothing on other drives.
        answer[24] = b'X';
        assert_eq!(identity(&answer).unwrap().mapped_name, None);
        assert_eq!(identity(&answer[..100]), None);
        let blank = identity(&[0; 4096]).unwrap();
        assert_eq!(blank, Nvme::default());
    }

    #[test]
    fn the_health_log() {
        let mut answer = vec![0; SMART_BYTES];
        answer[1..3].copy_from_slice(&(273 + 41_u16).to_le_bytes());
        answer[3] = 100;
        answer[5] = 7;
        answer[48..56].copy_from_slice(&3u64.to_le_bytes());
        answer[160..176].copy_from_slice(&u128::MAX.to_le_bytes());
        answer[224..228].copy_from_slice(&9u32.to_le_bytes());
        let smart = smart(&answer).unwrap();
        assert_eq!(
            (smart.celsius, smart.spare_percent, smart.used_percent),
            (41, 100, 7)
        );
        assert_eq!(smart.written_bytes, 1_536_000);
        assert_eq!(smart.media_errors, u64::MAX);
        assert_eq!(smart.throttle_seconds, [9, 0]);
        assert_eq!(super::smart(&answer[..200]), None);
    }

    #[test]
    fn the_log_of_a_volume_needs_its_magic_number() {
        let mut answer = vec![0; EBS_BYTES];
        assert_eq!(ebs(&answer), None);
        answer[..4].copy_from_slice(&EBS_MAGIC.to_le_bytes());
        for word in 0..11u64 {
            let at = 8 + 8 * word as usize;
            answer[at..at + 8].copy_from_slice(&(100 + word).to_le_bytes());
        }
        let found = ebs(&answer).unwrap();
        assert_eq!((found.reads, found.written_bytes), (100, 103));
        assert_eq!(found.volume_iops_exceeded_us, 106);
        assert_eq!(found.instance_throughput_exceeded_us, 109);
        assert_eq!(found.queue_length, 110);
    }
}
