//! A drive on a PCI link that could be faster.

use crate::Evidence;
use crate::say::{With, finding};
use result::{Finding, Severity};

pub(crate) fn rule(evidence: &Evidence<'_>) -> Vec<Finding> {
    let devices = evidence.run.host.iter().flat_map(|host| &host.devices);
    let slowed = devices.filter_map(|device| {
        let pci = device.pci.as_ref().filter(|pci| pci.is_slowed())?;
        let link = |speed: &Option<String>, width: Option<u32>| {
            let width = width.map_or_else(String::new, |n| format!(" x{n}"));
            format!("{}{width}", speed.as_deref().unwrap_or("unknown speed"))
        };
        let now = link(&pci.link_speed, pci.link_width);
        let best = link(&pci.max_link_speed, pci.max_link_width);
        let name = &device.name;
        let text = format!("{name}: its PCI link runs at {now}, the device could do {best}");
        let advice = "try another slot, look at risers and firmware; idle links may save power";
        Some(
            finding("slow-link", Severity::Warning, text, advice)
                .word("device", device.identity().unwrap_or(name))
                .word("now", &now)
                .word("best", &best),
        )
    });
    slowed.collect()
}
