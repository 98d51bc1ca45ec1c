//! The order, numbers, groups and stages of workers, and what options do to each other.

mod support;

use plan::{Plan, Worker};
use support::plan as plan_in;

fn plan(line: &str) -> Plan {
    let line = format!("--ioengine=null --size=1m {line}");
    plan_in(&line, std::path::Path::new("/nonexistent")).unwrap_or_else(|e| panic!("{line}: {e}"))
}

fn only(line: &str) -> Worker {
    let mut workers = plan(&format!("--name=a {line}")).workers;
    assert_eq!(workers.len(), 1);
    workers.remove(0)
}

#[test]
fn clones_count_downwards_as_in_fio() {
    let plan = plan("--name=a --numjobs=4 --name=b");
    let seen: Vec<_> = plan
        .workers
        .iter()
        .map(|w| (w.number, w.clone, w.job))
        .collect();
    assert_eq!(
        seen,
        [(1, 0, 0), (2, 3, 0), (3, 2, 0), (4, 1, 0), (5, 0, 1)]
    );
    let names: Vec<u32> = plan
        .workers
        .iter()
        .map(|w| w.requests.thread_number)
        .collect();
    assert_eq!(names, [1, 2, 3, 4, 5]);
}

#[test]
fn stonewalls_begin_stages_and_groups() {
    let plan =
        plan("--name=a --stonewall --numjobs=2 --name=b --name=c --new_group --name=d --stonewall");
    let seen: Vec<_> = plan.workers.iter().map(|w| (w.group, w.stage)).collect();
    assert_eq!(seen, [(0, 0), (0, 0), (0, 0), (1, 0), (2, 1)]);
}

#[test]
fn batches_stay_within_the_depth() {
    let depth = only("--iodepth=8 --iodepth_batch=99 --iodepth_low=20").depth;
    assert_eq!((depth.iodepth, depth.batch_submit, depth.low), (8, 8, 8));
    assert_eq!((depth.batch_complete_min, depth.batch_complete_max), (1, 1));
    let depth = only("--iodepth=8 --iodepth_batch=0 --iodepth_batch_complete_min=4").depth;
    assert_eq!((depth.batch_submit, depth.batch_complete_max), (8, 4));
    let depth = only("--iodepth=8 --iodepth_batch_complete_min=0 --iodepth_low=2").depth;
    assert_eq!(
        (
            depth.batch_complete_min,
            depth.batch_complete_max,
            depth.low
        ),
        (0, 1, 2)
    );
    assert!(
        only("--iodepth=8 --rw=write --serialize_overlap=1")
            .depth
            .serialize_overlap
    );
    assert!(
        !only("--iodepth=8 --rw=read --serialize_overlap=1")
            .depth
            .serialize_overlap
    );
    assert!(
        !only("--rw=write --serialize_overlap=1")
            .depth
            .serialize_overlap
    );
}

#[test]
fn what_switches_the_random_map_off() {
    assert!(!only("--rw=randread").requests.norandommap);
    assert!(only("--rw=randread --norandommap").requests.norandommap);
    assert!(
        only("--rw=randread --random_distribution=zipf:1.2")
            .requests
            .norandommap
    );
    assert!(only("--rw=randread --ba=8k").requests.norandommap);
    assert!(!only("--rw=randread --ba=4k").requests.norandommap);
    assert!(!only("--rw=read --ba=8k").requests.norandommap);
    let notes = plan("--name=a --rw=randread --ba=8k --numjobs=3").notes;
    assert_eq!(
        notes,
        ["a: any use of blockalign= turns the random map off"]
    );
}

#[test]
fn synchronous_engines_say_that_depth_has_no_effect() {
    let line = "--name=a --ioengine=psync --filename=/dev/zero --size=1m --iodepth=8 --numjobs=2";
    let plan = plan_in(line, std::path::Path::new("/")).unwrap();
    assert_eq!(
        plan.notes,
        [
            "both iodepth >= 1 and synchronous I/O engine are selected, queue depth will be capped at 1"
        ]
    );
    assert!(!plan.workers[0].reporting.has_slat);
}

#[test]
fn verification_refills_unless_told_otherwise() {
    assert!(!only("--rw=write").buffers.fill.refill);
    assert!(only("--rw=write --verify=crc32c").buffers.fill.refill);
    assert!(
        !only("--rw=write --verify=crc32c --refill_buffers=0")
            .buffers
            .fill
            .refill
    );
    let verify = only("--rw=write --verify=crc32c --bsrange=4k-16k")
        .verify
        .unwrap();
    assert_eq!((verify.content.interval, verify.read_back), (4096, true));
    assert!(!only("--rw=read --verify=crc32c").verify.unwrap().read_back);
    assert!(only("--rw=write").verify.is_none());
}

