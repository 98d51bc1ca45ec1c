//! fio's number grammar: sizes, times and plain integers with unit suffixes.
//!
//! The grammar is the one of fio's HOWTO, sections "Parameter types" and "Units". Two rules
//! differ on purpose. Where fio drops part of a number in silence (a fraction, an exponent,
//! blanks before the digits) the number is read as it was meant and the result carries a
//! note. Where fio ignores trailing letters the text is refused.

use crate::{KbBase, Span, TimeUnit, arith};

/// A number that was read, and what the user should know about how it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scanned<T> {
    /// The number.
    pub value: T,
    /// Set when fio would have read another number from the same text.
    pub note: Option<String>,
}

impl<T> Scanned<T> {
    /// Applies `f` to the value and keeps the note.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Scanned<U> {
        Scanned {
            value: f(self.value),
            note: self.note,
        }
    }
}

/// Why a text is not a number of the wanted sort.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NumberError {
    /// No digits where a number should begin.
    #[error("`{0}` is not a number")]
    NotANumber(String),
    /// Digits followed by letters that are no unit.
    #[error("`{suffix}` in `{text}` is not a unit; {expected}")]
    Suffix {
        /// The whole text.
        text: String,
        /// The part after the digits.
        suffix: String,
        /// The units that may stand there.
        expected: &'static str,
    },
    /// The value does not fit.
    #[error("`{0}` is too large")]
    TooLarge(String),
    /// An arithmetic expression that cannot be evaluated.
    #[error("`{0}` is not a valid expression")]
    Expression(String),
    /// A negative number where none can be.
    #[error("`{0}` must not be negative")]
    Negative(String),
}

const SIZE_UNITS: &str = "sizes end in k, m, g, t or p (optionally followed by b, i or ib)";
const TIME_UNITS: &str = "times end in d, h, m, s, ms or us";

/// A decimal or hexadecimal number, kept exact: `digits / 10^decimals`.
struct Mantissa<'a> {
    negative: bool,
    digits: u128,
    decimals: u32,
    /// What fio's `strtoll` makes of the same digits.
    fio: u128,
    rest: &'a str,
}

fn mantissa(text: &str) -> Result<Mantissa<'_>, NumberError> {
    let not = || NumberError::NotANumber(text.to_string());
    let (negative, body) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    let large = || NumberError::TooLarge(text.to_string());
    if let Some(hex) = body.strip_prefix("0x").or_else(|| body.strip_prefix("0X")) {
        let end = hex
            .find(|c: char| !c.is_ascii_hexdigit())
            .unwrap_or(hex.len());
        if end == 0 {
            return Err(not());
        }
        let digits = u128::from_str_radix(&hex[..end], 16).map_err(|_| large())?;
        return Ok(Mantissa {
            negative,
            digits,
            decimals: 0,
            fio: digits,
            rest: &hex[end..],
        });
    }
    let whole_end = body
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(body.len());
    let mut rest = &body[whole_end..];
    let mut fraction = "";
    if let Some(after) = rest.strip_prefix('.') {
        let end = after
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(after.len());
        fraction = &after[..end];
        rest = &after[end..];
    }
    if whole_end == 0 && fraction.is_empty() {
        return Err(not());
    }
    // Eighteen decimals are more than any unit can use, and keep the products in range.
    let fraction = fraction.get(..18.min(fraction.len())).unwrap_or("");
    let whole = &body[..whole_end];
    let fio = if whole.is_empty() {
        0
    } else {
        whole.parse().map_err(|_| large())?
    };
    let mut digits: u128 = format!("{whole}{fraction}").parse().map_err(|_| large())?;
    let mut decimals = fraction.len() as u32;
    if let Some((exponent, after)) = exponent(rest) {
        let raise = exponent.min(decimals);
        decimals -= raise;
        let factor = 10u128.checked_pow(exponent - raise).ok_or_else(large)?;
        digits = digits.checked_mul(factor).ok_or_else(large)?;
        rest = after;
    }
    Ok(Mantissa {
        negative,
        digits,
        decimals,
        fio,
        rest,
    })
}

/// Splits `e3` or `E+3` off the front; two digits are enough for any 64-bit value.
fn exponent(rest: &str) -> Option<(u32, &str)> {
    let after = rest.strip_prefix(['e', 'E'])?;
    let after = after.strip_prefix('+').unwrap_or(after);
    let end = after
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(after.len());
    let digits = after.get(..end).filter(|d| !d.is_empty() && d.len() <= 2)?;
    Some((digits.parse().ok()?, &after[end..]))
}

