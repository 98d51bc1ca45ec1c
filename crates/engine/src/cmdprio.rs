//! Priorities of single requests (`cmdprio_*`), for the engines that can send them along.

use crate::api::EngineError;
use units::{Ddir, KbBase, PerDdir, number};

/// The class that prioritised requests have unless told otherwise: real time.
const REAL_TIME: u32 = 1;

/// One share of the requests of a direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Requests of this length only, bytes; `None`: all.
    pub bytes: Option<u64>,
    /// How many of them, in percent.
    pub percent: u32,
    /// Their priority, as the kernel encodes it.
    pub priority: u16,
}

/// Which requests get which priority; shares of one length add up to 100 at most.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CmdPrio {
    /// Shares of reads and writes; other requests have none.
    pub shares: PerDdir<Vec<Share>>,
}

/// The options, as the engines have them.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// Name of the engine, for messages.
    pub engine: &'static str,
    /// `cmdprio_percentage`.
    pub percentage: PerDdir<u32>,
    /// `cmdprio_class`; 0: real time.
    pub class: PerDdir<u32>,
    /// `cmdprio`.
    pub level: PerDdir<u32>,
    /// `cmdprio_hint`.
    pub hint: PerDdir<u32>,
    /// `cmdprio_bssplit`; empty: not given.
    pub split: &'a str,
}

