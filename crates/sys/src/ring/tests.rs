//! The ring without devices: every level, every way out.

use super::*;
use crate::pages::Kind;

fn pool(slots: u32) -> Pool {
    Pool::new(slots, 4096, 4096, &Kind::Anonymous, false).unwrap()
}

/// `None`: the machine has no io_uring, which the caller reports.
fn ring(config: &Config) -> Option<Ring> {
    match Ring::new(pool(8), vec![], config) {
        Ok(ring) => Some(ring),
        Err((Stage::Setup, error)) => {
            eprintln!("SKIP io_uring: {error}");
            None
        }
        Err((stage, error)) => panic!("{stage:?}: {error}"),
    }
}

#[test]
fn every_level_carries_requests() {
    for newest in Level::NEWEST_FIRST {
        let Some(mut ring) = ring(&Config {
            newest,
            ..Config::default()
        }) else {
            return;
        };
        assert!(ring.level() <= newest);
        for round in 0..3 {
            for slot in 0..8 {
                ring.push(slot, Op::Nop, false);
            }
            assert_eq!(ring.submit(round).unwrap(), 8);
            ring.wait(100).unwrap();
            let mut seen = [0; 8];
            assert_eq!(
                ring.reap(3, |slot, result| seen[slot as usize] += 1 + result),
                3
            );
            assert_eq!(
                ring.reap(9, |slot, result| seen[slot as usize] += 1 + result),
                5
            );
            assert_eq!((seen, ring.pending()), ([1; 8], 0));
        }
    }
}

#[test]
fn a_submitting_thread_carries_requests() {
    let config = Config {
        submit_thread: true,
        ..Config::default()
    };
    let Some(mut ring) = ring(&config) else {
        return;
    };
    for slot in [3, 1, 4] {
        ring.push(slot, Op::Nop, false);
    }
    assert_eq!(ring.submit(3).unwrap(), 3);
    let mut slots = vec![];
    ring.reap(8, |slot, _| slots.push(slot));
    slots.sort();
    assert_eq!(slots, [1, 3, 4]);
    ring.push(0, Op::Nop, false);
}

#[test]
#[should_panic(expected = "belongs to the kernel")]
fn a_slot_with_a_request_cannot_be_touched() {
    let Some(mut ring) = ring(&Config::default()) else {
        panic!("belongs to the kernel: not tested without io_uring")
    };
    ring.push(2, Op::Nop, false);
    ring.slot_mut(2);
}

#[test]
#[should_panic(expected = "leaves its slot")]
fn a_range_beyond_the_slot_is_refused() {
    let file = crate::file::Open {
        read: true,
        ..Default::default()
    };
    let file = File::open("/dev/zero".as_ref(), file).unwrap();
    let Ok(mut ring) = Ring::new(pool(1), vec![file], &Config::default()) else {
        panic!("leaves its slot: not tested without io_uring")
    };
    ring.push(
        0,
        Op::Read(Span {
            file: 0,
            offset: 0,
            at: 1,
            len: 4096,
        }),
        false,
    );
}
