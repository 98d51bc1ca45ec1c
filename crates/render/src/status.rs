//! The line that shows a run in progress.

use crate::eta::Eta;
use units::{Counted, Ddir, Family, Human, PerDdir};

/// Limits of the running jobs, summed; zero where there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RateLimits {
    /// `rate_min` in bytes per second.
    pub min_bytes_per_s: u64,
    /// `rate` in bytes per second.
    pub max_bytes_per_s: u64,
    /// `rate_iops_min`.
    pub min_iops: u64,
    /// `rate_iops`.
    pub max_iops: u64,
}

/// A moment of a run.
#[derive(Clone, Debug)]
pub struct Progress {
    /// One letter per worker, in order of thread number: P not created, C created, I set up,
    /// p pre-reading, / ramping, R r reading, W w writing, M m mixing, D d trimming (capitals for
    /// sequential), V verifying, F syncing, f finishing, E exited, _ reaped, X failed, K killed.
    pub states: String,
    /// Workers running, ramping ones included.
    pub running: u32,
    /// Workers in their ramp time.
    pub ramping: u32,
    /// Workers laying out files.
    pub setting_up: u32,
    /// Open files of the running workers.
    pub open_files: u32,
    /// Limits, if any.
    pub limits: RateLimits,
    /// Bytes per second since the last line; all in the read slot when directions are mixed.
    pub bytes_per_s: PerDdir<u64>,
    /// I/Os per second since the last line.
    pub iops: PerDdir<u64>,
    /// Seconds since the start of the run, rounded up.
    pub elapsed_s: u64,
    /// Time left.
    pub eta: Eta,
    /// True from the first estimate other than zero; until then the percentage is unknown.
    pub estimated: bool,
    /// `kb_base`.
    pub kb_base: u32,
    /// `unit_base`.
    pub unit_base: u32,
    /// `significant_figures`.
    pub significant_figures: u32,
}

/// The line without its end. While there is no estimate only the counts and limits are shown.
pub fn status(now: &Progress) -> String {
    let mut line = format!("Jobs: {} (f={})", now.running, now.open_files);
    line.push_str(&limits(now));
    if now.eta == Eta::Unknown || now.running == 0 {
        return line;
    }
    let (states, percent) = (condensed(&now.states), percent(now));
    let (rates, eta) = (rates(now), eta_text(now.eta));
    line.push_str(&format!(": [{states}][{percent}]{rates}[eta {eta}]"));
    line
}

fn limits(now: &Progress) -> String {
    let limits = &now.limits;
    if limits.min_bytes_per_s > 0 || limits.max_bytes_per_s > 0 {
        let human = Human {
            figures: now.significant_figures,
            family: Family::of_kb_base(now.kb_base),
            counted: Counted::BytesPerSecond,
        };
        let (min, max) = (
            human.show(limits.min_bytes_per_s),
            human.show(limits.max_bytes_per_s),
        );
        format!(", {min}-{max}")
    } else if limits.min_iops > 0 || limits.max_iops > 0 {
        format!(", {}-{} IOPS", limits.min_iops, limits.max_iops)
    } else {
        String::new()
    }
}

fn percent(now: &Progress) -> String {
    match now.eta {
        Eta::Seconds(left_s) if (left_s > 0 || now.estimated) && now.ramping != now.running => {
            let whole_s = now.elapsed_s.saturating_add(left_s);
            let done = if whole_s == 0 {
                0.0
            } else {
                now.elapsed_s as f64 / whole_s as f64
            };
            let ready = 1.0 - f64::from(now.setting_up) / f64::from(now.running);
            format!("{:3.1}%", done * 100.0 * ready)
        }
        _ => "-.-%".to_owned(),
    }
}

/// `[r=20.5MiB/s,w=..][r=82,w=.. IOPS]`; directions that do nothing are left out.
fn rates(now: &Progress) -> String {
    const LETTERS: PerDdir<char> = PerDdir(['r', 'w', 't']);
    // Figures here are always four, and the rate is cut to whole KiB first.
    let rate = Human::rate(4, now.kb_base, now.unit_base);
    let kib = |ddir| now.bytes_per_s[ddir] / 1024;
    let active = || {
        Ddir::DATA
            .into_iter()
            .filter(|ddir| kib(*ddir) > 0 || now.iops[*ddir] > 0)
    };
    let list = |show: &dyn Fn(Ddir) -> String| {
        let parts: Vec<String> = active()
            .map(|ddir| format!("{}={}", LETTERS[ddir], show(ddir)))
            .collect();
        parts.join(",")
    };
    if active().next().is_none() {
        return String::new();
    }
    let bytes = list(&|ddir| rate.show_scaled(kib(ddir), 1));
    let ios = list(&|ddir| Human::number(4).show(now.iops[ddir]));
    format!("[{bytes}][{ios} IOPS]")
}

/// Runs of equal letters with their length: `R(10),W(2)`.
pub fn condensed(states: &str) -> String {
    let mut runs: Vec<(char, usize)> = Vec::new();
    for letter in states.chars() {
        match runs.last_mut() {
            Some((last, count)) if *last == letter => *count += 1,
            _ => runs.push((letter, 1)),
        }
    }
    let parts: Vec<String> = runs
        .into_iter()
        .map(|(letter, count)| format!("{letter}({count})"))
        .collect();
    parts.join(",")
}

