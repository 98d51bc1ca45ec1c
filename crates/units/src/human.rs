//! Numbers as fio prints them: a few significant characters and a unit prefix.
//!
//! The figures of a report are compared character by character by people and scripts, so the
//! rounding is fio's: the integer part is cut by repeated division, and only the last remainder
//! feeds the decimals (or the carry, when there is no room for a decimal).

/// Which prefixes, and the factor between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// k, M, G ... by 1000.
    Si,
    /// Ki, Mi, Gi ... by 1024.
    Iec,
}

impl Family {
    /// The family of a `kb_base`: 1024 (any power of two) is IEC, everything else SI.
    pub const fn of_kb_base(kb_base: u32) -> Self {
        if kb_base.is_power_of_two() {
            Family::Iec
        } else {
            Family::Si
        }
    }

    /// The other family, for the figure in parentheses.
    pub const fn other(self) -> Self {
        match self {
            Family::Si => Family::Iec,
            Family::Iec => Family::Si,
        }
    }

    const fn factor(self) -> u64 {
        match self {
            Family::Si => 1000,
            Family::Iec => 1024,
        }
    }

    const fn prefixes(self) -> [&'static str; 7] {
        match self {
            Family::Si => ["", "k", "M", "G", "T", "P", "E"],
            Family::Iec => ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"],
        }
    }
}

/// What is counted. Values are always given in bytes; bit units multiply by eight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// A bare number.
    Number,
    /// Bytes, `B`.
    Bytes,
    /// Bytes per second, `B/s`.
    BytesPerSecond,
    /// Bits per second, `bit/s`, from a value in bytes per second.
    BitsPerSecond,
}

impl Counted {
    /// What a `unit_base` option asks of rates: 1 is bits, 0 and 8 are bytes.
    pub const fn rate_of_unit_base(unit_base: u32) -> Self {
        if unit_base == 1 {
            Counted::BitsPerSecond
        } else {
            Counted::BytesPerSecond
        }
    }

    const fn suffix(self) -> &'static str {
        match self {
            Counted::Number => "",
            Counted::Bytes => "B",
            Counted::BytesPerSecond => "B/s",
            Counted::BitsPerSecond => "bit/s",
        }
    }
}

/// How to print a number for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Human {
    /// Characters of the figure, a decimal point included (`significant_figures`).
    pub figures: u32,
    /// Prefix family.
    pub family: Family,
    /// Unit.
    pub counted: Counted,
}

impl Human {
    /// A bare number with SI prefixes, such as IOPS.
    pub const fn number(figures: u32) -> Self {
        Human {
            figures,
            family: Family::Si,
            counted: Counted::Number,
        }
    }

    /// Bytes in the family of `kb_base`.
    pub const fn bytes(figures: u32, kb_base: u32) -> Self {
        Human {
            figures,
            family: Family::of_kb_base(kb_base),
            counted: Counted::Bytes,
        }
    }

    /// Bytes or bits per second, as `kb_base` and `unit_base` say.
    pub const fn rate(figures: u32, kb_base: u32, unit_base: u32) -> Self {
        Human {
            figures,
            family: Family::of_kb_base(kb_base),
            counted: Counted::rate_of_unit_base(unit_base),
        }
    }

    /// The same figure with the prefixes of the other family.
    pub const fn other_family(self) -> Self {
        Human {
            family: self.family.other(),
            ..self
        }
    }

    /// Prints `value`.
    pub fn show(self, value: u64) -> String {
        self.show_scaled(value, 0)
    }

