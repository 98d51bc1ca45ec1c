//! Reads, writes, trims, their mixes, and what is put between them.

use crate::support::{one_file, ours, region};
use crate::{Cases, MIB, random};
use units::{Ddir, PerDdir};
use workload::{BlockSize, Direction, RwSequencer, Spec};

#[test]
fn random_reads_writes_and_trims_with_the_map() {
    let mut cases = Cases::default();
    for (rw, direction) in [
        ("randread", Direction::RandRead),
        ("randwrite", Direction::RandWrite),
        ("randtrim", Direction::RandTrim),
    ] {
        cases.add(
            &format!("--rw={rw} --size=16m"),
            &random(direction, 16 * MIB),
        );
    }
    // Sizes around whole map words and levels.
    for blocks in [1, 2, 63, 64, 65, 4095, 4096, 4097, 5000] {
        let args = format!("--rw=randread --size={}", blocks * 4096);
        cases.add(&args, &random(Direction::RandRead, blocks * 4096));
    }
    // A size that is no multiple of the block.
    cases.add(
        "--rw=randread --size=1000000",
        &random(Direction::RandRead, 1_000_000),
    );
    cases.compare();
}

#[test]
fn random_without_a_map() {
    let mut cases = Cases::default();
    let spec = Spec {
        norandommap: true,
        ..random(Direction::RandRead, 16 * MIB)
    };
    cases.add("--rw=randread --size=16m --norandommap", &spec);
    // Many blocks: the rounding of the product to a double shows.
    let spec = Spec {
        norandommap: true,
        number_ios: 20_000,
        block: PerDdir::splat(BlockSize::fixed(512)),
        ..random(Direction::RandRead, 1 << 40)
    };
    cases.add(
        "--rw=randread --size=1t --bs=512 --norandommap --number_ios=20000",
        &spec,
    );
    let spec = Spec {
        norandommap: true,
        io_size: 3 * MIB + 1,
        files: vec![region(8192, MIB)],
        ..random(Direction::RandWrite, MIB)
    };
    cases.add(
        "--rw=randwrite --size=1m --io_size=3145729 --offset=8k --norandommap",
        &spec,
    );
    cases.compare();
}

#[test]
fn mixes_of_reads_and_writes() {
    let mut cases = Cases::default();
    for percent in [0, 1, 30, 50, 70, 99, 100] {
        let spec = Spec {
            rwmix_read: percent,
            ..random(Direction::RandReadWrite, 8 * MIB)
        };
        cases.add(
            &format!("--rw=randrw --rwmixread={percent} --size=8m"),
            &spec,
        );
        let spec = Spec {
            direction: Direction::ReadWrite,
            ..spec
        };
        cases.add(&format!("--rw=rw --rwmixread={percent} --size=8m"), &spec);
        let spec = Spec {
            direction: Direction::RandReadWrite,
            norandommap: true,
            ..spec.clone()
        };
        cases.add(
            &format!("--rw=randrw --rwmixread={percent} --size=8m --norandommap"),
            &spec,
        );
    }
    cases.compare();
}

#[test]
fn sequential_jobs() {
    let mut cases = Cases::default();
    for (rw, direction) in [
        ("read", Direction::Read),
        ("write", Direction::Write),
        ("trim", Direction::Trim),
        ("rw", Direction::ReadWrite),
    ] {
        let spec = Spec {
            direction,
            ..one_file(16 * MIB)
        };
        cases.add(&format!("--rw={rw} --size=16m"), &spec);
        let spec = Spec {
            files: vec![region(12_288, MIB)],
            size: MIB,
            ..spec
        };
        cases.add(&format!("--rw={rw} --size=1m --offset=12k"), &spec);
        let spec = Spec {
            direction,
            io_size: 5 * MIB + 100,
            ..spec
        };
        cases.add(
            &format!("--rw={rw} --size=1m --offset=12k --io_size=5242980"),
            &spec,
        );
        let spec = Spec {
            direction,
            ..one_file(1_000_000)
        };
        cases.add(&format!("--rw={rw} --size=1000000"), &spec);
    }
    cases.compare();
}

#[test]
fn the_suffix_of_rw() {
    let mut cases = Cases::default();
    for (suffix, add) in [
        ("4k", 4096),
        ("-8k", -8192),
        ("-12k", -12288),
        ("1m", 1 << 20),
    ] {
        for offset in [0, 1 << 16] {
            let spec = Spec {
                direction: Direction::Write,
                sequence_add: add,
                files: vec![region(offset, MIB)],
                ..one_file(MIB)
            };
            cases.add(
                &format!("--rw=write:{suffix} --size=1m --offset={offset}"),
                &spec,
            );
        }
    }
    for (sequencer, kind) in [
        ("sequential", RwSequencer::Sequential),
        ("identical", RwSequencer::Identical),
    ] {
        for (rw, direction) in [
            ("randread", Direction::RandRead),
            ("randrw", Direction::RandReadWrite),
        ] {
            let spec = Spec {
                sequence_count: 8,
                rw_sequencer: kind,
                ..random(direction, 8 * MIB)
            };
            cases.add(
                &format!("--rw={rw}:8 --size=8m --rw_sequencer={sequencer}"),
                &spec,
            );
        }
    }
    cases.compare();
}

#[test]
fn trim_and_write_pairs() {
    let mut cases = Cases::default();
    for (rw, direction) in [
        ("trimwrite", Direction::TrimWrite),
        ("randtrimwrite", Direction::RandTrimWrite),
    ] {
        let spec = Spec {
            direction,
            ..one_file(4 * MIB)
        };
        cases.add(&format!("--rw={rw} --size=4m"), &spec);
        let spec = Spec {
            number_ios: 100,
            ..spec
        };
        cases.add(&format!("--rw={rw} --size=4m --number_ios=100"), &spec);
        let spec = Spec {
            block: PerDdir::splat(BlockSize::range(4096, 16384)),
            number_ios: 0,
            ..spec
        };
        cases.add(&format!("--rw={rw} --size=4m --bsrange=4k-16k"), &spec);
        let spec = Spec {
            norandommap: true,
            ..spec
        };
        cases.add(
            &format!("--rw={rw} --size=4m --bsrange=4k-16k --norandommap"),
            &spec,
        );
    }
    cases.compare();
}

#[test]
fn synchronisation_between_writes() {
    let mut cases = Cases::default();
    for (rw, direction) in [
        ("write", Direction::Write),
        ("randwrite", Direction::RandWrite),
        ("randrw", Direction::RandReadWrite),
    ] {
        let spec = Spec {
            direction,
            fsync: 3,
            ..one_file(4 * MIB)
        };
        assert!(ours(&spec, 100).iter().any(|row| row.0 == Ddir::Sync));
        cases.add(&format!("--rw={rw} --size=4m --fsync=3"), &spec);
        let spec = Spec {
            fdatasync: 4,
            sync_file_range: 6,
            ..spec
        };
        let args = format!("--rw={rw} --size=4m --fsync=3 --fdatasync=4");
        cases.add(&format!("{args} --sync_file_range=write:6"), &spec);
    }
    let spec = Spec {
        direction: Direction::RandWrite,
        fsync: 1,
        files: vec![region(0, MIB); 3],
        ..one_file(3 * MIB)
    };
    cases.add("--rw=randwrite --size=3m --nrfiles=3 --fsync=1", &spec);
    let spec = Spec {
        direction: Direction::Read,
        fsync: 1,
        ..one_file(MIB)
    };
    cases.add("--rw=read --size=1m --fsync=1", &spec);
    cases.compare();
}
