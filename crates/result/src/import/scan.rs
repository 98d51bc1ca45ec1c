//! Small readers of printed figures. They accept what is surely meant and nothing else.

/// A printed number: its value, the step of its last digit, and the letters that follow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Printed<'a> {
    pub value: f64,
    pub step: f64,
    pub unit: &'a str,
    pub rest: &'a str,
}

impl Printed<'_> {
    /// The same in another unit.
    pub fn scaled(self, by: f64) -> (f64, f64) {
        (self.value * by, self.step * by)
    }
}

/// A number at the start of `text`, blanks before it and before its unit allowed.
pub(super) fn printed(text: &str) -> Option<Printed<'_>> {
    number(text, false)
}

/// The same where thousands may be set apart (`586,774`).
pub(super) fn printed_grouped(text: &str) -> Option<Printed<'_>> {
    number(text, true)
}

fn number(text: &str, grouped: bool) -> Option<Printed<'_>> {
    let text = text.trim_start();
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut digits = String::new();
    let mut decimals: Option<i32> = None;
    let mut at = 0;
    loop {
        let group = |at: usize| digit(at + 1) && digit(at + 2) && digit(at + 3) && !digit(at + 4);
        match bytes.get(at) {
            Some(b'0'..=b'9') => {
                digits.push(char::from(bytes[at]));
                decimals = decimals.map(|n| n + 1);
            }
            Some(b',') if grouped && at > 0 && decimals.is_none() && group(at) => {}
            Some(b'.') if decimals.is_none() && at > 0 && digit(at + 1) => {
                digits.push('.');
                decimals = Some(0);
            }
            _ => break,
        }
        at += 1;
    }
    // Larger than anything that can be measured is no figure.
    let value: f64 = digits.parse().ok().filter(|value| *value < 1e21)?;
    let after = &text[at..];
    let spaced = after.trim_start_matches(' ');
    let letters = |c: char| c.is_ascii_alphabetic() || c == '/' || c == '%';
    let unit_of = |text: &str| text.find(|c| !letters(c)).unwrap_or(text.len());
    // A word after a blank is a unit only if it says so.
    let (unit, rest) = match unit_of(after) {
        0 if spaced.len() < after.len() => {
            let end = unit_of(spaced);
            match &spaced[..end] {
                unit if unit.ends_with("/s") || unit.ends_with('B') => (unit, &spaced[end..]),
                _ => ("", after),
            }
        }
        end => (&after[..end], &after[end..]),
    };
    Some(Printed {
        value,
        step: 10f64.powi(-decimals.unwrap_or(0)),
        unit,
        rest,
    })
}

/// Bytes of a unit such as `KiB`, `MB/s` or `kB`; units without an `i` have this base.
pub(super) fn byte_unit(unit: &str, base: f64) -> Option<f64> {
    let unit = unit.strip_suffix("/s").unwrap_or(unit);
    let (prefix, part) = match unit.strip_suffix("bit") {
        Some(prefix) => (prefix, 0.125),
        None => (unit.strip_suffix('B')?, 1.0),
    };
    let (prefix, base) = match prefix.strip_suffix('i') {
        Some(prefix) => (prefix, 1024.0),
        None => (prefix, base),
    };
    let power = match prefix {
        "" => 0,
        "k" | "K" => 1,
        "M" => 2,
        "G" => 3,
        "T" => 4,
        "P" => 5,
        _ => return None,
    };
    Some(part * f64::powi(base, power))
}

/// What a suffix of a plain count multiplies by (`125k`).
pub(super) fn count_unit(unit: &str) -> Option<f64> {
    Some(match unit {
        "" => 1.0,
        "k" | "K" => 1e3,
        "m" | "M" => 1e6,
        "g" | "G" => 1e9,
        _ => return None,
    })
}

/// Nanoseconds of `nsec`, `usec`, `msec`, `sec` or a short form of them.
pub(super) fn time_unit(unit: &str) -> Option<f64> {
    Some(match unit {
        "nsec" | "ns" => 1.0,
        "usec" | "us" => 1e3,
        "msec" | "ms" => 1e6,
        "sec" | "s" => 1e9,
        _ => return None,
    })
}

/// The text after `key=`, where `key` begins a word.
pub(super) fn after<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let mut from = 0;
    while let Some(found) = text[from..].find(key) {
        let at = from + found;
        let end = at + key.len();
        let word = text[..at]
            .chars()
            .next_back()
            .is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
        if !word && text[end..].starts_with('=') {
            return Some(&text[end + 1..]);
        }
        from = end;
    }
    None
}

/// The text after a key that may have one wrong letter, and the word that stands there.
pub(super) fn after_like<'a>(text: &'a str, key: &str) -> Option<(&'a str, &'a str)> {
    if let Some(value) = after(text, key) {
        return Some((value, &text[..0]));
    }
    for (at, _) in text.match_indices('=') {
        let other = |c: char| !c.is_ascii_alphanumeric() && c != '_';
        let word = text[..at].rsplit(other).next().unwrap_or_default();
        let wrong = word
            .bytes()
            .zip(key.bytes())
            .filter(|(a, b)| !a.eq_ignore_ascii_case(b));
        if key.len() >= 3 && word.len() == key.len() && wrong.count() <= 1 {
            return Some((&text[at + 1..], word));
        }
    }
    None
}