    /// Prints `value` that already counts units of the `power`-th prefix (1 for KiB or kB).
    pub fn show_scaled(self, value: u64, power: usize) -> String {
        let factor = self.family.factor();
        let prefixes = self.family.prefixes();
        let figures = self.figures as usize;
        let mut whole = match self.counted {
            Counted::BitsPerSecond => value.saturating_mul(8),
            _ => value,
        };
        let mut power = power;
        let mut rest = None;
        while power < prefixes.len() && digits(whole) > figures {
            rest = Some(whole % factor);
            whole /= factor;
            power += 1;
        }
        // A value too large for the last prefix loses its prefix, as in fio.
        let prefix = prefixes.get(power).copied().unwrap_or("");
        let suffix = self.counted.suffix();
        let Some(rest) = rest else {
            return format!("{whole}{prefix}{suffix}");
        };
        let room = figures.saturating_sub(digits(whole));
        if room <= 1 {
            let carry = u64::from(rest >= factor / 2);
            return format!("{}{prefix}{suffix}", whole + carry);
        }
        let decimals = format!("{:.*}", room - 1, rest as f64 / factor as f64);
        let carry = u64::from(decimals.starts_with('1'));
        format!("{}.{}{prefix}{suffix}", whole + carry, &decimals[2..])
    }
}

fn digits(value: u64) -> usize {
    value.checked_ilog10().unwrap_or(0) as usize + 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const KIB: Human = Human::bytes(4, 1024);

    #[test]
    fn figures_of_real_reports() {
        let rate = Human::rate(4, 1024, 0);
        assert_eq!(rate.show(20_480_000), "19.5MiB/s");
        assert_eq!(rate.other_family().show(20_480_000), "20.5MB/s");
        assert_eq!(KIB.show(4096), "4096B");
        assert_eq!(KIB.show(65_536), "64.0KiB");
        assert_eq!(KIB.show(1 << 20), "1024KiB");
        assert_eq!(KIB.show(1000 << 20), "1000MiB");
        assert_eq!(KIB.other_family().show(1 << 20), "1049kB");
        assert_eq!(Human::number(4).show(5333), "5333");
        assert_eq!(Human::number(4).show(24_010_499), "24.0M");
        assert_eq!(Human::number(6).show(184_132_000), "184132k");
    }

    #[test]
    fn rounding_carries_from_the_last_remainder_only() {
        // 9.96 rounds to 10.0 although that is one character too many.
        assert_eq!(Human::number(3).show(9_960), "10.0k");
        // No room for a decimal: half up.
        assert_eq!(Human::number(4).show(9_999_500), "10000k");
        assert_eq!(Human::number(3).show(999_500), "1000k");
        assert_eq!(Human::number(3).show(999_499), "999k");
        assert_eq!(Human::number(2).show(u64::MAX), "18E");
    }

    #[test]
    fn bits_and_scaled_values() {
        assert_eq!(Human::rate(4, 1024, 1).show(1 << 20), "8192Kibit/s");
        assert_eq!(Human::rate(4, 1000, 8).show_scaled(20_500, 1), "20.5MB/s");
        assert_eq!(Human::rate(4, 1024, 0).show_scaled(0, 1), "0KiB/s");
    }

    proptest! {
        #[test]
        fn never_panics_and_is_near_the_value(
            value in any::<u64>(), figures in 1u32..10, power in 0usize..8,
        ) {
            let human = Human::number(figures);
            prop_assert!(!human.show_scaled(value, power).is_empty());
            let text = human.show(value);
            let number: f64 = text.trim_end_matches(char::is_alphabetic).parse().unwrap();
            let prefix = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
            if let Some(power) = ["", "k", "M", "G", "T", "P", "E"].iter().position(|p| *p == prefix) {
                let back = number * 1000f64.powi(power as i32);
                // The figures shown are right to half a unit of the last one.
                let unit = 10f64.powi(-(text.split('.').nth(1).map_or(0, |d| {
                    d.trim_end_matches(char::is_alphabetic).len() as i32
                })));
                let slack = 0.501 * unit * 1000f64.powi(power as i32) + back * 1e-3;
                prop_assert!(figures == 1 || (back - value as f64).abs() <= slack, "{text} {value}");
            }
        }
    }
}
