//! Direct I/O, polling, refusals: what depends on the device, the kernel or the demand.

use crate::harness::*;
use engine::{Engine, EngineError, EngineKind, Io, Queued, Setup, io_uring, libaio};
use sys::file::{File, Open};
use sys::pages::{Kind, Pool};
use units::Ddir;

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
fn a_polling_ring_answers_every_request() {
    const EOPNOTSUPP: i32 = 95;
    let scratch = Scratch::new(8 * BLOCK as usize);
    let how = Open {
        read: true,
        write: true,
        direct: true,
        ..Open::default()
    };
    let Ok(file) = File::open(&scratch.path, how) else {
        return;
    };
    let options = io_uring::Options {
        hipri: true,
        ..Default::default()
    };
    let setup = Setup {
        direct: true,
        ..Setup::plain(&options, 4, vec![file], pool(4))
    };
    let Some(mut engine) = start::<io_uring::Uring>(setup, "io_uring hipri") else {
        return;
    };
    let results = drive(
        &mut engine,
        GENTLE,
        &blocks(Ddir::Read, 8, 1),
        |_, _| {},
        |_, _| {},
    );
    // Most devices have no poll queues, and then the kernel says so per request.
    assert!(
        results
            .iter()
            .all(|&result| [BLOCK as i32, -EOPNOTSUPP].contains(&result))
    );
    let syncs = [Io::new(0, 0, Ddir::Sync, 0, 0)];
    assert_eq!(
        drive(&mut engine, GENTLE, &syncs, |_, _| {}, |_, _| {}),
        [0]
    );
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
