//! What every engine promises, checked on every engine of the registry.
//!
//! A new engine is tested by being in the list. An engine that this machine's kernel cannot start
//! is skipped with a line that says so.

mod harness;
mod special;

use engine::{Engine, Io, Setup};
use harness::*;
use proptest::prelude::*;
use sys::file::{File, Open};
use units::Ddir;

fn check_data<E: Engine>(options: &E::Options, label: &str, manner: Manner, stride: u64) {
    const COUNT: u64 = 37;
    let scratch = Scratch::new(COUNT as usize * BLOCK as usize);
    let files = if E::CAPS.diskless {
        vec![]
    } else {
        vec![scratch.open()]
    };
    let setup = Setup::plain(options, manner.depth, files, pool(manner.depth));
    let Some(mut engine) = start::<E>(setup, label) else {
        return;
    };
    let whole = vec![BLOCK as i32; COUNT as usize];
    let writes = blocks(Ddir::Write, COUNT, stride);
    let tag = |io: &Io| io.offset / u64::from(BLOCK) + 100;
    let write_tag = |index: usize, buffer: &mut [u8]| fill(buffer, tag(&writes[index]));
    let results = drive(&mut engine, manner, &writes, write_tag, |_, _| {});
    assert_eq!(results, whole, "{label} {manner:?}");

    let reads = blocks(Ddir::Read, COUNT, stride + 1);
    let mut want = vec![0; BLOCK as usize];
    let compare = |index: usize, buffer: &[u8]| {
        fill(&mut want, tag(&reads[index]));
        assert!(
            E::CAPS.diskless || buffer == want,
            "{label}: block {index} reads as written"
        );
    };
    let clear = |_: usize, buffer: &mut [u8]| buffer.fill(0xee);
    assert_eq!(
        drive(&mut engine, manner, &reads, clear, compare),
        whole,
        "{label}"
    );
    drop(engine);
    if !E::CAPS.diskless {
        let bytes = std::fs::read(&scratch.path).unwrap();
        for (block, bytes) in bytes.chunks(BLOCK as usize).enumerate() {
            fill(&mut want, block as u64 + 100);
            assert!(bytes == want, "{label}: block {block} is where it belongs");
        }
    }
}

#[derive(Clone, Copy)]
struct Data(Manner, u64);

impl Check for Data {
    fn check<E: Engine>(self, options: &E::Options, label: &str) {
        check_data::<E>(options, label, self.0, self.1);
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 8,
        failure_persistence: None,
        ..Default::default()
    })]

    #[test]
    fn data_and_slots_come_back_at_any_depth(
        depth in 1u32..20, batch in 1u32..20, min in 0u32..20, max in 1u32..30,
        combined: bool, stride in prop::sample::select(vec![1u64, 2, 5, 35]),
    ) {
        on_all(Data(Manner { depth, batch, min: min.min(max), max, combined }, stride));
    }
}

#[test]
fn the_end_of_the_file_cuts_reads_short() {
    #[derive(Clone, Copy)]
    struct End;
    impl Check for End {
        fn check<E: Engine>(self, options: &E::Options, label: &str) {
            if E::CAPS.diskless {
                return;
            }
            let scratch = Scratch::new(2 * BLOCK as usize + 100);
            let setup = Setup::plain(options, 4, vec![scratch.open()], pool(4));
            let Some(mut engine) = start::<E>(setup, label) else {
                return;
            };
            let reads = blocks(Ddir::Read, 4, 1);
            let results = drive(&mut engine, GENTLE, &reads, |_, _| {}, |_, _| {});
            assert_eq!(results, [BLOCK as i32, BLOCK as i32, 100, 0], "{label}");
        }
    }
    on_all(End);
}

#[test]
fn the_rest_of_a_request_lands_behind_its_first_part() {
    #[derive(Clone, Copy)]
    struct Rest;
    impl Check for Rest {
        fn check<E: Engine>(self, options: &E::Options, label: &str) {
            if E::CAPS.diskless {
                return;
            }
            let scratch = Scratch::new(2 * BLOCK as usize);
            let setup = Setup::plain(options, 4, vec![scratch.open()], pool(4));
            let Some(mut engine) = start::<E>(setup, label) else {
                return;
            };
            let rest = Io::new(0, 0, Ddir::Write, u64::from(BLOCK), BLOCK).rest(1000);
            assert_eq!((rest.at, rest.len, rest.offset), (1000, 3096, 5096));
            let tag = |_: usize, buffer: &mut [u8]| fill(buffer, 7);
            assert_eq!(
                drive(&mut engine, GENTLE, &[rest], tag, |_, _| {}),
                [3096],
                "{label}"
            );
            let mut want = vec![0; BLOCK as usize];
            fill(&mut want, 7);
            let bytes = std::fs::read(&scratch.path).unwrap();
            assert!(bytes[..5096].iter().all(|&byte| byte == 0), "{label}");
            assert!(bytes[5096..] == want[1000..], "{label}");
        }
    }
    on_all(Rest);
}

