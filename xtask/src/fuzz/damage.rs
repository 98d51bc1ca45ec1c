//! A text as it might be after years of copying, from a number.

/// Longest part of a text, in lines.
const WINDOW: u64 = 120;
/// Longest text, bytes.
const MOST: usize = 60_000;

/// Words that all readers may meet.
const WORDS: [&str; 8] = [
    "-1",
    "18446744073709551615",
    "340282366920938463463374607431768211455",
    "1e308",
    "NaN",
    "\u{fffd}\u{1b}[0m",
    "\r",
    "\0",
];

/// Marsaglia's xorshift, 64 bits.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Below `n`; 0 of 0.
    fn below(&mut self, n: usize) -> usize {
        (self.roll() >> 11) as usize % n.max(1)
    }
}

/// The text of a number, from texts of `corpus` and the words that its reader looks for.
pub fn text(corpus: &[String], words: &[&str], number: u64) -> String {
    let mut dice = Dice(number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    for _ in 0..4 {
        dice.roll();
    }
    let window = |dice: &mut Dice| {
        let lines: Vec<&str> = corpus[dice.below(corpus.len())].lines().collect();
        let start = dice.below(lines.len());
        let length = 1 + (dice.roll() % WINDOW) as usize;
        lines[start..lines.len().min(start + length)].join("\n")
    };
    // Whole texts too: half a JSON document is soon refused.
    let mut bytes = match dice.below(3) {
        0 => corpus[dice.below(corpus.len())].clone(),
        _ => window(&mut dice),
    }
    .into_bytes();
    bytes.truncate(MOST);
    for _ in 0..dice.below(12) {
        let at = dice.below(bytes.len());
        let end = bytes.len().min(at + 1 + dice.below(40));
        match dice.below(8) {
            0 if at < end => bytes[at] = dice.roll() as u8,
            1 if at < end => bytes[at] = b"0123456789.,;:=[]{}(%/|\" \n-"[dice.below(27)],
            2 => drop(bytes.drain(at..end)),
            3 => {
                let piece = bytes[at..end].to_vec();
                let to = dice.below(bytes.len() + 1);
                drop(bytes.splice(to..to, piece));
            }
            4 => {
                let nth = dice.below(WORDS.len() + words.len());
                let word = WORDS.iter().chain(words).nth(nth).map_or("", |word| word);
                drop(bytes.splice(at..at, word.bytes()));
            }
            5 => {
                let other = window(&mut dice).into_bytes();
                drop(bytes.splice(at..at, other));
            }
            6 => number_at(&mut bytes, at, &mut dice),
            _ => bytes.truncate(at.max(bytes.len() / 2)),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Another number in the place of the next one.
fn number_at(bytes: &mut Vec<u8>, at: usize, dice: &mut Dice) {
    let digit = |byte: &u8| byte.is_ascii_digit();
    let Some(start) = bytes[at..].iter().position(digit) else {
        return;
    };
    let start = at + start;
    let length = bytes[start..].iter().take_while(|byte| digit(byte)).count();
    let number = match dice.below(4) {
        0 => "0".to_owned(),
        1 => u64::MAX.to_string(),
        2 => (dice.roll() >> dice.below(64)).to_string(),
        _ => format!("{}.{}", dice.below(1000), dice.below(1000)),
    };
    drop(bytes.splice(start..start + length, number.into_bytes()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_gives_the_same_text_again() {
        let corpus = ["one 1\ntwo 22\n".to_owned(), "three\n".repeat(50)];
        let texts: Vec<String> = (1..200).map(|n| text(&corpus, &["word"], n)).collect();
        let again: Vec<String> = (1..200).map(|n| text(&corpus, &["word"], n)).collect();
        assert_eq!(texts, again);
        let distinct: std::collections::BTreeSet<&String> = texts.iter().collect();
        assert!(distinct.len() > 100, "{}", distinct.len());
        // A text that is empty can be damaged as well.
        for n in 1..200 {
            text(&[String::new()], &[], n);
        }
    }
}
