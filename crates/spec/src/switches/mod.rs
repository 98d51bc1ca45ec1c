//! The options of the program itself, as opposed to those of jobs.

mod table;

pub use table::{SWITCHES, SwitchDef, Takes};

use option::{State, ValueError, closest};
use units::number;
use units::{Span, TimeUnit};

/// A form of report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// The normal text.
    Normal,
    /// Semicolon-separated fields.
    Terse,
    /// JSON.
    Json,
    /// JSON with all latency bins.
    JsonPlus,
}

/// When the status line is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Eta {
    /// On a terminal.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// How CPU idleness is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdleProf {
    /// One figure for the machine.
    System,
    /// One figure per CPU.
    PerCpu,
    /// Only measure a unit of work, run no jobs.
    Calibrate,
}

/// What the switches say.
#[derive(Clone, Debug, PartialEq)]
pub struct Switches {
    /// `--output`.
    pub output: Option<String>,
    /// `--output-format` and `--minimal`: the forms in the order they were named.
    pub formats: Vec<Format>,
    /// `--terse-version`.
    pub terse_version: u32,
    /// `--bandwidth-log`: the prefix, `agg` when none was given.
    pub bandwidth_log: Option<String>,
    /// `--eta`.
    pub eta: Eta,
    /// `--eta-newline`.
    pub eta_newline: Option<Span>,
    /// `--eta-interval`.
    pub eta_interval: Span,
    /// `--status-interval`.
    pub status_interval: Option<Span>,
    /// `--readonly`.
    pub readonly: bool,
    /// `--section`; empty for all.
    pub sections: Vec<String>,
    /// `--parse-only`.
    pub parse_only: bool,
    /// `--showcmd`.
    pub showcmd: bool,
    /// `--cmdhelp`: the name, empty when none was given.
    pub cmdhelp: Option<String>,
    /// `--enghelp`: the name, empty when none was given.
    pub enghelp: Option<String>,
    /// `--version`.
    pub version: bool,
    /// `--help`.
    pub help: bool,
    /// `--debug`: the words.
    pub debug: Vec<String>,
    /// `--warnings-fatal`.
    pub warnings_fatal: bool,
    /// `--idle-prof`.
    pub idle_prof: Option<IdleProf>,
    /// `--aux-path`.
    pub aux_path: Option<String>,
    /// `--inflate-log`.
    pub inflate_log: Option<String>,
    /// `--merge-blktrace-only`.
    pub merge_only: bool,
    /// `--findings`, of our own.
    pub findings: bool,
    /// `--repeat`, of our own: how often everything runs.
    pub repeat: u32,
    /// `--save`, of our own: keep the run in the history.
    pub save: bool,
    /// `--expect`, of our own: what was bought.
    pub expect: Option<String>,
    /// `--time-to-save`, of our own: an amount of data.
    pub time_to_save: Option<String>,
    /// `--live=json`, of our own: a line of JSON for each interval.
    pub live: bool,
    /// `--live=page`, of our own: shown on the live page of `assay serve`.
    pub live_page: bool,
    /// `--metrics`, of our own: where metrics are served.
    pub metrics: Option<String>,
    /// `--trigger-file`.
    pub trigger_file: Option<String>,
    /// `--trigger-timeout`.
    pub trigger_timeout: Option<Span>,
    /// `--trigger`.
    pub trigger: Option<String>,
}

impl Default for Switches {
    fn default() -> Self {
        Switches {
            output: None,
            formats: vec![Format::Normal],
            terse_version: 3,
            bandwidth_log: None,
            eta: Eta::Auto,
            eta_newline: None,
            eta_interval: Span::from_ms(1000),
            status_interval: None,
            readonly: false,
            sections: Vec::new(),
            parse_only: false,
            showcmd: false,
            cmdhelp: None,
            enghelp: None,
            version: false,
            help: false,
            debug: Vec::new(),
            warnings_fatal: false,
            idle_prof: None,
            aux_path: None,
            inflate_log: None,
            merge_only: false,
            findings: false,
            repeat: 1,
            save: false,
            expect: None,
            time_to_save: None,
            live: false,
            live_page: false,
            metrics: None,
            trigger_file: None,
            trigger_timeout: None,
            trigger: None,
        }
    }
}