/// The factor of a size suffix. With `kb_base=1024` fio reads `kib` as 1000 and every other
/// spelling as 1024; with `kb_base=1000` the two swap, so that the units are SI and IEC.
fn size_factor(suffix: &str, kb_base: KbBase) -> Option<u128> {
    let lower = suffix.to_ascii_lowercase();
    let mut letters = lower.chars();
    let power = match letters.next() {
        None => return Some(1),
        Some('b') if lower.len() == 1 => return Some(1),
        Some('k') => 1,
        Some('m') => 2,
        Some('g') => 3,
        Some('t') => 4,
        Some('p') => 5,
        Some(_) => return None,
    };
    let (plain, inverse) = match kb_base {
        KbBase::Binary => (1024u128, 1000u128),
        KbBase::Decimal => (1000, 1024),
    };
    match letters.as_str() {
        "" | "b" | "i" => Some(plain.pow(power)),
        "ib" => Some(inverse.pow(power)),
        _ => None,
    }
}

/// Multiplies and divides exactly; says whether a remainder was dropped.
fn scale(m: &Mantissa<'_>, factor: u128, text: &str) -> Result<(u128, bool), NumberError> {
    let product = m
        .digits
        .checked_mul(factor)
        .ok_or_else(|| NumberError::TooLarge(text.to_string()))?;
    let divisor = 10u128.pow(m.decimals);
    Ok((product / divisor, !product.is_multiple_of(divisor)))
}

/// Reads an integer with an optional size suffix, as fio reads every integer option.
pub fn integer(text: &str, kb_base: KbBase) -> Result<Scanned<i128>, NumberError> {
    let trimmed = text.trim();
    if trimmed.starts_with('(') {
        let value = arith::evaluate(trimmed, |word| Ok(integer(word, kb_base)?.value as f64))?;
        return whole(value, trimmed).map(|value| Scanned { value, note: None });
    }
    let m = mantissa(trimmed)?;
    let suffix = m.rest.trim_start();
    let factor = size_factor(suffix, kb_base).ok_or_else(|| NumberError::Suffix {
        text: trimmed.to_string(),
        suffix: suffix.to_string(),
        expected: SIZE_UNITS,
    })?;
    let (value, truncated) = scale(&m, factor, trimmed)?;
    if value > u128::from(u64::MAX) {
        return Err(NumberError::TooLarge(trimmed.to_string()));
    }
    let iec = suffix.len() == 3;
    // fio's scanner takes whatever stops the first run of digits for the unit.
    let fio = m
        .fio
        .saturating_mul(size_factor(first_unit(text), kb_base).unwrap_or(1));
    let note = if truncated {
        Some(format!(
            "`{trimmed}` is not a whole number; {value} is used"
        ))
    } else if fio != value {
        Some(format!("`{text}` is read as {value} (fio reads {fio})"))
    } else if iec && kb_base == KbBase::Binary {
        Some(format!(
            "`{trimmed}` is {value}: with kb_base=1024 a suffix in `ib` is a power of 1000"
        ))
    } else {
        None
    };
    let value = value as i128;
    Ok(Scanned {
        value: if m.negative { -value } else { value },
        note,
    })
}

/// The whole part of an expression's value.
fn whole(value: f64, text: &str) -> Result<i128, NumberError> {
    if value.abs() <= u64::MAX as f64 {
        Ok(value.trunc() as i128)
    } else {
        Err(NumberError::TooLarge(text.to_string()))
    }
}

/// The letters directly behind the first run of digits: all that fio's scanner looks at.
fn first_unit(text: &str) -> &str {
    let body = text.strip_prefix(['-', '+']).unwrap_or(text);
    let end = body
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(body.len());
    body[end..].trim_end()
}

/// Reads a size in bytes.
pub fn bytes(text: &str, kb_base: KbBase) -> Result<Scanned<u64>, NumberError> {
    let scanned = integer(text, kb_base)?;
    let value =
        u64::try_from(scanned.value).map_err(|_| NumberError::Negative(text.trim().to_string()))?;
    Ok(Scanned {
        value,
        note: scanned.note,
    })
}

