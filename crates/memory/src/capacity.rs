//! How many bytes a cache holds, whatever it replaces and wherever the pages lie.
//!
//! A ring passes through its whole working set before it comes back to a line. What a cache still
//! has of it then depends on the rule of replacement (all or nothing by age, a falling share by
//! chance) and on pages that collide, so that the size at which misses begin says little. Where
//! each load is instead drawn among all lines alike, a full cache of C bytes holds any line of W
//! bytes with probability C/W under every rule, and a load takes
//!
//! ```text
//! t(W) = slow - (slow - fast) C/W        for W above C
//! ```
//!
//! on average, a straight line over 1/W; the smaller caches add terms of the same form. Below C
//! there is such a line of the smaller caches alone. The two meet at 1/C, and both are measured
//! well away from there, where collisions and the rule do not matter.

use crate::chase::Chain;
use crate::error::Error;
use crate::kernel::LINE;
use crate::sample::{Better, Random, Rule, interleave};
use std::time::Duration;

/// Working sets below and above a size, as shares of it. Nearer to it collisions show, further
/// away the neighbours.
const BELOW: [f64; 4] = [0.46, 0.52, 0.58, 0.65];
const ABOVE: [f64; 6] = [1.4, 1.65, 1.95, 2.3, 2.75, 3.3];
/// The edge of a ring lies from a tenth below the size (collisions) to a half above (replacement
/// by chance), so that this share of it is a first guess.
const GUESS: f64 = 0.8;
/// Fewest of `ABOVE` that lie below the next cache.
const FEWEST: usize = 4;
/// Readings begin at multiples of this.
const PAGE: usize = 4096;
/// The largest working set, bytes: loads drawn one by one must fill the cache first.
const MOST_BYTES: usize = 96 << 20;
/// Loads a line on average that fill a cache: all but a twentieth of the lines have been drawn.
const FILL: usize = 3;
/// Time of a reading.
const SAMPLE: Duration = Duration::from_millis(2);
/// Rounds over all working sets, and when to stop with those that there are.
const SAMPLES: usize = 31;
const CAP: Duration = Duration::from_millis(1500);
/// The size is the median of so many results.
const TURNS: u64 = 3;
/// A result this far from the guess is a better guess.
const AGAIN: f64 = 1.15;
/// A size this far from the guess is not of the same cache.
const OFF: f64 = 2.0;

/// The size of the cache at whose `edge` a ring's time begins to rise, and which is followed by
/// one with an edge at `next` (the memory: none), in bytes; `None` where it cannot be told from
/// its neighbours or is too large.
///
/// # Errors
/// Those of the readings.
pub fn capacity(chain: &Chain, edge: u64, next: Option<u64>) -> Result<Option<u64>, Error> {
    let room = chain.ring().bytes();
    let most = next.map_or(room, |next| room.min(next as usize / 2));
    let most = most.min(MOST_BYTES);
    let mut guess = (edge as f64 * GUESS) as u64;
    let mut found = Vec::new();
    for turn in 0..TURNS {
        let Some(size) = measured(chain, guess, most, Random(turn))? else {
            break;
        };
        if !alike(size, guess, AGAIN) {
            guess = size;
        }
        found.push(size);
    }
    found.sort_unstable();
    Ok(found.get(found.len() / 2).copied())
}

fn measured(
    chain: &Chain,
    guess: u64,
    most: usize,
    mut random: Random,
) -> Result<Option<u64>, Error> {
    let sizes = sizes(guess, most);
    if sizes.len() < BELOW.len() + FEWEST {
        return Ok(None);
    }
    let rule = Rule {
        samples: SAMPLES,
        until: None,
        warm_up: 0,
        cap: CAP,
    };
    // Each reading elsewhere in the buffer: some pages collide more than others.
    let taken = interleave(sizes.len(), &rule, Better::Lower, |at| {
        let from = random.below((chain.ring().bytes() - sizes[at]) / PAGE + 1) * PAGE;
        let place = from..from + sizes[at];
        chain.wander(&place, (FILL * sizes[at] / LINE) as u64);
        Ok::<_, Error>(chain.wandering(&place, SAMPLE))
    })?;
    // Collisions and other users of a cache only ever add time, but the quickest reading of all
    // is the luckiest.
    let quartile = |at: usize| {
        let mut samples = taken.figure(at).samples;
        samples.sort_by(f64::total_cmp);
        samples[samples.len() / 4]
    };
    let time = |(at, &bytes): (usize, &usize)| (bytes as f64, quartile(at));
    let times: Vec<(f64, f64)> = sizes.iter().enumerate().map(time).collect();
    Ok(told(&times, guess))
}

/// The working sets to measure, rising, of at most `most` bytes: whole lines.
fn sizes(guess: u64, most: usize) -> Vec<usize> {
    let shares = BELOW.iter().chain(&ABOVE);
    shares
        .map(|share| (share * guess as f64) as usize / LINE * LINE)
        .filter(|&bytes| bytes <= most)
        .collect()
}

/// The size that the (bytes, ns) of [`sizes`] tell, in whole KiB.
fn told(times: &[(f64, f64)], guess: u64) -> Option<u64> {
    let (below, above) = times.split_at(BELOW.len());
    let ((fast, smaller), (slow, all)) = (line(below), line(above));
    // fast + smaller / W = slow + all / W
    let size = (smaller - all) / (slow - fast);
    let size = (size as u64 + 512) & !1023;
    (slow > fast && alike(size, guess, OFF)).then_some(size)
}

