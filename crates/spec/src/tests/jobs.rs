//! Jobs from words and files: what ends up where.

use super::{file, good, read};
use crate::kinds::{Distribution, Mode, VerifyKind};
use crate::testing::FakeWorld;
use crate::{Eta, Format};
use units::{Amount, Ddir, PerDdir, Range, Span};

#[test]
fn a_vendor_line_becomes_typed_options() {
    let spec = good(
        "--directory=/mnt --name fio_test_file --direct=1 --rw=randwrite --bs=64k --size=1G \
         --numjobs=16 --time_based --runtime=180 --group_reporting --norandommap",
    );
    let job = &spec.jobs[0];
    assert_eq!(job.name, "fio_test_file");
    let o = &job.options;
    assert_eq!(o.target.directory.as_ref().unwrap().0, ["/mnt"]);
    assert!(o.io.direct && !o.io.buffered && o.io.norandommap);
    assert_eq!(o.io.rw.mode, Mode::RandWrite);
    assert_eq!(o.block.bs, PerDdir::splat(65536));
    assert_eq!(o.extent.size, Amount::Bytes(1 << 30));
    assert_eq!(o.process.numjobs, 16);
    assert!(o.extent.time_based && o.process.group_reporting);
    assert_eq!(o.extent.runtime, Span::from_secs(180));
    assert_eq!(
        job.given[0],
        ("name".to_string(), "fio_test_file".to_string())
    );
    assert_eq!(job.given[6], ("time_based".to_string(), String::new()));
    assert_eq!(
        spec.global_given,
        [("directory".to_string(), "/mnt".to_string())]
    );
    assert_eq!(job.global_given, spec.global_given);
    assert!(spec.notes.is_empty(), "{:?}", spec.notes);
}

#[test]
fn single_dashes_and_switches() {
    let spec = good(
        "-name=a -rw=randrw -rwmixwrite=30 -bs=8K -thread -group_reporting -iodepth 32 \
         --output-format=normal,json+ --eta=always --eta-newline=1 --status-interval 2s \
         --idle-prof=percpu --output=x --max-jobs=9 --terse-version=5",
    );
    let o = &spec.jobs[0].options;
    assert_eq!((o.io.rwmixread, o.io.rwmixwrite), (70, 30));
    assert_eq!(o.queue.iodepth, 32);
    assert!(o.process.thread);
    let s = &spec.switches;
    assert_eq!(s.formats, [Format::Normal, Format::JsonPlus]);
    assert_eq!(s.eta, Eta::Always);
    assert_eq!(s.eta_newline, Some(Span::from_secs(1)));
    assert_eq!(s.status_interval, Some(Span::from_secs(2)));
    assert_eq!((s.output.as_deref(), s.terse_version), (Some("x"), 5));
}

#[test]
fn names_separate_jobs_and_global_edits_what_follows() {
    let spec = good("--bs=1k --name=a --bs=2k --name=global --iodepth=4 --name=b --name=c --bs=8k");
    let seen: Vec<_> = spec
        .jobs
        .iter()
        .map(|j| {
            (
                j.name.as_str(),
                j.options.block.bs[Ddir::Read],
                j.options.queue.iodepth,
            )
        })
        .collect();
    assert_eq!(seen, [("a", 2048, 1), ("b", 1024, 4), ("c", 8192, 4)]);
}

#[test]
fn job_files_inherit_the_line_and_reset_for_the_next_file() {
    let world = FakeWorld::default()
        .with_file(
            "a",
            "[global]\nbs=8k\n[one]\nsize=4k\n[global]\nthread\n[two]\n",
        )
        .with_file("b", "[three]\n[four]\n");
    let spec = read(
        "--name=cli a b --rw=write --section=unused --section=cli",
        &world,
    )
    .unwrap();
    assert_eq!(spec.jobs.len(), 1, "sections are filtered");
    let spec = read("a b --size=1g --iodepth=7", &world).unwrap();
    let jobs: Vec<_> = spec
        .jobs
        .iter()
        .map(|j| {
            let o = &j.options;
            (
                j.name.as_str(),
                o.extent.size,
                o.block.bs[Ddir::Read],
                o.queue.iodepth,
                o.process.thread,
                o.process.stonewall,
            )
        })
        .collect();
    let none = Amount::Bytes(0);
    assert_eq!(
        jobs,
        [
            ("one", Amount::Bytes(4096), 8192, 7, false, false),
            ("two", Amount::Bytes(1 << 30), 8192, 7, true, false),
            ("three", none, 4096, 1, false, true),
            ("four", none, 4096, 1, false, false),
        ]
    );
    assert!(spec.jobs[2].implicit_stonewall && spec.jobs[2].from_file);
}

