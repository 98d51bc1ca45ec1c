//! Distributions of random offsets and of files.

use super::rw::float;
use super::split::{share, share_rest};
use option::{Choice, Ctx, Kind, Scanned, Value, ValueError, bad_choice};
use units::{Ddir, PerDdir, number};

/// One zone of `zoned:`: a share of the accesses goes to a share of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZoneShare {
    /// Percent of the accesses.
    pub access: u32,
    /// Percent of the file.
    pub size: u32,
}

/// One zone of `zoned_abs:`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZoneSize {
    /// Percent of the accesses.
    pub access: u32,
    /// Bytes of the file; 0 for the rest of it.
    pub bytes: u64,
}

/// How random offsets are spread over the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Distribution {
    /// Uniform.
    #[default]
    Random,
    /// Zipf with exponent `theta`; `center` moves the hottest block (0 to 1 of the file).
    Zipf {
        /// Exponent, not 1.
        theta: f64,
        /// Position of the hottest block.
        center: Option<f64>,
    },
    /// Pareto with input `h`.
    Pareto {
        /// Shape, between 0 and 1.
        h: f64,
        /// Position of the hottest block.
        center: Option<f64>,
    },
    /// Normal.
    Normal {
        /// Standard deviation in percent of the file.
        deviation: f64,
        /// Position of the mean.
        center: Option<f64>,
    },
    /// Zones by percentage.
    Zoned(PerDdir<Vec<ZoneShare>>),
    /// Zones by size.
    ZonedAbs(PerDdir<Vec<ZoneSize>>),
}

const fn word(name: &'static str, help: &'static str) -> Choice {
    Choice {
        name,
        aliases: &[],
        help,
    }
}

const WORDS: &[Choice] = &[
    word("random", "Uniform."),
    word(
        "zipf",
        "Zipf, `zipf:theta[:center]`; theta is 1.1 when left out.",
    ),
    word(
        "pareto",
        "Pareto, `pareto:h[:center]`; h is 0.2 when left out.",
    ),
    word(
        "normal",
        "Normal, `normal:deviation[:center]`, the deviation in percent.",
    ),
    word(
        "zoned",
        "Shares of the accesses to shares of the file, `zoned:60/10:40/90`.",
    ),
    word(
        "zoned_abs",
        "Shares of the accesses to sizes, `zoned_abs:60/20g:40/80g`.",
    ),
];

/// The parameter and the centre behind a distribution's name.
fn shape(text: &str, rest: Option<&str>, initial: f64) -> Result<(f64, Option<f64>), ValueError> {
    let Some(rest) = rest else {
        return Ok((initial, None));
    };
    let (value, center) = match rest.split_once(':') {
        Some((value, center)) => (float(value)?, Some(float(center)?)),
        None => (float(rest)?, None),
    };
    if center.is_some_and(|c| !(0.0..=1.0).contains(&c)) {
        return Err(ValueError::syntax(text, "the centre must be 0 to 1"));
    }
    Ok((value, center))
}

fn zipf(text: &str, rest: Option<&str>) -> Result<(f64, Option<f64>), ValueError> {
    let (theta, center) = shape(text, rest, 1.1)?;
    if theta == 1.0 || theta <= 0.0 {
        return Err(ValueError::syntax(
            text,
            "theta must be positive and differ from 1",
        ));
    }
    Ok((theta, center))
}

fn pareto(text: &str, rest: Option<&str>) -> Result<(f64, Option<f64>), ValueError> {
    let (h, center) = shape(text, rest, 0.2)?;
    if h <= 0.0 || h >= 1.0 {
        return Err(ValueError::syntax(text, "h must lie between 0 and 1"));
    }
    Ok((h, center))
}

fn normal(text: &str, rest: Option<&str>) -> Result<(f64, Option<f64>), ValueError> {
    let (deviation, center) = shape(text, rest, 0.0)?;
    if !(0.0..100.0).contains(&deviation) {
        return Err(ValueError::syntax(
            text,
            "the deviation must be at least 0 and below 100",
        ));
    }
    Ok((deviation, center))
}

