//! Buffer patterns: `0xHEX`, decimal numbers, `"text"`, `'file'` and `%o`, in any order.

use option::{Ctx, Kind, Scanned, Value, ValueError};

/// A piece of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PatternPart {
    /// These bytes.
    Bytes(Vec<u8>),
    /// The content of this file.
    File(String),
    /// The block's offset, eight bytes, little-endian.
    Offset,
}

/// What a buffer is filled with, repeated to its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pattern(pub Vec<PatternPart>);

impl Pattern {
    /// True when no pattern was given.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The bytes of a pattern without files, offsets as zeroes, and the position of each
    /// offset. `None` when a file has to be read first.
    pub fn bytes(&self) -> Option<(Vec<u8>, Vec<usize>)> {
        let mut out = Vec::new();
        let mut offsets = Vec::new();
        for part in &self.0 {
            match part {
                PatternPart::Bytes(bytes) => out.extend_from_slice(bytes),
                PatternPart::Offset => {
                    offsets.push(out.len());
                    out.extend_from_slice(&[0; 8]);
                }
                PatternPart::File(_) => return None,
            }
        }
        Some((out, offsets))
    }
}

/// Text up to the closing quote, and what follows it.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next()?;
    text[1..]
        .split_once(quote)
        .filter(|(inner, _)| !inner.is_empty())
}

/// Hexadecimal digits in reading order; an odd first digit stands alone in its byte. The
/// run ends before the `0` of a following `0x`.
fn hex(text: &str) -> Option<(Vec<u8>, &str)> {
    let mut end = text
        .find(|c: char| !c.is_ascii_hexdigit())
        .unwrap_or(text.len());
    if text[end..].starts_with(['x', 'X']) && text[..end].ends_with('0') {
        end -= 1;
    }
    if end == 0 {
        return None;
    }
    let mut digits = text[..end].to_string();
    if digits.len() % 2 == 1 {
        digits.insert(0, '0');
    }
    let bytes: Option<Vec<u8>> = (0..digits.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&digits[at..at + 2], 16).ok())
        .collect();
    Some((bytes?, &text[end..]))
}

/// A decimal number in as few little-endian bytes as it needs; negative ones take four.
fn decimal(text: &str) -> Option<(Vec<u8>, &str)> {
    let sign = usize::from(text.starts_with('-'));
    let mut end = text[sign..]
        .find(|c: char| !c.is_ascii_digit())
        .map_or(text.len(), |at| at + sign);
    if text[end..].starts_with(['x', 'X']) && text[..end].ends_with('0') {
        end -= 1;
    }
    let number: i32 = text[..end].parse().ok()?;
    let mut bytes = number.to_le_bytes().to_vec();
    while bytes.len() > 1 && bytes.last() == Some(&0) {
        bytes.pop();
    }
    Some((bytes, &text[end..]))
}

fn part(text: &str) -> Option<(PatternPart, &str)> {
    if text.starts_with('\'') {
        return quoted(text).map(|(name, rest)| (PatternPart::File(name.to_string()), rest));
    }
    if text.starts_with('"') {
        return quoted(text).map(|(t, rest)| (PatternPart::Bytes(t.as_bytes().to_vec()), rest));
    }
    if let Some(rest) = text.strip_prefix("%o") {
        return Some((PatternPart::Offset, rest));
    }
    let (bytes, rest) = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => hex(digits)?,
        None => decimal(text)?,
    };
    Some((PatternPart::Bytes(bytes), rest))
}

impl Value for Pattern {
    const KIND: Kind = Kind::Text;

    fn parse(text: &str, _: &Ctx<'_>) -> Result<Scanned<Self>, ValueError> {
        let mut parts: Vec<PatternPart> = Vec::new();
        let mut rest = text.trim();
        while !rest.is_empty() {
            let (next, after) = part(rest).ok_or_else(|| {
                ValueError::syntax(text, "expected 0xHEX, a number, \"text\", 'file' or %o")
            })?;
            match (parts.last_mut(), next) {
                (Some(PatternPart::Bytes(have)), PatternPart::Bytes(more)) => have.extend(more),
                (_, next) => parts.push(next),
            }
            rest = after;
        }
        if parts.is_empty() {
            return Err(ValueError::syntax(text, "expected a pattern"));
        }
        Ok(Scanned {
            value: Pattern(parts),
            note: None,
        })
    }

    fn show(&self) -> String {
        let one = |part: &PatternPart| match part {
            PatternPart::Offset => "%o".to_string(),
            PatternPart::File(name) => format!("'{name}'"),
            PatternPart::Bytes(bytes) => bytes
                .iter()
                .fold("0x".to_string(), |text, byte| format!("{text}{byte:02x}")),
        };
        self.0.iter().map(one).collect()
    }
}
