//! Starting engines and driving them as a loop would.

use engine::registry::{dispatch, options_from};
use engine::{Aside, Engine, EngineKind, Io, Queued, Setup, Visitor, fault};
use std::path::{Path, PathBuf};
use sys::file::{File, Open};
use sys::pages::{Kind, Pool};
use units::{Ddir, KbBase};

pub const BLOCK: u32 = 4096;

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
pub trait Check: Copy {
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

/// Whether an engine moves data between buffers and files, or pretends to without any files.
/// The others are tested beside their code.
fn moves_data(kind: EngineKind) -> bool {
    let caps = kind.caps();
    let pretends_on_files = caps.fake && !caps.diskless;
    let apart = matches!(
        kind,
        EngineKind::Net
            | EngineKind::Netsplice
            | EngineKind::Nop
            | EngineKind::UringCmd
            | EngineKind::Http
    );
    caps.by_name.is_none() && !caps.no_io && !pretends_on_files && !apart
}

/// Runs a check on every engine that moves data, in every variant, and on the fault engine
/// without faults.
pub fn on_all(check: impl Check) {
    for &kind in EngineKind::ALL.iter().filter(|kind| moves_data(**kind)) {
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

pub struct Scratch {
    _dir: tempfile::TempDir,
    pub path: PathBuf,
}

impl Scratch {
    pub fn new(bytes: usize) -> Scratch {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("target");
        std::fs::write(&path, vec![0u8; bytes]).unwrap();
        Scratch { _dir: dir, path }
    }

    pub fn open(&self) -> File {
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

pub fn open(path: &Path, how: Open) -> File {
    File::open(path, how).unwrap()
}

pub fn pool(depth: u32) -> Pool {
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
pub fn start<E: Engine>(mut setup: Setup<'_, E::Options>, label: &str) -> Option<E> {
    const NOT_HERE: [i32; 2] = [1, 38];
    setup.job.end = 64 * u64::from(BLOCK);
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
pub fn fill(buffer: &mut [u8], tag: u64) {
    for (index, word) in buffer.chunks_exact_mut(8).enumerate() {
        word.copy_from_slice(&(tag << 16 | index as u64).to_le_bytes());
    }
}

/// How a loop behaves towards an engine.
#[derive(Clone, Copy, Debug)]
pub struct Manner {
    pub depth: u32,
    pub batch: u32,
    pub min: u32,
    pub max: u32,
    pub combined: bool,
}

pub const GENTLE: Manner = Manner {
    depth: 4,
    batch: 2,
    min: 1,
    max: 4,
    combined: true,
};

/// Sends requests through an engine as a loop would and gives their results in request order.
/// Checks that each slot comes back exactly once. `seen` is shown each finished slot.
pub fn drive<E: Engine>(
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
                Queued::Aside => match engine.aside() {
                    Aside::Untimed => results[next] = Some(requests[next].len as i32),
                    Aside::Timed { result, .. } => results[next] = Some(result),
                    Aside::Begin | Aside::End => panic!("{} begins or ends by itself", E::NAME),
                },
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
pub fn blocks(ddir: Ddir, count: u64, stride: u64) -> Vec<Io> {
    let at = |index: u64| index * stride % count * u64::from(BLOCK);
    (0..count)
        .map(|index| Io::new(0, 0, ddir, at(index), BLOCK))
        .collect()
}
