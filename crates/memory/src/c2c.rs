//! How long a line takes from the cache of one core to another's.
//!
//! Two different things go by that name. In a *round trip* both cores write one line by turns;
//! half of it is one way: a store that becomes visible, seen by a core that spins on it. In a
//! *hand-over* one core prepares many lines in its own cache, changed (the reader then finds them
//! modified: HITM) or only read (clean: HIT), and the other loads them dependently; what is told
//! is the time of one load.
//!
//! Either depends on which slice of the cache looks after the line and where its memory is at
//! home, so that a round trip is measured on several lines of several pages and told as their
//! median and their fastest. Lines of a hand-over lie 256 bytes apart, because prefetchers bring
//! neighbours along.

use crate::chase::Chain;
use crate::error::Error;
use crate::latency::Sampling;
use crate::layout::Layout;
use crate::machine::Machine;
use crate::place::{Buffer, Home, Pages, Placement, Wish, on_cpu, pin};
use crate::sample::{Better, Reading, collect, median};
use crate::watch::{HostWatch, ThreadWatch};
use result::memory::{CoreToCore, Figure, LineState, Transfer};
use std::hint::spin_loop;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::Duration;
use sys::area::Area;
use sys::clock::monotonic_raw_ns;

/// Lines of a round trip's measurement, each on a page of its own.
pub const LINES: usize = 8;
/// Bytes between the lines: a page and a line, so that they differ in both.
const LINE_STEP: usize = 4096 + 64;
/// Round trips between two looks at the clock: some 30 us, a thousand times what a look may be
/// off. The median of such batches forgives the slices of time that something else took.
const ROUNDS: u64 = 200;
/// Looks for an answer after which the other side is taken not to run: some tenths of a
/// millisecond, a thousand transfers.
const PATIENCE: u32 = 10_000;
/// Bytes between the lines of a hand-over.
const STRIDE: usize = 256;
/// The window of a hand-over unless said otherwise: fits the second cache of most processors.
pub const WINDOW_BYTES: u64 = 2_000 << 10;
/// What the half of a round trip and a clean load are, in words for reports.
pub const DEFINITION: &str = "modified: one way, half of a round trip of a line that both write \
                              by turns; clean: one load of a line that the owner has only read";

/// Two CPUs and where the memory between them is at home.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Has the lines first.
    pub writer: u32,
    /// Takes them.
    pub reader: u32,
    /// The memory is on the writer's node, else on the reader's.
    pub home_at_writer: bool,
}

impl Pair {
    fn check(&self, machine: &Machine) -> Result<(), Error> {
        machine.check_cpu(self.writer)?;
        machine.check_cpu(self.reader)?;
        if self.writer == self.reader {
            return Err(Error::refused(format!(
                "a transfer needs two CPUs; writer and reader are both CPU {}",
                self.writer
            )));
        }
        Ok(())
    }

    fn home(&self) -> Home {
        Home::Cpu(match self.home_at_writer {
            true => self.writer,
            false => self.reader,
        })
    }
}

/// Half a round trip between two CPUs, over [`LINES`] lines.
///
/// # Errors
/// The CPUs are the same or may not be used, or there is no memory.
pub fn round_trip(machine: &Machine, pair: Pair, how: &Sampling) -> Result<Transfer, Error> {
    pair.check(machine)?;
    let wish = Wish {
        bytes: (LINES * LINE_STEP) as u64,
        pages: Pages::Small,
        home: pair.home(),
    };
    let buffer = Buffer::new(machine, &wish)?;
    // Which line is in play; LINES when it is over.
    let line = AtomicUsize::new(0);
    let each_sample = how.sample / LINES as u32;
    let (area, line) = (buffer.area(), &line);
    let (ns, by_line) = beside(
        pair.reader,
        || answer(area, line),
        || line.store(LINES, Ordering::Release),
        || {
            pin(pair.writer)?;
            let mut by_line: Vec<Vec<f64>> = vec![Vec::new(); LINES];
            let ns = collect(&how.rule, Better::Lower, || {
                let (host, thread) = (HostWatch::start(), ThreadWatch::start());
                let halves: Vec<f64> = (0..LINES)
                    .map(|number| {
                        line.store(number, Ordering::Release);
                        half_trip(area, number, each_sample)
                    })
                    .collect();
                for (all, &half) in by_line.iter_mut().zip(&halves) {
                    all.push(half);
                }
                Ok::<_, Error>(Reading {
                    value: median(&mut halves.clone()),
                    disturbed: host.stop(&[thread.stop()]),
                })
            })?;
            Ok((ns, by_line))
        },
    )?;
    let lines = by_line.into_iter().map(|mut all| median(&mut all));
    Ok(transfer(
        pair,
        LineState::Modified,
        ns,
        buffer.placement(),
        lines.collect(),
    ))
}