/// Numbers separated by `separator`, up to the first thing that is none.
pub(super) fn list(text: &str, separator: char) -> Vec<u64> {
    let mut numbers = Vec::new();
    let mut rest = text.trim_start();
    loop {
        let end = rest
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(rest.len());
        let Ok(number) = rest[..end].parse() else {
            break;
        };
        // A number that runs into a point is not the number that was printed.
        if rest[end..].starts_with('.') {
            break;
        }
        numbers.push(number);
        match rest[end..].strip_prefix(separator) {
            Some(next) => rest = next,
            None => break,
        }
    }
    numbers
}

/// Words of a shell line; quotes group, nothing is expanded.
pub(super) fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    let mut begun = false;
    for c in line.chars() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (None, '\'' | '"') => (quote, begun) = (Some(c), true),
            (None, c) if c.is_whitespace() => {
                if begun {
                    words.push(std::mem::take(&mut word));
                }
                begun = false;
            }
            _ => {
                word.push(c);
                begun = true;
            }
        }
    }
    if begun {
        words.push(word);
    }
    words
}

/// Seconds since the epoch of `Sat May 23 01:26:06 2020`, read as UTC.
pub(super) fn ctime(text: &str) -> Option<u64> {
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let words: Vec<&str> = text.split_whitespace().collect();
    let [_, month, day, clock, year, ..] = words[..] else {
        return None;
    };
    let month = MONTHS.iter().position(|name| *name == month)? as i64 + 1;
    let day: i64 = day.parse().ok().filter(|day| (1..=31).contains(day))?;
    let year: i64 = year
        .parse()
        .ok()
        .filter(|year| (1970..=9999).contains(year))?;
    let clock: Vec<i64> = clock
        .split(':')
        .map(|part| part.parse().unwrap_or(-1))
        .collect();
    let [hours @ 0..=23, minutes @ 0..=59, seconds @ 0..=60] = clock[..] else {
        return None;
    };
    // Days since 1970-03-01 of a year that begins in March, so that a leap day comes last.
    let (y, m) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let days = y * 365 + y / 4 - y / 100 + y / 400 + (m * 153 + 2) / 5 + day - 1 - 719_468;
    u64::try_from(days * 86_400 + hours * 3600 + minutes * 60 + seconds).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> (f64, f64, &str) {
        let p = printed_grouped(text).expect(text);
        (p.value, p.step, p.unit)
    }

    #[test]
    fn figures_with_units() {
        assert_eq!(parts("586,774 KB/s, iops=9168"), (586_774.0, 1.0, "KB/s"));
        assert_eq!(parts("1011.3MB/s, iops"), (1011.3, 0.1, "MB/s"));
        assert_eq!(parts("  60210msec"), (60_210.0, 1.0, "msec"));
        assert_eq!(parts("9168, runt=3msec"), (9168.0, 1.0, ""));
        assert_eq!(parts("2.1 GB, 2.0 GiB"), (2.1, 0.1, "GB"));
        assert_eq!(printed("5 apples").map(|p| p.unit), Some(""));
        assert_eq!(printed("x"), None);
    }

    #[test]
    fn units_of_bytes() {
        assert_eq!(byte_unit("KB/s", 1024.0), Some(1024.0));
        assert_eq!(byte_unit("kB/s", 1000.0), Some(1000.0));
        assert_eq!(byte_unit("MiB/s", 1000.0), Some(1_048_576.0));
        assert_eq!(byte_unit("k18/s", 1000.0), None);
        assert_eq!(byte_unit("KiB", 1000.0), Some(1024.0));
        assert_eq!(byte_unit("Mibit/s", 1000.0), Some(131_072.0));
    }

    #[test]
    fn keys_begin_words() {
        assert_eq!(after("mint=3, min=4", "min"), Some("4"));
        assert_eq!(after_like("ayg= 7.62", "avg"), Some((" 7.62", "ayg")));
        assert_eq!(after_like("max= 7.62", "avg"), None);
    }

    #[test]
    fn lists_stop_at_damage() {
        assert_eq!(list("691865,356711,0.0 short=0", ','), [691_865, 356_711]);
        assert_eq!(list("1048576.0.0.0", ','), [0u64; 0]);
        assert_eq!(list("0,102400,0,0 short", ','), [0, 102_400, 0, 0]);
    }

    #[test]
    fn dates() {
        assert_eq!(ctime("Sat May 23 01:26:06 2020"), Some(1_590_197_166));
        assert_eq!(ctime("Tue Mar 9 18:18:58 2021"), Some(1_615_313_938));
        assert_eq!(ctime("Thu Feb 29 00:00:00 2024 x"), Some(1_709_164_800));
        assert_eq!(ctime("Sat May 23 2020"), None);
    }

    #[test]
    fn quoted_words() {
        assert_eq!(
            words("fio --name='a b' -c \"\""),
            ["fio", "--name=a b", "-c", ""]
        );
    }
}
