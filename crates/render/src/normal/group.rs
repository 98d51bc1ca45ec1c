//! `Run status group` lines: the sums of a group, its slowest and its fastest block.

use super::put;
use result::{GroupTotal, Job, Unified};
use std::fmt::Write;
use units::{Ddir, Human, PerDdir};

const LABELS: PerDdir<&str> = PerDdir(["   READ", "  WRITE", "   TRIM"]);
const MIXED: &str = "  MIXED";

/// Appends the section of group `number`; its heading stands even when nothing ran in it.
pub(super) fn show(
    out: &mut String,
    number: usize,
    totals: &PerDdir<Option<GroupTotal>>,
    blocks: &[Job],
) {
    put!(out, "\nRun status group {number} (all jobs):\n");
    let members = || blocks.iter().filter(|job| job.group as usize == number);
    let Some(last) = members().next_back() else {
        return;
    };
    let has = |unified| members().any(|job| job.reporting.unified == unified);
    let (mixed, both) = (has(Unified::Mixed), has(Unified::Both));
    for (ddir, total) in totals.iter() {
        if let Some(total) = total {
            let label = if mixed && !both { MIXED } else { LABELS[ddir] };
            line(out, label, total, last);
        }
    }
    if both
        && !mixed
        && let Some(total) = all_directions(totals)
    {
        line(out, MIXED, &total, last);
    }
}

/// Sums over directions; the rates add up even where the run times differ, as in fio.
fn all_directions(totals: &PerDdir<Option<GroupTotal>>) -> Option<GroupTotal> {
    Ddir::DATA
        .into_iter()
        .filter_map(|ddir| totals[ddir])
        .reduce(|a, b| GroupTotal {
            bytes: a.bytes.saturating_add(b.bytes),
            rate: a.rate.saturating_add(b.rate),
            rate_min: a.rate_min.min(b.rate_min),
            rate_max: a.rate_max.max(b.rate_max),
            runtime_min_ms: a.runtime_min_ms.min(b.runtime_min_ms),
            runtime_max_ms: a.runtime_max_ms.max(b.runtime_max_ms),
        })
}

fn line(out: &mut String, label: &str, total: &GroupTotal, like: &Job) {
    let how = &like.reporting;
    let bytes = Human::bytes(how.significant_figures, how.kb_base);
    let rate = Human::rate(how.significant_figures, how.kb_base, how.unit_base);
    let other = rate.other_family();
    put!(
        out,
        "{label}: bw={} ({}), {}-{} ({}-{}), io={} ({}), run={}-{}msec\n",
        rate.show(total.rate),
        other.show(total.rate),
        rate.show(total.rate_min),
        rate.show(total.rate_max),
        other.show(total.rate_min),
        other.show(total.rate_max),
        bytes.show(total.bytes),
        bytes.other_family().show(total.bytes),
        total.runtime_min_ms,
        total.runtime_max_ms,
    );
}
