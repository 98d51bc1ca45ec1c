//! Verified contents against the installed fio: it reads what the stamper wrote, the verifier
//! reads what it wrote, and both find the same damage.

mod fio;

use fio::{Job, fio_present};
use workload::checksum::Checksum;
use workload::verify::{Expect, Format, Stamper, Verifier, VerifyKind, VerifySpec};
use workload::{Pattern, VerifySeeds};

const SIZE: usize = 64 << 10;

/// Every kind the binary knows, and the shapes of headers and patterns.
fn jobs() -> Vec<Job> {
    let pattern = |text, bytes: &[u8], offsets: &[u32]| {
        let pattern = Pattern::new(bytes.to_vec(), offsets.to_vec()).unwrap();
        (text, pattern)
    };
    let offset = || pattern("%o", &[0; 8], &[0]);
    let mixed = || {
        let bytes = b"\xff\0\0\0\0\0\0\0\0abcd\xf4\xff\xff\xff";
        pattern("0xff%o\"abcd\"-12", bytes, &[1])
    };
    let mut jobs: Vec<Job> = Checksum::ALL
        .map(|sum| Job::new(VerifyKind::Sum(sum)))
        .into_iter()
        .collect();
    let crc = VerifyKind::Sum(Checksum::Crc32c);
    let sha512 = VerifyKind::Sum(Checksum::Sha512);
    jobs.extend([
        Job::new(VerifyKind::Meta),
        Job::new(VerifyKind::Meta).pattern(mixed()),
        Job::new(VerifyKind::Meta).interval(512).pattern(mixed()),
        Job::new(VerifyKind::Meta).interval(1024).offset(100),
        Job::new(VerifyKind::Pattern).pattern(offset()),
        Job::new(VerifyKind::Pattern).pattern(mixed()).interval(512),
        Job::new(VerifyKind::Pattern).pattern(pattern("0x5a", &[0x5a], &[])),
        Job::new(crc).interval(512),
        Job::new(crc).interval(1024).offset(64),
        Job::new(crc).offset(2048).pattern(offset()),
        Job::new(sha512).interval(1024).offset(200),
        Job::new(crc).block(12 << 10).size(96 << 10),
        Job::new(crc).block(5000).size(50_000),
        Job::new(VerifyKind::Meta).block(1000).size(20_000),
        Job::new(VerifyKind::Sum(Checksum::Sha256))
            .block(2040)
            .size(20_400),
        Job::new(crc).compress(50),
        Job::new(VerifyKind::Meta).compress(30),
        Job::new(VerifyKind::Sum(Checksum::Crc7)).compress(100),
    ]);
    jobs
}

/// Checks each block of `file` in requests of `bs` bytes; the places of bad ones.
fn bad_requests(spec: &VerifySpec, file: &[u8], bs: usize, expect: &Expect) -> Vec<usize> {
    let mut verifier = Verifier::new(spec);
    (0..file.len() / bs)
        .filter(|&nth| {
            let block = &file[nth * bs..(nth + 1) * bs];
            verifier.check(block, (nth * bs) as u64, expect).is_err()
        })
        .collect()
}

/// The file of a job as this crate writes it, in order. `now` gives each block its time.
fn stamped(job: &Job, thread: u32, now: impl Fn(usize) -> u64) -> Vec<u8> {
    let requests = workload::Spec {
        thread_number: thread,
        ..workload::Spec::default()
    };
    let mut stamper = Stamper::new(&job.spec(), thread, VerifySeeds::of(&requests));
    let mut file = vec![0; job.size];
    for (nth, block) in file.chunks_mut(job.bs).enumerate() {
        let offset = nth * job.bs;
        stamper.stamp(block, offset as u64, nth as u64, now(offset));
    }
    file
}

fn number_at(file: &[u8], at: usize) -> u64 {
    u64::from(u32::from_le_bytes(file[at..at + 4].try_into().unwrap()))
}

#[test]
fn files_are_equal_byte_for_byte() {
    if !fio_present() {
        return;
    }
    let jobs = jobs();
    for ((job, theirs), thread) in jobs.iter().zip(fio::write(&jobs, "write")).zip(1..) {
        // Only the time of each write is not known beforehand.
        let place = job.spec().offset as usize;
        let ours = stamped(job, thread, |offset| {
            if !job.spec().kind.has_header() {
                return 0;
            }
            let at = offset + place;
            number_at(&theirs, at + 24) * 1_000_000_000 + number_at(&theirs, at + 28)
        });
        let differs = (0..theirs.len()).find(|&at| ours[at] != theirs[at]);
        assert_eq!(differs, None, "{job:?}");
    }
}

#[test]
fn their_files_are_accepted_and_all_damage_is_found() {
    if !fio_present() {
        return;
    }
    let jobs = jobs();
    for rw in ["write", "randwrite"] {
        for (job, file) in jobs.iter().zip(fio::write(&jobs, rw)) {
            let bad = bad_requests(&job.spec(), &file, job.bs, &Expect::ANY);
            assert!(bad.is_empty(), "{job:?} {rw}: {bad:?}");
            if rw == "randwrite" {
                flips_are_found(job, &file);
                lost_and_swapped_sectors_are_found(job, &file);
            }
        }
    }
}

