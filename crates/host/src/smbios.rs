//! Memory modules as the firmware lists them: SMBIOS structures of type 17 ("Memory Device",
//! DMTF DSP0134, 7.18).

use crate::Root;

/// One slot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Module {
    /// Size in bytes; 0 for an empty slot.
    pub bytes: u64,
    /// `DDR4`, `DDR5`, ..., or empty when the firmware does not say.
    pub kind: String,
    /// Megatransfers per second at which it runs; 0 when not told.
    pub mt_per_s: u32,
    /// Width of its data in bits, without those for error correction; 0 when not told.
    pub width_bits: u32,
    /// What the firmware calls the slot.
    pub locator: String,
    /// And the bank.
    pub bank: String,
}

/// Slots in the order of the table; empty without a table (most virtual machines) or without
/// the right to read it (it is root's).
pub fn modules(root: &Root) -> Vec<Module> {
    let table = std::fs::read(root.path("sys/firmware/dmi/tables/DMI")).unwrap_or_default();
    parse(&table)
}

/// Channels that hold a module: told apart by what the slots are called, or one each where the
/// names say nothing of channels.
pub fn channels(modules: &[Module]) -> u32 {
    let filled = || modules.iter().filter(|module| module.bytes > 0);
    let mut names: Vec<String> = filled().filter_map(channel).collect();
    let known = names.len();
    names.sort();
    names.dedup();
    let filled = filled().count();
    if known == filled {
        names.len() as u32
    } else {
        filled as u32
    }
}

/// `P0 CHANNEL A`, from the bank or the slot: everything up to the word behind `channel`.
fn channel(module: &Module) -> Option<String> {
    [&module.bank, &module.locator]
        .into_iter()
        .find_map(|name| {
            let lower = name.to_ascii_lowercase();
            let at = lower.find("channel")? + "channel".len();
            let rest = lower[at..].trim_start_matches([' ', '_', '-']);
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric());
            let word = &rest[..end.unwrap_or(rest.len())];
            // `ChannelA-DIMM0` in the slot and `BANK 0` in the bank: the slot has the channel.
            (!word.is_empty()).then(|| format!("{} {word}", lower[..at].trim()))
        })
}

fn parse(mut table: &[u8]) -> Vec<Module> {
    const MEMORY_DEVICE: u8 = 17;
    const END: u8 = 127;
    let mut modules = Vec::new();
    while let [kind, length, ..] = *table {
        let length = usize::from(length);
        if length < 4 || length > table.len() || kind == END {
            break;
        }
        let (body, rest) = table.split_at(length);
        // Strings follow, each ended by a zero, all of them by another.
        let Some(end) = rest.windows(2).position(|two| two == [0, 0]) else {
            break;
        };
        if kind == MEMORY_DEVICE {
            let strings: Vec<&[u8]> = rest[..end].split(|byte| *byte == 0).collect();
            modules.extend(module(body, &strings));
        }
        table = &rest[end + 2..];
    }
    modules
}

fn module(body: &[u8], strings: &[&[u8]]) -> Option<Module> {
    let u8_at = |at: usize| body.get(at).copied();
    let u16_at = |at: usize| Some(u16::from_le_bytes([u8_at(at)?, u8_at(at + 1)?]));
    let u32_at = |at: usize| Some(u32::from(u16_at(at)?) | u32::from(u16_at(at + 2)?) << 16);
    let string = |at: usize| {
        let number = usize::from(u8_at(at).unwrap_or(0));
        let bytes = number.checked_sub(1).and_then(|index| strings.get(index));
        bytes.map_or_else(String::new, |bytes| {
            String::from_utf8_lossy(bytes).trim().to_owned()
        })
    };
    let bytes = match u16_at(0x0c)? {
        0 | 0xffff => 0,
        0x7fff => u64::from(u32_at(0x1c)? & 0x7fff_ffff) << 20,
        kib if kib & 0x8000 != 0 => u64::from(kib & 0x7fff) << 10,
        mib => u64::from(mib) << 20,
    };
    let speed = |at: usize, long_at: usize| match u16_at(at) {
        None | Some(0) => None,
        Some(0xffff) => u32_at(long_at).filter(|speed| *speed > 0),
        Some(speed) => Some(u32::from(speed)),
    };
    Some(Module {
        bytes,
        kind: kind_name(u8_at(0x12).unwrap_or(0)).to_owned(),
        // What it is configured to comes before what it could do.
        mt_per_s: speed(0x20, 0x58).or_else(|| speed(0x15, 0x54)).unwrap_or(0),
        width_bits: u16_at(0x0a)
            .filter(|bits| *bits != 0xffff)
            .map_or(0, u32::from),
        locator: string(0x10),
        bank: string(0x11),
    })
}

