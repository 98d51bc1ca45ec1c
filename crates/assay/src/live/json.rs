//! One line of JSON for each window, for programs that watch.

use super::Moment;
use super::windows::{DiskWindow, Flow, Window};
use serde_json::{Map, Value, json};
use units::{Ddir, PerDdir};

/// The line of a window.
pub fn line(moment: &Moment, window: &Window) -> Map<String, Value> {
    let mut object = Map::new();
    object.insert("title".into(), moment.title.clone().into());
    object.insert("t_s".into(), seconds(moment.elapsed_ns));
    object.insert("window_s".into(), seconds(window.ns));
    object.insert("phase".into(), moment.phase().into());
    object.insert("running".into(), moment.running.into());
    object.insert("eta_s".into(), moment.eta_s.into());
    put(&mut object, window, &window.total());
    let jobs = window.jobs.iter().enumerate().map(|(at, job)| {
        let mut object = Map::new();
        object.insert("name".into(), job.name.clone().into());
        object.insert("number".into(), job.number.into());
        object.insert("phase".into(), moment.phase_of(at).into());
        put(&mut object, window, &job.flows);
        Value::Object(object)
    });
    object.insert("jobs".into(), jobs.collect());
    if !window.disks.is_empty() {
        object.insert("devices".into(), window.disks.iter().map(device).collect());
    }
    object
}

/// A block device; blanks before its name tell of which it is a member.
fn device(disk: &DiskWindow) -> Value {
    let rates = disk.rates();
    json!({
        "name": disk.name,
        "read_bytes_per_s": rounded(rates.bytes_per_s[0]),
        "written_bytes_per_s": rounded(rates.bytes_per_s[1]),
        "iops": rounded(rates.iops),
        "in_flight": rounded(rates.in_flight),
        "busy_percent": rounded(rates.busy_percent),
    })
}

/// Directions in which something happened.
fn put(object: &mut Map<String, Value>, window: &Window, flows: &PerDdir<Flow>) {
    for ddir in Ddir::DATA {
        let flow = &flows[ddir];
        if flow.ios == 0 {
            continue;
        }
        let percentile = |at: usize| flow.ns.map(|ns| ns[at]);
        let value = json!({
            "ios": flow.ios,
            "bytes": flow.bytes,
            "iops": rounded(window.per_s(flow.ios)),
            "bytes_per_s": rounded(window.per_s(flow.bytes)),
            "p50_ns": percentile(0),
            "p99_ns": percentile(1),
            "p99_9_ns": percentile(2),
        });
        object.insert(ddir.name().into(), value);
    }
}

fn seconds(ns: u64) -> Value {
    ((ns as f64 / 1e6).round() / 1e3).into()
}

fn rounded(rate: f64) -> f64 {
    (rate * 10.0).round() / 10.0
}