/// The words that `--debug` knows.
const DEBUG: &[&str] = &[
    "process",
    "file",
    "io",
    "mem",
    "blktrace",
    "verify",
    "random",
    "parse",
    "diskutil",
    "job",
    "mutex",
    "profile",
    "time",
    "net",
    "rate",
    "compress",
    "steadystate",
    "helperthread",
    "zbd",
    "sprandom",
    "all",
    "help",
    "?",
];

/// Shortest refresh of the status line, as fio has it.
const ETA_MIN: Span = Span::from_ms(250);

impl Switches {
    /// True when only information was asked for and no job is needed.
    pub fn informs(&self) -> bool {
        self.version
            || self.help
            || self.cmdhelp.is_some()
            || self.enghelp.is_some()
            || self.inflate_log.is_some()
    }

    /// Applies a switch. A returned note tells how the value was read.
    pub(crate) fn apply(
        &mut self,
        def: &SwitchDef,
        value: Option<&str>,
    ) -> Result<Option<String>, ValueError> {
        match def.state {
            State::Later(reason) => return Err(ValueError::NotYet(reason)),
            State::Refused(reason) => return Err(ValueError::Refused(reason)),
            State::Works | State::Obsolete(_) => {}
        }
        let text = value.unwrap_or("");
        match def.name {
            "minimal" => self.formats = vec![Format::Terse],
            "append-terse" => self.formats.push(Format::Terse),
            "readonly" => self.readonly = true,
            "findings" => self.findings = true,
            "save" => self.save = true,
            "parse-only" => self.parse_only = true,
            "showcmd" => self.showcmd = true,
            "version" => self.version = true,
            "help" => self.help = true,
            "warnings-fatal" => self.warnings_fatal = true,
            "merge-blktrace-only" => self.merge_only = true,
            "cmdhelp" => self.cmdhelp = Some(text.to_string()),
            "enghelp" => self.enghelp = Some(text.to_string()),
            "output" => self.output = Some(text.to_string()),
            "inflate-log" => self.inflate_log = Some(text.to_string()),
            "trigger-file" => self.trigger_file = Some(text.to_string()),
            "expect" => self.expect = Some(text.to_string()),
            "time-to-save" => self.time_to_save = Some(text.to_string()),
            "metrics" => self.metrics = Some(text.to_string()),
            "trigger" => self.trigger = Some(text.to_string()),
            "aux-path" => self.aux_path = Some(text.to_string()),
            "section" => self.sections.push(text.to_string()),
            "bandwidth-log" => self.bandwidth_log = Some(value.unwrap_or("agg").to_string()),
            _ => return self.apply_checked(def.name, text),
        }
        Ok(None)
    }

