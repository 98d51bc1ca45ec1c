//! What every engine promises, checked on every engine of the registry.
//!
//! A new engine is tested by being in the list. An engine that this machine's kernel cannot start
//! is skipped with a line that says so.

use engine::registry::{dispatch, options_from};
use engine::{
    Engine, EngineError, EngineKind, Io, Queued, Setup, Visitor, fault, io_uring, libaio,
};
use proptest::prelude::*;
use std::path::{Path, PathBuf};
use sys::file::{File, Open};
use sys::pages::{Kind, Pool};
use units::{Ddir, KbBase};

const BLOCK: u32 = 4096;

/// Options each engine is tested with, beside none.
fn variants(kind: EngineKind) -> Vec<Vec<(&'static str, Option<&'static str>)>> {
    let more: &[&[(&str, Option<&str>)]] = match kind {
        EngineKind::Pvsync2 => &[&[("hipri_percentage", Some("50"))]],
        EngineKind::Libaio => &[
            &[("userspace_reap", None)],
            &[("libaio_vectored", Some("1")), ("userspace_reap", None)],
        ],
        EngineKind::Uring => &[
            &[("fixedbufs", None), ("registerfiles", None)],
            &[("nonvectored", Some("0"))],
            &[("nonvectored", Some("1"))],
            &[("force_async", Some("3"))],
            &[("sqthread_poll", None)],
        ],
        EngineKind::Mmap => &[&[("thp", None)]],
        _ => &[],
    };
    std::iter::once(vec![])
        .chain(more.iter().map(|set| set.to_vec()))
        .collect()
}

/// A check that is generic over the engine.
trait Check: Copy {
    fn check<E: Engine>(self, options: &E::Options, label: &str);
}

struct With<'a, C>(C, &'a [(&'a str, Option<&'a str>)]);

impl<C: Check> Visitor for With<'_, C> {
    type Out = ();
    fn visit<E: Engine>(self) {
        let (options, _) = options_from::<E>(self.1, KbBase::Binary).unwrap();
        self.0
            .check::<E>(&options, &format!("{} {:?}", E::NAME, self.1));
    }
}

/// Runs a check on every engine in every variant, and on the fault engine without faults.
fn on_all(check: impl Check) {
    for &kind in EngineKind::ALL {
        for options in variants(kind) {
            dispatch(kind, With(check, &options));
        }
    }
    let disorder = fault::Options {
        shuffle: true,
        stingy: true,
        full_every: 5,
        ..Default::default()
    };
    check.check::<fault::Fault<false>>(&disorder, "fault, queued");
    check.check::<fault::Fault<true>>(&fault::Options::default(), "fault, inline");
}

struct Scratch {
    _dir: tempfile::TempDir,
    path: PathBuf,
}

impl Scratch {
    fn new(bytes: usize) -> Scratch {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("target");
        std::fs::write(&path, vec![0u8; bytes]).unwrap();
        Scratch { _dir: dir, path }
    }

    fn open(&self) -> File {
        open(
            &self.path,
            Open {
                read: true,
                write: true,
                ..Open::default()
            },
        )
    }
}

fn open(path: &Path, how: Open) -> File {
    File::open(path, how).unwrap()
}

fn pool(depth: u32) -> Pool {
    Pool::new(
        depth,
        BLOCK as usize,
        BLOCK as usize,
        &Kind::Anonymous,
        false,
    )
    .unwrap()
}

/// Starts an engine; `None`, with a line, where the kernel has no such thing.
fn start<E: Engine>(setup: Setup<'_, E::Options>, label: &str) -> Option<E> {
    const NOT_HERE: [i32; 2] = [1, 38];
    match E::start(setup) {
        Ok(engine) => Some(engine),
        Err(error) if error.errno().is_some_and(|errno| NOT_HERE.contains(&errno)) => {
            eprintln!("SKIP {label}: {error}");
            None
        }
        Err(error) => panic!("{label}: {error}"),
    }
}

/// The content of a block: nothing else produces it.
fn fill(buffer: &mut [u8], tag: u64) {
    for (index, word) in buffer.chunks_exact_mut(8).enumerate() {
        word.copy_from_slice(&(tag << 16 | index as u64).to_le_bytes());
    }
}

