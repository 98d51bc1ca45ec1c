//! Zones of files against recordings of fio, and of devices by property.

use super::*;
use crate::batch::{Amended, Batch, Steer};
use crate::{BlockSize, Direction, FileRegion, Spec, generator};
use std::cell::RefCell;
use units::{Ddir, PerDdir};

const KIB: u64 = 1024;

/// A job alone on a megabyte of zones of 64 KiB, in blocks of 16 KiB.
struct Job {
    direction: Direction,
    capacity: u64,
    block: (u64, u64),
    most_open: u32,
    job_most_open: u32,
    view: View,
    norandommap: bool,
    io_size: u64,
}

impl Job {
    fn new(direction: Direction) -> Job {
        Job {
            direction,
            capacity: 64,
            block: (16, 16),
            most_open: 0,
            job_most_open: 0,
            norandommap: false,
            io_size: 0,
            view: View {
                worker: 1,
                offset: 0,
                length: 1024 * KIB,
                size: 1024 * KIB,
                block: PerDdir::splat(16 * KIB),
                random: direction.is_random(),
                writes: direction.writes(),
                verifies: false,
                read_beyond: false,
                most_open: 0,
                threshold: 0.0,
                frequency: 0.0,
                skip: 0,
            },
        }
    }

    /// Runs it as a synchronous job does. Direction, offset and length of each request in KiB,
    /// and how often a zone was reset before a write.
    fn run(mut self) -> (String, u32) {
        self.view.block = PerDdir::splat(self.block.0 * KIB);
        self.view.most_open = self.job_most_open;
        let spec = Spec {
            direction: self.direction,
            block: PerDdir::splat(BlockSize::range(self.block.0 * KIB, self.block.1 * KIB)),
            files: vec![FileRegion::new(0, 1024 * KIB)],
            size: 1024 * KIB,
            io_size: self.io_size,
            norandommap: self.norandommap,
            ..Spec::default()
        };
        let mut requests = generator(&spec).unwrap();
        let table = Table::emulated(1024 * KIB, 64 * KIB, self.capacity * KIB);
        let zones = RefCell::new(Zones::new(&table, self.most_open));
        let mut walk = Walk::new(self.view, &zones.borrow());
        let (mut trace, mut resets) = (Vec::new(), 0);
        let mut batch = Batch::default();
        while requests.more() {
            if !trace.is_empty() {
                requests.restart();
            }
            loop {
                let begin = walk.begin(&mut zones.borrow_mut());
                let Begin::Reset(zone) = begin else { break };
                zones.borrow_mut().was_reset(zone);
            }
            loop {
                struct Side<'a>(&'a RefCell<Zones>, &'a mut Walk);
                impl Steer for Side<'_> {
                    fn divert(&mut self, _: usize, chosen: Ddir) -> Ddir {
                        self.1.direction(&self.0.borrow(), chosen)
                    }
                    fn go_on(&mut self, _: usize, ddir: Ddir, at: &mut u64, base: &mut u64) {
                        self.1.go_on(&self.0.borrow(), ddir, at, base);
                    }
                }
                if requests.fill_steered(&mut batch, &mut Side(&zones, &mut walk)) == 0 {
                    break;
                }
                let mut zones = zones.borrow_mut();
                let (ddir, mut became) = (batch.ddir[0], None);
                loop {
                    let ask = Ask {
                        ddir,
                        offset: batch.offset[0],
                        len: batch.len[0].into(),
                        most: u64::MAX,
                        flying: false,
                    };
                    match walk.step(&mut zones, ask) {
                        Verdict::Reset(zone) => {
                            zones.was_reset(zone);
                            resets += 1;
                        }
                        Verdict::Go { offset, len, zone } => {
                            became = Some(Amended {
                                offset,
                                len: len as u32,
                            });
                            let end = (ddir == Ddir::Write).then_some(offset + len);
                            if let Some(zone) = zone {
                                walk.done(&mut zones, zone, end);
                            }
                            let (name, at) = (&ddir.name()[..1], offset / KIB);
                            trace.push(format!("{name}{at}+{}", len / KIB));
                        }
                        Verdict::End => {}
                        verdict => panic!("{verdict:?}"),
                    }
                    if became.is_some() || walk.is_fresh() {
                        break;
                    }
                }
                requests.amend(became);
            }
        }
        (trace.join(" "), resets)
    }
}

