//! fio's arithmetic by example, and the invariants for any options.

use super::*;
use proptest::prelude::*;

const KIB: u64 = 1024;

fn ask() -> Ask {
    Ask {
        size: Amount::Bytes(0),
        filesize: None,
        io_size: Amount::Bytes(0),
        offset: Amount::Bytes(0),
        offset_increment: Amount::Bytes(0),
        offset_align: None,
        append: false,
        fill: false,
        min_bs: 4 * KIB,
        grain: 4 * KIB,
        clone: 0,
    }
}

fn files(sizes: &[u64]) -> Vec<Found> {
    let one = |(i, size): (usize, &u64)| Found {
        path: format!("f{i}"),
        kind: TargetKind::File,
        size_bytes: Some(*size),
    };
    sizes.iter().enumerate().map(one).collect()
}

fn device(size: Option<u64>, kind: TargetKind) -> Vec<Found> {
    vec![Found {
        path: "dev".into(),
        kind,
        size_bytes: size,
    }]
}

fn plain(ask: Ask, found: &[Found]) -> Result<Vec<(u64, u64)>, String> {
    let settled = settle(&ask, found, |span| span / 2).map_err(|e| e.to_string())?;
    Ok(settled
        .regions
        .iter()
        .map(|r| (r.offset_bytes, r.length_bytes))
        .collect())
}

#[test]
fn size_is_divided_and_the_first_files_take_the_rest() {
    let ask = Ask {
        size: Amount::Bytes(40 * KIB),
        ..ask()
    };
    let lengths = plain(ask, &files(&[0, 0, 0])).unwrap();
    assert_eq!(
        lengths,
        [(0, 40 * KIB / 3), (0, 40 * KIB / 3), (0, 40 * KIB / 3)]
    );
    let ask = Ask {
        size: Amount::Bytes(40 * KIB + 1),
        min_bs: 1,
        ..ask
    };
    let settled = settle(&ask, &files(&[0, 0]), |_| 0).unwrap();
    assert_eq!(settled.regions[0].length_bytes, 20 * KIB + 1);
    assert_eq!(settled.size_bytes, 40 * KIB + 1);
}

#[test]
fn existing_files_give_the_size() {
    assert_eq!(plain(ask(), &files(&[64 * KIB])).unwrap(), [(0, 64 * KIB)]);
    let half = Ask {
        size: Amount::Percent(50),
        ..ask()
    };
    assert_eq!(plain(half, &files(&[65 * KIB])).unwrap(), [(0, 32 * KIB)]);
    let error = plain(half, &files(&[0])).unwrap_err();
    assert_eq!(
        error,
        "size=50% is a share of f0, which does not exist or is empty"
    );
    assert!(
        plain(ask(), &files(&[0]))
            .unwrap_err()
            .starts_with("size= is needed: f0")
    );
}

#[test]
fn offsets_step_with_the_clone_and_shares_round_up() {
    let mut ask = Ask {
        offset: Amount::Percent(10),
        clone: 2,
        ..ask()
    };
    ask.offset_increment = Amount::Percent(20);
    ask.size = Amount::Bytes(8 * KIB);
    let start = (100 * KIB / 10 + 2 * 20 * KIB).next_multiple_of(4 * KIB);
    let found = device(Some(100 * KIB), TargetKind::Block);
    assert_eq!(plain(ask, &found).unwrap(), [(start, 8 * KIB)]);
    ask.offset_align = Some(512);
    assert_eq!(plain(ask, &found).unwrap(), [(50 * KIB, 8 * KIB)]);
    ask.offset = Amount::Bytes(200 * KIB);
    let error = plain(ask, &found).unwrap_err();
    assert!(
        error.contains("lies beyond the end of dev (102400 bytes)"),
        "{error}"
    );
}

#[test]
fn filesize_rules_over_size() {
    let range = Some(Range {
        lo: 16 * KIB,
        hi: 32 * KIB,
    });
    let ask = Ask {
        filesize: range,
        size: Amount::Bytes(KIB << 10),
        ..ask()
    };
    let settled = settle(&ask, &files(&[0, 20 * KIB]), |span| span / 2).unwrap();
    let lengths: Vec<u64> = settled.regions.iter().map(|r| r.length_bytes).collect();
    assert_eq!(lengths, [24 * KIB, 20 * KIB]);
    assert_eq!(settled.size_bytes, 44 * KIB);
}