/// Time of half a round trip of one line, ns: the median of many batches. A batch in which the
/// other side does not answer for long ends early, and counts only if there is no other.
fn half_trip(area: &Area, number: usize, sample: Duration) -> f64 {
    let word = area.word(number * LINE_STEP);
    let mut value = word.load(Ordering::Acquire);
    let begun = monotonic_raw_ns();
    let (mut last, mut halves, mut broken) = (begun, Vec::new(), Vec::new());
    loop {
        let (mut rounds, mut looks) = (0, 0);
        while rounds < ROUNDS && looks < PATIENCE {
            value += 1;
            word.store(value, Ordering::Release);
            value += 1;
            looks = 0;
            while word.load(Ordering::Acquire) != value {
                spin_loop();
                looks += 1;
            }
            rounds += 1;
        }
        let now = monotonic_raw_ns();
        let half_ns = (now - last) as f64 / (2 * rounds) as f64;
        match looks < PATIENCE {
            true => halves.push(half_ns),
            false => broken.push(half_ns),
        }
        last = now;
        if now - begun >= sample.as_nanos() as u64 {
            return median(if halves.is_empty() {
                &mut broken
            } else {
                &mut halves
            });
        }
    }
}

/// The other side: makes every odd value even.
fn answer(area: &Area, line: &AtomicUsize) {
    loop {
        let number = line.load(Ordering::Acquire);
        if number >= LINES {
            return;
        }
        let word = area.word(number * LINE_STEP);
        // Looks up rarely whether another line is in play: that line is shared and near.
        for _ in 0..64 {
            let value = word.load(Ordering::Acquire);
            if value % 2 == 1 {
                word.store(value + 1, Ordering::Release);
            }
            spin_loop();
        }
    }
}

/// A hand-over of many lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HandOver {
    /// Who, and the memory's home.
    pub pair: Pair,
    /// What the writer does with the lines: changes them, or reads them only.
    pub state: LineState,
    /// Bytes in which the lines lie; what fits the writer's second cache stays there.
    pub window_bytes: u64,
    /// Bytes that the writer reads afterwards, which push the lines outwards.
    pub writer_extra_bytes: u64,
    /// Bytes that the reader reads before.
    pub reader_extra_bytes: u64,
    /// A third CPU that reads the lines after the writer and so shares them.
    pub third: Option<u32>,
    /// The buffer's pages.
    pub pages: Pages,
}

impl HandOver {
    /// The usual window, nothing besides.
    pub fn new(pair: Pair, state: LineState) -> HandOver {
        HandOver {
            pair,
            state,
            window_bytes: WINDOW_BYTES,
            writer_extra_bytes: 0,
            reader_extra_bytes: 0,
            third: None,
            pages: Pages::Large,
        }
    }
}

/// Whose turn it is.
const READER: u32 = 0;
const WRITER: u32 = 1;
const THIRD: u32 = 2;
const OVER: u32 = 3;

