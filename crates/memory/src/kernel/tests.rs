//! Every loop against scalar arithmetic, and the geometry against its promises.

use super::*;
use crate::sample::Random;
use sys::area::{Area, Pages};

fn area(bytes: usize) -> Area {
    let area = Area::map(bytes, Pages::Base).unwrap();
    area.populate().unwrap();
    area
}

fn words(area: &Area) -> Vec<u64> {
    (0..area.bytes())
        .step_by(8)
        .map(|at| area.load(at))
        .collect()
}

/// Ordinary numbers: sums and products are compared bit by bit, because the loops multiply and
/// add in two roundings as Rust does.
fn fill_randomly(area: &Area, seed: u64) -> Vec<f64> {
    let mut random = Random(seed);
    let mut number = || 1.0 + random.below(1 << 20) as f64 / 1024.0;
    let numbers: Vec<f64> = (0..area.bytes() / 8).map(|_| number()).collect();
    for (index, number) in numbers.iter().enumerate() {
        area.store(index * 8, number.to_bits());
    }
    numbers
}

/// What a full pass must leave behind.
fn expected(pass: &Pass, before: &[f64], value: f64) -> Vec<f64> {
    let (kernel, layout) = (pass.kernel(), pass.layout());
    let mut after = before.to_vec();
    let groups = kernel.streams / kernel.op.traffic().lines();
    let words = layout.steps * kernel.lines * LINE / 8;
    for stream in 0..kernel.written() {
        for word in (0..words).filter(|word| word * 8 % LINE < kernel.isa.touched()) {
            let of = |array: usize| before[(array * groups + stream) * layout.stride / 8 + word];
            after[stream * layout.stride / 8 + word] = match kernel.op {
                Op::Read => unreachable!("reads write nothing"),
                Op::Write | Op::WriteNt | Op::Mix { .. } | Op::MixNt { .. } => value,
                Op::Copy | Op::CopyNt => of(1),
                Op::Scale | Op::ScaleNt => of(1) * value,
                Op::Add | Op::AddNt => of(1) + of(2),
                Op::Triad | Op::TriadNt => of(1) + of(2) * value,
            };
        }
    }
    after
}

fn runnable() -> impl Iterator<Item = &'static Kernel> {
    all().filter(|kernel| kernel.isa.supported())
}

#[test]
fn loops_equal_scalar_results_on_random_data_and_sizes() {
    let mut random = Random(7);
    let mut tested = 0;
    for kernel in runnable().filter(|kernel| !kernel.random) {
        let bytes = kernel.bytes_per_step() + random.below(96 * 1024);
        let memory = area(bytes);
        let before = fill_randomly(&memory, random.bits());
        let value = 0.5 + random.below(64) as f64;
        let mut pass = Pass::new(kernel, bytes, 1024).unwrap().with_value(value);
        // In pieces of random length, to the end exactly.
        let whole = (pass.layout().steps * kernel.bytes_per_step()) as u64;
        let mut moved = 0;
        while moved < whole {
            moved += pass.advance(&memory, 1 + random.below(40_000), 0);
        }
        assert_eq!(moved, whole, "{}", kernel.name());
        let want = expected(&pass, &before, value);
        let mut pairs = words(&memory).into_iter().map(f64::from_bits).zip(want);
        let wrong = pairs.position(|(got, want)| got != want);
        assert_eq!(wrong, None, "{}: word of {}", kernel.name(), before.len());
        tested += 1;
    }
    assert!(tested > 100);
}

#[test]
fn every_destination_line_changes_and_no_other() {
    for kernel in runnable().filter(|kernel| !kernel.random) {
        // Large enough for streams to be kept off page multiples.
        let bytes = kernel.streams * 100 * 1024;
        let memory = area(bytes);
        let mut pass = Pass::new(kernel, bytes, 512).unwrap().with_value(3.0);
        let layout = pass.layout();
        let (written, covered) = (kernel.written(), layout.steps * kernel.lines * LINE);
        // Sources differ from destinations in every word.
        for at in (0..memory.bytes()).step_by(8) {
            let number = if at < written * layout.stride {
                7.0
            } else {
                2.0
            };
            memory.store(at, f64::to_bits(number));
        }
        let before = words(&memory);
        pass.advance(&memory, usize::MAX, 0);
        for (index, (now, then)) in words(&memory).into_iter().zip(before).enumerate() {
            let (stream, within) = (index * 8 / layout.stride, index * 8 % layout.stride);
            let touched = within % LINE < kernel.isa.touched();
            let destination = stream < written && within < covered && touched;
            assert_eq!(now != then, destination, "{} word {index}", kernel.name());
        }
    }
}

#[test]
fn geometry_stays_inside_and_leaves_little_out() {
    let mut random = Random(3);
    for kernel in all().filter(|kernel| !kernel.random) {
        for round in 0..40 {
            let bytes = kernel.bytes_per_step() + random.below(1 << (12 + round % 20));
            let layout = kernel.layout(bytes).unwrap();
            let covered = layout.steps * kernel.bytes_per_step();
            assert!(layout.steps > 0 && layout.reach <= bytes);
            assert!(layout.stride >= layout.steps * kernel.lines * LINE);
            assert!(layout.stride.is_multiple_of(LINE));
            // At most a sixteenth is spent on the distance, and a step at the end.
            let left_out = kernel.bytes_per_step() + bytes / 16;
            assert!(covered + left_out >= bytes, "{} {bytes}", kernel.name());
            if kernel.streams > 1 && bytes > 64 * 4096 * kernel.streams {
                assert!(!layout.stride.is_multiple_of(4096), "{}", kernel.name());
            }
        }
        let error = kernel.layout(kernel.bytes_per_step() - 1).unwrap_err();
        assert!(matches!(error, Error::TooSmall { .. }));
    }
}