/// Recorded with fio 3.33: `--size=1m --zonemode=zbd --zonesize=64k --write_iolog`.
#[test]
fn requests_go_where_fio_has_them() {
    let (trace, resets) = Job::new(Direction::RandWrite).run();
    assert!(trace.starts_with("w0+16 w704+16 w832+16 w448+16 w384+16 w848+16 w400+16 w320+16"));
    assert!(
        trace.ends_with("w672+16 w624+16 w736+16 w688+16 w752+16"),
        "{trace}"
    );
    assert_eq!(resets, 0);

    let job = Job {
        most_open: 2,
        ..Job::new(Direction::RandWrite)
    };
    let (trace, resets) = job.run();
    assert!(
        trace.starts_with("w0+16 w704+16 w720+16 w16+16 w32+16 w736+16 w48+16 w320+16 w336+16")
            && trace.ends_with("w688+16 w576+16 w704+16 w720+16 w736+16"),
        "{trace}"
    );
    assert_eq!(resets, 5);

    let job = Job {
        most_open: 2,
        ..Job::new(Direction::RandReadWrite)
    };
    let (trace, resets) = job.run();
    assert!(
        trace.starts_with("w0+16 r0+16 r0+16 w448+16 r448+16 r448+16 w16+16 w32+16 w464+16")
            && trace.ends_with("w800+16 r768+16 r448+16 w816+16 w640+16 w656+16"),
        "{trace}"
    );
    assert_eq!(resets, 2);

    let job = Job {
        most_open: 2,
        job_most_open: 1,
        norandommap: true,
        ..Job::new(Direction::RandReadWrite)
    };
    let (trace, resets) = job.run();
    assert!(
        trace.ends_with("w768+16 r736+16 r128+16 w784+16 w800+16 w816+16"),
        "{trace}"
    );
    assert_eq!(resets, 2);
}

#[test]
fn zones_that_cannot_be_filled_evenly() {
    let job = Job {
        block: (24, 24),
        ..Job::new(Direction::Write)
    };
    let (trace, resets) = job.run();
    assert!(trace.starts_with("w0+24 w24+24 w0+24 w24+24"), "{trace}");
    assert_eq!((trace.split(' ').count(), resets), (43, 21));

    let job = Job {
        capacity: 40,
        most_open: 3,
        ..Job::new(Direction::RandWrite)
    };
    let expected = "w0+16 w704+16 w832+16 w720+16 w16+16 w848+16";
    assert_eq!(job.run(), (expected.to_owned(), 0));

    let job = Job {
        capacity: 48,
        ..Job::new(Direction::Write)
    };
    let (trace, resets) = job.run();
    assert!(
        trace.starts_with("w0+16 w16+16 w32+16 w64+16 w80+16"),
        "{trace}"
    );
    assert_eq!((trace.split(' ').count(), resets), (48, 0));

    let job = Job {
        block: (4, 20),
        norandommap: true,
        ..Job::new(Direction::RandWrite)
    };
    let (trace, resets) = job.run();
    assert!(
        trace.starts_with("w0+4 w704+4 w832+8 w448+12 w384+12 w840+8 w396+16 w320+4 w896+16")
            && trace.ends_with("w336+20 w768+16 w300+20 w156+20 w176+12"),
        "{trace}"
    );
    assert_eq!(resets, 6);
}

#[test]
fn skips_resets_and_what_is_not_written() {
    let mut job = Job::new(Direction::Write);
    job.view.skip = 64 * KIB;
    let (trace, resets) = job.run();
    assert!(
        trace.starts_with("w0+16 w16+16 w32+16 w48+16 w128+16"),
        "{trace}"
    );
    assert_eq!((trace.split(' ').count(), resets), (64, 8));

    let mut job = Job::new(Direction::RandWrite);
    (job.view.threshold, job.view.frequency) = (0.3, 0.5);
    (job.norandommap, job.io_size) = (true, 2048 * KIB);
    let (trace, resets) = job.run();
    assert!(
        trace.contains("w16+16 w384+16 w352+16 w720+16 w768+16 w960+16 w768+16 w256+16 w256+16")
            && trace.ends_with("w448+16 w848+16 w128+16 w544+16 w320+16 w80+16"),
        "{trace}"
    );
    assert_eq!(resets, 56);

    assert_eq!(Job::new(Direction::Read).run(), (String::new(), 0));
    let mut job = Job::new(Direction::Read);
    job.view.read_beyond = true;
    assert_eq!(job.run().0.split(' ').count(), 64);
    let (trace, resets) = Job::new(Direction::ReadWrite).run();
    assert_eq!((trace.as_str(), resets), ("w0+16 r0+16", 0));

    let mut job = Job::new(Direction::RandWrite);
    job.view.verifies = true;
    (job.norandommap, job.io_size) = (true, 2048 * KIB);
    let (trace, resets) = job.run();
    // Full zones stay until the next pass, which begins with empty ones.
    let written: Vec<_> = trace.split(' ').collect();
    assert_eq!((written.len(), resets), (128, 0));
    assert_eq!(written[..64], written[64..]);
    let places: std::collections::HashSet<_> = written.iter().collect();
    assert_eq!(places.len(), 64);
    assert!(
        trace.ends_with("w592+16 w688+16 w608+16 w624+16"),
        "{trace}"
    );
}

fn conventional_first() -> Table {
    let mut table = Table::emulated(1024 * KIB, 64 * KIB, 64 * KIB);
    table.managed = true;
    for zone in &mut table.zones[..2] {
        zone.sequential = false;
        zone.pointer = zone.start + zone.capacity;
    }
    table
}