/// Mean time of the reader's loads of lines that the writer has prepared.
///
/// # Errors
/// The CPUs coincide or may not be used, the window holds no line, or there is no memory.
pub fn hand_over(machine: &Machine, wanted: &HandOver, how: &Sampling) -> Result<Transfer, Error> {
    let pair = wanted.pair;
    pair.check(machine)?;
    if let Some(third) = wanted.third {
        machine.check_cpu(third)?;
        if third == pair.writer || third == pair.reader {
            return Err(Error::refused(format!(
                "the third CPU of a transfer is neither writer nor reader; it is CPU {third}"
            )));
        }
    }
    let window = (wanted.window_bytes as usize) / STRIDE * STRIDE;
    if window < 64 * STRIDE {
        return Err(Error::refused(format!(
            "a window of {} bytes holds too few lines; it has to be {} or more",
            wanted.window_bytes,
            64 * STRIDE
        )));
    }
    let wish = Wish {
        bytes: window as u64,
        pages: wanted.pages,
        home: pair.home(),
    };
    let layout = Layout::Window {
        stride: STRIDE,
        window,
    };
    let mut chain = Chain::of(Buffer::new(machine, &wish)?, layout)?;
    chain.relink_first(layout, window, window / STRIDE)?;
    let got = chain.placement().clone();
    let ring = chain.ring();
    let extra = |cpu: u32, bytes: u64| {
        let wish = Wish {
            bytes,
            pages: wanted.pages,
            home: Home::Cpu(cpu),
        };
        (bytes > 0).then(|| Buffer::new(machine, &wish)).transpose()
    };
    let writer_extra = extra(pair.writer, wanted.writer_extra_bytes)?;
    let reader_extra = extra(pair.reader, wanted.reader_extra_bytes)?;
    let turn = &AtomicU32::new(READER);
    let after_writer = if wanted.third.is_some() {
        THIRD
    } else {
        READER
    };
    let prepare = || {
        while let Some(()) = wait_for(turn, WRITER) {
            match wanted.state {
                LineState::Modified => ring.dirty(),
                LineState::Clean => {
                    ring.flush();
                    ring.read();
                }
            }
            read(writer_extra.as_ref());
            turn.store(after_writer, Ordering::Release);
        }
    };
    let share = || {
        while let Some(()) = wait_for(turn, THIRD) {
            ring.read();
            turn.store(READER, Ordering::Release);
        }
    };
    let end = || turn.store(OVER, Ordering::Release);
    let measure = || {
        pin(pair.reader)?;
        let cells = ring.cells();
        collect(&how.rule, Better::Lower, || {
            let (host, thread) = (HostWatch::start(), ThreadWatch::start());
            let mut passes = Vec::new();
            let begun = monotonic_raw_ns();
            while passes.is_empty() || monotonic_raw_ns() - begun < how.sample.as_nanos() as u64 {
                turn.store(WRITER, Ordering::Release);
                while turn.load(Ordering::Acquire) != READER {
                    spin_loop();
                }
                read(reader_extra.as_ref());
                ring.rewind();
                // Short of once around: the loop rounds up, and lines seen twice are near.
                let wanted = cells - cells % 16;
                let from = monotonic_raw_ns();
                let loads = ring.follow(wanted);
                passes.push((monotonic_raw_ns() - from) as f64 / loads as f64);
            }
            Ok::<_, Error>(Reading {
                value: median(&mut passes),
                disturbed: host.stop(&[thread.stop()]),
            })
        })
    };
    let ns = match wanted.third {
        None => beside(pair.writer, prepare, end, measure)?,
        Some(third) => beside(pair.writer, prepare, end, || {
            // The inner end also lets the writer go; the outer one repeats it.
            beside(third, share, end, measure)
        })?,
    };
    let lines = vec![ns.best; ring.cells() as usize];
    Ok(transfer(pair, wanted.state, ns, &got, lines))
}

/// Waits for a turn; `None` when it is all over.
fn wait_for(turn: &AtomicU32, own: u32) -> Option<()> {
    loop {
        match turn.load(Ordering::Acquire) {
            OVER => return None,
            now if now == own => return Some(()),
            _ => spin_loop(),
        }
    }
}

/// Loads every line of a buffer.
fn read(buffer: Option<&Buffer>) {
    let Some(buffer) = buffer else { return };
    let mut sum = 0u64;
    for offset in (0..buffer.area().bytes()).step_by(64) {
        sum = sum.wrapping_add(buffer.area().load(offset));
    }
    std::hint::black_box(sum);
}

/// Runs `work` in the calling thread and `other` beside it, pinned to `cpu`, until `end`. The
/// calling thread gets its affinity back.
fn beside<T>(
    cpu: u32,
    other: impl FnOnce() + Send,
    end: impl Fn(),
    work: impl FnOnce() -> Result<T, Error>,
) -> Result<T, Error> {
    let before = sys::process::affinity().map_err(Error::system("the CPU affinity"))?;
    /// Ends the other side also when `work` panics.
    struct End<F: Fn()>(F);
    impl<F: Fn()> Drop for End<F> {
        fn drop(&mut self) {
            (self.0)();
        }
    }
    let done = std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            pin(cpu)?;
            other();
            Ok::<_, Error>(())
        });
        let done = {
            let _end = End(end);
            // Refused pins would leave `work` waiting for an answer for ever.
            on_cpu(cpu, || ()).and_then(|()| work())
        };
        match thread.join() {
            Ok(joined) => joined.and(done),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    });
    sys::process::set_affinity(&before).map_err(Error::system("the CPU affinity"))?;
    done
}

fn transfer(
    pair: Pair,
    state: LineState,
    ns: Figure,
    got: &Placement,
    lines: Vec<f64>,
) -> Transfer {
    Transfer {
        writer: pair.writer,
        reader: pair.reader,
        state,
        home: got.nodes.first().map(|(node, _)| *node),
        best_line_ns: lines.iter().copied().fold(f64::INFINITY, f64::min),
        lines: lines.len(),
        ns,
    }
}