/// Flushed lines hold what was stored, wherever the pieces end.
#[test]
fn flushes_change_nothing() {
    let mut random = Random(11);
    for kernel in runnable().filter(|kernel| !kernel.random && kernel.written() > 0) {
        let memory = area(kernel.bytes_per_step() * 21 + 4096);
        let before = fill_randomly(&memory, random.bits());
        let mut pass = Pass::new(kernel, memory.bytes(), 512)
            .and_then(Pass::flushing)
            .unwrap()
            .with_value(3.5);
        let all = (pass.layout().steps * kernel.bytes_per_step()) as u64;
        let mut moved = 0;
        while moved < all {
            moved += pass.advance(&memory, 1 + random.below(40_000), 0);
        }
        let after: Vec<u64> = expected(&pass, &before, 3.5)
            .into_iter()
            .map(f64::to_bits)
            .collect();
        assert!(words(&memory) == after, "{}", kernel.name());
    }
    let read = candidates(Op::Read, None).next().unwrap();
    let refused = Pass::new(read, 1 << 16, 0).and_then(Pass::flushing);
    assert!(matches!(refused, Err(Error::NothingToFlush(_))));
}

/// A random loop in windows stores to each window before it comes to the next.
#[test]
fn random_loops_keep_to_their_window() {
    for kernel in runnable().filter(|kernel| kernel.random && kernel.op == Op::Write) {
        let (lines, windows) = (48, 5);
        // The last 16 lines are no whole window and are left out.
        let memory = area(256 * LINE);
        let mut pass = Pass::new(kernel, memory.bytes(), 0).unwrap().within(lines);
        for window in 0..windows {
            pass.advance(&memory, lines * LINE, 0);
            let stored = |window: usize| {
                let lines = window * lines..(window + 1) * lines;
                lines.filter(|line| memory.load(line * LINE) != 0).count()
            };
            assert!(stored(window) > 0, "{} {window}", kernel.name());
            let later: usize = (window + 1..windows).map(stored).sum();
            assert_eq!(later, 0, "{} {window}", kernel.name());
        }
        pass.advance(&memory, lines * LINE, 0);
        let beyond = (windows * lines..memory.bytes() / LINE).any(|l| memory.load(l * LINE) != 0);
        assert!(!beyond, "{}", kernel.name());
    }
}

#[test]
fn random_loops_stay_inside_and_reach_everywhere() {
    for kernel in runnable().filter(|kernel| kernel.random) {
        let (lines, bytes) = (257, 257 * LINE);
        let memory = area(bytes);
        let mut pass = Pass::new(kernel, bytes, 0).unwrap();
        for _ in 0..400 {
            let moved = pass.advance(&memory, 1024, 0);
            assert_eq!(moved, 1024);
        }
        let words = words(&memory);
        let lines_of = words.chunks(LINE / 8);
        let changed: Vec<bool> = lines_of.map(|line| line != [0; LINE / 8]).collect();
        let stores = kernel.op.traffic().stores > 0;
        assert!(
            changed[..lines].iter().all(|&line| line == stores),
            "{}",
            kernel.name()
        );
        assert!(!changed[lines..].contains(&true), "{}", kernel.name());
    }
}

#[test]
fn names_are_unique_and_counts_consistent() {
    let mut names: Vec<String> = all().map(Kernel::name).collect();
    let count = names.len();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), count);
    for kernel in all() {
        assert!(kernel.random || kernel.streams % kernel.op.traffic().lines() == 0);
        assert!(Op::ALL.contains(&kernel.op), "{}", kernel.name());
    }
    for op in Op::ALL {
        assert!(candidates(op, None).next().is_some(), "{}", op.name());
    }
}

#[test]
fn slow_passes_move_the_same_bytes() {
    let kernel = find(Op::Read, Isa::widest().unwrap(), 1, false).unwrap();
    let memory = area(1 << 16);
    let mut pass = Pass::new(kernel, 1 << 16, 0).unwrap();
    assert_eq!(pass.advance(&memory, 8192, 100), 8192);
    assert_eq!(pass.advance(&memory, 8192, 0), 8192);
    pause(0);
    pause(10);
}

#[test]
#[should_panic(expected = "aligned bytes")]
fn a_pass_for_more_than_the_area_has_panics() {
    let kernel = find(Op::Write, Isa::widest().unwrap(), 1, false).unwrap();
    let mut pass = Pass::new(kernel, 1 << 20, 0).unwrap();
    pass.advance(&area(1 << 16), 1, 0);
}

#[test]
fn filling_leaves_no_zero() {
    let memory = area(12_288);
    fill(&memory, 1.5).unwrap();
    assert!(
        words(&memory)
            .iter()
            .all(|&word| f64::from_bits(word) == 1.5)
    );
}