/// Reads the zone lists of the directions; a missing one repeats the one before.
fn per_direction<Z: Clone>(
    text: &str,
    rest: Option<&str>,
    one: impl Fn(&str) -> Result<Vec<Z>, ValueError>,
) -> Result<PerDdir<Vec<Z>>, ValueError> {
    let rest = rest.unwrap_or("");
    let parts: Vec<&str> = rest.split(',').collect();
    if rest.trim().is_empty() || parts.len() > 3 {
        return Err(ValueError::syntax(
            text,
            "expected access/size pairs for one to three directions",
        ));
    }
    let mut lists: PerDdir<Vec<Z>> = PerDdir::default();
    for (at, part) in parts.iter().enumerate() {
        if part.trim().is_empty() {
            continue;
        }
        let list = one(part)?;
        let reach = if at + 1 == parts.len() { 3 } else { at + 1 };
        for ddir in &Ddir::DATA[at..reach] {
            lists[*ddir] = list.clone();
        }
    }
    Ok(lists)
}

/// The accesses of one zone list; they must add up to 100.
fn accesses(text: &str, pairs: &[(&str, &str)]) -> Result<Vec<u32>, ValueError> {
    let wrong = || ValueError::syntax(text, "the access percentages must add up to 100");
    let list: Option<Vec<u32>> = pairs
        .iter()
        .map(|(a, _)| a.trim().trim_end_matches('%').parse().ok())
        .collect();
    let list = list.filter(|l| l.len() <= 256).ok_or_else(wrong)?;
    let sum: u64 = list.iter().map(|a| u64::from(*a)).sum();
    if sum == 100 { Ok(list) } else { Err(wrong()) }
}

fn pairs(part: &str) -> Vec<(&str, &str)> {
    part.split(':')
        .filter(|e| !e.trim().is_empty())
        .map(|e| e.split_once('/').unwrap_or((e, "")))
        .collect()
}

fn zone_shares(text: &str, part: &str) -> Result<Vec<ZoneShare>, ValueError> {
    let pairs = pairs(part);
    let access = accesses(text, &pairs)?;
    let sizes: Option<Vec<Option<u32>>> = pairs.iter().map(|(_, size)| share(size)).collect();
    let wrong = || {
        ValueError::syntax(
            text,
            "the sizes must be percentages of at most 100 together",
        )
    };
    let mut sizes = sizes.ok_or_else(wrong)?;
    if !share_rest(&mut sizes) {
        return Err(wrong());
    }
    let zip = access.into_iter().zip(sizes);
    Ok(zip
        .map(|(access, size)| ZoneShare {
            access,
            size: size.unwrap_or(0),
        })
        .collect())
}

fn zone_sizes(text: &str, part: &str, ctx: &Ctx<'_>) -> Result<Vec<ZoneSize>, ValueError> {
    let pairs = pairs(part);
    let access = accesses(text, &pairs)?;
    pairs
        .iter()
        .zip(access)
        .map(|((_, size), access)| {
            let bytes = match size.trim() {
                "" => 0,
                size => number::bytes(size, ctx.kb_base)?.value,
            };
            Ok(ZoneSize { access, bytes })
        })
        .collect()
}

fn show_shape(name: &str, value: f64, center: Option<f64>) -> String {
    match center {
        None => format!("{name}:{value}"),
        Some(center) => format!("{name}:{value}:{center}"),
    }
}

fn show_zones<Z: PartialEq>(
    name: &str,
    zones: &PerDdir<Vec<Z>>,
    one: impl Fn(&Z) -> String,
) -> String {
    let list = |z: &Vec<Z>| z.iter().map(&one).collect::<Vec<_>>().join(":");
    let PerDdir([read, write, trim]) = zones;
    if read == write && write == trim {
        return format!("{name}:{}", list(read));
    }
    format!("{name}:{},{},{}", list(read), list(write), list(trim))
}

impl Value for Distribution {
    const KIND: Kind = Kind::Choice;
    const CHOICES: &'static [Choice] = WORDS;