/// Every pair of `cpus` both ways: half round trips, and loads of clean lines; see
/// [`DEFINITION`]. Where the two are on different nodes, with the memory at home on either.
///
/// # Errors
/// Fewer than two CPUs, or those of [`round_trip`].
pub fn matrix(machine: &Machine, cpus: &[u32], how: &Sampling) -> Result<CoreToCore, Error> {
    if cpus.len() < 2 {
        return Err(Error::refused(
            "transfers between cores need two CPUs, and this process may use one",
        ));
    }
    let mut pairs = Vec::new();
    // The window stays well inside the second cache, beside what else is there.
    let window_bytes = machine.cache_bytes(2).map_or(256 << 10, |bytes| bytes / 2);
    for &writer in cpus {
        for &reader in cpus.iter().filter(|&&reader| reader != writer) {
            let homes: &[bool] = match machine.node_of(writer) == machine.node_of(reader) {
                true => &[true],
                false => &[true, false],
            };
            for &home_at_writer in homes {
                let pair = Pair {
                    writer,
                    reader,
                    home_at_writer,
                };
                pairs.push(round_trip(machine, pair, how)?);
                let clean = HandOver {
                    window_bytes,
                    ..HandOver::new(pair, LineState::Clean)
                };
                pairs.push(hand_over(machine, &clean, how)?);
            }
        }
    }
    Ok(CoreToCore {
        cpus: cpus.to_vec(),
        definition: DEFINITION.to_owned(),
        pairs,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Rule;
    use host::Root;

    fn quick() -> Sampling {
        Sampling {
            rule: Rule {
                samples: 2,
                warm_up: 0,
                cap: Duration::from_millis(50),
                ..Rule::default()
            },
            sample: Duration::from_millis(1),
        }
    }

    fn pair(machine: &Machine) -> Option<Pair> {
        Some(Pair {
            writer: machine.cpus.first()?.id,
            reader: machine.cpus.get(1)?.id,
            home_at_writer: true,
        })
    }

    #[test]
    fn a_transfer_takes_longer_than_a_hit() {
        let machine = Machine::read(&Root::default()).unwrap();
        let Some(pair) = pair(&machine) else { return };
        let before = sys::process::affinity().unwrap();
        let trip = round_trip(&machine, pair, &quick()).unwrap();
        assert_eq!((trip.state, trip.lines), (LineState::Modified, LINES));
        assert!(
            trip.best_line_ns > 2.0 && trip.best_line_ns <= trip.ns.median * 1.5,
            "{trip:?}"
        );
        for state in [LineState::Modified, LineState::Clean] {
            let over = HandOver {
                window_bytes: 256 << 10,
                ..HandOver::new(pair, state)
            };
            let over = hand_over(&machine, &over, &quick()).unwrap();
            assert_eq!((over.state, over.lines), (state, 1024));
            // A hit in the first cache is some 5 cycles.
            assert!(over.ns.best > 4.0, "{over:?}");
        }
        assert_eq!(sys::process::affinity().unwrap(), before);
    }

    #[test]
    fn every_ordered_pair_has_both_states() {
        let machine = Machine::read(&Root::default()).unwrap();
        let cpus: Vec<u32> = machine.cpus.iter().take(2).map(|cpu| cpu.id).collect();
        let one = matrix(&machine, &cpus[..1], &quick())
            .unwrap_err()
            .to_string();
        assert!(one.contains("need two CPUs"), "{one}");
        if let [a, b] = cpus[..] {
            let all = matrix(&machine, &cpus, &quick()).unwrap();
            let ends: Vec<(u32, u32)> = all.pairs.iter().map(|p| (p.writer, p.reader)).collect();
            let clean = all.pairs.iter().filter(|p| p.state == LineState::Clean);
            assert!(ends.contains(&(a, b)) && ends.contains(&(b, a)));
            assert_eq!(clean.count() * 2, all.pairs.len());
        }
    }

    #[test]
    fn impossible_transfers_are_refused() {
        let machine = Machine::read(&Root::default()).unwrap();
        let cpu = machine.cpus[0].id;
        let same = Pair {
            writer: cpu,
            reader: cpu,
            home_at_writer: false,
        };
        let text = round_trip(&machine, same, &quick())
            .unwrap_err()
            .to_string();
        assert!(text.contains("needs two CPUs"), "{text}");
        let Some(pair) = pair(&machine) else { return };
        let mut over = HandOver::new(pair, LineState::Clean);
        over.window_bytes = 4096;
        let text = hand_over(&machine, &over, &quick())
            .unwrap_err()
            .to_string();
        assert!(text.contains("too few lines"), "{text}");
        over = HandOver::new(pair, LineState::Clean);
        over.third = Some(pair.writer);
        let text = hand_over(&machine, &over, &quick())
            .unwrap_err()
            .to_string();
        assert!(text.contains("neither writer nor reader"), "{text}");
    }
}