/// Whether two sizes are within this factor of each other.
fn alike(a: u64, b: u64, factor: f64) -> bool {
    a as f64 <= b as f64 * factor && b as f64 <= a as f64 * factor
}

/// Least squares over 1/bytes: ns at infinite size, and slope.
fn line(times: &[(f64, f64)]) -> (f64, f64) {
    let n = times.len() as f64;
    let inverse = |&(bytes, _): &(f64, f64)| 1.0 / bytes;
    let x = times.iter().map(inverse).sum::<f64>() / n;
    let y = times.iter().map(|time| time.1).sum::<f64>() / n;
    let spread: f64 = times.iter().map(|t| (inverse(t) - x).powi(2)).sum();
    let both: f64 = times.iter().map(|t| (inverse(t) - x) * (t.1 - y)).sum();
    let slope = both / spread;
    (y - slope * x, slope)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::{Home, Pages, Wish};
    use crate::{layout::Layout, machine::Machine, sample};
    use host::Root;

    const WAYS: usize = 16;

    /// A cache of 16 ways, indexed by physical addresses.
    struct Cache {
        /// Lines of each set, the one to go first.
        sets: Vec<Vec<usize>>,
        by_age: bool,
        random: Random,
    }

    impl Cache {
        fn new(bytes: usize, by_age: bool, random: Random) -> Cache {
            Cache {
                sets: vec![Vec::new(); bytes / LINE / WAYS],
                by_age,
                random,
            }
        }

        /// Loads a line; true if it was there.
        fn load(&mut self, line: usize) -> bool {
            let number = line % self.sets.len();
            let set = &mut self.sets[number];
            let found = set.iter().position(|&held| held == line);
            if let Some(at) = found {
                if self.by_age {
                    set.remove(at);
                    set.push(line);
                }
                return true;
            }
            if set.len() == WAYS {
                let goes = if self.by_age {
                    0
                } else {
                    self.random.below(WAYS)
                };
                set.remove(goes);
            }
            set.push(line);
            false
        }
    }

    /// Mean time of loads drawn among `bytes` on pages from anywhere, over two caches.
    fn simulated(caches: [usize; 2], by_age: bool, bytes: usize, random: &mut Random) -> f64 {
        let frames: Vec<usize> = (0..bytes.div_ceil(PAGE))
            .map(|_| random.below(1 << 24))
            .collect();
        let seed = random.bits();
        let [mut inner, mut outer] = caches.map(|bytes| Cache::new(bytes, by_age, Random(seed)));
        let lines = bytes / LINE;
        let mut sum = 0.0;
        for load in 0..2 * FILL * lines {
            let line = random.below(lines);
            let line = frames[line * LINE / PAGE] * (PAGE / LINE) + line % (PAGE / LINE);
            let inside = inner.load(line);
            let ns = match (inside, inside || outer.load(line)) {
                (true, _) => 3.0,
                (false, true) => 5.5,
                (false, false) => 15.0,
            };
            if load >= FILL * lines {
                sum += ns / (FILL * lines) as f64;
            }
        }
        sum
    }

    #[test]
    fn sizes_are_told_whatever_is_replaced_and_wherever_pages_lie() {
        let real = 256 << 10;
        for by_age in [false, true] {
            for guess in [0.8, 0.9, 1.0, 1.15].map(|off| (off * real as f64) as u64) {
                let mut random = Random(guess);
                let time = |bytes: usize| {
                    let mut all: Vec<f64> = (0..9)
                        .map(|_| simulated([16 << 10, real], by_age, bytes, &mut random))
                        .collect();
                    (bytes as f64, sample::median(&mut all))
                };
                let times: Vec<(f64, f64)> =
                    sizes(guess, usize::MAX).into_iter().map(time).collect();
                let off = told(&times, guess).unwrap() as f64 / real as f64;
                assert!(
                    (0.9..=1.1).contains(&off),
                    "{off} by age: {by_age}, {times:?}"
                );
            }
        }
    }

    #[test]
    fn lines_that_do_not_meet_nearby_tell_nothing() {
        let at = |ns: fn(f64) -> f64| -> Vec<(f64, f64)> {
            let sizes = sizes(1 << 20, usize::MAX).into_iter();
            sizes
                .map(|bytes| (bytes as f64, ns(bytes as f64)))
                .collect()
        };
        assert_eq!(told(&at(|_| 5.0), 1 << 20), None);
        // Noise: memory is not faster than a cache.
        assert_eq!(told(&at(|bytes| 5.0 + 1e6 / bytes), 1 << 20), None);
        let far = |bytes: f64| {
            if bytes < 9e5 {
                5.0
            } else {
                15.0 - 10.0 * 9e4 / bytes
            }
        };
        assert_eq!(told(&at(far), 1 << 20), None);
        let near = |bytes: f64| {
            if bytes < 9e5 {
                5.0
            } else {
                15.0 - 10.0 * 1048576.0 / bytes
            }
        };
        assert_eq!(told(&at(near), 1 << 20), Some(1 << 20));
    }

    #[test]
    fn what_leaves_no_room_for_both_lines_is_not_measured() {
        let machine = Machine::read(&Root::default()).unwrap();
        let wish = Wish {
            bytes: 1 << 20,
            pages: Pages::Small,
            home: Home::Here,
        };
        let chain = Chain::new(&machine, &wish, Layout::LOCAL).unwrap();
        assert_eq!(capacity(&chain, 1 << 20, None).unwrap(), None);
        assert_eq!(capacity(&chain, 64 << 10, Some(128 << 10)).unwrap(), None);
        // Whatever it says of a real one, it says from readings inside the buffer.
        capacity(&chain, 64 << 10, None).unwrap();
    }
}
