//! `probe PART COUNT`: does one part of the hot path COUNT times, for `cargo xtask icount`.
#![forbid(unsafe_code)]

use memory::kernel::{Isa, Pass};
use std::hint::black_box;
use std::process::ExitCode;
use sys::area::{Area, Pages};
use workload::{Batch, Direction, FileRegion, Spec, generator};

/// Parts that can be run alone.
type Part = (&'static str, fn(u64));

const PARTS: [Part; 5] = [
    ("histogram-add", histogram),
    ("offsets-ascending", |n| offsets(Direction::Read, true, n)),
    ("offsets-uniform", |n| offsets(Direction::RandRead, true, n)),
    ("offsets-map", |n| offsets(Direction::RandRead, false, n)),
    ("kernels", kernels),
];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let part = words.first().and_then(|name| {
        let part = PARTS.iter().find(|(known, _)| known == name);
        part.map(|(_, run)| run)
    });
    let count = words.get(1).and_then(|word| word.parse().ok());
    let (Some(run), Some(count)) = (part, count) else {
        eprintln!("usage: probe PART COUNT");
        return ExitCode::FAILURE;
    };
    run(count);
    ExitCode::SUCCESS
}

/// Latencies from 1 us to 1 ms into one class with bins.
fn histogram(count: u64) {
    let mut latency = measure::Latency::with_histogram();
    let mut value = 0u64;
    for _ in 0..count {
        // A Weyl sequence: spread evenly, next to free.
        value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
        latency.add(black_box(1000 + (value >> 44)), 1);
    }
    black_box(&latency);
}

/// Requests of 4 KiB in 64 GiB, by the batch.
fn offsets(direction: Direction, norandommap: bool, count: u64) {
    let spec = Spec {
        direction,
        norandommap,
        time_based: true,
        files: vec![FileRegion::new(0, 64 << 30)],
        ..Spec::default()
    };
    let mut fill = generator(&spec).expect("a plain spec");
    let mut batch = Batch::default();
    let mut left = count;
    while left > 0 {
        let made = fill.fill(&mut batch, Batch::CAPACITY);
        assert!(made > 0, "a region of 64 GiB outlasts the probe");
        black_box(&batch);
        left = left.saturating_sub(made as u64);
    }
}

/// Every memory kernel that valgrind can run, `count` times over a small area; says which, and the
/// loads and stores that each declares.
fn kernels(count: u64) {
    let area = Area::map(1 << 18, Pages::Base).expect("a quarter of a mebibyte");
    for kernel in memory::kernel::all().filter(|kernel| kernel.isa.supported()) {
        if kernel.isa == Isa::Avx512 {
            continue;
        }
        let mut pass = Pass::new(kernel, area.bytes(), 512).expect("a kernel that fits");
        for _ in 0..count {
            let bytes = counted_pass(&mut pass, &area);
            let traffic = kernel.op.traffic();
            let lines = bytes / traffic.lines() as u64 / memory::kernel::LINE as u64;
            let each = lines * (kernel.isa.touched() / kernel.isa.width()) as u64;
            let (loads, stores) = (traffic.loads as u64, traffic.stores as u64);
            println!("{} {} {}", kernel.name(), each * loads, each * stores);
        }
    }
}

/// The profiler counts from the start of this function to its end.
#[inline(never)]
fn counted_pass(pass: &mut Pass, area: &Area) -> u64 {
    pass.advance(area, usize::MAX, 0)
}
