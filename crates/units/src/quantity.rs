//! Quantities that options are made of: times, amounts of data, ranges, unit systems.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What `k` means on input and which family of units leads on output (option `kb_base`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub enum KbBase {
    /// 1024: `k` is 1024 and `kib` is 1000, fio's compatible default.
    #[default]
    Binary,
    /// 1000: `k` is 1000 and `kib` is 1024.
    Decimal,
}

impl KbBase {
    /// 1024 or 1000.
    pub const fn factor(self) -> u32 {
        match self {
            KbBase::Binary => 1024,
            KbBase::Decimal => 1000,
        }
    }
}

/// The unit of a time that is written without one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TimeUnit {
    /// Seconds.
    #[default]
    Seconds,
    /// Milliseconds.
    Millis,
    /// Microseconds.
    Micros,
}

impl TimeUnit {
    /// Nanoseconds in one unit.
    pub const fn ns(self) -> u64 {
        match self {
            TimeUnit::Seconds => 1_000_000_000,
            TimeUnit::Millis => 1_000_000,
            TimeUnit::Micros => 1_000,
        }
    }

    /// The unit's name in help texts.
    pub const fn name(self) -> &'static str {
        match self {
            TimeUnit::Seconds => "seconds",
            TimeUnit::Millis => "milliseconds",
            TimeUnit::Micros => "microseconds",
        }
    }
}

/// A length of time in nanoseconds.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    JsonSchema,
)]
pub struct Span(u64);

impl Span {
    /// No time at all; for most options the same as "not set".
    pub const ZERO: Span = Span(0);

    /// A span of `ns` nanoseconds.
    pub const fn from_ns(ns: u64) -> Self {
        Span(ns)
    }

    /// A span of `us` microseconds, saturating.
    pub const fn from_us(us: u64) -> Self {
        Span(us.saturating_mul(1_000))
    }

    /// A span of `ms` milliseconds, saturating.
    pub const fn from_ms(ms: u64) -> Self {
        Span(ms.saturating_mul(1_000_000))
    }

    /// A span of `s` seconds, saturating.
    pub const fn from_secs(s: u64) -> Self {
        Span(s.saturating_mul(1_000_000_000))
    }

    /// Nanoseconds.
    pub const fn ns(self) -> u64 {
        self.0
    }

    /// Whole microseconds.
    pub const fn us(self) -> u64 {
        self.0 / 1_000
    }

    /// Whole milliseconds.
    pub const fn ms(self) -> u64 {
        self.0 / 1_000_000
    }

    /// Seconds with their fraction.
    pub fn secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// True for no time.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }
}

/// Prints the largest unit up to seconds that keeps the value exact (`60s`, `1500ms`,
/// `0.5us`), in fio's own spelling, so that the text reads back as the same span.
impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => f.write_str("0"),
            ns if ns % 1_000_000_000 == 0 => write!(f, "{}s", ns / 1_000_000_000),
            ns if ns % 1_000_000 == 0 => write!(f, "{}ms", ns / 1_000_000),
            ns if ns % 1_000 == 0 => write!(f, "{}us", ns / 1_000),
            ns => write!(f, "{}.{:03}us", ns / 1_000, ns % 1_000),
        }
    }
}

/// An amount of data, given outright or relative to something that is known later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub enum Amount {
    /// Bytes.
    Bytes(u64),
    /// Whole percent of the file or device, 0 to 100.
    Percent(u32),
    /// Zones of a zoned device.
    Zones(u32),
}

impl Default for Amount {
    fn default() -> Self {
        Amount::Bytes(0)
    }
}

impl Amount {
    /// True when nothing was asked for.
    pub const fn is_zero(self) -> bool {
        matches!(
            self,
            Amount::Bytes(0) | Amount::Percent(0) | Amount::Zones(0)
        )
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Amount::Bytes(bytes) => write!(f, "{bytes}"),
            Amount::Percent(percent) => write!(f, "{percent}%"),
            Amount::Zones(zones) => write!(f, "{zones}z"),
        }
    }
}

/// A closed range, `lo <= hi`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Range<T> {
    /// Smallest value.
    pub lo: T,
    /// Largest value.
    pub hi: T,
}

impl<T: PartialOrd> Range<T> {
    /// The range between two bounds given in either order.
    pub fn between(a: T, b: T) -> Self {
        if a <= b {
            Range { lo: a, hi: b }
        } else {
            Range { lo: b, hi: a }
        }
    }
}
