//! What holds for every job: offsets in their regions, blocks covered once, shares as asked.

use proptest::prelude::*;
use std::collections::HashMap;
use units::{Ddir, PerDdir};
use workload::{
    Batch, BlockSize, Direction, Distribution, FileRegion, FileService, FileServiceKind, Generator,
    RwSequencer, Seed, SizeShare, Spec, generator,
};

/// A data request: direction, file, offset, length.
type Request = (Ddir, usize, u64, u64);

/// The requests of one pass, at most `most`.
fn pass(spec: &Spec, most: usize) -> Vec<Request> {
    let mut requests = generator(spec).unwrap();
    let mut batch = Batch::default();
    let mut all = Vec::new();
    while all.len() < most && requests.fill(&mut batch, 64) > 0 {
        for i in 0..batch.n {
            if batch.ddir[i].is_data() {
                let (file, len) = (usize::from(batch.file[i]), u64::from(batch.len[i]));
                all.push((batch.ddir[i], file, batch.offset[i], len));
            }
        }
    }
    all
}

fn directions() -> impl Strategy<Value = Direction> {
    use Direction::*;
    prop::sample::select(vec![
        Read,
        Write,
        Trim,
        RandRead,
        RandWrite,
        RandTrim,
        ReadWrite,
        RandReadWrite,
        TrimWrite,
        RandTrimWrite,
    ])
}

fn sizes() -> impl Strategy<Value = BlockSize> {
    let split = prop::collection::vec((1u64..40, 1u32..25), 1..5).prop_map(|shares| {
        let share = |(kib, percent)| SizeShare {
            bytes: kib * 512,
            percent,
        };
        BlockSize::split(shares.into_iter().map(share).collect())
    });
    prop_oneof![
        (1u64..20).prop_map(|n| BlockSize::fixed(n * 512)),
        (1u64..20, 0u64..40)
            .prop_map(|(min, more)| BlockSize::range(min * 512, (min + more) * 512)),
        split,
    ]
}

fn distributions() -> impl Strategy<Value = Distribution> {
    let center = prop::option::of(0.0f64..1.0);
    prop_oneof![
        4 => Just(Distribution::Random),
        1 => (0.1f64..0.9, center.clone())
            .prop_map(|(theta, center)| Distribution::Zipf { theta, center }),
        1 => (0.1f64..0.9, center.clone())
            .prop_map(|(h, center)| Distribution::Pareto { h, center }),
        1 => (0.0f64..99.0, center)
            .prop_map(|(deviation, center)| Distribution::Normal { deviation, center }),
    ]
}