/// Each bit of the front, and bits all over.
fn flips_are_found(job: &Job, file: &[u8]) {
    let bs = job.bs;
    let mut verifier = Verifier::new(&job.spec());
    let mut block = file[bs..2 * bs].to_vec();
    let place = job.spec().offset as usize;
    let front = place * 8..(place + 40) * 8;
    let rest = (0..256 * 8).chain((256 * 8..bs * 8).step_by(301));
    let all: Vec<usize> = if job.checks_data(false) {
        rest.chain(front).collect()
    } else {
        front.collect()
    };
    for bit in all.into_iter().filter(|&bit| bit < bs * 8) {
        block[bit / 8] ^= 1 << (bit % 8);
        let verdict = verifier.check(&block, bs as u64, &Expect::ANY);
        assert!(verdict.is_err(), "{job:?}: bit {bit}");
        block[bit / 8] ^= 1 << (bit % 8);
    }
    assert_eq!(verifier.check(&block, bs as u64, &Expect::ANY), Ok(()));
}

fn lost_and_swapped_sectors_are_found(job: &Job, file: &[u8]) {
    let (bs, blocks) = (job.bs, file.len() / job.bs);
    let check = |damaged: &[u8], wanted: &[usize], what: &str| {
        if damaged != file {
            let bad = bad_requests(&job.spec(), damaged, bs, &Expect::ANY);
            assert_eq!(bad, wanted, "{job:?}: {what}");
        }
    };
    // A pattern without offsets is the same in all blocks.
    if job.has_places() {
        let mut damaged = file.to_vec();
        let (first, second) = (2, blocks - 1);
        damaged[first * bs..(first + 1) * bs].copy_from_slice(&file[second * bs..][..bs]);
        damaged[second * bs..].copy_from_slice(&file[first * bs..][..bs]);
        check(&damaged, &[first, second], "swapped");
    }
    for sector in (0..bs / 512).filter(|&sector| job.checks_data(false) || sector == 0) {
        let mut damaged = file.to_vec();
        let (from, to) = (4 * bs + sector * 512, 3 * bs + sector * 512);
        damaged[to..to + 512].copy_from_slice(&file[from..from + 512]);
        check(&damaged, &[3], "sector of another block");
        damaged = file.to_vec();
        damaged[to..to + 512].fill(0);
        check(&damaged, &[3], "sector of zeros");
    }
}

#[test]
fn our_files_are_accepted_by_fio_and_damage_is_found() {
    if !fio_present() {
        return;
    }
    let jobs = jobs();
    let mut files: Vec<Vec<u8>> = jobs
        .iter()
        .zip(1..)
        .map(|(job, thread)| stamped(job, thread, |_| 1 << 40))
        .collect();
    for args in [&["--rw=read"][..], &["--rw=write", "--verify_only"]] {
        let (fine, said) = fio::read(&jobs, &files, args);
        assert_eq!(
            (fine, said.as_str()),
            (vec![true; jobs.len()], ""),
            "{args:?}"
        );
    }
    files
        .iter_mut()
        .for_each(|file| *file.last_mut().unwrap() ^= 1);
    let (fine, said) = fio::read(&jobs, &files, &["--rw=read"]);
    for (job, fine) in jobs.iter().zip(fine) {
        assert_eq!(fine, !job.checks_data(true), "{job:?}: {said}");
    }
}

/// Requests of mixed sizes have headers at their greatest common divisor. Readers do not know
/// where a writer's requests began.
#[test]
fn mixed_sizes_are_read_at_any_size() {
    if !fio_present() {
        return;
    }
    let sums = [Checksum::Crc32c, Checksum::Sha512, Checksum::Crc7].map(VerifyKind::Sum);
    let kinds = sums.into_iter().chain([VerifyKind::Meta]);
    let jobs: Vec<Job> = kinds
        .map(|kind| Job::new(kind).block(1024).up_to(16384))
        .collect();
    for (job, file) in jobs.iter().zip(fio::write(&jobs, "randwrite")) {
        let spec = job.spec();
        assert_eq!(spec.interval, 1024);
        for bs in [1024, 4096, SIZE] {
            assert_eq!(
                bad_requests(&spec, &file, bs, &Expect::ANY),
                [0; 0],
                "{job:?} {bs}"
            );
        }
        for at in (0..SIZE).step_by(777) {
            let mut damaged = file.clone();
            damaged[at] ^= 4;
            let bad = bad_requests(&spec, &damaged, 1024, &Expect::ANY);
            assert_eq!(bad, [at / 1024], "{job:?} byte {at}");
        }
    }
}

