//! Generators and distributions of random offsets.

use crate::support::region;
use crate::{Cases, MIB, random};
use units::PerDdir;
use workload::{
    BlockSize, Direction, Distribution, Generator, Seed, Spec, Strided, ZoneShare, name_hash,
};

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