#[test]
fn zones_without_order_take_what_ends_before_the_others() {
    let table = conventional_first();
    assert!(!table.has_sequential(0, 128 * KIB) && table.has_sequential(0, 129 * KIB));
    let mut zones = Zones::new(&table, 0);
    let view = Job::new(Direction::RandWrite).view;
    let mut walk = Walk::new(view, &zones);
    let mut go = |offset, len| {
        let ask = Ask {
            ddir: Ddir::Write,
            offset: offset * KIB,
            len: len * KIB,
            most: u64::MAX,
            flying: false,
        };
        match walk.step(&mut zones, ask) {
            Verdict::Go { offset, len, zone } => (offset / KIB, len / KIB, zone),
            verdict => panic!("{verdict:?}"),
        }
    };
    assert_eq!(go(32, 64), (32, 64, None), "over into one of the same kind");
    assert_eq!(go(96, 64), (96, 32, None), "cut at the border");
    assert_eq!(go(120, 32), (72, 32, None), "moved where it fits");
    assert_eq!(go(200, 16), (192, 16, Some(3)), "to the write pointer");
}

#[test]
fn a_zone_in_flight_belongs_to_one_worker() {
    let table = Table::emulated(1024 * KIB, 64 * KIB, 64 * KIB);
    let mut zones = Zones::new(&table, 0);
    let view = Job::new(Direction::RandWrite).view;
    let mut first = Walk::new(view.clone(), &zones);
    let mut second = Walk::new(View { worker: 2, ..view }, &zones);
    let ask = Ask {
        ddir: Ddir::Write,
        offset: 0,
        len: 48 * KIB,
        most: u64::MAX,
        flying: false,
    };
    let flying = Ask {
        flying: true,
        ..ask
    };
    let at = |offset, len| Verdict::Go {
        offset: offset * KIB,
        len: len * KIB,
        zone: Some(0),
    };
    assert_eq!(first.step(&mut zones, ask), at(0, 48));
    assert_eq!(second.step(&mut zones, ask), Verdict::Busy);
    assert_eq!(first.step(&mut zones, flying), at(48, 16));
    // Full: it is reset when nothing is in flight, and by nobody else meanwhile.
    assert_eq!(first.step(&mut zones, flying), Verdict::Drain);
    first.done(&mut zones, 0, Some(48 * KIB));
    first.done(&mut zones, 0, Some(64 * KIB));
    assert_eq!(second.step(&mut zones, ask), Verdict::Busy);
    assert_eq!(first.step(&mut zones, ask), Verdict::Reset(0));
    zones.was_reset(0);
    assert_eq!(first.step(&mut zones, ask), at(0, 48));
    first.done(&mut zones, 0, Some(48 * KIB));
    assert_eq!(second.step(&mut zones, ask), at(48, 16));
    second.done(&mut zones, 0, Some(64 * KIB));
    // A worker that ends before it has reset a zone leaves it to the others.
    assert_eq!(second.step(&mut zones, ask), Verdict::Reset(0));
    assert_eq!(first.step(&mut zones, ask), Verdict::Busy);
    second.abandon(&mut zones);
    assert_eq!(first.step(&mut zones, ask), Verdict::Reset(0));
}

#[test]
fn what_is_impossible_says_why() {
    let table = Table::emulated(1024 * KIB, 64 * KIB, 8 * KIB);
    let mut zones = Zones::new(&table, 0);
    let mut walk = Walk::new(Job::new(Direction::RandWrite).view, &zones);
    let mut ask = Ask {
        ddir: Ddir::Write,
        offset: 0,
        len: 16 * KIB,
        most: u64::MAX,
        flying: false,
    };
    let (capacity, block) = (8 * KIB, 16 * KIB);
    let misfit = Misfit::Capacity { capacity, block };
    assert_eq!(walk.step(&mut zones, ask), Verdict::Fail(misfit));
    ask.len = 65 * KIB;
    let (len, zone_bytes) = (65 * KIB, 64 * KIB);
    let misfit = Misfit::Long { len, zone_bytes };
    assert_eq!(walk.step(&mut zones, ask), Verdict::Fail(misfit));
}

#[test]
fn a_rest_that_takes_no_block_is_finished_on_a_device() {
    let mut table = Table::emulated(1024 * KIB, 64 * KIB, 40 * KIB);
    for managed in [false, true] {
        table.managed = managed;
        let mut zones = Zones::new(&table, 4);
        let mut walk = Walk::new(Job::new(Direction::RandWrite).view, &zones);
        let ask = Ask {
            ddir: Ddir::Write,
            offset: 0,
            len: 32 * KIB,
            most: u64::MAX,
            flying: false,
        };
        assert!(matches!(walk.step(&mut zones, ask), Verdict::Go { .. }));
        assert_eq!(walk.done(&mut zones, 0, Some(32 * KIB)), managed);
    }
}
