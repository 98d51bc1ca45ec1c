//! Several files, clones, seeds, and further passes.

use crate::support::{assert_same, fio_clones, ours, region};
use crate::{Cases, MIB, random};
use units::PerDdir;
use workload::{BlockSize, Direction, FileService, FileServiceKind, FioRules, Seed, Spec};

#[test]
fn several_files() {
    let mut cases = Cases::default();
    let service = |kind, requests| FileService { kind, requests };
    for (name, kind) in [
        ("roundrobin", FileServiceKind::RoundRobin),
        ("sequential", FileServiceKind::Sequential),
        ("random", FileServiceKind::Random),
    ] {
        for (rw, direction) in [
            ("randread", Direction::RandRead),
            ("write", Direction::Write),
            ("randrw", Direction::RandReadWrite),
            ("rw", Direction::ReadWrite),
        ] {
            for n in [1, 3] {
                let spec = Spec {
                    direction,
                    files: vec![region(0, 3 * MIB); 4],
                    size: 12 * MIB,
                    file_service: service(kind, n),
                    ..Spec::default()
                };
                let args = format!("--rw={rw} --size=12m --nrfiles=4");
                cases.add(&format!("{args} --file_service_type={name}:{n}"), &spec);
                if kind != FileServiceKind::Random {
                    let limited = Spec {
                        open_files: 2,
                        ..spec
                    };
                    let args = format!("{args} --openfiles=2");
                    cases.add(&format!("{args} --file_service_type={name}:{n}"), &limited);
                }
            }
        }
    }
    cases.compare();
}

#[test]
fn clones_and_seeds() {
    let mut cases = Cases::default();
    for (args, change) in [
        ("--rw=randrw --size=4m", None),
        (
            "--rw=randrw --size=4m --randrepeat=0 --randseed=1234",
            Some((1234, false, false)),
        ),
        (
            "--rw=randrw --size=4m --allrandrepeat=1",
            Some((0x89, true, true)),
        ),
    ] {
        let list: Vec<&str> = args.split(' ').collect();
        for (clone, rows) in fio_clones(&list, 3).into_iter().enumerate() {
            let mut spec = random(Direction::RandReadWrite, 4 * MIB);
            // fio numbers the files of the clones downwards.
            spec.thread_number = [1, 3, 2][clone];
            if let Some((seed, repeat, all)) = change {
                spec.seed = Seed::Fixed(seed);
                spec.randseed_given = !repeat;
                spec.randrepeat = repeat;
                spec.all_rand_repeat = all;
            }
            assert_same(
                &format!("{args}, clone {clone}"),
                &rows,
                &ours(&spec, 1_000_000),
            );
        }
    }
    for seed in [0, 1, 42, 0xdead_beef_cafe] {
        let spec = Spec {
            seed: Seed::Fixed(seed),
            randseed_given: true,
            norandommap: true,
            block: PerDdir::splat(BlockSize::range(4096, 16384)),
            ..random(Direction::RandReadWrite, 4 * MIB)
        };
        let args =
            format!("--rw=randrw --size=4m --norandommap --bsrange=4k-16k --randseed={seed}");
        cases.add(&args, &spec);
        let spec = Spec {
            randrepeat: false,
            ..spec
        };
        cases.add(&format!("{args} --randrepeat=0"), &spec);
    }
    cases.compare();
}

#[test]
fn further_passes() {
    let mut cases = Cases::default();
    let modes = [
        ("randread", Direction::RandRead),
        ("randrw", Direction::RandReadWrite),
        ("read", Direction::Read),
        ("rw", Direction::ReadWrite),
        ("trimwrite", Direction::TrimWrite),
    ];
    for (rw, direction) in modes {
        for (files, queued) in [(1u64, false), (2, false), (1, true), (2, true)] {
            let size = files << 19;
            let spec = Spec {
                direction,
                files: vec![region(0, 512 << 10); files as usize],
                size,
                loops: 3,
                queued,
                ..Spec::default()
            };
            if queued && direction == Direction::TrimWrite {
                continue;
            }
            let engine = if queued { "libaio --iodepth=4" } else { "null" };
            let args = format!("--rw={rw} --size={size} --nrfiles={files} --ioengine={engine}");
            cases.add(&format!("{args} --loops=3"), &spec);
            let seeded = Spec {
                randseed_given: true,
                seed: Seed::Fixed(5),
                ..spec.clone()
            };
            cases.add(&format!("{args} --loops=3 --randseed=5"), &seeded);
            let free = Spec {
                norandommap: true,
                ..spec.clone()
            };
            cases.add(&format!("{args} --loops=3 --norandommap"), &free);
            let more = Spec {
                loops: 1,
                io_size: size * 3 + 8192,
                ..spec.clone()
            };
            cases.add(&format!("{args} --io_size={}", more.io_size), &more);
            let timed = Spec {
                time_based: true,
                loops: 1,
                ..spec
            };
            let args = format!("{args} --time_based --runtime=1 --thinktime=100");
            cases.add_first(&args, &timed, 2000);
        }
    }
    cases.compare();
}

/// Later versions let offsets follow the seed, as 3.33 does once `randrepeat` is off.
#[test]
fn rules_of_later_versions_where_3_33_can_show_them() {
    let mut cases = Cases::default();
    for seed in [0x89, 7] {
        let spec = Spec {
            rules: FioRules::V3_42,
            seed: Seed::Fixed(seed),
            block: PerDdir::splat(BlockSize::range(4096, 16384)),
            ..random(Direction::RandReadWrite, 4 * MIB)
        };
        let args = "--rw=randrw --size=4m --bsrange=4k-16k";
        cases.add(&format!("{args} --randrepeat=0 --randseed={seed}"), &spec);
    }
    cases.compare();
}
