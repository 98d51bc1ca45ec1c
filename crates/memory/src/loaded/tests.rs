//! Curves that are computed, and a short one of this machine.

use super::*;
use crate::kernel::Op;
use crate::layout::Layout;
use host::Root;
use std::time::Duration;

/// A queue that serves `peak` bytes per second: latency grows without bound towards it.
fn modelled(delay: u32) -> Point {
    let (peak, idle) = (100e9, 100.0);
    let rate = peak * 0.98 / (1.0 + f64::from(delay) / 150.0);
    let busy = rate / peak;
    Point {
        delay,
        ns: Some(figure(
            vec![idle * (1.0 + 0.05 * busy / (1.0 - busy))],
            Better::Lower,
            0,
        )),
        rate: figure(vec![rate], Better::Higher, 0),
        each: Vec::new(),
    }
}

#[test]
fn the_adaptive_choice_closes_in_on_the_knee() {
    let mut points: Vec<Point> = COARSE.iter().map(|&delay| modelled(delay)).collect();
    points.push(modelled(PARKED));
    let mut added = Vec::new();
    while let Some(delay) = refine(&points) {
        added.push(delay);
        points.push(modelled(delay));
        assert!(added.len() <= 40, "{added:?}");
    }
    assert!((3..=12).contains(&added.len()), "{added:?}");
    let curve = curve_of(&points);
    let knee = knee_of(&curve).unwrap();
    // Bandwidth of this queue has gained most over latency at 0.9 of its capacity or so.
    assert!(
        (0.8e11..0.95e11).contains(&curve[knee].1),
        "{:?}",
        curve[knee]
    );
    for beside in [knee - 1, knee + 1] {
        assert!((curve[beside].1 - curve[knee].1).abs() <= 0.98e11 * FINE);
    }
}

#[test]
fn shares_are_read_off_between_points() {
    let curve = [(900, 10.0, 100.0), (100, 30.0, 120.0), (0, 50.0, 400.0)];
    assert_eq!(at_rate(&curve, 20.0), Some(110.0));
    assert_eq!(at_rate(&curve, 50.0), Some(400.0));
    assert_eq!(at_rate(&curve, 40.0), Some(260.0));
    assert_eq!(at_rate(&curve, 60.0), None);
    assert_eq!(at_rate(&curve, 5.0), None);
}

#[test]
fn flat_and_short_curves_have_no_knee() {
    assert_eq!(knee_of(&[(1, 1.0, 1.0), (0, 2.0, 2.0)]), None);
    assert_eq!(
        knee_of(&[(2, 1.0, 5.0), (1, 2.0, 5.0), (0, 3.0, 5.0)]),
        None
    );
    // Latency that rises with the load all the way does not bend.
    assert_eq!(
        knee_of(&[(2, 1.0, 1.0), (1, 2.0, 2.0), (0, 3.0, 3.0)]),
        None
    );
    let document = document(&subject(&[]), String::new(), vec![modelled(0)]);
    assert_eq!((document.knee, document.at.len()), (None, 0));
}

fn subject(loads: &[(u32, Op)]) -> Subject {
    let wish = Wish {
        bytes: 8 << 20,
        ..Wish::default()
    };
    Subject {
        latency: None,
        loads: loads
            .iter()
            .map(|&(cpu, op)| Load {
                cpu,
                wish: wish.clone(),
                job: op.into(),
            })
            .collect(),
        shared: false,
        isa: Isa::ALL.into_iter().find(|isa| isa.supported()),
        delays: Delays::List(vec![0, 20_000]),
        rule: Rule {
            samples: 2,
            warm_up: 0,
            cap: Duration::from_millis(60),
            ..Rule::default()
        },
        window: Window {
            warm: Duration::from_micros(300),
            length: Duration::from_millis(2),
        },
    }
}

fn with_latency(cpu: u32, mut subject: Subject) -> Subject {
    let chain = latency::Subject {
        wish: Wish {
            bytes: 8 << 20,
            ..Wish::default()
        },
        layout: Layout::Random,
    };
    subject.latency = Some((cpu, chain));
    subject
}

#[test]
fn a_curve_of_this_machine() {
    let machine = Machine::read(&Root::default()).unwrap();
    let [chaser, other] = match machine.cpus.as_slice() {
        [first, .., last] => [first.id, last.id],
        _ => return,
    };
    let subject = with_latency(
        chaser,
        subject(&[(
            other,
            Op::Mix {
                loads: 1,
                stores: 1,
            },
        )]),
    );
    let curve = measure(&machine, &subject).unwrap();
    let loaded = &curve.loaded;
    assert_eq!(
        (loaded.cpu, loaded.load_cpus.as_slice()),
        (Some(chaser), &[other][..])
    );
    let delays: Vec<u32> = loaded.points.iter().map(|point| point.delay).collect();
    assert_eq!(delays, [0, 20_000]);
    assert!(loaded.points.iter().all(|point| point.ns.is_some()));
    assert!(
        loaded.points[0].rate.best > 4.0 * loaded.points[1].rate.best,
        "{loaded:?}"
    );
    assert!(loaded.idle_ns.as_ref().unwrap().median > 0.0);
    assert_eq!((curve.placements.len(), curve.each[0].len()), (2, 2));
    assert_eq!((loaded.mix.loads, loaded.mix.stores), (1, 1));
}

#[test]
fn loads_of_several_kinds_without_a_latency_thread() {
    let machine = Machine::read(&Root::default()).unwrap();
    let cpus = machine.workers(crate::machine::Threads::All);
    let ops = [Op::Read, Op::WriteNt];
    let loads: Vec<(u32, Op)> = cpus.iter().copied().zip(ops).collect();
    let curve = measure(&machine, &subject(&loads)).unwrap();
    assert!(curve.loaded.points.iter().all(|point| point.ns.is_none()));
    assert!(curve.each[0].iter().all(|&rate| rate > 0.0));
    if loads.len() == 2 {
        assert_eq!(curve.loaded.name, "read, write-nt");
    }
}

#[test]
fn threads_that_collide_or_write_to_one_buffer_are_refused() {
    let machine = Machine::read(&Root::default()).unwrap();
    let cpu = machine.cpus[0].id;
    let text = |subject: &Subject| measure(&machine, subject).unwrap_err().to_string();
    let twice = with_latency(cpu, subject(&[(cpu, Op::Read)]));
    assert!(text(&twice).contains("is to do two things"));
    let mut shared = subject(&[(cpu, Op::WriteNt)]);
    shared.shared = true;
    assert!(text(&shared).starts_with("write-nt writes"));
    let mut random = subject(&[(cpu, Op::Triad)]);
    random.loads[0].job.random = true;
    assert!(text(&random).contains("no loop for triad in random order"));
}