#[test]
fn a_section_may_rename_itself_and_sorts_its_units_first() {
    let spec = file("[job1]\nsize=4k\nname=read_iops\nreadwrite=randread\nkb_base=1000\n");
    let job = &spec.jobs[0];
    assert_eq!(
        (job.name.as_str(), job.section.as_str()),
        ("read_iops", "job1")
    );
    assert_eq!(job.options.extent.size, Amount::Bytes(4000));
    let names: Vec<&str> = job.given.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["kb_base", "size", "name", "rw"]);
}

#[test]
fn a_global_name_names_no_job() {
    let spec = file("[global]\nname=all\nbs=1k\n[one]\n[two]\nname=own\n");
    let names: Vec<&str> = spec.jobs.iter().map(|job| job.name.as_str()).collect();
    assert_eq!(names, ["one", "own"]);
    assert_eq!(spec.command_lines, ["fio --bs=1k --name=one --name=own"]);
}

#[test]
fn blanks_and_fractions_are_read_as_meant_with_a_note() {
    let spec = file("[j]\nbs = 8k\nrw = randread\nsize=1.5k\nruntime = 5m\n");
    let o = &spec.jobs[0].options;
    assert_eq!(o.block.bs, PerDdir::splat(8192));
    assert_eq!(o.extent.size, Amount::Bytes(1536));
    assert_eq!(o.extent.runtime, Span::from_secs(300));
    let notes: Vec<String> = spec.notes.iter().map(ToString::to_string).collect();
    assert_eq!(notes.len(), 3, "{notes:?}");
    assert_eq!(
        notes[0],
        "j.fio:2:1: bs= 8k: ` 8k` is read as 8192 (fio reads 8)"
    );
}

#[test]
fn engine_options_stay_text_and_belong_to_their_engine() {
    let spec = good("--ioengine=io_uring --hipri --name=a --force_async=4 --name=b --ioengine=aio");
    let given: Vec<_> = spec.jobs[0]
        .engine_options
        .iter()
        .map(|g| (g.name.as_str(), g.value.as_deref(), g.inherited))
        .collect();
    assert_eq!(
        given,
        [("hipri", None, true), ("force_async", Some("4"), false)]
    );
    assert_eq!(spec.jobs[1].options.queue.ioengine, "libaio");
    assert!(spec.jobs[1].engine_options.is_empty());
    assert_eq!(spec.notes.len(), 1);
}

#[test]
fn lists_keep_what_they_leave_out() {
    let bs = |text: &str| {
        good(&format!("--name=a --bs={text}")).jobs[0]
            .options
            .block
            .bs
            .0
    };
    assert_eq!(bs("8k"), [8192; 3]);
    assert_eq!(bs("1k,2k"), [1024, 2048, 2048]);
    assert_eq!(bs("1k,2k,"), [1024, 2048, 4096]);
    assert_eq!(bs("1k,"), [1024, 4096, 4096]);
    assert_eq!(bs(",2k"), [4096, 2048, 2048]);
    assert_eq!(bs("1k,,2k"), [1024, 4096, 2048]);
    assert_eq!(bs("1k:2k"), [1024, 2048, 2048]);
    assert_eq!(bs("(2*1k),(3+5)"), [2048, 8, 8]);
}

