//! The kinds of line in a normal report: what stays when the numbers are taken out.

use std::collections::HashMap;

/// Kinds whose presence depends on how long a job took and how busy the machine was.
const BY_DURATION: [&str; 2] = ["   bw (#/s): ", "   iops        : "];

/// The kinds in order, each with the number of its appearance. Neighbours of one kind are one:
/// how many percentile or bucket rows there are depends on the values. Progress lines do not count.
pub fn kinds(report: &str) -> Vec<String> {
    numbered(all(report))
}

/// The kinds without those that a short job, or one on a busy machine, may lack.
pub fn steady_kinds(report: &str) -> Vec<String> {
    let mut kinds = all(report);
    kinds.retain(|kind| !BY_DURATION.iter().any(|prefix| kind.starts_with(prefix)));
    numbered(kinds)
}

fn all(report: &str) -> Vec<String> {
    let lines = report
        .lines()
        .filter(|l| !l.trim().is_empty() && !l.contains("Jobs: "));
    let mut out: Vec<String> = lines.map(kind).collect();
    out.dedup();
    out
}

fn numbered(kinds: Vec<String>) -> Vec<String> {
    let mut seen = HashMap::new();
    let number = |kind: String| {
        let count = seen
            .entry(kind.clone())
            .and_modify(|n| *n += 1)
            .or_insert(1);
        if *count == 1 {
            kind
        } else {
            format!("{kind} ({count})")
        }
    };
    kinds.into_iter().map(number).collect()
}

/// One line without its numbers, units and padding; indentation stays.
pub fn kind(line: &str) -> String {
    let indent: String = line.chars().take_while(|c| *c == ' ').collect();
    let body = line.trim();
    if body.starts_with('|') {
        return format!("{indent}| percentile row");
    }
    if body.starts_with("lat (") && body.contains("sec)   : ") {
        return format!("{indent}lat buckets");
    }
    // Only a job's header carries a process id, and the date after it is free text.
    let body = body.split_once("pid=").map_or(body, |(head, _)| head);
    let mut text = without_newer_parts(&without_numbers(body));
    for unit in ["(nsec)", "(usec)", "(msec)"] {
        text = text.replace(unit, "(#sec)");
    }
    for unit in [
        "KiB/s", "MiB/s", "kB/s", "MB/s", "Kibit/s", "Mibit/s", "kbit/s", "Mbit/s",
    ] {
        text = text.replace(unit, "#/s");
    }
    format!("{indent}{}", text.replace("( #/s)", "(#/s)"))
}

/// Numbers with their unit letters become `#`; blanks that only pad a number go.
fn without_numbers(body: &str) -> String {
    let mut out = String::new();
    let mut rest = body.chars().peekable();
    while let Some(c) = rest.next() {
        if c.is_ascii_digit() {
            while rest
                .peek()
                .is_some_and(|c| c.is_ascii_alphanumeric() || ".%".contains(*c))
            {
                rest.next();
            }
            let padded = out.trim_end().len();
            if out[..padded].ends_with(['=', '[', '-']) {
                out.truncate(padded);
            }
            // The sign of a slope is chance.
            if out.ends_with("=-") {
                out.pop();
            }
            out.push('#');
        } else if c == ' ' && out.ends_with("( ") {
            // Unit columns are right-aligned: `(  KiB/s)`.
        } else {
            out.push(c);
        }
    }
    out.replace("#/s", "#")
}

/// Parts that fio prints in some 3.x versions and not in others.
fn without_newer_parts(text: &str) -> String {
    text.replace("; # zone resets", "")
        .replace(", sectors=#/#", "")
        .replace(", aggsectors=#/#", "")
        .replace("sync_file_range/syncfs:", "sync_file_range:")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_units_go_and_words_stay() {
        let a = "  read: IOPS=14.9k, BW=58.4MiB/s (61.2MB/s)(31.9MiB/546msec)";
        let b = "  read: IOPS=7, BW=900KiB/s (921kB/s)(9000KiB/10sec)";
        assert_eq!(kind(a), kind(b));
        assert_ne!(kind(a), kind(&a.replace("read", "write")));
        assert_ne!(kind(a), kind(&a.replace("BW", "bw")));
        assert_ne!(kind(a), kind(&a[1..]));
    }

    #[test]
    fn padding_before_a_number_does_not_matter() {
        let a = "    slat (usec): min=2, max=5272, avg= 6.45, stdev=58.69";
        let b = "    slat (nsec): min=661, max=5401.8k, avg=112967.86, stdev= 0.00";
        assert_eq!(kind(a), kind(b));
        let a =
            "   bw (  KiB/s): min=59304, max=59304, per=49.71%, avg=1.00, stdev= 0.00, samples=1";
        let b = "   bw (  MiB/s): min=  3, max=  4, per=100.00%, avg=1.00, stdev=10.00, samples=12";
        assert_eq!(kind(a), kind(b));
        assert!(
            BY_DURATION.iter().any(|prefix| kind(a).starts_with(prefix)),
            "{}",
            kind(a)
        );
    }

    #[test]
    fn versions_of_one_line_are_one_kind() {
        let old = "     latency   : target=0, window=0, percentile=100.00%, depth=4";
        let new = "     latency   : target=0.00ns, window=0.00ns, percentile=100.00%, depth=4";
        assert_eq!(kind(old), kind(new));
        let old = "  vda: ios=9/1, merge=0/0, ticks=1/1, in_queue=2, util=57.14%";
        let new = "  vda: ios=9/1, sectors=72/8, merge=0/0, ticks=1/1, in_queue=2, util=57.14%";
        assert_eq!(kind(old), kind(new));
    }
}