/// `options!` with those of this module behind the engine's own; `refused(REASON);` in front
/// refuses them.
macro_rules! with_priorities {
    (
        $(refused($reason:expr);)?
        $(#[doc = $title:literal])+
        $vis:vis struct $name:ident { $($own:tt)* }
    ) => {
        option::options! {
            $(#[doc = $title])+
            $vis struct $name {
                $($own)*
                /// Percentage of requests sent with high priority.
                cmdprio_percentage: units::PerDdir<u32> = "0", range(0, 100)
                    $(, refused($reason))?;
                /// Priority class of those requests.
                cmdprio_class: units::PerDdir<u32> = "0", range(0, 3) $(, refused($reason))?;
                /// Priority level of those requests.
                cmdprio: units::PerDdir<u32> = "0", range(0, 7) $(, refused($reason))?;
                /// Priority hint of those requests.
                cmdprio_hint: units::PerDdir<u32> = "0", range(0, 1023) $(, refused($reason))?;
                /// Percentages of prioritised requests by block size.
                cmdprio_bssplit: String $(, refused($reason))?;
            }
        }

        $crate::cmdprio::with_priorities! { @asked $(refused($reason))? $name }
    };
    (@asked refused($reason:expr) $name:ident) => {};
    (@asked $name:ident) => {
        impl $name {
            fn prioritised(&self, engine: &'static str) -> $crate::cmdprio::Asked<'_> {
                $crate::cmdprio::Asked {
                    engine,
                    percentage: self.cmdprio_percentage,
                    class: self.cmdprio_class,
                    level: self.cmdprio,
                    hint: self.cmdprio_hint,
                    split: &self.cmdprio_bssplit,
                }
            }
        }
    };
}
pub(crate) use with_priorities;

impl CmdPrio {
    /// What the options ask for; `None` when they ask for nothing.
    ///
    /// # Errors
    /// Options that exclude each other, or a split that cannot be understood.
    pub fn new(asked: &Asked<'_>) -> Result<Option<CmdPrio>, EngineError> {
        let refuse = |what: String| EngineError::Unsupported {
            engine: asked.engine,
            what,
        };
        let data = [Ddir::Read, Ddir::Write];
        let by_percentage = data.iter().any(|d| asked.percentage[*d] > 0);
        if by_percentage && !asked.split.is_empty() {
            let what = "cmdprio_percentage and cmdprio_bssplit exclude each other";
            return Err(refuse(what.into()));
        }
        let mut found = CmdPrio::default();
        if by_percentage {
            for ddir in data.into_iter().filter(|d| asked.percentage[*d] > 0) {
                found.shares[ddir].push(Share {
                    bytes: None,
                    percent: asked.percentage[ddir],
                    priority: asked.priority(ddir, None),
                });
            }
        } else if !asked.split.is_empty() {
            let (reads, writes) = asked
                .split
                .split_once(',')
                .unwrap_or((asked.split, asked.split));
            for (ddir, text) in [(Ddir::Read, reads), (Ddir::Write, writes)] {
                let bad = |what| refuse(format!("cmdprio_bssplit={text}: {what}"));
                found.shares[ddir] = asked.split(ddir, text).map_err(bad)?;
            }
        }
        let any = data.iter().any(|d| !found.shares[*d].is_empty());
        Ok(any.then_some(found))
    }

    /// The priority of a request, if it is among the chosen; `draw` is a number below 100.
    pub fn choose(&self, ddir: Ddir, bytes: u32, draw: u32) -> Option<u16> {
        if !ddir.is_data() {
            return None;
        }
        let mut below = 0;
        let fits = |share: &&Share| share.bytes.is_none_or(|of| of == u64::from(bytes));
        self.shares[ddir].iter().filter(fits).find_map(|share| {
            below += share.percent;
            (draw < below).then_some(share.priority)
        })
    }
}

impl Asked<'_> {
    fn priority(&self, ddir: Ddir, own: Option<(u32, u32)>) -> u16 {
        let (class, level) = own.unwrap_or((self.class[ddir], self.level[ddir]));
        let class = if class == 0 { REAL_TIME } else { class };
        // Bounded by the option tables: class 3, level 7, hint 1023 at most.
        sys::process::io_priority(class as u8, level as u8, self.hint[ddir] as u16)
    }

    /// Reads `bytes/percent[/class/level]`, separated by colons.
    fn split(&self, ddir: Ddir, text: &str) -> Result<Vec<Share>, &'static str> {
        let mut shares: Vec<Share> = Vec::new();
        for entry in text.split(':').filter(|entry| !entry.is_empty()) {
            let words: Vec<&str> = entry.split('/').collect();
            let (bytes, percent, own) = match words[..] {
                [bytes, percent] => (bytes, percent, None),
                [bytes, percent, class, level] => {
                    let small = |word: &str, most: u32| {
                        let value = word.parse::<u32>().ok();
                        value.filter(|value| *value <= most)
                    };
                    let class = small(class, 3).ok_or("a class is 0 to 3")?;
                    let level = small(level, 7).ok_or("a level is 0 to 7")?;
                    (bytes, percent, Some((class, level)))
                }
                _ => return Err("expected size/percent or size/percent/class/level"),
            };
            let bytes = number::bytes(bytes, KbBase::Binary).map_err(|_| "no size")?;
            let percent: u32 = percent.parse().map_err(|_| "no percentage")?;
            shares.push(Share {
                bytes: Some(bytes.value),
                percent,
                priority: self.priority(ddir, own),
            });
        }
        for share in &shares {
            let same = shares.iter().filter(|other| other.bytes == share.bytes);
            if same.map(|other| other.percent).sum::<u32>() > 100 {
                return Err("the shares of a size are more than 100 percent");
            }
        }
        Ok(shares)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(percentage: u32, split: &str) -> Asked<'_> {
        Asked {
            engine: "libaio",
            percentage: PerDdir([percentage, 0, 0]),
            class: PerDdir([0, 2, 0]),
            level: PerDdir([3, 5, 0]),
            hint: PerDdir::splat(0),
            split,
        }
    }

    #[test]
    fn percentages_choose_by_direction() {
        let chosen = CmdPrio::new(&asked(30, "")).unwrap().unwrap();
        let rt3 = sys::process::io_priority(1, 3, 0);
        let read = |draw| chosen.choose(Ddir::Read, 4096, draw);
        assert_eq!((read(0), read(29), read(30)), (Some(rt3), Some(rt3), None));
        assert_eq!(chosen.choose(Ddir::Write, 4096, 0), None);
        assert_eq!(chosen.choose(Ddir::Sync, 0, 0), None);
        assert_eq!(CmdPrio::new(&asked(0, "")).unwrap(), None);
    }

    #[test]
    fn splits_choose_by_size() {
        let chosen = CmdPrio::new(&asked(0, "4k/10:8k/20/3/7:8k/30,64k/100"));
        let chosen = chosen.unwrap().unwrap();
        let priority = sys::process::io_priority;
        let read = |bytes, draw| chosen.choose(Ddir::Read, bytes, draw);
        assert_eq!(read(4096, 9), Some(priority(1, 3, 0)));
        assert_eq!(read(4096, 10), None);
        assert_eq!(read(8192, 19), Some(priority(3, 7, 0)));
        assert_eq!(read(8192, 49), Some(priority(1, 3, 0)));
        assert_eq!(read(512, 0), None);
        assert_eq!(
            chosen.choose(Ddir::Write, 65536, 99),
            Some(priority(2, 5, 0))
        );
    }

    #[test]
    fn contradictions_are_told() {
        for (percentage, split) in [(5, "4k/10"), (0, "4k/60:4k/50"), (0, "4k/1/9/9"), (0, "x")] {
            assert!(CmdPrio::new(&asked(percentage, split)).is_err(), "{split}");
        }
    }
}