    fn parse(text: &str, ctx: &Ctx<'_>) -> Result<Scanned<Self>, ValueError> {
        let trimmed = text.trim();
        let (name, rest) = match trimmed.split_once(':') {
            Some((name, rest)) => (name, Some(rest)),
            None => (trimmed, None),
        };
        let value = match name {
            "random" => Distribution::Random,
            "zipf" => {
                zipf(text, rest).map(|(theta, center)| Distribution::Zipf { theta, center })?
            }
            "pareto" => pareto(text, rest).map(|(h, center)| Distribution::Pareto { h, center })?,
            "normal" | "gauss" => normal(text, rest)
                .map(|(deviation, center)| Distribution::Normal { deviation, center })?,
            "zoned" => {
                Distribution::Zoned(per_direction(text, rest, |part| zone_shares(text, part))?)
            }
            "zoned_abs" => Distribution::ZonedAbs(per_direction(text, rest, |part| {
                zone_sizes(text, part, ctx)
            })?),
            "sequence" => return Err(ValueError::NotYet("random_distribution=sequence")),
            other => return Err(bad_choice(other, WORDS)),
        };
        Ok(Scanned { value, note: None })
    }

    fn show(&self) -> String {
        match self {
            Distribution::Random => "random".to_string(),
            Distribution::Zipf { theta, center } => show_shape("zipf", *theta, *center),
            Distribution::Pareto { h, center } => show_shape("pareto", *h, *center),
            Distribution::Normal { deviation, center } => show_shape("normal", *deviation, *center),
            Distribution::Zoned(zones) => {
                show_zones("zoned", zones, |z| format!("{}/{}", z.access, z.size))
            }
            Distribution::ZonedAbs(zones) => {
                show_zones("zoned_abs", zones, |z| format!("{}/{}", z.access, z.bytes))
            }
        }
    }
}

/// Which file the next request goes to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FileService {
    /// Files in turn, this many requests each.
    RoundRobin(u32),
    /// A random file, this many requests each.
    Random(u32),
    /// One file after the other, this many requests each.
    Sequential(u32),
    /// Zipf over the files.
    Zipf {
        /// Exponent.
        theta: f64,
        /// Position of the hottest file.
        center: Option<f64>,
    },
    /// Pareto over the files.
    Pareto {
        /// Shape.
        h: f64,
        /// Position of the hottest file.
        center: Option<f64>,
    },
    /// Normal over the files.
    Normal {
        /// Standard deviation in percent.
        deviation: f64,
        /// Position of the mean.
        center: Option<f64>,
    },
}

impl Default for FileService {
    fn default() -> Self {
        FileService::RoundRobin(1)
    }
}

const SERVICES: &[Choice] = &[
    word("roundrobin", "Files in turn; `:n` requests each."),
    word("random", "A random file; `:n` requests each."),
    word("sequential", "One file after the other."),
    word("zipf", "Zipf over the files, `zipf:theta[:center]`."),
    word("pareto", "Pareto over the files, `pareto:h[:center]`."),
    Choice {
        name: "normal",
        aliases: &["gauss"],
        help: "Normal over the files, `normal:deviation[:center]`.",
    },
];

impl Value for FileService {
    const KIND: Kind = Kind::Choice;
    const CHOICES: &'static [Choice] = SERVICES;

    fn parse(text: &str, ctx: &Ctx<'_>) -> Result<Scanned<Self>, ValueError> {
        let trimmed = text.trim();
        let (name, rest) = match trimmed.split_once(':') {
            Some((name, rest)) => (name, Some(rest)),
            None => (trimmed, None),
        };
        let count = || -> Result<u32, ValueError> {
            rest.map_or(Ok(1), |n| Ok(u32::parse(n, ctx)?.value.max(1)))
        };
        let value = match name {
            "roundrobin" => FileService::RoundRobin(count()?),
            "random" => FileService::Random(count()?),
            "sequential" => FileService::Sequential(count()?),
            "zipf" => {
                zipf(text, rest).map(|(theta, center)| FileService::Zipf { theta, center })?
            }
            "pareto" => pareto(text, rest).map(|(h, center)| FileService::Pareto { h, center })?,
            "normal" | "gauss" => normal(text, rest)
                .map(|(deviation, center)| FileService::Normal { deviation, center })?,
            other => return Err(bad_choice(other, SERVICES)),
        };
        Ok(Scanned { value, note: None })
    }

    fn show(&self) -> String {
        match self {
            FileService::RoundRobin(n) => format!("roundrobin:{n}"),
            FileService::Random(n) => format!("random:{n}"),
            FileService::Sequential(n) => format!("sequential:{n}"),
            FileService::Zipf { theta, center } => show_shape("zipf", *theta, *center),
            FileService::Pareto { h, center } => show_shape("pareto", *h, *center),
            FileService::Normal { deviation, center } => show_shape("normal", *deviation, *center),
        }
    }
}
