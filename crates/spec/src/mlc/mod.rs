//! The command lines of the Memory Latency Checker: modes, flags, mixes and files.
//!
//! A flag is one letter with its value glued on (`-b10m`) or as the next word (`-b 10m`). Which
//! mode takes which flag follows MLC's help. A flag that its mode does not take, a pair that
//! contradicts itself and anything unknown is an error that names the nearest thing that works.

mod files;
mod flags;
pub mod help;
mod modes;
#[cfg(test)]
mod tests;
mod values;

pub use files::{DELAYS, Target, ThreadRow, delays, pattern, threads};
pub use flags::Flags;
pub use modes::Mode;
pub use values::{Lines, Mask, Size, Traffic};

use option::{Def, Kind, OptionSet, closest};

/// What a command line asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// What is measured.
    pub mode: Mode,
    /// How.
    pub flags: Flags,
    /// The prefetchers of the CPU that measures latency are turned off meanwhile; a word of ours.
    pub prefetch_off: bool,
    /// The words as given, for the line that reports repeat.
    pub line: String,
}

/// A command line's meaning.
#[derive(Clone, Debug, PartialEq)]
pub enum Parsed {
    /// Measure.
    Run(Box<Request>),
    /// Print the help.
    Help,
    /// Print versions.
    Version,
}

/// Turns prefetchers off; MLC does so unasked wherever it can.
pub const PREFETCH_OFF: &str = "--prefetch_off";

/// Pairs that contradict each other.
const EXCLUSIVE: [(char, char); 20] = [
    ('R', 'W'),
    ('J', 'j'),
    ('J', 'i'),
    ('k', 'm'),
    ('k', 'X'),
    ('m', 'X'),
    ('L', 'h'),
    ('Y', 'Z'),
    ('d', 'g'),
    ('t', 'x'),
    ('I', 'W'),
    ('I', 'U'),
    ('o', 'k'),
    ('o', 'm'),
    ('o', 'R'),
    ('o', 'W'),
    ('o', 'u'),
    ('o', 'U'),
    ('T', 'f'),
    ('T', 'c'),
];

/// Reads the words behind the program's name.
///
/// # Errors
/// One line that names the word and what would work in its place.
pub fn parse(words: &[String]) -> Result<Parsed, String> {
    let mut modes = Vec::new();
    let mut flags = Flags::default();
    let mut given = Vec::new();
    let mut prefetch_off = false;
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        if let Some(mode) = mode(word) {
            modes.push(mode);
            continue;
        }
        match word.as_str() {
            "--help" | "-help" | "-?" => return Ok(Parsed::Help),
            "--version" | "-version" => return Ok(Parsed::Version),
            PREFETCH_OFF => {
                prefetch_off = true;
                continue;
            }
            _ => {}
        }
        let (index, def, letter) = flag(word)?;
        let glued = &word[1 + letter.len_utf8()..];
        let value = match (def.kind, glued) {
            (Kind::Set, "") => None,
            (Kind::Set, _) if word == "-e0" => {
                return Err("`-e0` is for a driver of Windows; `-e` alone works".to_owned());
            }
            (Kind::Set, _) => {
                let hint = near_mode(word).unwrap_or_else(|| "`--help` lists them".to_owned());
                return Err(format!(
                    "unknown word `{word}`: `-{letter}` takes no value; {hint}"
                ));
            }
            (_, "") => Some(
                rest.next()
                    .ok_or_else(|| format!("`-{letter}` needs a value: {}", def.summary()))?
                    .as_str(),
            ),
            (_, glued) => Some(glued.strip_prefix('=').unwrap_or(glued)),
        };
        flags
            .set(index, value, units::KbBase::Binary)
            .map_err(|error| match near_mode(word) {
                Some(hint) => format!("`-{letter}`: {error}; {hint}"),
                None => format!("`-{letter}`: {error}"),
            })?;
        if !given.contains(&letter) {
            given.push(letter);
        }
    }
    let mode = match modes.as_slice() {
        [] => Mode::Everything,
        [mode] => *mode,
        [first, second, ..] => {
            return Err(format!(
                "one mode at a time: {} and {} were given",
                first.name(),
                second.name()
            ));
        }
    };
    check(mode, &flags, &given)?;
    if prefetch_off && flags.keep_prefetchers {
        return Err(format!("`{PREFETCH_OFF}` and `-e` exclude each other"));
    }
    if prefetch_off && (!mode.chases() || flags.only_load) {
        return Err(format!(
            "`{PREFETCH_OFF}` is for the thread that measures latency, and there is none here"
        ));
    }
    Ok(Parsed::Run(Box::new(Request {
        mode,
        flags,
        prefetch_off,
        line: words.join(" "),
    })))
}