/// Nanoseconds in the unit that `suffix` names, or in `unit` without a suffix.
fn time_factor(suffix: &str, unit: TimeUnit) -> Option<u128> {
    let ns = match suffix.to_ascii_lowercase().as_str() {
        "" => u128::from(unit.ns()),
        "us" | "usec" | "usecs" => 1_000,
        "ms" | "msec" | "msecs" => 1_000_000,
        "s" | "sec" | "secs" | "second" | "seconds" => 1_000_000_000,
        "m" | "min" | "mins" | "minute" | "minutes" => 60_000_000_000,
        "h" | "hr" | "hrs" | "hour" | "hours" => 3_600_000_000_000,
        "d" | "day" | "days" => 86_400_000_000_000,
        _ => return None,
    };
    Some(ns)
}

/// Nanoseconds that fio makes of digits and what stands directly behind them. It knows the
/// short units only, and reads options in milliseconds as plain numbers with size suffixes.
fn fio_span(digits: u128, suffix: &str, unit: TimeUnit) -> u128 {
    let suffix = suffix.to_ascii_lowercase();
    let factor = match (unit, suffix.as_str()) {
        (TimeUnit::Millis, suffix) => {
            u128::from(unit.ns()) * size_factor(suffix, KbBase::Binary).unwrap_or(1)
        }
        (_, "us" | "usec" | "ms" | "msec" | "s" | "m" | "h" | "d") => {
            time_factor(&suffix, unit).unwrap_or(1)
        }
        _ => u128::from(unit.ns()),
    };
    digits.saturating_mul(factor)
}

/// Reads a time whose unit is `unit` when the text names none.
pub fn span(text: &str, unit: TimeUnit) -> Result<Scanned<Span>, NumberError> {
    let trimmed = text.trim();
    if trimmed.starts_with('(') {
        // Inside parentheses fio counts in microseconds whatever the option's own unit is.
        let us = arith::evaluate(trimmed, |word| {
            Ok(span(word, TimeUnit::Micros)?.value.ns() as f64 / 1000.0)
        })?;
        let ns = u64::try_from(whole(us * 1000.0, trimmed)?)
            .map_err(|_| NumberError::Negative(trimmed.to_string()))?;
        return Ok(Scanned {
            value: Span::from_ns(ns),
            note: None,
        });
    }
    let m = mantissa(trimmed)?;
    if m.negative && m.digits != 0 {
        return Err(NumberError::Negative(trimmed.to_string()));
    }
    let suffix = m.rest.trim_start();
    let factor = time_factor(suffix, unit).ok_or_else(|| NumberError::Suffix {
        text: trimmed.to_string(),
        suffix: suffix.to_string(),
        expected: TIME_UNITS,
    })?;
    let (value, _) = scale(&m, factor, trimmed)?;
    let ns = u64::try_from(value).map_err(|_| NumberError::TooLarge(trimmed.to_string()))?;
    let span = Span::from_ns(ns);
    let fio = fio_span(m.fio, first_unit(text), unit);
    let note = (fio != u128::from(ns)).then(|| {
        let fio = Span::from_ns(u64::try_from(fio).unwrap_or(u64::MAX));
        format!("`{text}` is read as {span} (fio reads {fio})")
    });
    Ok(Scanned { value: span, note })
}