    /// The switches whose value is checked.
    fn apply_checked(&mut self, name: &str, text: &str) -> Result<Option<String>, ValueError> {
        match name {
            "live" => match text {
                "json" => self.live = true,
                "page" => self.live_page = true,
                _ => return Err(ValueError::syntax(text, "expected json or page")),
            },
            "repeat" => {
                self.repeat = text
                    .trim()
                    .parse()
                    .ok()
                    .filter(|n| (1..=100_000).contains(n))
                    .ok_or_else(|| ValueError::syntax(text, "expected a number from 1 on"))?;
            }
            "output-format" => {
                self.formats = text.split(',').map(format).collect::<Result<_, _>>()?;
            }
            "terse-version" => {
                self.terse_version = text
                    .trim()
                    .parse()
                    .ok()
                    .filter(|v| (2..=5).contains(v))
                    .ok_or_else(|| ValueError::syntax(text, "expected 2, 3, 4 or 5"))?;
            }
            "eta" => match text {
                "always" => self.eta = Eta::Always,
                "never" => self.eta = Eta::Never,
                "auto" => self.eta = Eta::Auto,
                other => {
                    self.eta = Eta::Auto;
                    return Ok(Some(format!(
                        "`{other}` is none of always, never, auto; auto is used"
                    )));
                }
            },
            "eta-newline" => return period(text, &mut self.eta_newline),
            "trigger-timeout" => return period(text, &mut self.trigger_timeout),
            "status-interval" => return period(text, &mut self.status_interval),
            "eta-interval" => {
                let scanned = number::span(text, TimeUnit::Seconds)?;
                if scanned.value < ETA_MIN {
                    return Err(ValueError::syntax(text, "expected at least 250ms"));
                }
                self.eta_interval = scanned.value;
                return Ok(scanned.note);
            }
            "idle-prof" => {
                self.idle_prof = Some(match text {
                    "system" => IdleProf::System,
                    "percpu" => IdleProf::PerCpu,
                    "calibrate" => IdleProf::Calibrate,
                    _ => {
                        let expected = "expected system, percpu or calibrate";
                        return Err(ValueError::syntax(text, expected));
                    }
                });
            }
            "debug" => {
                for word in text.split(',') {
                    let plain = word.split(':').next().unwrap_or(word);
                    if !DEBUG.contains(&plain) {
                        let words = DEBUG.join(", ");
                        return Err(ValueError::syntax(word, format!("expected one of {words}")));
                    }
                    self.debug.push(word.to_string());
                }
            }
            // Accepted for scripts that raise limits which do not exist here.
            "max-jobs" | "alloc-size" => {
                number::bytes(text, units::KbBase::Binary)?;
            }
            other => unreachable!("switch {other} has no rule"),
        }
        Ok(None)
    }
}

fn format(word: &str) -> Result<Format, ValueError> {
    match word.trim() {
        "normal" => Ok(Format::Normal),
        "terse" | "minimal" | "csv" => Ok(Format::Terse),
        "json" => Ok(Format::Json),
        "json+" => Ok(Format::JsonPlus),
        other => {
            let nearest = closest(
                other,
                ["normal", "terse", "minimal", "csv", "json", "json+"],
            );
            Err(ValueError::Choice {
                text: other.to_string(),
                valid: "normal, terse, json, json+".to_string(),
                nearest: nearest.map(str::to_string),
            })
        }
    }
}

fn period(text: &str, field: &mut Option<Span>) -> Result<Option<String>, ValueError> {
    let scanned = number::span(text, TimeUnit::Seconds)?;
    if scanned.value.ms() == 0 {
        return Err(ValueError::syntax(text, "expected at least 1ms"));
    }
    *field = Some(scanned.value);
    Ok(scanned.note)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_switch_has_a_rule_and_its_own_name() {
        let mut seen = std::collections::BTreeSet::new();
        for def in SWITCHES {
            assert!(seen.insert(def.name.to_string()), "{}", def.name);
            assert!(
                def.letter
                    .is_none_or(|letter| seen.insert(letter.to_string()))
            );
            assert!(!def.help.is_empty());
            for text in [None, Some("1"), Some("x"), Some("")] {
                let result = Switches::default().apply(def, text);
                assert!(def.state == State::Works || result.is_err(), "{}", def.name);
            }
        }
    }

    #[test]
    fn an_unknown_eta_word_is_auto_and_noted() {
        let eta = SWITCHES.iter().find(|def| def.name == "eta").unwrap();
        let mut switches = Switches {
            eta: Eta::Never,
            ..Switches::default()
        };
        assert!(switches.apply(eta, Some("sometimes")).unwrap().is_some());
        assert_eq!(switches.eta, Eta::Auto);
    }
}
