//! Lines that a small run of fio does not produce: stacked disks, zones, cache hits, targets.

use result::{Direction, Disk, DiskCounters, Job, LatencyTarget, Run, Unified};
use units::{Ddir, PerDdir};

fn job() -> Job {
    let mut dirs = PerDdir::<Direction>::default();
    dirs[Ddir::Read] = Direction {
        bytes: 4_096_000,
        issued: 1000,
        ios: 1000,
        runtime_ms: 500,
        ..Direction::default()
    };
    Job {
        name: "a".to_owned(),
        members: 1,
        pid: 7,
        dirs,
        ..Job::default()
    }
}

fn normal(job: Job) -> String {
    render::normal(&Run {
        jobs: vec![job],
        ..Run::default()
    })
}

fn line<'a>(text: &'a str, start: &str) -> &'a str {
    text.lines()
        .find(|line| line.starts_with(start))
        .unwrap_or_else(|| panic!("{start}\n{text}"))
}

fn disk(name: &str, ios: u64, busy_ms: u64, members: Vec<Disk>) -> Disk {
    let counters = DiskCounters {
        ios: [ios, 2 * ios],
        merges: [1, 3],
        sectors: [8 * ios, 16 * ios],
        ticks_ms: [10, 21],
        in_queue_ms: 31,
        busy_ms,
        elapsed_ms: 1000,
    };
    Disk {
        name: name.to_owned(),
        identity: None,
        counters,
        members,
    }
}

fn stacked() -> Run {
    let members = vec![
        disk("sda", 40, 900, Vec::new()),
        disk("sdb", 41, 1200, Vec::new()),
    ];
    let plain = disk("sda", 40, 900, Vec::new());
    Run {
        jobs: vec![job()],
        disks: vec![disk("md0", 81, 500, members), plain],
        ..Run::default()
    }
}

#[test]
fn a_stacked_disk_stands_above_its_members() {
    let text = render::normal(&stacked());
    let (_, disks) = text
        .split_once("\nDisk stats (read/write):\n")
        .expect("the section");
    assert_eq!(
        disks,
        "    md0: ios=81/162, sectors=648/1296, merge=1/3, ticks=10/21, in_queue=31, util=50.00%, \
         aggrios=40/81, aggsectors=324/648, aggrmerge=1/3, aggrticks=10/21, aggrin_queue=31, \
         aggrutil=100.00%\n  \
         sda: ios=40/80, sectors=320/640, merge=1/3, ticks=10/21, in_queue=31, util=90.00%\n  \
         sdb: ios=41/82, sectors=328/656, merge=1/3, ticks=10/21, in_queue=31, util=100.00%\n"
    );
}

#[test]
fn members_in_json_and_terse() {
    let run = stacked();
    let json: serde_json::Value = serde_json::from_str(&render::json(&run, false)).unwrap();
    let disks = json["disk_util"].as_array().unwrap();
    let names: Vec<&str> = disks
        .iter()
        .filter_map(|disk| disk["name"].as_str())
        .collect();
    assert_eq!(names, ["md0", "sda", "sdb"]);
    assert_eq!(disks[0]["aggr_write_merge"], 3);
    assert_eq!(disks[0]["aggr_util"], 100.0);
    assert!(disks[1].get("aggr_util").is_none());
    let terse = render::terse(&run, render::TerseVersion::V3);
    assert!(terse.contains(
        ";md0;81;162;1;3;10;21;31;50.00%;slaves;40;81;1;3;10;21;31;100.00%;sda;40;80;1;3;10;21;31;\
         90.00%;sdb;"
    ));
}

#[test]
fn zone_resets_and_cache_hits_follow_the_run_time() {
    let read = "  read: IOPS=2000, BW=8000KiB/s (8192kB/s)(4000KiB/500msec)";
    let mut job = job();
    assert_eq!(line(&normal(job.clone()), "  read:"), read);
    job.dirs[Ddir::Read].cache_hits = Some((3, 1));
    assert_eq!(
        line(&normal(job.clone()), "  read:"),
        format!("{read}; Cachehit=75.00%")
    );
    job.reporting.zoned = true;
    job.zone_resets = 12;
    assert_eq!(
        line(&normal(job), "  read:"),
        format!("{read}; 12 zone resets")
    );
}