#[test]
fn blocks_that_do_not_fit_are_refused() {
    let ask = Ask {
        size: Amount::Bytes(2 * KIB),
        ..ask()
    };
    assert_eq!(
        plain(ask, &files(&[0])).unwrap_err(),
        "bs=4096 is larger than size=2048"
    );
    let ask = Ask {
        size: Amount::Bytes(8 * KIB),
        ..ask
    };
    let error = plain(ask, &files(&[0, 0, 0])).unwrap_err();
    assert_eq!(
        error,
        "bs=4096 is larger than the 2730 bytes of each of 3 files"
    );
    let ask = Ask {
        size: Amount::Bytes(0),
        ..ask
    };
    assert!(
        plain(ask, &files(&[KIB]))
            .unwrap_err()
            .starts_with("bs=4096 is larger than")
    );
}

#[test]
fn devices_are_not_exceeded_and_diskless_engines_have_no_end() {
    let ask = Ask {
        size: Amount::Bytes(64 * KIB),
        ..ask()
    };
    let found = device(Some(32 * KIB), TargetKind::Block);
    let settled = settle(&ask, &found, |_| 0).unwrap();
    assert_eq!(settled.regions[0].length_bytes, 32 * KIB);
    assert_eq!(settled.size_bytes, 64 * KIB);
    let none = settle(&ask, &device(None, TargetKind::None), |_| 0).unwrap();
    assert_eq!(none.regions[0].file_bytes, 64 * KIB);
    let unsized_ = Ask {
        size: Amount::Bytes(0),
        ..ask
    };
    assert!(plain(unsized_, &device(None, TargetKind::None)).is_err());
}

#[test]
fn io_size_shares_shorten_the_pass_only() {
    let ask = Ask {
        size: Amount::Bytes(64 * KIB),
        io_size: Amount::Percent(25),
        ..ask()
    };
    let settled = settle(&ask, &files(&[0]), |_| 0).unwrap();
    assert_eq!(
        (settled.regions[0].length_bytes, settled.size_bytes),
        (64 * KIB, 16 * KIB)
    );
    assert_eq!(settled.io_size_bytes, 0);
    let ask = Ask {
        io_size: Amount::Bytes(KIB << 10),
        ..ask
    };
    assert_eq!(
        settle(&ask, &files(&[0]), |_| 0).unwrap().io_size_bytes,
        KIB << 10
    );
}

fn amounts() -> impl Strategy<Value = Amount> {
    prop_oneof![
        (0u64..1 << 40).prop_map(Amount::Bytes),
        (0u32..=100).prop_map(Amount::Percent),
        any::<u64>().prop_map(Amount::Bytes),
    ]
}

proptest! {
    #[test]
    fn regions_lie_inside_their_files(
        size in amounts(), io_size in amounts(), offset in amounts(), step in amounts(),
        align in proptest::option::of(0u64..1 << 20), clone in 0u32..64,
        filesize in proptest::option::of((1u64..1 << 30, 0u64..1 << 30)),
        blocks in (0u32..22).prop_map(|bits| 1u64 << bits), append in any::<bool>(),
        fill in any::<bool>(),
        found in proptest::collection::vec((0u64..1 << 40, 0u8..3), 1..9),
    ) {
        let ask = Ask {
            size, io_size, offset, offset_increment: step, offset_align: align, clone, append,
            fill, filesize: filesize.map(|(lo, more)| Range { lo, hi: lo + more }),
            min_bs: blocks, grain: blocks,
        };
        let found: Vec<Found> = found.iter().map(|(size, kind)| {
            let kind = [TargetKind::File, TargetKind::Block, TargetKind::None][*kind as usize];
            let size_bytes = (kind != TargetKind::None).then_some(*size);
            Found { path: "f".into(), kind, size_bytes }
        }).collect();
        let Ok(settled) = settle(&ask, &found, |span| span - 1) else { return Ok(()) };
        prop_assert_eq!(settled.regions.len(), found.len());
        prop_assert!(settled.size_bytes >= blocks);
        for (region, file) in settled.regions.iter().zip(&found) {
            let end = region.offset_bytes + region.length_bytes;
            prop_assert!(end <= region.file_bytes && region.file_bytes <= MAX_OFFSET);
            prop_assert!(region.file_bytes >= file.size_bytes.unwrap_or(0));
            if file.kind == TargetKind::Block {
                prop_assert_eq!(Some(region.file_bytes), file.size_bytes);
            }
        }
    }
}
