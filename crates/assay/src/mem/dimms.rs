//! What the memory modules could do: from `--dimms`, or from the firmware's list.

use host::smbios;
use result::memory::DataSheet;

/// Bytes that a channel of DIMMs moves in one transfer.
const TRANSFER_BYTES: u32 = 8;

/// Reads `8xDDR5-4800`: channels, kind, megatransfers per second.
pub fn parse(text: &str) -> Result<DataSheet, String> {
    let wrong = || format!("`{text}`: expected CHANNELSxKIND-MT/S, such as 8xDDR5-4800");
    let (channels, module) = text.split_once(['x', 'X', '*']).ok_or_else(wrong)?;
    let (kind, speed) = module.rsplit_once('-').ok_or_else(wrong)?;
    let channels = channels
        .trim()
        .parse()
        .ok()
        .filter(|n| (1..=1024).contains(n));
    let speed = speed
        .trim()
        .parse()
        .ok()
        .filter(|n| (100..=100_000).contains(n));
    let (Some(channels), Some(speed)) = (channels, speed) else {
        return Err(wrong());
    };
    if kind.trim().is_empty() {
        return Err(wrong());
    }
    Ok(sheet(
        "given",
        text.trim().to_owned(),
        channels,
        speed,
        TRANSFER_BYTES,
    ))
}

/// What the firmware lists; `None` where it lists nothing, or not the speed.
pub fn of_firmware(root: &host::Root) -> Option<DataSheet> {
    let modules = smbios::modules(root);
    let filled: Vec<_> = modules.iter().filter(|module| module.bytes > 0).collect();
    let first = filled.first()?;
    // Modules of different speed all run at the slowest one's.
    let speed = filled.iter().map(|module| module.mt_per_s).min()?;
    if speed == 0 {
        return None;
    }
    let width = match first.width_bits / 8 {
        0 => TRANSFER_BYTES,
        bytes => bytes,
    };
    let channels = smbios::channels(&modules);
    let name = format!("{}x{}-{speed}", filled.len(), first.kind);
    let mut sheet = sheet("SMBIOS", name, channels, speed, width);
    sheet.empty_slots = (modules.len() - filled.len()) as u32;
    Some(sheet)
}

fn sheet(source: &str, modules: String, channels: u32, mt_per_s: u32, bytes: u32) -> DataSheet {
    DataSheet {
        source: source.to_owned(),
        modules,
        channels,
        mt_per_s,
        transfer_bytes: bytes,
        empty_slots: 0,
        peak: f64::from(channels) * f64::from(mt_per_s) * 1e6 * f64::from(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_as_people_write_them() {
        let sheet = parse("8xDDR5-4800").unwrap();
        assert_eq!(
            (sheet.channels, sheet.mt_per_s, sheet.peak),
            (8, 4800, 307.2e9)
        );
        for text in [
            "DDR5-4800",
            "8xDDR5",
            "0xDDR5-4800",
            "8x-4800",
            "8xDDR5-x",
            "",
        ] {
            assert!(
                parse(text).unwrap_err().contains("such as 8xDDR5-4800"),
                "{text}"
            );
        }
    }
}
