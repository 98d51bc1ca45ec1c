//! Block sizes and where they end.

use crate::{Cases, MIB, random};
use units::PerDdir;
use workload::{BlockSize, Direction, Generator, SizeShare, Spec};

#[test]
fn block_sizes() {
    let mut cases = Cases::default();
    let kib = |n: u64| BlockSize::fixed(n << 10);
    let each = |read, write, trim| PerDdir([read, write, trim]);
    let base = random(Direction::RandReadWrite, 16 * MIB);
    let sized = |block| Spec {
        block,
        ..base.clone()
    };
    cases.add(
        "--rw=randrw --size=16m --bs=4k,8k",
        &sized(each(kib(4), kib(8), kib(8))),
    );
    cases.add(
        "--rw=randrw --size=16m --bs=16k,4k",
        &sized(each(kib(16), kib(4), kib(4))),
    );
    let range = BlockSize::range(4096, 65536);
    cases.add(
        "--rw=randrw --size=16m --bsrange=4k-64k",
        &sized(PerDdir::splat(range.clone())),
    );
    let odd = BlockSize::range(3000, 50_000);
    cases.add(
        "--rw=randrw --size=16m --bsrange=3000-50000",
        &sized(PerDdir::splat(odd.clone())),
    );
    let unaligned = Spec {
        bs_unaligned: true,
        ..sized(PerDdir::splat(range))
    };
    cases.add(
        "--rw=randrw --size=16m --bsrange=4k-64k --bs_unaligned",
        &unaligned,
    );
    let unaligned = Spec {
        bs_unaligned: true,
        norandommap: true,
        ..unaligned
    };
    cases.add(
        "--rw=randrw --size=16m --bsrange=4k-64k --bs_unaligned --norandommap",
        &unaligned,
    );
    let sequential = Spec {
        direction: Direction::ReadWrite,
        ..sized(PerDdir::splat(odd))
    };
    cases.add("--rw=rw --size=16m --bsrange=3000-50000", &sequential);
    let seq_rand = Spec {
        bs_is_seq_rand: true,
        percentage_random: PerDdir::splat(40),
        direction: Direction::RandRead,
        ..sized(each(kib(4), kib(64), kib(64)))
    };
    cases.add(
        "--rw=randread --size=16m --bs=4k,64k --bs_is_seq_rand=1 --percentage_random=40",
        &seq_rand,
    );
    cases.compare();
}

#[test]
fn weighted_block_sizes() {
    let mut cases = Cases::default();
    let share = |kib: u64, percent| SizeShare {
        bytes: kib << 10,
        percent,
    };
    let three = BlockSize::split(vec![share(4, 60), share(16, 30), share(64, 10)]);
    let spec = Spec {
        block: PerDdir::splat(three.clone()),
        ..random(Direction::RandReadWrite, 32 * MIB)
    };
    cases.add(
        "--rw=randrw --size=32m --bssplit=4k/60:16k/30:64k/10",
        &spec,
    );
    let two = BlockSize::split(vec![share(64, 50), share(8, 50)]);
    let spec = Spec {
        block: PerDdir([three.clone(), two.clone(), two]),
        rwmix_read: 70,
        norandommap: true,
        ..spec
    };
    cases.add(
        "--rw=randrw --rwmixread=70 --size=32m --norandommap \
         --bssplit=4k/60:16k/30:64k/10,64k/50:8k/50",
        &spec,
    );
    let spec = Spec {
        block: PerDdir::splat(three),
        generator: Generator::Tausworthe64,
        ..random(Direction::RandRead, 32 * MIB)
    };
    cases.add(
        "--rw=randread --size=32m --bssplit=4k/60:16k/30:64k/10 --random_generator=tausworthe64",
        &spec,
    );
    let odd = BlockSize::split(vec![share(6, 10), share(4, 40), share(20, 50)]);
    let spec = Spec {
        block: PerDdir::splat(odd),
        direction: Direction::Write,
        ..random(Direction::RandRead, 32 * MIB)
    };
    cases.add("--rw=write --size=32m --bssplit=6k/10:4k/40:20k/50", &spec);
    cases.compare();
}

#[test]
fn block_alignment() {
    let mut cases = Cases::default();
    for (text, align) in [("512", 512), ("16k", 16384)] {
        let spec = Spec {
            block_align: PerDdir::splat(align),
            block: PerDdir::splat(BlockSize::range(4096, 32768)),
            ..random(Direction::RandWrite, 8 * MIB)
        };
        cases.add(
            &format!("--rw=randwrite --size=8m --bsrange=4k-32k --blockalign={text}"),
            &spec,
        );
        let spec = Spec {
            block: PerDdir::splat(BlockSize::fixed(4096)),
            ..spec
        };
        cases.add(
            &format!("--rw=randwrite --size=8m --blockalign={text}"),
            &spec,
        );
    }
    cases.compare();
}

#[test]
fn real_files_that_end_with_their_region() {
    let mut cases = Cases::default();
    for (rw, direction) in [
        ("randread", Direction::RandRead),
        ("read", Direction::Read),
        ("rw", Direction::ReadWrite),
    ] {
        for size in [MIB, 1_000_000] {
            let mut spec = random(direction, size);
            spec.files[0].file_size = size;
            cases.add(&format!("--rw={rw} --size={size} --ioengine=psync"), &spec);
            let spec = Spec {
                block: PerDdir::splat(BlockSize::range(4096, 20480)),
                ..spec
            };
            cases.add(
                &format!("--rw={rw} --size={size} --bsrange=4k-20k --ioengine=psync"),
                &spec,
            );
        }
    }
    cases.compare();
}