#[test]
fn latency_targets_choose_their_unit() {
    let target = |target_ns, window_ns| {
        let target = LatencyTarget {
            target_ns,
            window_ns,
            percentile: 99.5,
            depth: 8,
        };
        line(&normal(Job { target, ..job() }), "     latency").to_owned()
    };
    let text = "     latency   : target=10.00ms, window=5.00s, percentile=99.50%, depth=8";
    assert_eq!(target(10_000_000, 5_000_000_000), text);
    assert!(target(1999, 2000).contains("target=1999.00ns, window=2.00us,"));
    assert!(target(1_999_999, 1_999_999_999).contains("target=2000.00us, window=2000.00ms,"));
}

#[test]
fn a_job_that_did_nothing_has_no_block_but_its_group_a_heading() {
    let idle = Job {
        name: "idle".to_owned(),
        group: 1,
        ..Job::default()
    };
    let run = Run {
        jobs: vec![job(), idle],
        ..Run::default()
    };
    let text = render::normal(&run);
    assert!(!text.contains("idle"));
    assert!(text.ends_with("\nRun status group 1 (all jobs):\n"));
    assert_eq!(
        render::terse(&run, render::TerseVersion::V3)
            .lines()
            .count(),
        2
    );
}

#[test]
fn unreported_jobs_count_nowhere() {
    let mut silent = job();
    silent.reporting.shown = false;
    let run = Run {
        jobs: vec![job(), silent],
        ..Run::default()
    };
    assert_eq!(run.reported().len(), 1);
    assert!(line(&render::normal(&run), "   READ").contains("io=4000KiB (4096kB), run=500-500"));
}

#[test]
fn a_group_keeps_its_first_name_and_its_last_options() {
    let member = |name: &str, group, pid| {
        let mut job = Job {
            name: name.to_owned(),
            group,
            pid,
            ..job()
        };
        job.reporting.grouped = true;
        job.options = vec![("name".to_owned(), name.to_owned())];
        job
    };
    let jobs = vec![member("a", 0, 1), member("b", 0, 2), member("c", 1, 3)];
    let blocks = Run {
        jobs,
        ..Run::default()
    }
    .reported();
    assert_eq!(blocks.len(), 2);
    assert_eq!(
        (blocks[0].name.as_str(), blocks[0].pid, blocks[0].members),
        ("a", 1, 2)
    );
    assert_eq!(blocks[0].options[0].1, "b");
    assert_eq!(blocks[0].dirs[Ddir::Read].bytes, 2 * 4_096_000);
    assert_eq!(blocks[0].dirs[Ddir::Read].runtime_ms, 500);
}

#[test]
fn mixed_directions_report_once() {
    let mut job = job();
    job.reporting.unified = Unified::Mixed;
    job.dirs[Ddir::Write] = job.dirs[Ddir::Read].clone();
    let text = normal(job.clone());
    assert!(line(&text, "  mixed:").contains("IOPS=4000,"));
    assert!(line(&text, "  MIXED:").contains("bw=15.6MiB/s"));
    assert!(line(&text, "     issued").contains("total=2000,0,0,0"));
    let run = Run {
        jobs: vec![job],
        ..Run::default()
    };
    let json: serde_json::Value = serde_json::from_str(&render::json(&run, false)).unwrap();
    assert_eq!(json["jobs"][0]["mixed"]["total_ios"], 2000);
    assert!(json["jobs"][0].get("read").is_none() && json["jobs"][0].get("sync").is_none());
}

#[test]
fn short_runs_have_no_estimate() {
    let eta = |elapsed_s, eta_s| {
        let run = Run {
            jobs: vec![Job { elapsed_s, ..job() }],
            eta_s,
            ..Run::default()
        };
        let json: serde_json::Value = serde_json::from_str(&render::json(&run, false)).unwrap();
        json["jobs"][0]["eta"].as_u64()
    };
    assert_eq!(eta(2, 0), Some(2_147_483_647));
    assert_eq!(eta(3, 0), Some(0));
    assert_eq!(eta(9, 40), Some(40));
}

#[test]
fn failures_say_where_and_why() {
    let mut job = job();
    job.failure = Some(result::Failure::new(
        5,
        "io_u error",
        "read of /dev/x failed",
    ));
    let text = normal(job);
    let header = line(&text, "a: (groupid=0, jobs=1): err= 5 (file:synthetic.rs:");
    assert!(header.contains(", func=io_u error, error=Input/output error): pid=7: "));
}