/// How a loop behaves towards an engine.
#[derive(Clone, Copy, Debug)]
struct Manner {
    depth: u32,
    batch: u32,
    min: u32,
    max: u32,
    combined: bool,
}

const GENTLE: Manner = Manner {
    depth: 4,
    batch: 2,
    min: 1,
    max: 4,
    combined: true,
};

/// Sends requests through an engine as a loop would and gives their results in request order.
/// Checks that each slot comes back exactly once. `seen` is shown each finished slot.
fn drive<E: Engine>(
    engine: &mut E,
    manner: Manner,
    requests: &[Io],
    mut prepare: impl FnMut(usize, &mut [u8]),
    mut seen: impl FnMut(usize, &[u8]),
) -> Vec<i32> {
    let mut results = vec![None; requests.len()];
    let mut owner = vec![None; manner.depth as usize];
    let mut staged = 0;
    let mut idle_turns = 0;
    let mut next = 0;
    while results.iter().any(Option::is_none) {
        let mut full = false;
        while next < requests.len() && !full && staged < manner.batch {
            let Some(slot) = owner.iter().position(Option::is_none) else {
                break;
            };
            prepare(next, engine.slot_mut(slot as u32));
            match engine.queue(Io {
                slot: slot as u32,
                ..requests[next]
            }) {
                Queued::Done(result) => {
                    results[next] = Some(result);
                    seen(next, engine.slot(slot as u32));
                }
                Queued::Staged => {
                    owner[slot] = Some(next);
                    staged += 1;
                }
                Queued::Full => full = true,
            }
            next += usize::from(!full);
        }
        // A loop that polls has to give the kernel its turn with wait(0).
        let min = if manner.combined { manner.min } else { 0 };
        assert_eq!(
            engine.commit(min).unwrap(),
            staged,
            "commit counts what it submits"
        );
        if min == 0 {
            engine.wait(manner.min).unwrap();
        }
        staged = 0;
        let in_flight = owner.iter().flatten().count() as u32;
        let mut finished = vec![];
        let count = engine.reap(manner.max, |slot, result| finished.push((slot, result)));
        assert_eq!(count as usize, finished.len());
        let expected = manner.min.min(in_flight).min(manner.max);
        assert!(
            count >= expected,
            "{count} of {in_flight} completions after waiting: {manner:?}"
        );
        assert!(count <= manner.max);
        for (slot, result) in finished {
            let request = owner[slot as usize].take().expect("a slot comes back once");
            results[request] = Some(result);
            seen(request, engine.slot(slot));
        }
        // With min 0 the loop polls; real devices take their time.
        idle_turns = if count > 0 { 0 } else { idle_turns + 1 };
        assert!(idle_turns < 20_000_000, "{}: no progress", E::NAME);
    }
    results.into_iter().flatten().collect()
}

/// Requests for blocks in the order given by a multiplicative walk.
fn blocks(ddir: Ddir, count: u64, stride: u64) -> Vec<Io> {
    let at = |index: u64| index * stride % count * u64::from(BLOCK);
    (0..count)
        .map(|index| Io::new(0, 0, ddir, at(index), BLOCK))
        .collect()
}

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
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..Default::default() })]

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
            assert!(E::CAPS.trims, "{label}");
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