/// The mode that a word names, behind one dash or two.
fn mode(word: &str) -> Option<Mode> {
    let name = word.strip_prefix("--").or_else(|| word.strip_prefix('-'))?;
    Mode::ALL.into_iter().find(|mode| mode.word() == name)
}

fn near_mode(word: &str) -> Option<String> {
    let name = word.trim_start_matches('-');
    if name.len() < 4 {
        return None;
    }
    closest(name, Mode::ALL.map(Mode::word)).map(|near| format!("did you mean `--{near}`?"))
}

fn flag(word: &str) -> Result<(usize, &'static Def, char), String> {
    let unknown = || {
        let one_dash = word.starts_with('-') && !word.starts_with("--");
        let other_case = word.chars().nth(1).filter(|_| one_dash).and_then(|letter| {
            let other = if letter.is_ascii_lowercase() {
                letter.to_ascii_uppercase()
            } else {
                letter.to_ascii_lowercase()
            };
            find(other).map(|(_, def)| format!("did you mean `-{other}` ({})?", short(def)))
        });
        let hint = near_mode(word).or(other_case);
        let hint = hint.unwrap_or_else(|| "`--help` lists modes and flags".to_owned());
        format!("unknown word `{word}`; {hint}")
    };
    let letter = match word.strip_prefix('-') {
        Some(rest) if !rest.starts_with('-') => rest.chars().next().ok_or_else(unknown)?,
        _ => return Err(unknown()),
    };
    let (index, def) = find(letter).ok_or_else(unknown)?;
    Ok((index, def, letter))
}

fn find(letter: char) -> Option<(usize, &'static Def)> {
    let mut text = [0; 4];
    option::find(Flags::DEFS, letter.encode_utf8(&mut text))
}

fn short(def: &Def) -> String {
    def.summary().trim_end_matches('.').to_ascii_lowercase()
}

fn check(mode: Mode, flags: &Flags, given: &[char]) -> Result<(), String> {
    let has = |letter| given.contains(&letter);
    if let Some(letter) = given.iter().copied().find(|letter| !mode.takes(*letter)) {
        let others: Vec<String> = Mode::ALL
            .into_iter()
            .filter(|mode| mode.takes(letter))
            .map(Mode::name)
            .collect();
        return Err(format!(
            "`-{letter}` is not for {}; it goes with {}",
            mode.name(),
            others.join(", ")
        ));
    }
    if let Some((a, b)) = EXCLUSIVE.into_iter().find(|(a, b)| has(*a) && has(*b)) {
        let why = |letter| find(letter).map(|(_, def)| short(def)).unwrap_or_default();
        return Err(format!(
            "`-{a}` ({}) and `-{b}` ({}) exclude each other",
            why(a),
            why(b)
        ));
    }
    let traffic = flags.traffic.unwrap_or(Traffic::READS);
    if traffic.two_targets() {
        return Err(format!(
            "`-{traffic}` has two targets; a file of threads (`-o`) names them"
        ));
    }
    if flags.random_load && !traffic.random() {
        return Err(format!(
            "`-U` goes with -R, -W2, -W5 and -W6, not with -{traffic}"
        ));
    }
    if flags.whole_lines == 0 {
        if let Some(letter) = ['Y', 'Z'].into_iter().find(|letter| has(*letter)) {
            return Err(format!(
                "`-K0` takes 16 bytes of each line, `-{letter}` says how more are taken"
            ));
        }
        if flags.random_load {
            return Err("`-K0` goes through the lines in order, `-U` does not".to_owned());
        }
    }
    if has('n') && mode == Mode::LoadedLatency && !flags.random_load && !has('o') {
        return Err("`-n` is the window of random load: it needs `-U` or `-o`".to_owned());
    }
    let threads = flags.seconds.filter(|_| mode == Mode::Scan);
    if threads.is_some_and(|threads| threads.fract() != 0.0) {
        return Err("`-t` is the number of threads of a scan, a whole one".to_owned());
    }
    if !flags.stride.is_multiple_of(64) {
        return Err(format!(
            "`-l{}`: a stride is a multiple of 64 bytes",
            flags.stride
        ));
    }
    Ok(())
}