prop_compose! {
    fn specs()(
        direction in directions(),
        block in sizes(),
        distribution in distributions(),
        files in prop::collection::vec((0u64..100, 1u64..600), 1..4),
        kind in prop::sample::select(vec![
            FileServiceKind::RoundRobin, FileServiceKind::Sequential, FileServiceKind::Random,
        ]),
        generator in prop::sample::select(vec![
            Generator::Auto, Generator::Tausworthe64, Generator::Lfsr,
        ]),
        sequencer in prop::sample::select(vec![RwSequencer::Sequential, RwSequencer::Identical]),
        (norandommap, unaligned, time_based) in any::<(bool, bool, bool)>(),
        (percent, sequence_count) in (0u32..=100, 1u32..4),
        (rwmix_read, fsync, thread_number) in (0u32..=100, 0u32..5, 1u32..50),
        add in prop::sample::select(vec![0i64, 0, 4096, -8192]),
    ) -> Spec {
        let region = |(at, blocks): (u64, u64)| {
            FileRegion { name_hash: at as u32, ..FileRegion::new(at * 512, blocks * 700) }
        };
        let files: Vec<_> = files.into_iter().map(region).collect();
        Spec {
            size: files.iter().map(|file| file.length).sum(),
            file_service: FileService { kind, requests: sequence_count },
            block: PerDdir::splat(block),
            bs_unaligned: unaligned,
            percentage_random: PerDdir::splat(percent),
            sequence_add: if direction.is_random() { 0 } else { add },
            rw_sequencer: sequencer,
            direction, distribution, files, generator, norandommap, time_based, sequence_count,
            rwmix_read, fsync, thread_number,
            ..Spec::default()
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 512,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn every_request_is_in_its_region_and_of_a_kind_asked_for(spec in specs()) {
        // A register needs at least one block in each file.
        if generator(&spec).is_err() {
            return Ok(());
        }
        for (ddir, file, offset, len) in pass(&spec, 3000) {
            let region = &spec.files[file];
            prop_assert!(len > 0 && len <= spec.block[ddir].max);
            prop_assert!(offset >= region.offset);
            prop_assert!(offset + len <= region.offset + region.length);
            let wanted = match ddir {
                Ddir::Read => spec.direction.reads(),
                Ddir::Write => spec.direction.writes(),
                _ => spec.direction.trims(),
            };
            prop_assert!(wanted);
            let block = &spec.block[ddir];
            // A largest size that is no multiple of the smallest one is used as it is.
            let multiples = !block.split.is_empty() || block.max % block.min == 0;
            if multiples && spec.sequence_add == 0 && !spec.bs_unaligned {
                prop_assert_eq!((offset - region.offset) % block.min, 0);
                prop_assert_eq!(len % block.min, 0);
            }
        }
    }

    #[test]
    fn the_map_gives_each_block_once(
        blocks in prop::collection::vec(1u64..3000, 1..4),
        at in 0u64..50,
        thread_number in 1u32..1000,
        most in 1u64..6,
        mixed: bool,
    ) {
        let files: Vec<_> = blocks.iter().map(|n| FileRegion::new(at * 512, n * 512)).collect();
        let spec = Spec {
            direction: if mixed { Direction::RandReadWrite } else { Direction::RandWrite },
            block: PerDdir::splat(BlockSize::range(512, most * 512)),
            size: u64::MAX,
            files,
            thread_number,
            ..Spec::default()
        };
        let mut seen: Vec<_> = blocks.iter().map(|&n| vec![false; n as usize]).collect();
        for (_, file, offset, len) in pass(&spec, usize::MAX) {
            let first = (offset - at * 512) / 512;
            for block in first..first + len / 512 {
                prop_assert!(!std::mem::replace(&mut seen[file][block as usize], true));
            }
        }
        // What is left at the end of a file is too short for a request of several blocks.
        if most == 1 {
            prop_assert!(seen.iter().flatten().all(|&seen| seen));
        }
    }

    #[test]
    fn equal_numbers_give_equal_sequences_and_threads_differ(spec in specs(), entropy: u64) {
        let spec = Spec { generator: Generator::Auto, ..spec };
        prop_assert_eq!(pass(&spec, 200), pass(&spec, 200));
        let fresh = |thread_number| Spec {
            direction: Direction::RandRead,
            distribution: Distribution::Random,
            files: vec![FileRegion::new(0, 1 << 30)],
            size: 1 << 30,
            percentage_random: PerDdir::splat(100),
            sequence_count: 1,
            seed: Seed::Entropy(entropy),
            randrepeat: false,
            thread_number,
            ..spec.clone()
        };
        prop_assert_ne!(pass(&fresh(1), 64), pass(&fresh(2), 64));
    }
}

fn blocks_hit(distribution: Distribution, blocks: u64, draws: usize) -> Vec<f64> {
    let spec = Spec {
        direction: Direction::RandRead,
        distribution,
        files: vec![FileRegion::new(0, blocks * 4096)],
        size: u64::MAX,
        norandommap: true,
        time_based: true,
        ..Spec::default()
    };
    let mut hits: HashMap<u64, u64> = HashMap::new();
    let all = pass(&spec, draws);
    for (_, _, offset, _) in &all {
        *hits.entry(offset / 4096).or_default() += 1;
    }
    let mut shares: Vec<f64> = hits
        .values()
        .map(|&n| n as f64 / all.len() as f64)
        .collect();
    shares.sort_by(|a, b| b.total_cmp(a));
    shares.resize(blocks as usize, 0.0);
    shares
}

#[test]
fn uniform_offsets_pass_a_chi_square_test() {
    let (cells, draws) = (1000, 200_000);
    let shares = blocks_hit(Distribution::Random, cells, draws);
    let expected = 1.0 / cells as f64;
    let chi: f64 = shares
        .iter()
        .map(|s| (s - expected).powi(2) / expected)
        .sum();
    let chi = chi * draws as f64;
    // 999 degrees of freedom: mean 999, deviation 44.7; five deviations either way.
    assert!((775.0..1223.0).contains(&chi), "{chi}");
}

#[test]
fn zipf_shares_follow_the_power_law() {
    for theta in [0.6, 0.9, 1.2] {
        // A power of two: otherwise several ranks may fall on one block.
        let blocks = 1024;
        let shares = blocks_hit(
            Distribution::Zipf {
                theta,
                center: None,
            },
            blocks,
            400_000,
        );
        let weight = |rank: usize| (rank as f64).powf(-theta);
        let zeta: f64 = (1..=blocks as usize).map(weight).sum();
        // The two most popular ranks are exact in Gray's method, sums of ranks close.
        for (rank, share) in [(1, shares[0]), (2, shares[1])] {
            let expected = weight(rank) / zeta;
            assert!(
                (share / expected - 1.0).abs() < 0.05,
                "{theta} {rank}: {share} {expected}"
            );
        }
        for top in [10, 100, 500] {
            let expected = (1..=top).map(weight).sum::<f64>() / zeta;
            let share: f64 = shares[..top].iter().sum();
            assert!(
                (share / expected - 1.0).abs() < 0.08,
                "{theta} {top}: {share} {expected}"
            );
        }
    }
}

#[test]
fn pareto_gives_a_share_of_the_blocks_the_rest_of_the_accesses() {
    for h in [0.1, 0.2, 0.4] {
        let blocks = 4096;
        let shares = blocks_hit(Distribution::Pareto { h, center: None }, blocks, 2_000_000);
        let top: f64 = shares[..(blocks as f64 * h) as usize].iter().sum();
        assert!((top - (1.0 - h)).abs() < 0.02, "{h}: {top}");
    }
}

#[test]
fn mixes_converge_to_their_percentage() {
    for percent in [0, 10, 30, 66, 70, 100] {
        for direction in [Direction::RandReadWrite, Direction::ReadWrite] {
            let spec = Spec {
                direction,
                rwmix_read: percent,
                files: vec![FileRegion::new(0, 1 << 30)],
                size: 1 << 30,
                time_based: true,
                ..Spec::default()
            };
            let all = pass(&spec, 200_000);
            let reads = all.iter().filter(|request| request.0 == Ddir::Read).count();
            let share = 100.0 * reads as f64 / all.len() as f64;
            assert!(
                (share - f64::from(percent)).abs() < 1.0,
                "{percent}: {share}"
            );
        }
    }
}

#[test]
fn weighted_sizes_converge_to_their_shares() {
    let shares = [(4096, 50), (16384, 30), (65536, 20)];
    let share = |(bytes, percent)| SizeShare { bytes, percent };
    let spec = Spec {
        direction: Direction::RandRead,
        block: PerDdir::splat(BlockSize::split(shares.into_iter().map(share).collect())),
        files: vec![FileRegion::new(0, 1 << 34)],
        size: 1 << 34,
        norandommap: true,
        ..Spec::default()
    };
    let all = pass(&spec, 100_000);
    for (bytes, percent) in shares {
        let n = all.iter().filter(|request| request.3 == bytes).count();
        let share = 100.0 * n as f64 / all.len() as f64;
        assert!((share - f64::from(percent)).abs() < 0.7, "{bytes}: {share}");
    }
}