/// `01m:31s`, with hours and days when there are any; `--` without an end.
pub fn eta_text(eta: Eta) -> String {
    let Eta::Seconds(seconds) = eta else {
        return "--".to_owned();
    };
    let (minutes, s) = (seconds / 60, seconds % 60);
    let (hours, m) = (minutes / 60, minutes % 60);
    let (days, h) = (hours / 24, hours % 24);
    match (days, h) {
        (0, 0) => format!("{m:02}m:{s:02}s"),
        (0, h) => format!("{h:02}h:{m:02}m:{s:02}s"),
        (days, h) => format!("{days:02}d:{h:02}h:{m:02}m:{s:02}s"),
    }
}

/// Turns lines into what a terminal needs: each overwrites the one before.
#[derive(Clone, Copy, Debug, Default)]
pub struct StatusLine {
    /// `--eta-newline` in milliseconds: keep a line every so often.
    pub newline_every_ms: Option<u64>,
    width: usize,
    kept_ms: Option<u64>,
    newline: bool,
}

impl StatusLine {
    /// The bytes to write for a line of [`status`] at `now_ms` on a monotonic clock.
    pub fn update(&mut self, line: &str, now_ms: u64) -> String {
        let mut out = String::new();
        if std::mem::take(&mut self.newline) {
            self.width = 0;
            out.push('\n');
        }
        let width = line.chars().count();
        out.push_str(line);
        out.extend(std::iter::repeat_n(' ', self.width.saturating_sub(width)));
        out.push('\r');
        self.width = width;
        let kept_ms = *self.kept_ms.get_or_insert(now_ms);
        if self
            .newline_every_ms
            .is_some_and(|every| now_ms.saturating_sub(kept_ms) > every)
        {
            self.kept_ms = Some(now_ms);
            self.newline = true;
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn progress() -> Progress {
        Progress {
            states: "rrrrrrrr".to_owned(),
            running: 8,
            ramping: 0,
            setting_up: 0,
            open_files: 8,
            limits: RateLimits::default(),
            bytes_per_s: PerDdir([21_495_808, 24_641_536, 0]),
            iops: PerDdir([82, 94, 0]),
            elapsed_s: 9,
            eta: Eta::Seconds(91),
            estimated: true,
            kb_base: 1024,
            unit_base: 0,
            significant_figures: 4,
        }
    }

    #[test]
    fn the_whole_line() {
        let line = "Jobs: 8 (f=8): [r(8)][9.0%][r=20.5MiB/s,w=23.5MiB/s][r=82,w=94 IOPS]\
                    [eta 01m:31s]";
        assert_eq!(status(&progress()), line);
    }

    #[test]
    fn before_an_estimate_only_counts_and_limits_show() {
        let mut now = Progress {
            eta: Eta::Unknown,
            ..progress()
        };
        assert_eq!(status(&now), "Jobs: 8 (f=8)");
        now.limits.max_iops = 20_000;
        assert_eq!(status(&now), "Jobs: 8 (f=8), 0-20000 IOPS");
        now.limits.max_bytes_per_s = 10 << 20;
        assert_eq!(status(&now), "Jobs: 8 (f=8), 0B/s-10.0MiB/s");
    }

    #[test]
    fn an_unknown_share_and_idle_directions() {
        let first = Progress {
            eta: Eta::Seconds(0),
            estimated: false,
            ..progress()
        };
        assert!(status(&first).contains("][-.-%][r="));
        let ramping = Progress {
            ramping: 8,
            ..progress()
        };
        assert!(status(&ramping).contains("][-.-%][r="));
        let idle = Progress {
            bytes_per_s: PerDdir([1023, 0, 0]),
            iops: PerDdir::default(),
            eta: Eta::Endless,
            ..progress()
        };
        assert_eq!(status(&idle), "Jobs: 8 (f=8): [r(8)][-.-%][eta --]");
    }

    #[test]
    fn states_and_times() {
        assert_eq!(condensed("RRRRRRRRRRWW_"), "R(10),W(2),_(1)");
        assert_eq!(condensed(""), "");
        assert_eq!(eta_text(Eta::Seconds(3_661)), "01h:01m:01s");
        assert_eq!(eta_text(Eta::Seconds(86_400)), "01d:00h:00m:00s");
    }

    #[test]
    fn a_shorter_line_erases_the_longer_one() {
        let mut line = StatusLine {
            newline_every_ms: Some(1000),
            ..Default::default()
        };
        assert_eq!(line.update("abcd", 0), "abcd\r");
        assert_eq!(line.update("ab", 900), "ab  \r");
        assert_eq!(line.update("abc", 1100), "abc\r");
        assert_eq!(line.update("a", 1200), "\na\r");
    }

    proptest! {
        #[test]
        fn condensing_keeps_every_worker(states in "[PCIRrWwMmV_E/]{0,40}") {
            let text = condensed(&states);
            let back: String = text
                .split(',')
                .filter(|part| !part.is_empty())
                .map(|part| {
                    let count: usize = part[2..part.len() - 1].parse().unwrap();
                    part[..1].repeat(count)
                })
                .collect();
            prop_assert_eq!(back, states);
        }
    }
}