#[test]
fn seeds_and_buffers_differ_between_workers_and_repeat_between_runs() {
    let seeds = |line: &str| -> Vec<u64> {
        plan(line)
            .workers
            .iter()
            .map(|w| w.buffers.fill.seed)
            .collect()
    };
    let first = seeds("--name=a --rw=write --numjobs=3");
    assert_eq!(first, seeds("--name=a --rw=write --numjobs=3"));
    assert!(first[0] != first[1] && first[1] != first[2]);
    assert_ne!(first, seeds("--name=a --rw=write --numjobs=3 --randseed=5"));
    assert_ne!(
        only("--randrepeat=0").requests.seed,
        only("--randrepeat=0").requests.seed
    );
}

#[test]
fn windows_follow_the_logs() {
    let measured = only("--write_bw_log=x --log_avg_msec=100 --bwavgtime=200").measured;
    assert_eq!(
        (measured.bw_window_ns, measured.iops_window_ns),
        (200_000_000, 500_000_000)
    );
    let measured = only("--write_iops_log=x --log_avg_msec=100").measured;
    assert_eq!(
        (measured.bw_window_ns, measured.iops_window_ns),
        (500_000_000, 100_000_000)
    );
    let reduced = only("--gtod_reduce=1");
    assert!(reduced.measured.reduced && !reduced.measured.clat && !reduced.reporting.has_lat);
}

#[test]
fn numa_nodes_replace_the_cpus_allowed() {
    let online = host::cpu::online(&host::Root::default()).unwrap();
    let line = format!("--cpus_allowed={} --numa_cpu_nodes=all", online[0]);
    let mut cpus = only(&line).placement.cpus.unwrap();
    cpus.sort_unstable();
    assert_eq!(cpus, online);
}

#[test]
fn cpus_are_shared_or_dealt_out() {
    let online = host::cpu::online(&host::Root::default()).unwrap();
    let list: Vec<String> = online.iter().map(u32::to_string).collect();
    let cpus = |policy: &str| -> Vec<Vec<u32>> {
        let line = format!(
            "--name=a --numjobs=3 --cpus_allowed={} --cpus_allowed_policy={policy}",
            list.join(",")
        );
        plan(&line)
            .workers
            .into_iter()
            .map(|w| w.placement.cpus.unwrap())
            .collect()
    };
    assert_eq!(cpus("shared"), vec![online.clone(); 3]);
    let dealt: Vec<Vec<u32>> = online
        .iter()
        .cycle()
        .take(3)
        .map(|cpu| vec![*cpu])
        .collect();
    assert_eq!(cpus("split"), dealt);
    assert_eq!(only("--cpumask=1").placement.cpus, Some(vec![0]));
    assert_eq!(only("").placement.cpus, None);
    assert_eq!(only("--prio=3").placement.io_priority, Some(0x4003));
}

#[test]
fn start_delays_are_drawn_from_their_range() {
    assert_eq!(only("--startdelay=2").limits.start_delay_ns, 2_000_000_000);
    let plan = plan("--name=a --startdelay=1-3 --numjobs=8");
    let delays: Vec<u64> = plan
        .workers
        .iter()
        .map(|w| w.limits.start_delay_ns)
        .collect();
    assert!(
        delays
            .iter()
            .all(|ns| (1_000_000_000..=3_000_000_000).contains(ns))
    );
    assert!(delays.iter().any(|ns| *ns != delays[0]));
}

#[test]
fn clones_share_the_allocation_of_a_shared_path() {
    let dir = tempfile::tempdir().unwrap();
    let line = "--filename=$DIR/f --name=a --size=1m --numjobs=3 --rw=randwrite";
    let plan = plan_in(line, dir.path()).unwrap();
    let paths: Vec<_> = plan.workers.iter().map(|w| &w.targets[0].path).collect();
    assert!(
        paths
            .iter()
            .all(|path| std::sync::Arc::ptr_eq(path, paths[0]))
    );
    assert_eq!(plan.layouts.len(), 1, "the first clone lays out for all");
    let created: Vec<bool> = plan.workers.iter().map(|w| w.targets[0].created).collect();
    assert_eq!(created, [true, false, false]);
    assert!(plan.workers.iter().all(|w| w.targets[0].permit.is_some()));
}
