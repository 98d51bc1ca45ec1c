//! A file system that was made for other stripes than those below it.

use crate::Evidence;
use crate::say::{With, bytes, finding};
use result::{Finding, Severity};

pub(crate) fn rule(evidence: &Evidence<'_>) -> Vec<Finding> {
    let systems = evidence.run.host.iter().flat_map(|host| &host.file_systems);
    let wrong = systems.filter_map(|system| {
        let geometry = system.geometry.as_ref()?;
        if geometry.matches() != Some(false) {
            return None;
        }
        let made = match geometry.stripe_unit_bytes.unwrap_or(0) {
            0 => "for no stripes".to_owned(),
            unit => format!(
                "for a stripe unit of {} and a width of {}",
                bytes(unit),
                bytes(geometry.stripe_width_bytes.unwrap_or(0))
            ),
        };
        let chunk = geometry.device_chunk_bytes.unwrap_or(0);
        let full = geometry.device_stripe_bytes.unwrap_or(0);
        let text = format!(
            "{} at {} was made {made}; the device below has chunks of {} and full stripes of {}",
            system.fs_type,
            system.mount_points.join(", "),
            bytes(chunk),
            bytes(full)
        );
        let advice = "make it again with the device's geometry (mkfs.xfs su= and sw=, mkfs.ext4 \
                      -E stride= and stripe_width=)";
        Some(
            finding("stripe-mismatch", Severity::Note, text, advice)
                .count("chunk_bytes", chunk)
                .count("stripe_bytes", full),
        )
    });
    wrong.collect()
}
