//! `--output-format=json` and `json+`: the key tree, order and number formats of fio.

mod job;
pub(crate) mod tree;

use crate::disks::{Members, listed};
use crate::normal::Totals;
use crate::{FIO_VERSION, figures};
use result::{CpuIdle, Disk, Options, Run};
use tree::{Object, Value};

/// One document. The first line is `{` and the last is `}`, which scripts cut on. `plus` adds the
/// bins of every class that shows percentiles.
///
/// The documents of a running job (`--status-interval`) are the same, one after the other.
pub fn json(run: &Run, plus: bool) -> String {
    let blocks = run.reported();
    let totals = Totals::new(run, &blocks);
    let mut root = Object::default();
    root.put("fio version", FIO_VERSION);
    root.put("timestamp", run.finished_ms / 1000);
    root.put("timestamp_ms", run.finished_ms);
    root.put("time", &*figures::ctime(run.finished_ms, run.utc_offset_s));
    put_options(&mut root, "global options", &run.global_options);
    let clock = job::Clock::of(run);
    let jobs: Vec<Value> = blocks
        .iter()
        .map(|block| job::object(block, &totals.of(block.group), &clock, plus).into())
        .collect();
    root.put("jobs", jobs);
    if !run.disks.is_empty() {
        let disks: Vec<Value> = listed(&run.disks)
            .into_iter()
            .map(|disk| disk_object(disk).into())
            .collect();
        root.put("disk_util", disks);
    }
    if let Some(idle) = &run.cpu_idle {
        root.put("cpu_idleness", idle_object(idle));
    }
    if let Some(judgement) = &run.judgement {
        root.put("assay", crate::findings::object(judgement, &run.layouts));
    }
    root.document()
}

/// Options as the user wrote them; the key is absent when there are none.
fn put_options(object: &mut Object, key: &'static str, options: &Options) {
    if !options.is_empty() {
        let pairs = options
            .iter()
            .map(|(name, value)| (name.clone(), value.as_str()));
        object.put(key, Object::of(pairs));
    }
}

fn disk_object(disk: &Disk) -> Object {
    let c = &disk.counters;
    let mut object = Object::default();
    object.put("name", disk.name.as_str());
    object.put("read_ios", c.ios[0]);
    object.put("write_ios", c.ios[1]);
    object.put("read_sectors", c.sectors[0]);
    object.put("write_sectors", c.sectors[1]);
    object.put("read_merges", c.merges[0]);
    object.put("write_merges", c.merges[1]);
    object.put("read_ticks", c.ticks_ms[0]);
    object.put("write_ticks", c.ticks_ms[1]);
    object.put("in_queue", c.in_queue_ms);
    object.put("util", c.util_percent());
    if let Some(m) = Members::of(disk) {
        object.put("aggr_read_ios", m.ios[0]);
        object.put("aggr_write_ios", m.ios[1]);
        object.put("aggr_read_sectors", m.sectors[0]);
        object.put("aggr_write_sectors", m.sectors[1]);
        object.put("aggr_read_merges", m.merges[0]);
        // Not a slip here: fio's key has no s.
        object.put("aggr_write_merge", m.merges[1]);
        object.put("aggr_read_ticks", m.ticks_ms[0]);
        object.put("aggr_write_ticks", m.ticks_ms[1]);
        object.put("aggr_in_queue", m.in_queue_ms);
        object.put("aggr_util", m.util_percent);
    }
    object
}

fn idle_object(idle: &CpuIdle) -> Object {
    let mut object = Object::default();
    object.put("system", idle.system_percent);
    if idle.per_cpu {
        for (cpu, percent) in idle.cpus_percent.iter().enumerate() {
            object.put(format!("cpu-{cpu}"), *percent);
        }
    }
    object.put("unit_mean", idle.unit_mean_us);
    object.put("unit_stddev", idle.unit_stddev_us);
    object
}
