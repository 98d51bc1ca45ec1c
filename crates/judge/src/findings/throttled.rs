//! A drive that slowed itself down because it was hot.

use crate::Evidence;
use crate::say::{With, finding};
use result::{Finding, Severity};

pub(crate) fn rule(evidence: &Evidence<'_>) -> Vec<Finding> {
    let devices = evidence.run.host.iter().flat_map(|host| &host.devices);
    let hot = devices.filter_map(|device| {
        let (before, after) = (device.smart.as_ref()?, device.smart_after.as_ref()?);
        let grown = |now: u32, then: u32| u64::from(now.saturating_sub(then));
        let seconds: u64 = (0..2)
            .map(|at| grown(after.throttle_seconds[at], before.throttle_seconds[at]))
            .sum();
        let minutes = grown(after.warning_minutes, before.warning_minutes)
            + grown(after.critical_minutes, before.critical_minutes);
        if seconds + minutes == 0 {
            return None;
        }
        let text = format!(
            "{}: the drive was too hot during the run: throttled for {seconds} s, above its \
             warning temperature for {minutes} min, {} C at the end",
            device.name, after.celsius
        );
        let advice = "improve the cooling, or call the figure one of a throttled drive";
        Some(
            finding("thermal-throttle", Severity::Warning, text, advice)
                .count("throttled_s", seconds)
                .count("warning_min", minutes),
        )
    });
    hot.collect()
}