#[derive(Clone, Copy)]
struct Direct;
impl Check for Direct {
    fn check<E: Engine>(self, options: &E::Options, label: &str) {
        if E::CAPS.diskless {
            return;
        }
        let scratch = Scratch::new(8 * BLOCK as usize);
        let how = Open {
            read: true,
            write: true,
            direct: !E::CAPS.fixed_size,
            ..Open::default()
        };
        let Ok(file) = File::open(&scratch.path, how) else {
            eprintln!("SKIP {label}: no direct I/O in {}", scratch.path.display());
            return;
        };
        let limits = file.direct_limits();
        let setup = Setup {
            direct: true,
            ..Setup::plain(options, 4, vec![file], pool(4))
        };
        let Some(mut engine) = start::<E>(setup, label) else {
            return;
        };
        let tag = |index: usize, buffer: &mut [u8]| fill(buffer, index as u64);
        let writes = blocks(Ddir::Write, 8, 1);
        let results = drive(&mut engine, GENTLE, &writes, tag, |_, _| {});
        assert_eq!(results, [BLOCK as i32; 8], "{label}");
        let mut want = vec![0; BLOCK as usize];
        let compare = |index: usize, buffer: &[u8]| {
            fill(&mut want, index as u64);
            assert!(buffer == want, "{label}: block {index}");
        };
        let reads = blocks(Ddir::Read, 8, 1);
        let results = drive(&mut engine, GENTLE, &reads, |_, _| {}, compare);
        assert_eq!(results, [BLOCK as i32; 8], "{label}");
        drop(engine);

        let checks = EngineKind::parse(E::NAME).is_ok() && !E::CAPS.fixed_size;
        if let (Some(limits), true) = (limits, checks) {
            let setup = Setup::plain(options, 4, vec![open(&scratch.path, how)], pool(4));
            let error = E::start(Setup {
                direct: true,
                min_len: 100,
                ..setup
            })
            .err();
            let text = error.expect("100 bytes cannot be direct").to_string();
            let want = format!(
                "multiples of {} bytes, but the block size is 100",
                limits.offset_align
            );
            assert!(
                text.starts_with(E::NAME) && text.contains(&want),
                "{label}: {text}"
            );
        }
    }
}

#[test]
fn direct_io_works_and_says_what_it_wants() {
    on_all(Direct);
}

#[test]
fn a_failed_direct_request_can_be_explained() {
    let scratch = Scratch::new(8 * BLOCK as usize);
    let how = Open {
        read: true,
        direct: true,
        ..Open::default()
    };
    let Ok(file) = File::open(&scratch.path, how) else {
        return;
    };
    let Some(limits) = file.direct_limits() else {
        return;
    };
    let io = |offset, len| Io::new(0, 0, Ddir::Read, offset, len);
    let fine = limits.offset_align;
    let explain = |io: &Io, address| engine::direct::explain(&file, io, address);
    assert_eq!(explain(&io(0, fine), 1 << 20), None);
    assert!(
        explain(&io(1, fine), 1 << 20)
            .unwrap()
            .contains("the offset is 1")
    );
    assert!(
        explain(&io(0, 7), 1 << 20)
            .unwrap()
            .contains("the length is 7")
    );
    assert!(explain(&io(0, fine), 1).unwrap().contains("iomem_align="));
}

#[test]
fn impossible_demands_are_refused_by_name() {
    let scratch = Scratch::new(BLOCK as usize);
    let options = io_uring::Options {
        hipri: true,
        ..Default::default()
    };
    let setup = Setup::plain(&options, 1, vec![scratch.open()], pool(1));
    let refused = io_uring::Uring::start(setup)
        .err()
        .expect("polling needs direct I/O");
    assert!(matches!(refused, EngineError::Unsupported { .. }));
    assert!(refused.to_string().contains("direct=1"));

    let options = io_uring::Options::default();
    let deep = Pool::new(40_000, 64, 64, &Kind::Anonymous, false).unwrap();
    let setup = Setup::plain(&options, 40_000, vec![scratch.open()], deep);
    let refused = io_uring::Uring::start(setup)
        .err()
        .expect("a ring has 32768 entries");
    assert!(refused.to_string().contains("32768"));

    let options = libaio::Options::default();
    let deep = Pool::new(30_000_000, 1, 64, &Kind::Anonymous, false).unwrap();
    let setup = Setup::plain(&options, 30_000_000, vec![scratch.open()], deep);
    let refused = libaio::Libaio::start(setup)
        .err()
        .expect("more than aio-max-nr");
    assert!(refused.to_string().contains("aio-max-nr"), "{refused}");
}

#[test]
fn the_ring_carries_requests_that_do_nothing() {
    let options = io_uring::Options::default();
    let setup = Setup::plain(&options, 8, vec![], pool(8));
    let Some(mut engine) = start::<io_uring::Uring>(setup, "io_uring") else {
        return;
    };
    for slot in 0..8 {
        assert_eq!(engine.queue_nop(slot), Queued::Staged);
    }
    assert_eq!(engine.commit(8).unwrap(), 8);
    let mut slots = 0u32;
    assert_eq!(
        engine.reap(8, |slot, result| slots |= (1 + result as u32) << slot),
        8
    );
    assert_eq!(slots, 0xff);
}