/// The words about each kind of damage are fio's.
#[test]
fn messages_are_fios() {
    if !fio_present() {
        return;
    }
    let two = Pattern::new(vec![1, 2], vec![]).unwrap();
    let jobs = [
        Job::new(VerifyKind::Sum(Checksum::Crc32c)),
        Job::new(VerifyKind::Sum(Checksum::Sha3_224)),
        Job::new(VerifyKind::Sum(Checksum::Md5)).interval(1024),
        Job::new(VerifyKind::Pattern).pattern(("0x0102", two)),
    ];
    // Magic, length, seed, offset, time, worker, number, header CRC, checksum, data.
    let places = [0, 4, 8, 17, 24, 32, 34, 36, 41, 300, 4095];
    for job in jobs {
        let mut file = stamped(&job, 1, |_| 7);
        for (block, at) in file.chunks_mut(job.bs).zip(places) {
            block[at] ^= 0x21;
        }
        let args = ["--rw=read", "--continue_on_error=verify"];
        let (_, said) = fio::read(std::slice::from_ref(&job), &[file.clone()], &args);
        let mut ours = Vec::new();
        let mut verifier = Verifier::new(&job.spec());
        for (block, offset) in file.chunks(job.bs).zip((0..).step_by(job.bs)) {
            if let Err(found) = verifier.check(block, offset, &Expect::ANY) {
                ours.push(found.text(&"0"));
            }
        }
        assert_eq!(ours.len(), places.len());
        // Without a header, 3.33 takes the length and the type from the data.
        let headerless = !job.spec().kind.has_header();
        let cut = |line: &str| match line.split_once(", length ") {
            Some((before, _)) if headerless => before.to_owned(),
            _ => line.to_owned(),
        };
        let lines = |text: &str| -> Vec<String> {
            text.lines()
                .filter(|line| !line.contains("type mismatch"))
                .map(cut)
                .collect()
        };
        assert_eq!(lines(&said), lines(&ours.join("\n")), "{job:?}");
    }
    // A file of another kind of checksum.
    let written = Job::new(VerifyKind::Sum(Checksum::Crc32c)).size(4096);
    let file = stamped(&written, 1, |_| 7);
    let job = Job::new(VerifyKind::Sum(Checksum::Md5)).size(4096);
    let (_, said) = fio::read(
        std::slice::from_ref(&job),
        std::slice::from_ref(&file),
        &["--rw=read"],
    );
    let found = Verifier::new(&job.spec())
        .check(&file, 0, &Expect::ANY)
        .unwrap_err();
    // fio takes the length of the front from the kind on the medium, so its sum is of other
    // bytes.
    let lines = |text: &str| -> Vec<String> {
        let lines = text
            .lines()
            .take(4)
            .filter(|line| !line.contains("Received"));
        lines.map(Into::into).collect()
    };
    assert_eq!(lines(&said), lines(&found.text(&"0")));
}

/// What only the writer can know: seeds and write numbers tell a stale block from a fresh one.
#[test]
fn stale_blocks_are_found() {
    for format in [Format::V0, Format::V1] {
        for kind in [VerifyKind::Meta, VerifyKind::Sum(Checksum::Crc32c)] {
            let spec = VerifySpec {
                format,
                interval: 512,
                ..VerifySpec::new(kind)
            };
            let mut stamper = Stamper::new(&spec, 3, VerifySeeds::new(5, false));
            let (mut old, mut new) = (vec![0; 4096], vec![0; 4096]);
            let old_seed = stamper.stamp(&mut old, 8192, 70_000, 1);
            let new_seed = stamper.stamp(&mut new, 8192, 70_001, 2);
            let expect = |numberio, seed| Expect {
                numberio,
                seed,
                trimmed: false,
            };
            let check = |block: &[u8], expect| {
                let mut found = Vec::new();
                Verifier::new(&spec).check_each(block, 8192, &expect, |mismatch| {
                    found.push(mismatch.offset);
                    true
                });
                found
            };
            assert!(check(&new, expect(Some(70_001), Some(new_seed))).is_empty());
            assert!(check(&old, expect(Some(70_000), Some(old_seed))).is_empty());
            assert_eq!(check(&old, expect(Some(70_001), None)).len(), 8);
            assert_eq!(check(&old, expect(None, Some(new_seed))).len(), 8);
            // One sector of the new block did not reach the medium.
            let mut torn = new.clone();
            torn[1024..1536].copy_from_slice(&old[1024..1536]);
            assert_eq!(check(&torn, expect(Some(70_001), None)), [8192 + 1024]);
        }
    }
}

/// The expected block of a dump is the block as it was written.
#[test]
fn dumps_show_what_was_written() {
    for job in jobs() {
        let file = stamped(&job, 1, |_| 99);
        let mut block = file[job.bs..2 * job.bs].to_vec();
        block[job.bs - 1] ^= 1;
        let mut verifier = Verifier::new(&job.spec());
        let own = Expect {
            numberio: Some(1),
            ..Expect::ANY
        };
        let found = verifier.check(&block, job.bs as u64, &own).unwrap_err();
        let at = (found.offset - found.request_offset) as usize;
        let wanted = &file[job.bs + at..][..found.len as usize];
        assert!(verifier.expected(&block, &found) == wanted, "{job:?}");
    }
}