#[test]
fn a_file_open_for_reading_takes_no_writes() {
    #[derive(Clone, Copy)]
    struct ReadOnly;
    impl Check for ReadOnly {
        fn check<E: Engine>(self, options: &E::Options, label: &str) {
            const EBADF: i32 = 9;
            const EACCES: i32 = 13;
            if E::CAPS.diskless {
                return;
            }
            let scratch = Scratch::new(4 * BLOCK as usize);
            let file = open(
                &scratch.path,
                Open {
                    read: true,
                    ..Open::default()
                },
            );
            let setup = Setup::plain(options, 4, vec![file], pool(4));
            if E::CAPS.fixed_size {
                // What maps a file learns of it at once.
                let error = E::start(setup).err().expect("cannot map for writing");
                assert_eq!(error.errno(), Some(EACCES), "{label}: {error}");
                return;
            }
            let Some(mut engine) = start::<E>(setup, label) else {
                return;
            };
            let mut requests = blocks(Ddir::Write, 2, 1);
            requests.extend(blocks(Ddir::Read, 2, 1));
            let results = drive(&mut engine, GENTLE, &requests, |_, _| {}, |_, _| {});
            assert_eq!(results, [-EBADF, -EBADF, 4096, 4096], "{label}");
        }
    }
    on_all(ReadOnly);
}

#[test]
fn syncs_and_trims_are_served_between_writes() {
    #[derive(Clone, Copy)]
    struct Syncs;
    impl Check for Syncs {
        fn check<E: Engine>(self, options: &E::Options, label: &str) {
            let scratch = Scratch::new(8 * BLOCK as usize);
            let files = if E::CAPS.diskless {
                vec![]
            } else {
                vec![scratch.open()]
            };
            let mut setup = Setup::plain(options, 4, files, pool(4));
            setup.sync_range_flags = 7;
            let Some(mut engine) = start::<E>(setup, label) else {
                return;
            };
            let mut requests = vec![];
            for (index, write) in blocks(Ddir::Write, 8, 1).into_iter().enumerate() {
                requests.push(write);
                let syncs = [Ddir::Sync, Ddir::DataSync, Ddir::SyncFileRange];
                requests.push(Io {
                    ddir: syncs[index % 3],
                    ..write
                });
            }
            let fives = |_: usize, buffer: &mut [u8]| buffer.fill(5);
            let results = drive(&mut engine, GENTLE, &requests, fives, |_, _| {});
            assert_eq!(results, [BLOCK as i32, 0].repeat(8), "{label}");
            if !E::CAPS.trims {
                return;
            }
            let trims = [Io::new(0, 0, Ddir::Trim, 4096, BLOCK)];
            let results = drive(&mut engine, GENTLE, &trims, |_, _| {}, |_, _| {});
            assert_eq!(results, [BLOCK as i32], "{label}");
            drop(engine);
            if !E::CAPS.diskless {
                let bytes = std::fs::read(&scratch.path).unwrap();
                let ones = bytes.iter().filter(|&&byte| byte == 5).count();
                assert_eq!((ones, bytes[4096]), (7 * BLOCK as usize, 0), "{label}");
            }
        }
    }
    on_all(Syncs);
}

#[test]
fn dropping_with_requests_in_flight_is_safe() {
    #[derive(Clone, Copy)]
    struct Abandon;
    impl Check for Abandon {
        fn check<E: Engine>(self, options: &E::Options, label: &str) {
            let scratch = Scratch::new(64 * BLOCK as usize);
            for submitted in [false, true] {
                let files = if E::CAPS.diskless {
                    vec![]
                } else {
                    vec![scratch.open()]
                };
                let setup = Setup::plain(options, 32, files, pool(32));
                let Some(mut engine) = start::<E>(setup, label) else {
                    return;
                };
                for (slot, io) in blocks(Ddir::Write, 32, 5).into_iter().enumerate() {
                    engine.slot_mut(slot as u32).fill(0xaa);
                    engine.queue(Io {
                        slot: slot as u32,
                        ..io
                    });
                }
                if submitted {
                    engine.commit(0).unwrap();
                }
                drop(engine);
            }
            // Whatever has been written, nothing but the slots' content has.
            let bytes = std::fs::read(&scratch.path).unwrap();
            assert!(
                bytes.iter().all(|&byte| byte == 0 || byte == 0xaa),
                "{label}"
            );
        }
    }
    on_all(Abandon);
}

#[test]
fn several_files_are_kept_apart() {
    #[derive(Clone, Copy)]
    struct Several;
    impl Check for Several {
        fn check<E: Engine>(self, options: &E::Options, label: &str) {
            if E::CAPS.diskless {
                return;
            }
            let scratch = [(); 3].map(|()| Scratch::new(4 * BLOCK as usize));
            let files: Vec<File> = scratch.iter().map(Scratch::open).collect();
            let setup = Setup::plain(options, 4, files, pool(4));
            let Some(mut engine) = start::<E>(setup, label) else {
                return;
            };
            assert_eq!(engine.files().len(), 3);
            let requests: Vec<Io> = (0..12)
                .map(|n| Io::new(0, n % 3, Ddir::Write, u64::from(n / 3) * 4096, BLOCK))
                .collect();
            let tag = |index: usize, buffer: &mut [u8]| fill(buffer, index as u64);
            let results = drive(&mut engine, GENTLE, &requests, tag, |_, _| {});
            assert_eq!(results, [BLOCK as i32; 12], "{label}");
            drop(engine);
            let mut want = vec![0; BLOCK as usize];
            for (index, io) in requests.iter().enumerate() {
                let bytes = std::fs::read(&scratch[usize::from(io.file)].path).unwrap();
                fill(&mut want, index as u64);
                assert!(
                    bytes[io.offset as usize..][..4096] == want,
                    "{label}: request {index}"
                );
            }
        }
    }
    on_all(Several);
}