fn kind_name(number: u8) -> &'static str {
    match number {
        0x12 => "DDR",
        0x13 => "DDR2",
        0x18 => "DDR3",
        0x1a => "DDR4",
        0x1b => "LPDDR",
        0x1c => "LPDDR2",
        0x1d => "LPDDR3",
        0x1e => "LPDDR4",
        0x20 => "HBM",
        0x21 => "HBM2",
        0x22 => "DDR5",
        0x23 => "LPDDR5",
        0x24 => "HBM3",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(mib: u16, kind: u8, speed: u16, locator: &str, bank: &str) -> Vec<u8> {
        let mut body = vec![0u8; 0x28];
        body[0] = 17;
        body[1] = 0x28;
        body[0x0a] = 64;
        body[0x0c..0x0e].copy_from_slice(&mib.to_le_bytes());
        body[0x10] = 1;
        body[0x11] = 2;
        body[0x12] = kind;
        body[0x15..0x17].copy_from_slice(&5600u16.to_le_bytes());
        body[0x1c..0x20].copy_from_slice(&65536u32.to_le_bytes());
        body[0x20..0x22].copy_from_slice(&speed.to_le_bytes());
        body.extend(locator.bytes().chain([0]).chain(bank.bytes()).chain([0, 0]));
        body
    }

    #[test]
    fn slots_of_a_board() {
        let mut table = vec![0, 5, 0, 0, 9, 0, 0];
        table.extend(device(0x7fff, 0x22, 4800, "CPU0_DIMM_A1", "P0 CHANNEL A"));
        table.extend(device(16384, 0x22, 0, "CPU0_DIMM_B1", "P0 CHANNEL B"));
        table.extend(device(0, 0x02, 0, "CPU0_DIMM_C1", "P0 CHANNEL C"));
        table.extend([127, 4, 0, 0, 0, 0]);
        let got = parse(&table);
        assert_eq!(got.len(), 3);
        assert_eq!((got[0].bytes, got[0].kind.as_str()), (64 << 30, "DDR5"));
        assert_eq!((got[0].mt_per_s, got[1].mt_per_s), (4800, 5600));
        assert_eq!((got[1].bytes, got[2].bytes), (16 << 30, 0));
        assert_eq!(got[0].locator, "CPU0_DIMM_A1");
        assert_eq!(got[0].width_bits, 64);
        assert_eq!(channels(&got), 2);
    }

    #[test]
    fn two_modules_on_a_channel_count_once() {
        let slot = |locator: &str, bank: &str| Module {
            bytes: 1,
            locator: locator.into(),
            bank: bank.into(),
            ..Module::default()
        };
        let desktop = [
            slot("ChannelA-DIMM0", "BANK 0"),
            slot("ChannelA-DIMM1", "BANK 1"),
            slot("ChannelB-DIMM0", "BANK 2"),
        ];
        assert_eq!(channels(&desktop), 2);
        let server = [
            slot("DIMM 0", "P0_Node0_Channel0_Dimm0"),
            slot("DIMM 1", "P0_Node0_Channel1_Dimm0"),
            slot("DIMM 0", "P1_Node1_Channel0_Dimm0"),
        ];
        assert_eq!(channels(&server), 3);
        let nameless = [slot("DIMM_A1", "BANK 0"), slot("DIMM_A2", "BANK 1")];
        assert_eq!(channels(&nameless), 2);
    }

    #[test]
    fn broken_tables_end_quietly() {
        let whole = device(16384, 0x1a, 3200, "A", "B");
        for length in 0..whole.len() {
            assert!(parse(&whole[..length]).len() <= 1);
        }
        assert_eq!(parse(&[17, 2, 0, 0, 0, 0]), []);
        assert_eq!(parse(&[17, 6, 0, 0, 0, 0, 0, 0]), []);
    }
}
