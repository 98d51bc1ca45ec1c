//! JSON of fio 2 and of early 3.x as the tree of today.
//!
//! fio 2 has latencies in microseconds, KiB under `io_bytes`, and no counts of samples.

use serde_json::{Map, Value, json};

/// The same document with today's keys and units.
pub(super) fn modernised(mut tree: Value) -> Value {
    let jobs = tree.get_mut("jobs").and_then(Value::as_array_mut);
    for job in jobs.into_iter().flatten() {
        let mut runtime = 0;
        for name in ["read", "write", "trim", "mixed"] {
            if let Some(direction) = job.get_mut(name).and_then(Value::as_object_mut) {
                modernise(direction);
                let own = direction.get("runtime").and_then(Value::as_u64);
                runtime = runtime.max(own.unwrap_or(0));
            }
        }
        if let Some(job) = job.as_object_mut() {
            job.entry("job_runtime").or_insert(json!(runtime));
        }
    }
    tree
}

fn number(from: &Map<String, Value>, key: &str) -> f64 {
    from.get(key).and_then(Value::as_f64).unwrap_or(0.0)
}

fn modernise(direction: &mut Map<String, Value>) {
    let old = direction.contains_key("clat");
    let ios = number(direction, "total_ios");
    for class in ["slat", "clat", "lat"] {
        let Some(Value::Object(mut latency)) = direction.remove(class) else {
            continue;
        };
        for key in ["min", "max"] {
            latency.insert(key.to_owned(), json!((number(&latency, key) * 1e3) as u64));
        }
        for key in ["mean", "stddev"] {
            latency.insert(key.to_owned(), json!(number(&latency, key) * 1e3));
        }
        if let Some(Value::Object(list)) = latency.get_mut("percentile") {
            // Unused places of the list.
            list.retain(|percent, _| percent.parse::<f64>().is_ok_and(|p| p > 0.0));
            for value in list.values_mut() {
                *value = json!((value.as_f64().unwrap_or(0.0) * 1e3) as u64);
            }
        }
        direction.insert(format!("{class}_ns"), Value::Object(latency));
    }
    for class in ["slat_ns", "clat_ns", "lat_ns"] {
        if let Some(Value::Object(latency)) = direction.get_mut(class) {
            let measured = number(latency, "max") > 0.0;
            let n = if measured { ios as u64 } else { 0 };
            latency.entry("N").or_insert(json!(n));
        }
    }
    if old {
        // Which of the two it is shows beside the rate, which always is KiB/s.
        let (io, bw) = (number(direction, "io_bytes"), number(direction, "bw"));
        let seconds = number(direction, "runtime") / 1e3;
        if io < bw * seconds * 32.0 {
            direction.insert("io_bytes".to_owned(), json!((io * 1024.0) as u64));
        }
    }
    for (key, dev) in [("bw_samples", "bw_dev"), ("iops_samples", "iops_stddev")] {
        let prefix = key.trim_end_matches("_samples");
        if !direction.contains_key(key) && number(direction, &format!("{prefix}_mean")) > 0.0 {
            // The fewest that have a deviation.
            let n = if number(direction, dev) > 0.0 { 2 } else { 1 };
            direction.insert(key.to_owned(), json!(n));
        }
    }
}
