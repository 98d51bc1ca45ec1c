//! Every loop against scalar arithmetic, and the geometry against its promises.

use super::*;
use crate::sample::Random;

/// Memory that begins at a line.
struct Aligned {
    memory: Vec<u8>,
    skip: usize,
    bytes: usize,
}

impl Aligned {
    fn new(bytes: usize) -> Aligned {
        let memory = vec![0u8; bytes + LINE];
        let skip = memory.as_ptr().align_offset(LINE);
        Aligned {
            memory,
            skip,
            bytes,
        }
    }

    fn bytes(&mut self) -> &mut [u8] {
        &mut self.memory[self.skip..self.skip + self.bytes]
    }

    /// Ordinary numbers: sums and products of them are exact enough to compare bit by bit,
    /// because the loops multiply and add in two roundings as Rust does.
    fn fill(&mut self, seed: u64) {
        let mut random = Random(seed);
        for word in self.bytes().chunks_exact_mut(8) {
            let number = 1.0 + random.below(1 << 20) as f64 / 1024.0;
            word.copy_from_slice(&number.to_le_bytes());
        }
    }

    fn doubles(&mut self) -> Vec<f64> {
        let words = self.bytes().chunks_exact(8);
        words
            .map(|word| f64::from_le_bytes(word.try_into().unwrap()))
            .collect()
    }
}

/// What a full pass must leave behind.
fn expected(pass: &Pass, before: &[f64], value: f64) -> Vec<f64> {
    let (kernel, layout) = (pass.kernel(), pass.layout());
    let mut after = before.to_vec();
    let groups = kernel.streams / kernel.op.traffic().lines();
    let words = layout.steps * kernel.lines * LINE / 8;
    for stream in 0..kernel.written() {
        for word in 0..words {
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
        let mut memory = Aligned::new(bytes);
        memory.fill(random.bits());
        let before = memory.doubles();
        let value = 0.5 + random.below(64) as f64;
        let mut pass = Pass::new(kernel, bytes, 1024).unwrap().with_value(value);
        let layout = pass.layout();
        // In pieces of random length, to the end exactly.
        let whole = (layout.steps * kernel.bytes_per_step()) as u64;
        let mut moved = 0;
        while moved < whole {
            moved += pass.advance(memory.bytes(), 1 + random.below(40_000), 0);
        }
        assert_eq!(moved, whole, "{}", kernel.name());
        let want = expected(&pass, &before, value);
        let got = memory.doubles();
        let wrong = got.iter().zip(&want).position(|(got, want)| got != want);
        assert_eq!(wrong, None, "{}: word of {}", kernel.name(), got.len());
        tested += 1;
    }
    assert!(tested > 100);
}

#[test]
fn every_destination_line_changes_and_no_other() {
    for kernel in runnable().filter(|kernel| !kernel.random) {
        // Large enough for streams to be kept off page multiples.
        let bytes = kernel.streams * 100 * 1024;
        let mut memory = Aligned::new(bytes);
        memory.bytes().fill(0x40);
        let mut pass = Pass::new(kernel, bytes, 512).unwrap().with_value(3.0);
        let layout = pass.layout();
        // Sources differ from destinations in every word, so that a copy changes each of them.
        let written = kernel.written();
        let end = written * layout.stride;
        if written < kernel.streams {
            memory.bytes()[end..].fill(0x3f);
        }
        let from = memory.bytes().to_vec();
        pass.advance(memory.bytes(), usize::MAX, 0);
        let covered = layout.steps * kernel.lines * LINE;
        let lines = memory
            .bytes()
            .chunks_exact(LINE)
            .zip(from.chunks_exact(LINE));
        for (number, (now, then)) in lines.enumerate() {
            let at = number * LINE;
            let (stream, within) = (at / layout.stride, at % layout.stride);
            let destination = stream < written && within < covered;
            assert_eq!(now != then, destination, "{} at {at}", kernel.name());
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

#[test]
fn random_loops_stay_inside_and_reach_everywhere() {
    for kernel in runnable().filter(|kernel| kernel.random) {
        let lines = 257;
        let mut memory = Aligned::new(lines * LINE);
        memory.bytes().fill(0x55);
        let mut pass = Pass::new(kernel, lines * LINE, 0).unwrap();
        let mut moved = 0;
        for _ in 0..400 {
            moved += pass.advance(memory.bytes(), 1024, 0);
        }
        assert_eq!(moved % kernel.bytes_per_step() as u64, 0);
        let changed = |line: &&[u8]| line.iter().any(|&byte| byte != 0x55);
        let changed = memory.bytes().chunks_exact(LINE).filter(changed).count();
        let stores = kernel.op.traffic().stores > 0;
        assert_eq!(changed, if stores { lines } else { 0 }, "{}", kernel.name());
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
fn shared_memory_is_read_only() {
    let isa = Isa::widest().unwrap();
    let mut memory = Aligned::new(1 << 16);
    let read = find(Op::Read, isa, 4, false).unwrap();
    let mut pass = Pass::new(read, 1 << 16, 0).unwrap();
    assert_eq!(pass.advance_shared(memory.bytes(), 4096, 0), 4096);
    let write = find(Op::Write, isa, 4, false).unwrap();
    let mut pass = Pass::new(write, 1 << 16, 0).unwrap();
    let refused = std::panic::AssertUnwindSafe(|| pass.advance_shared(memory.bytes(), 4096, 0));
    assert!(std::panic::catch_unwind(refused).is_err());
}

#[test]
fn slow_passes_move_the_same_bytes() {
    let kernel = find(Op::Read, Isa::widest().unwrap(), 1, false).unwrap();
    let mut memory = Aligned::new(1 << 16);
    let mut pass = Pass::new(kernel, 1 << 16, 0).unwrap();
    assert_eq!(pass.advance(memory.bytes(), 8192, 100), 8192);
    assert_eq!(pass.advance(memory.bytes(), 8192, 0), 8192);
    pause(0);
    pause(10);
}