/// Reads a floating point number; only a finite one.
pub fn float(text: &str) -> Result<f64, NumberError> {
    let trimmed = text.trim();
    trimmed
        .parse::<f64>()
        .ok()
        .filter(|v| v.is_finite())
        .ok_or_else(|| NumberError::NotANumber(trimmed.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn size(text: &str) -> (i128, bool) {
        let scanned = integer(text, KbBase::Binary).unwrap_or_else(|e| panic!("{text}: {e}"));
        (scanned.value, scanned.note.is_some())
    }

    #[test]
    fn sizes_as_fio_reads_them() {
        for (text, want) in [
            ("0", 0),
            ("512", 512),
            ("512b", 512),
            ("4k", 4096),
            ("4K", 4096),
            ("4kb", 4096),
            ("4KB", 4096),
            ("4ki", 4096),
            ("0x1000", 4096),
            ("0XffK", 0xff * 1024),
            ("2m", 2 << 20),
            ("3g", 3 << 30),
            ("1T", 1 << 40),
            ("1p", 1 << 50),
            ("-4k", -4096),
            ("(4*1k+1)", 4097),
        ] {
            let odd = text == "0XffK";
            assert_eq!(size(text), (want, odd), "{text}");
        }
        assert_eq!(integer("8k", KbBase::Decimal).unwrap().value, 8000);
        assert_eq!(integer("8kb", KbBase::Decimal).unwrap().value, 8000);
        assert_eq!(integer("8ki", KbBase::Decimal).unwrap().value, 8000);
        assert_eq!(integer("8kib", KbBase::Decimal).unwrap().value, 8192);
    }

    #[test]
    fn what_fio_drops_is_kept_and_noted() {
        for (text, want) in [
            ("1.5k", 1536),
            (" 8k", 8192),
            ("8 k", 8192),
            ("5e3", 5000),
            (".5m", 1 << 19),
        ] {
            assert_eq!(size(text), (want, true), "{text}");
        }
        // As large as fio reads it, and not what IEC says.
        assert_eq!(size("4kib"), (4000, true));
        assert_eq!(size("66.66"), (66, true));
    }

    #[test]
    fn garbage_is_refused() {
        for text in [
            "", " ", "k", "4q", "4kfoo", "4k4", "0x", "--4", "4kk", "1e", "1z", "50%",
        ] {
            assert!(integer(text, KbBase::Binary).is_err(), "{text}");
        }
        assert!(matches!(
            integer("99999p", KbBase::Binary),
            Err(NumberError::TooLarge(_))
        ));
        assert!(matches!(
            bytes("-1", KbBase::Binary),
            Err(NumberError::Negative(_))
        ));
    }

    #[test]
    fn times_use_the_unit_of_the_option_unless_they_name_one() {
        let ns = |text: &str, unit| span(text, unit).unwrap().value.ns();
        assert_eq!(ns("5", TimeUnit::Seconds), 5_000_000_000);
        assert_eq!(ns("5", TimeUnit::Millis), 5_000_000);
        assert_eq!(ns("5", TimeUnit::Micros), 5_000);
        for unit in [TimeUnit::Seconds, TimeUnit::Micros] {
            assert_eq!(ns("5m", unit), 300_000_000_000);
            assert_eq!(ns("1d", unit), 86_400_000_000_000);
            assert_eq!(ns("2h", unit), 7_200_000_000_000);
            assert_eq!(ns("10MS", unit), 10_000_000);
            assert_eq!(ns("7usec", unit), 7_000);
            assert_eq!(ns("(2*1m)", unit), 120_000_000_000);
            assert_eq!(ns("(2000000)", unit), 2_000_000_000);
        }
        let half = span("1.5s", TimeUnit::Seconds).unwrap();
        assert_eq!((half.value.ms(), half.note.is_some()), (1500, true));
        assert!(span(" 5m", TimeUnit::Seconds).unwrap().note.is_some());
        for text in ["5min", "1day", "5sec", "0x10s"] {
            assert!(
                span(text, TimeUnit::Micros).unwrap().note.is_some(),
                "{text}"
            );
        }
        let note = span("5min", TimeUnit::Micros).unwrap().note.unwrap();
        assert_eq!(note, "`5min` is read as 300s (fio reads 5us)");
        let note = span("1m", TimeUnit::Millis).unwrap().note.unwrap();
        assert_eq!(note, "`1m` is read as 60s (fio reads 1048576ms)");
        assert_eq!(span("500", TimeUnit::Millis).unwrap().note, None);
        for text in ["", "s", "5x", "-5", "5 5", "1000000000000d"] {
            assert!(span(text, TimeUnit::Seconds).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn plain_integers_are_themselves(n in any::<u64>()) {
            let scanned = integer(&n.to_string(), KbBase::Binary).unwrap();
            prop_assert_eq!(scanned, Scanned { value: i128::from(n), note: None });
            let hex = integer(&format!("{n:#x}"), KbBase::Decimal).unwrap();
            prop_assert_eq!(hex.value, i128::from(n));
        }

        #[test]
        fn spans_print_as_they_read(ns in 0..u64::MAX) {
            let shown = Span::from_ns(ns).to_string();
            prop_assert_eq!(span(&shown, TimeUnit::Micros).unwrap().value.ns(), ns, "{}", shown);
        }

        #[test]
        fn fractions_are_exact(whole in 0..1u64 << 20, eighths in 0..8u64) {
            let text = format!("{}k", whole as f64 + eighths as f64 / 8.0);
            let value = integer(&text, KbBase::Binary).unwrap().value;
            prop_assert_eq!(value, i128::from(whole * 1024 + eighths * 128));
        }

        #[test]
        fn no_text_panics(text in "\\PC{0,12}|[0-9.eExX+kmgtpibs -]{0,12}") {
            let _ = integer(&text, KbBase::Binary);
            let _ = span(&text, TimeUnit::Millis);
            let _ = float(&text);
        }
    }
}
