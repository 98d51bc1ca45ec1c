//! Command lines and job files from vendors' documents and well-known scripts.

use super::read;
use crate::testing::FakeWorld;

/// One command line each, without the program name.
const LINES: &str = include_str!("invocations.txt");

/// Engine options of the lines above; the engines themselves live elsewhere.
const ENGINE_OPTIONS: &[&str] = &["--registerfiles", "--fixedbufs", "--sqthread_poll"];

#[test]
fn known_lines_parse_without_a_word() {
    assert!(LINES.lines().count() > 20);
    for line in LINES.lines() {
        let mut line = line.to_string();
        for word in ENGINE_OPTIONS {
            line = line.replace(word, "");
        }
        line = line.replace("ioengine=sync", "ioengine=psync");
        let spec = read(&line, &FakeWorld::default()).unwrap_or_else(|e| panic!("{line}: {e}"));
        assert_eq!(spec.jobs.len(), 1, "{line}");
        assert!(spec.notes.is_empty(), "{line}: {:?}", spec.notes);
    }
}

#[test]
fn a_mix_of_jobs_with_trailing_blanks() {
    let text = "[global]   \nclocksource=clock_gettime\nrandrepeat=0\nruntime=180\n\
                offset_increment=100g\n\n[sequential-write]\nbs=1M\nrw=write\ndo_verify=0\n\
                numjobs=1\nrwmixread=0\nrwmixwrite=100\n[random-mixed]\nrw=randrw\n";
    let spec = super::file(text);
    assert_eq!(spec.jobs.len(), 2);
    assert_eq!(spec.jobs[0].options.io.rwmixread, 0);
    assert_eq!(spec.jobs[1].options.io.rwmixread, 50);
}

#[test]
fn a_line_around_an_included_file() {
    let world = FakeWorld::default()
        .with_file(
            "t/bandwidth.fio",
            "[global]\ninclude bw-include.fio\n\
             include common-include.fio\n[read]\nrw=read\nstonewall\n",
        )
        .with_file("t/bw-include.fio", "bs=128k\niodepth=16\nnumjobs=4\n")
        .with_file(
            "t/common-include.fio",
            "stonewall=1\nrandrepeat=0\nverify=0\nioengine=libaio\n\
             direct=1\ntime_based=1\nramp_time=5s\nruntime=20s\ngroup_reporting\n",
        );
    let line = "t/bandwidth.fio --idle-prof=percpu --filename=F --size=30g --output-format=json \
                --output=O";
    let spec = read(line, &world).unwrap();
    let o = &spec.jobs[0].options;
    assert!(o.io.direct && o.process.stonewall && o.process.group_reporting);
    assert_eq!(o.target.filename.as_ref().unwrap().0, ["F"]);
    assert_eq!(o.process.numjobs, 4);
}

#[test]
fn twelve_block_sizes_and_a_zoned_distribution() {
    let text = "[global]\nbssplit=512/4:1024/1:1536/1:2048/1:2560/1:3072/1:3584/1:4k/67:8k/10:\
                16k/7:32k/3:64k/3\nrandom_distribution=zoned:50/5:30/15:20/80\nrw=randrw\n\
                rwmixread=40\nnumjobs=4\niodepth=256\nblockalign=4k\n\
                random_generator=tausworthe64\n[jesd]\n";
    let spec = super::file(text);
    let split = &spec.jobs[0].options.block.bssplit.0[0];
    assert_eq!(split.0.len(), 12);
    assert_eq!(split.0.last(), Some(&(4096, 67)));
}
