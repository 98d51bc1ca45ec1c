//! The list of switches.

use option::State;

/// Whether a switch takes a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// Never.
    Nothing,
    /// Only as `--switch=value`.
    Optional,
    /// Always, as `--switch=value` or in the next word.
    Value,
}

/// A switch's declaration.
#[derive(Clone, Copy, Debug)]
pub struct SwitchDef {
    /// Name without dashes.
    pub name: &'static str,
    /// One-letter form (`-v`), where there is one.
    pub letter: Option<char>,
    /// Whether it takes a value.
    pub takes: Takes,
    /// What the value is called in help.
    pub value: &'static str,
    /// One sentence.
    pub help: &'static str,
    /// Whether it can be used.
    pub state: State,
}

const fn switch(
    name: &'static str,
    letter: char,
    takes: Takes,
    value: &'static str,
    help: &'static str,
) -> SwitchDef {
    SwitchDef {
        name,
        letter: Some(letter),
        takes,
        value,
        help,
        state: State::Works,
    }
}

/// A switch without a letter.
const fn long(
    name: &'static str,
    takes: Takes,
    value: &'static str,
    help: &'static str,
) -> SwitchDef {
    SwitchDef {
        name,
        letter: None,
        takes,
        value,
        help,
        state: State::Works,
    }
}

const fn refused(name: &'static str, takes: Takes, reason: &'static str) -> SwitchDef {
    SwitchDef {
        name,
        letter: None,
        takes,
        value: "",
        help: reason,
        state: State::Refused(reason),
    }
}

const fn later(name: &'static str, takes: Takes, reason: &'static str) -> SwitchDef {
    SwitchDef {
        name,
        letter: None,
        takes,
        value: "",
        help: reason,
        state: State::Later(reason),
    }
}

use Takes::{Nothing, Optional, Value};

/// Every switch.
pub const SWITCHES: &[SwitchDef] = &[
    switch(
        "output",
        'o',
        Value,
        "FILE",
        "Write reports, notes and errors to FILE.",
    ),
    switch(
        "output-format",
        'F',
        Value,
        "LIST",
        "Reports to write: normal, terse, json, json+.",
    ),
    switch("minimal", 'm', Nothing, "", "Write the terse report only."),
    switch(
        "append-terse",
        'f',
        Nothing,
        "",
        "Add the terse report to the others.",
    ),
    switch(
        "terse-version",
        'V',
        Value,
        "N",
        "Version of the terse report, 2 to 5; 3 by default.",
    ),
    switch(
        "bandwidth-log",
        'b',
        Optional,
        "PREFIX",
        "Log the bandwidth of all jobs together.",
    ),
    switch(
        "eta",
        'e',
        Value,
        "WHEN",
        "Print the status line: always, never or auto.",
    ),
    switch(
        "eta-newline",
        'E',
        Value,
        "TIME",
        "Keep a status line every TIME.",
    ),
    switch(
        "eta-interval",
        'O',
        Value,
        "TIME",
        "Refresh the status line every TIME, 250ms or more.",
    ),
    switch(
        "status-interval",
        'L',
        Value,
        "TIME",
        "Write a full report every TIME.",
    ),
    switch(
        "readonly",
        'r',
        Nothing,
        "",
        "Refuse jobs that write or trim.",
    ),
    switch(
        "section",
        'x',
        Value,
        "NAME",
        "Run only this section; may be repeated.",
    ),
    long(
        "expect",
        Value,
        "WHAT",
        "What was bought, for the verdict: type=io1,gib=300,iops=15000.",
    ),
    long(
        "time-to-save",
        Value,
        "SIZE",
        "Tell how long so much data takes at the speed of the run, as a range.",
    ),
    long(
        "live",
        Value,
        "json|page",
        "A line of JSON for each interval, with --output; or the page of `assay serve`.",
    ),
    long(
        "metrics",
        Value,
        "ADDR",
        "Serve metrics for Prometheus there while jobs run: 127.0.0.1:9100.",
    ),
    long(
        "findings",
        Nothing,
        "",
        "Tell what the run's own data say about its figures.",
    ),
    long(
        "repeat",
        Value,
        "N",
        "Run everything N times, for `assay compare`; stops at a failure.",
    ),
    long(
        "save",
        Nothing,
        "",
        "Keep the run in the history; ASSAY_DB does so too.",
    ),
    switch(
        "parse-only",
        'P',
        Nothing,
        "",
        "Read the jobs, check them and stop.",
    ),
    switch(
        "showcmd",
        's',
        Nothing,
        "",
        "Print the jobs as command lines.",
    ),
    switch(
        "cmdhelp",
        'c',
        Optional,
        "NAME",
        "Explain a job option, or list `all` of them.",
    ),
    switch(
        "enghelp",
        'i',
        Optional,
        "ENGINE[,NAME]",
        "List the engines, or explain one.",
    ),
    switch("version", 'v', Nothing, "", "Print the version."),
    switch("help", 'h', Nothing, "", "Print this text."),
    switch(
        "debug",
        'd',
        Value,
        "LIST",
        "Print details of: process, file, io, parse, random, ...",
    ),
    switch(
        "warnings-fatal",
        'K',
        Nothing,
        "",
        "Treat warnings as errors.",
    ),
    switch(
        "max-jobs",
        'j',
        Value,
        "N",
        "Accepted; there is no limit to raise.",
    ),
    switch(
        "alloc-size",
        'a',
        Value,
        "KIB",
        "Accepted; memory is not taken from a fixed pool.",
    ),
    switch(
        "idle-prof",
        'I',
        Value,
        "HOW",
        "Measure CPU idleness: system, percpu or calibrate.",
    ),
    switch(
        "aux-path",
        'X',
        Value,
        "DIR",
        "Directory of logs and state files.",
    ),
    switch(
        "trigger-file",
        'W',
        Value,
        "FILE",
        "End the jobs and run the trigger when FILE appears.",
    ),
    switch(
        "trigger-timeout",
        'B',
        Value,
        "TIME",
        "End the jobs and run the trigger after TIME.",
    ),
    switch(
        "trigger",
        'H',
        Value,
        "COMMAND",
        "What to run in a shell when triggered.",
    ),
    refused(
        "latency-log",
        Value,
        "removed by fio; use write_lat_log in the job",
    ),
    long(
        "merge-blktrace-only",
        Nothing,
        "",
        "Merge traces as merge_blktrace_file= says, and exit.",
    ),
    later("profile", Value, "built-in workload profiles"),
    later("server", Optional, "runs over several hosts"),
    later("client", Value, "runs over several hosts"),
    later("remote-config", Value, "runs over several hosts"),
    later("daemonize", Value, "runs over several hosts"),
    long(
        "inflate-log",
        Value,
        "FILE",
        "Print the rows of a compressed log.",
    ),
    later("trigger-remote", Value, "runs over several hosts"),
    later("crctest", Optional, "self-tests"),
    later("memcpytest", Optional, "self-tests"),
    later("cpuclock-test", Nothing, "self-tests"),
];
