//! Values that only these flags have: sizes in KiB, masks, mixes.

use option::{Ctx, Kind, Scanned, Value, ValueError};
use units::number;

/// Bytes, written as KiB unless k, m or g follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size(pub u64);

impl Value for Size {
    const KIND: Kind = Kind::Bytes;

    fn parse(text: &str, _: &Ctx<'_>) -> Result<Scanned<Self>, ValueError> {
        let text = text.trim();
        let end = text
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(text.len());
        let unit: f64 = match text[end..].to_ascii_lowercase().as_str() {
            "" | "k" | "kb" | "kib" => 1024.0,
            "m" | "mb" | "mib" => 1048576.0,
            "g" | "gb" | "gib" => 1073741824.0,
            _ => {
                return Err(ValueError::syntax(
                    text,
                    "expected a size: KiB, or a number followed by k, m or g",
                ));
            }
        };
        let bytes = number::float(&text[..end])? * unit;
        if bytes >= (1u64 << 52) as f64 {
            return Err(ValueError::syntax(text, "is more than any machine has"));
        }
        Ok(Scanned {
            value: Size(bytes as u64),
            note: None,
        })
    }

    fn show(&self) -> String {
        (self.0 as f64 / 1024.0).to_string()
    }

    fn numbers(&self, visit: &mut dyn FnMut(f64)) {
        visit(self.0 as f64);
    }
}

/// CPUs as a hexadecimal mask, lowest bit first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mask(pub Vec<u32>);

impl Value for Mask {
    const KIND: Kind = Kind::Text;

    fn parse(text: &str, _: &Ctx<'_>) -> Result<Scanned<Self>, ValueError> {
        let digits = text.trim();
        let digits = digits
            .strip_prefix("0x")
            .or_else(|| digits.strip_prefix("0X"))
            .unwrap_or(digits);
        let mut cpus = Vec::new();
        for (at, digit) in digits.chars().rev().filter(|c| *c != ',').enumerate() {
            let bits = digit
                .to_digit(16)
                .ok_or_else(|| ValueError::syntax(text, "expected a hexadecimal mask of CPUs"))?;
            let first = at as u32 * 4;
            cpus.extend((0..4).filter(|bit| bits >> bit & 1 == 1).map(|b| first + b));
        }
        if cpus.is_empty() {
            return Err(ValueError::syntax(text, "names no CPU"));
        }
        Ok(Scanned {
            value: Mask(cpus),
            note: None,
        })
    }

    fn show(&self) -> String {
        let mut digits = vec![0u32; self.0.iter().max().map_or(1, |c| *c as usize / 4 + 1)];
        for cpu in &self.0 {
            digits[*cpu as usize / 4] |= 1 << (cpu % 4);
        }
        let digit = |d: &u32| char::from_digit(*d, 16).unwrap_or('0');
        digits.iter().rev().map(digit).collect()
    }
}

/// A mix of loads and stores, by the number that `-W` gives it; 0 is `-R`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Traffic(pub u8);

/// Cache lines that one round of a mix touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lines {
    /// Loaded.
    pub loads: u32,
    /// Stored through the cache: each is a read (for ownership) and a write to the memory.
    pub stores: u32,
    /// Stored past the cache: a write alone.
    pub nt_stores: u32,
}

impl Lines {
    /// Reads that the memory controller sees.
    pub const fn reads(self) -> u32 {
        self.loads + self.stores
    }

    /// Writes that the memory controller sees.
    pub const fn writes(self) -> u32 {
        self.stores + self.nt_stores
    }
}

impl Traffic {
    /// `-R`: loads alone.
    pub const READS: Traffic = Traffic(0);

    /// What a round consists of; `None` for a number that stands for no mix. Counted as the
    /// memory controller sees it, 3:1 for instance is two loads and one store.
    pub const fn lines(self) -> Option<Lines> {
        let (loads, stores, nt_stores) = match self.0 {
            0 | 21 => (1, 0, 0),
            2 => (1, 1, 0),
            3 | 11 | 23 => (2, 1, 0),
            4 => (1, 2, 0),
            5 => (0, 1, 0),
            6 => (0, 0, 1),
            7 | 10 | 27 => (2, 0, 1),
            8 => (1, 0, 1),
            9 => (3, 0, 1),
            12 => (3, 1, 0),
            13 => (4, 1, 0),
            14 => (5, 1, 0),
            15 => (6, 1, 0),
            16 => (7, 1, 0),
            17 | 19 => (8, 1, 0),
            _ => return None,
        };
        Some(Lines {
            loads,
            stores,
            nt_stores,
        })
    }

    /// Splits its accesses between two targets; a file of threads alone can say which.
    pub const fn two_targets(self) -> bool {
        matches!(self.0, 21 | 23 | 27)
    }

    /// Reads from two buffers of its own, as STREAM's triad does.
    pub const fn two_sources(self) -> bool {
        matches!(self.0, 10 | 11)
    }

    /// May be issued in random order.
    pub const fn random(self) -> bool {
        matches!(self.0, 0 | 2 | 5 | 6)
    }

    /// Reads `R` or `W5`.
    pub fn from_word(word: &str) -> Result<Traffic, String> {
        let unknown = || format!("`{word}` is no mix; they are R and {}", Traffic::list(true));
        match word.strip_prefix(['W', 'w']) {
            None if matches!(word, "R" | "r") => Ok(Traffic::READS),
            None => Err(unknown()),
            Some(number) => number
                .parse()
                .ok()
                .filter(|n| *n != 0)
                .map(Traffic)
                .filter(|traffic| traffic.lines().is_some())
                .ok_or_else(unknown),
        }
    }

    fn list(with_two_targets: bool) -> String {
        let numbers = (1..=u8::MAX).map(Traffic).filter(|traffic| {
            traffic.lines().is_some() && (with_two_targets || !traffic.two_targets())
        });
        let words: Vec<String> = numbers.map(|traffic| format!("W{}", traffic.0)).collect();
        words.join(" ")
    }
}

impl std::fmt::Display for Traffic {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            0 => f.write_str("R"),
            number => write!(f, "W{number}"),
        }
    }
}

impl Value for Traffic {
    const KIND: Kind = Kind::Int;

    fn parse(text: &str, _: &Ctx<'_>) -> Result<Scanned<Self>, ValueError> {
        let word = format!("W{}", text.trim());
        let value = Traffic::from_word(&word).map_err(|_| {
            ValueError::syntax(
                text,
                format!("is no mix; they are {}", Traffic::list(false)),
            )
        })?;
        Ok(Scanned { value, note: None })
    }

    fn show(&self) -> String {
        self.0.to_string()
    }
}
