//! The sequence of requests equals that of the installed fio, request by request.

mod support;

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use support::{Row, assert_same, fio_clones, fio_log, fio_present, one_file, ours, region};
use units::{Ddir, PerDdir};
use workload::{
    BlockSize, Direction, Distribution, FileService, FileServiceKind, Generator, RwSequencer, Seed,
    SizeShare, Spec, Strided, ZoneShare, name_hash,
};

const MIB: u64 = 1 << 20;

/// Jobs to run with fio and with the generator, several at a time: fio mostly waits.
#[derive(Default)]
struct Cases(Vec<(String, Spec, usize)>);

impl Cases {
    /// A job, its options separated by blanks, and what it means.
    fn add(&mut self, args: &str, spec: &Spec) {
        self.0.push((args.to_owned(), spec.clone(), usize::MAX));
    }

    /// As [`add`](Self::add), for a job that does not end by itself.
    fn add_first(&mut self, args: &str, spec: &Spec, most: usize) {
        self.0.push((args.to_owned(), spec.clone(), most));
    }

    fn compare(self) {
        if !fio_present() {
            return;
        }
        let next = AtomicUsize::new(0);
        let work = || {
            while let Some((args, spec, most)) = self.0.get(next.fetch_add(1, Relaxed)) {
                same(args, spec, *most);
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(work);
            }
        });
    }
}

/// Compares one job; returns its requests.
fn same(args: &str, spec: &Spec, most: usize) -> Vec<Row> {
    let list: Vec<&str> = args.split(' ').collect();
    let fio = fio_log(&list, most);
    let ours = ours(
        spec,
        if most == usize::MAX {
            1_000_000
        } else {
            fio.len()
        },
    );
    assert!(!fio.is_empty(), "{args}: fio issued nothing");
    assert_same(args, &fio, &ours);
    ours
}

fn random(direction: Direction, size: u64) -> Spec {
    Spec {
        direction,
        ..one_file(size)
    }
}

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
fn the_64_bit_generator() {
    let mut cases = Cases::default();
    let spec = Spec {
        generator: Generator::Tausworthe64,
        block: PerDdir::splat(BlockSize::range(4096, 65536)),
        ..random(Direction::RandReadWrite, 16 * MIB)
    };
    cases.add(
        "--rw=randrw --size=16m --bsrange=4k-64k --random_generator=tausworthe64",
        &spec,
    );
    // Above 2^32 blocks it is chosen by itself, for the offsets only.
    let spec = Spec {
        norandommap: true,
        number_ios: 5000,
        block: PerDdir::splat(BlockSize::range(512, 4096)),
        ..random(Direction::RandRead, 1 << 42)
    };
    cases.add(
        "--rw=randread --size=4t --bsrange=512-4k --norandommap --number_ios=5000",
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
fn percentage_random() {
    let mut cases = Cases::default();
    for percent in [0, 1, 50, 99] {
        let spec = Spec {
            percentage_random: PerDdir::splat(percent),
            ..random(Direction::RandReadWrite, 8 * MIB)
        };
        cases.add(
            &format!("--rw=randrw --size=8m --percentage_random={percent}"),
            &spec,
        );
    }
    let spec = Spec {
        percentage_random: PerDdir([20, 80, 80]),
        ..random(Direction::RandReadWrite, 8 * MIB)
    };
    cases.add("--rw=randrw --size=8m --percentage_random=20,80", &spec);
    cases.compare();
}

#[test]
fn skewed_distributions() {
    let mut cases = Cases::default();
    let base = |distribution, files: u64| {
        let mut spec = Spec {
            distribution,
            ..random(Direction::RandRead, 16 * MIB)
        };
        spec.files = (0..files)
            .map(|n| {
                let mut region = region(0, 16 * MIB / files);
                region.name_hash = name_hash(format!("x.0.{n}").as_bytes());
                region
            })
            .collect();
        spec
    };
    let zipf = |theta, center| Distribution::Zipf { theta, center };
    let pareto = |h, center| Distribution::Pareto { h, center };
    let normal = |deviation, center| Distribution::Normal { deviation, center };
    for (text, distribution) in [
        ("zipf:1.2", zipf(1.2, None)),
        ("zipf:0.8", zipf(0.8, None)),
        ("zipf:1.1:0.3", zipf(1.1, Some(0.3))),
        ("pareto:0.2", pareto(0.2, None)),
        ("pareto:0.9:0.7", pareto(0.9, Some(0.7))),
        ("normal:20", normal(20.0, None)),
        ("normal:0", normal(0.0, None)),
        ("normal:5.5:0.3", normal(5.5, Some(0.3))),
        ("normal:90:0.9", normal(90.0, Some(0.9))),
    ] {
        for files in [1, 3] {
            let args = format!("--rw=randread --size=16m --nrfiles={files}");
            cases.add(
                &format!("{args} --random_distribution={text}"),
                &base(distribution.clone(), files),
            );
        }
    }
    let spec = Spec {
        randrepeat: false,
        randseed_given: true,
        seed: Seed::Fixed(9),
        ..base(zipf(1.2, None), 1)
    };
    cases.add(
        "--rw=randread --size=16m --random_distribution=zipf:1.2 --randrepeat=0 --randseed=9",
        &spec,
    );
    cases.compare();
}

#[test]
fn zoned_distributions() {
    let mut cases = Cases::default();
    let zone = |access_percent, size| ZoneShare {
        access_percent,
        size,
    };
    let zones = vec![zone(60, 10), zone(30, 20), zone(8, 30), zone(2, 40)];
    let spec = Spec {
        distribution: Distribution::Zoned(PerDdir::splat(zones)),
        ..random(Direction::RandReadWrite, 16 * MIB)
    };
    cases.add(
        "--rw=randrw --size=16m --random_distribution=zoned:60/10:30/20:8/30:2/40",
        &spec,
    );
    let zones = vec![zone(60, 4 * MIB), zone(30, 2 * MIB), zone(10, 10 * MIB)];
    let spec = Spec {
        distribution: Distribution::ZonedAbs(PerDdir::splat(zones)),
        direction: Direction::RandRead,
        ..spec
    };
    cases.add(
        "--rw=randread --size=16m --random_distribution=zoned_abs:60/4m:30/2m:10/10m",
        &spec,
    );
    cases.compare();
}

#[test]
fn the_shift_register() {
    let mut cases = Cases::default();
    for blocks in [7, 100, 4095, 4096, 5000] {
        let spec = Spec {
            generator: Generator::Lfsr,
            ..random(Direction::RandRead, blocks * 4096)
        };
        let args = format!(
            "--rw=randread --size={} --random_generator=lfsr",
            blocks * 4096
        );
        cases.add(&args, &spec);
        cases.add(&format!("{args} --loops=3"), &Spec { loops: 3, ..spec });
    }
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

#[test]
fn strided_zones() {
    let mut cases = Cases::default();
    for (rw, direction) in [
        ("read", Direction::Read),
        ("randread", Direction::RandRead),
        ("randwrite", Direction::RandWrite),
    ] {
        for (size, range, skip) in [
            (65536, 65536, 0),
            (65536, 262_144, 131_072),
            (262_144, 65536, 4096),
        ] {
            let spec = Spec {
                strided: Some(Strided { size, range, skip }),
                ..random(direction, 4 * MIB)
            };
            cases.add(
                &format!(
                    "--rw={rw} --size=4m --zonemode=strided --zonesize={size} \
                     --zonerange={range} --zoneskip={skip}"
                ),
                &spec,
            );
        }
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
