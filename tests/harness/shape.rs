//! The shape of a JSON report: which keys stand where, and of which type.

use serde_json::Value;

/// Keys that newer fio versions have and the one used as the measure may lack.
const NEWER_KEYS: [&str; 7] = [
    "job_start",
    "latency_target_ns",
    "latency_window_us",
    "read_sectors",
    "write_sectors",
    "aggr_read_sectors",
    "aggr_write_sectors",
];

/// Keys of our own, where fio has nothing to say.
const OWN_KEYS: [&str; 2] = ["lat_intended_ns", "assay"];

/// Job fields whose values, not only types, are fixed by the command line.
const FIXED_VALUES: [&str; 4] = ["jobname", "groupid", "error", "latency_depth"];

/// One line per key, in order: `jobs[].read.iops: float`.
pub fn shape(document: &Value) -> Vec<String> {
    let mut out = Vec::new();
    walk("", document, &mut out);
    out
}

fn walk(path: &str, value: &Value, out: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            out.push(format!("{path}: object"));
            if path.ends_with(".bins") {
                out.extend(
                    map.iter()
                        .map(|(_, count)| format!("{path}.<ns>: {}", kind(count))),
                );
                out.dedup();
                return;
            }
            for (key, inner) in map {
                // The words a job was given are compared by value below.
                let given = matches!(key.as_str(), "job options" | "global options");
                let known = |list: &[&str]| list.contains(&key.as_str());
                if !given && !known(&NEWER_KEYS) && !known(&OWN_KEYS) {
                    walk(&format!("{path}.{key}"), inner, out);
                }
            }
        }
        Value::Array(items) => {
            out.push(format!("{path}: array of {}", items.len()));
            for (index, inner) in items.iter().enumerate() {
                walk(&format!("{path}[{index}]"), inner, out);
            }
        }
        other => out.push(format!("{path}: {}", kind(other))),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(n) if n.is_f64() => "float",
        Value::Number(_) => "int",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// What a second report lacks, has too much, has in another place, or says differently.
pub fn differences(expected: &Value, found: &Value) -> Vec<String> {
    let (want, have) = (shape(expected), shape(found));
    let mut out = sequence_differences(&want, &have);
    let jobs = |v: &Value| v["jobs"].as_array().cloned().unwrap_or_default();
    for (index, (a, b)) in jobs(expected).iter().zip(&jobs(found)).enumerate() {
        for key in FIXED_VALUES {
            if a[key] != b[key] {
                out.push(format!(
                    "jobs[{index}].{key}: fio {} here {}",
                    a[key], b[key]
                ));
            }
        }
        let key = "job options";
        out.extend(option_differences(
            &format!("jobs[{index}].{key}"),
            &a[key],
            &b[key],
        ));
    }
    let at = "global options";
    out.extend(option_differences(at, &expected[at], &found[at]));
    out
}

/// Options as they were given. fio 3.33 leaves out those without a value, newer ones say `""`.
fn option_differences(at: &str, expected: &Value, found: &Value) -> Option<String> {
    let valued = |options: &Value| -> Vec<(String, Value)> {
        let all = options.as_object().into_iter().flatten();
        let given = all.filter(|(_, value)| *value != "");
        given
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect()
    };
    let same = valued(expected) == valued(found) && (expected.is_null() || !found.is_null());
    (!same).then(|| format!("{at}: fio {expected} here {found}"))
}

/// Compares two lists of facts, first as sets, then by order.
pub fn sequence_differences(want: &[String], have: &[String]) -> Vec<String> {
    let missing = want.iter().filter(|fact| !have.contains(fact));
    let extra = have.iter().filter(|fact| !want.contains(fact));
    let mut out: Vec<String> = missing.map(|fact| format!("missing   {fact}")).collect();
    out.extend(extra.map(|fact| format!("not fio's {fact}")));
    if out.is_empty()
        && let Some((a, b)) = want.iter().zip(have).find(|(a, b)| a != b)
    {
        out.push(format!("order: fio has `{a}` where here stands `{b}`"));
    }
    out
}

/// Totals that a job bounded by size fixes, per job and direction.
pub fn total_differences(expected: &Value, found: &Value) -> Vec<String> {
    let mut out = Vec::new();
    let (want, have) = (&expected["jobs"], &found["jobs"]);
    for index in 0..want.as_array().map_or(0, Vec::len) {
        for direction in ["read", "write", "trim", "mixed"] {
            for key in ["io_bytes", "io_kbytes", "total_ios"] {
                let (a, b) = (&want[index][direction][key], &have[index][direction][key]);
                if a != b {
                    out.push(format!("jobs[{index}].{direction}.{key}: fio {a} here {b}"));
                }
            }
        }
        let (a, b) = (
            &want[index]["sync"]["total_ios"],
            &have[index]["sync"]["total_ios"],
        );
        if a != b {
            out.push(format!("jobs[{index}].sync.total_ios: fio {a} here {b}"));
        }
    }
    out
}