#[test]
fn grammars_of_their_own() {
    let o = |text: &str| good(&format!("--name=a {text}")).jobs[0].options.clone();
    let range = o("--bsrange=8k:4k,1k-2k").block.bsrange;
    assert_eq!(range[Ddir::Read], Some(Range { lo: 4096, hi: 8192 }));
    assert_eq!(range[Ddir::Trim], Some(Range { lo: 1024, hi: 2048 }));
    let split = o("--bssplit=4k/60:64k/:8k/10").block.bssplit;
    assert_eq!(split[Ddir::Write].0, [(8192, 10), (65536, 30), (4096, 60)]);
    assert_eq!(o("--rw=randread:8").io.rw.requests_per_offset(), 8);
    assert_eq!(o("--rw=read:-4k").io.rw.step_bytes(), -4096);
    let zipf = Distribution::Zipf {
        theta: 1.2,
        center: Some(0.5),
    };
    assert_eq!(
        o("--random_distribution=zipf:1.2:0.5")
            .io
            .random_distribution,
        zipf
    );
    let Distribution::Zoned(zones) = o("--random_distribution=zoned:50/5:30/15:20/")
        .io
        .random_distribution
    else {
        panic!("not zoned");
    };
    assert_eq!(
        (zones[Ddir::Read][2].access, zones[Ddir::Read][2].size),
        (20, 80)
    );
    assert_eq!(
        o("--startdelay=5-10s").extent.startdelay.hi,
        Span::from_secs(10)
    );
    assert_eq!(o("--thinktime=5ms").pace.thinktime, Span::from_ms(5));
    assert_eq!(o("--thinktime=5").pace.thinktime, Span::from_us(5));
    assert_eq!(o("--log_avg_msec=5").measure.log_avg_msec, Span::from_ms(5));
    assert_eq!(o("--size=50%").extent.size, Amount::Percent(50));
    assert_eq!(
        o("--cpus_allowed=0,3,5-6").process.cpus_allowed.unwrap().0,
        [0, 3, 5, 6]
    );
    let names = o(r"--filename=/a\:b:/c").target.filename.unwrap();
    assert_eq!(names.0, ["/a:b", "/c"]);
    let errors = o("--ignore_error=EIO:28,ENOSPC").faults.ignore_error;
    assert_eq!((errors.read, errors.write), (vec![5, 28], vec![28]));
}

#[test]
fn patterns_become_bytes() {
    let bytes = |text: &str| {
        let pattern = good(&format!("--name=a --verify_pattern={text}"));
        pattern.jobs[0]
            .options
            .verify
            .verify_pattern
            .bytes()
            .unwrap()
    };
    assert_eq!(bytes("0xff12c").0, [0x0f, 0xf1, 0x2c]);
    assert_eq!(bytes("-1024").0, [0x00, 0xfc, 0xff, 0xff]);
    assert_eq!(bytes("-100xab\"1\"%o\"2\"").0.len(), 4 + 1 + 1 + 8 + 1);
    assert_eq!(bytes("-100xab\"1\"%o\"2\"").1, [6]);
    assert_eq!(bytes("0xFF0X1").0, [0xff, 0x01]);
    assert_eq!(bytes("66").0, [0x42]);
}

#[test]
fn options_that_switch_others() {
    let o = |text: &str| good(&format!("--name=a {text}")).jobs[0].options.clone();
    let quiet = o("--lat_percentiles=1 --gtod_reduce=1");
    assert!(quiet.measure.disable_clat && quiet.measure.disable_bw_measurement);
    assert!(!quiet.measure.clat_percentiles && !quiet.measure.lat_percentiles);
    assert!(
        o("--gtod_reduce=1 --clat_percentiles=1")
            .measure
            .clat_percentiles
    );
    assert!(o("--buffered=0").io.direct);
    let pattern = o("--zero_buffers --buffer_pattern=0xab");
    assert!(!pattern.buffer.zero_buffers && pattern.buffer.refill_buffers);
    assert!(
        !o("--rw=write --refill_buffers --buffer_pattern=1")
            .buffer
            .refill_buffers
    );
    assert_eq!(
        o("--verify_pattern=1").verify.verify,
        VerifyKind::PatternHdr
    );
    assert_eq!(
        o("--verify=md5 --verify_pattern=1").verify.verify,
        VerifyKind::Md5
    );
}

#[test]
fn an_option_that_asks_for_nothing_is_accepted() {
    good("--name=a --steadystate_duration=0 --zonemode=none --cgroup_nodelete=0 --verify_async=0");
    let spec = good("--name=a --verifysort=1");
    assert!(
        spec.notes[0].text.contains("has no effect"),
        "{:?}",
        spec.notes
    );
}

#[test]
fn showcmd_gives_one_line_per_source() {
    let world = FakeWorld::default()
        .with_file(
            "a",
            "[global]\nbs=8k\n[one]\nthread\ndescription=two words\n",
        )
        .with_file("b", "[two]\nname=renamed\n");
    let spec = read("--iodepth=2 --name=cli a b --showcmd", &world).unwrap();
    assert_eq!(
        spec.command_lines,
        [
            "fio --iodepth=2 --name=cli",
            "fio --iodepth=2 --bs=8k --name=one --thread --description='two words'",
            "fio --name=renamed --stonewall",
        ]
    );
}
