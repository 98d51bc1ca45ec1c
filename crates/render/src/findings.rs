//! Findings for people and for programs.

use crate::json::tree::{Object, Value};
use result::{DeviceIo, Expectation, Figure, Finding, Judgement, LaidOut, Run, TimeToSave};
use std::fmt::Write;
use units::Human;

/// Widest line of text.
const WIDTH: usize = 96;

/// The findings as the lines that follow fio's own; empty where there are none.
pub fn findings(run: &Run) -> String {
    let Some(judgement) = &run.judgement else {
        return String::new();
    };
    let mut out = String::new();
    for finding in &judgement.findings {
        let head = format!(
            "{}: {} [{}]",
            finding.severity.word(),
            finding.text,
            finding.id
        );
        wrap(&mut out, "  ", "      ", &head);
        wrap(&mut out, "      ", "      ", &finding.advice);
    }
    if let Some(verdict) = &judgement.verdict {
        wrap(&mut out, "  ", "      ", &format!("verdict: {verdict}"));
    }
    if let Some(time) = &judgement.time_to_save {
        wrap(&mut out, "  ", "      ", &saving(time));
    }
    if out.is_empty() {
        return out;
    }
    format!("\nFindings:\n{out}")
}

fn saving(time: &TimeToSave) -> String {
    let amount = Human::bytes(4, 1024).show(time.bytes);
    let range = match time.most_s - time.least_s < f64::EPSILON * time.most_s {
        true => "the run was too short for a range".to_owned(),
        false => format!(
            "{:.2} to {:.2} s with 95 % confidence",
            time.least_s, time.most_s
        ),
    };
    format!(
        "time to save {amount}: {:.2} s at this speed ({range})",
        time.likely_s
    )
}

/// Adds `text` in lines of [`WIDTH`], the first behind `first`, the others behind `rest`.
fn wrap(out: &mut String, first: &str, rest: &str, text: &str) {
    let mut line = first.to_owned();
    let mut empty = true;
    for word in text.split(' ') {
        if !empty && line.len() + 1 + word.len() > WIDTH {
            writeln!(out, "{line}").expect("writing to a String cannot fail");
            rest.clone_into(&mut line);
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line += word;
        empty = false;
    }
    writeln!(out, "{line}").expect("writing to a String cannot fail");
}

/// The root object `assay` of the JSON report.
pub(crate) fn object(judgement: &Judgement, layouts: &[LaidOut]) -> Object {
    let mut object = Object::default();
    let list: Vec<Value> = judgement
        .findings
        .iter()
        .map(|one| finding(one).into())
        .collect();
    object.put("findings", list);
    if let Some(verdict) = &judgement.verdict {
        object.put("verdict", verdict.as_str());
    }
    if let Some(expected) = judgement.expectations.first() {
        object.put("expectation", expectation(expected));
    }
    if let Some(time) = &judgement.time_to_save {
        let mut saving = Object::default();
        saving.put("bytes", time.bytes);
        saving.put("least_s", time.least_s);
        saving.put("likely_s", time.likely_s);
        saving.put("most_s", time.most_s);
        object.put("time_to_save", saving);
    }
    if let Some(io) = &judgement.device_io {
        object.put("device_io", device_io(io));
    }
    if !layouts.is_empty() {
        let list: Vec<Value> = layouts.iter().map(|one| laid_out(one).into()).collect();
        object.put("layout", list);
    }
    object
}

fn laid_out(one: &LaidOut) -> Object {
    let mut object = Object::default();
    object.put("job", one.job.as_str());
    object.put("files", u64::from(one.files));
    object.put("size_bytes", one.size_bytes);
    if let Some(bytes) = one.written_bytes {
        object.put("written_bytes", bytes);
    }
    if let Some(ms) = one.duration_ms {
        object.put("duration_ms", ms);
    }
    object
}

fn expectation(expected: &Expectation) -> Object {
    let mut object = Object::default();
    object.put("bound_by", expected.binding.as_str());
    let leg = if expected.by_bytes {
        "bytes_per_s"
    } else {
        "iops"
    };
    object.put("leg", leg);
    object.put("block_bytes", expected.block_bytes);
    object.put("read_share", expected.read_share);
    object.put("iops", expected.iops);
    object.put("bytes_per_s", expected.bytes_per_s);
    object.put("measured_percent", expected.measured_percent);
    if let Some(depth) = expected.depth_needed {
        object.put("depth_needed", depth);
    }
    let limits = expected.limits.iter().map(|limit| {
        let mut row = Object::default();
        row.put("name", limit.name.as_str());
        row.put("iops", limit.iops);
        row.put("bytes_per_s", limit.bytes_per_s);
        if let Some(words) = &limit.while_it_lasts {
            row.put("while_it_lasts", words.as_str());
        }
        row.put("source", limit.source.as_str());
        row.put("as_of", limit.as_of.as_str());
        row.into()
    });
    object.put("limits", limits.collect::<Vec<Value>>());
    object
}

fn finding(finding: &Finding) -> Object {
    let mut object = Object::default();
    object.put("id", finding.id.as_str());
    object.put("severity", finding.severity.word());
    object.put("text", finding.text.as_str());
    object.put("advice", finding.advice.as_str());
    let evidence = finding.evidence.iter().map(|(name, figure)| {
        let value: Value = match figure {
            Figure::Count(n) => (*n).into(),
            Figure::Number(x) => (*x).into(),
            Figure::Text(text) => text.as_str().into(),
        };
        (name.clone(), value)
    });
    object.put("evidence", Object::of(evidence));
    object
}

fn device_io(io: &DeviceIo) -> Object {
    let mut object = Object::default();
    for (at, name) in ["read", "write"].into_iter().enumerate() {
        let mut direction = Object::default();
        direction.put("issued_ios", io.issued_ios[at]);
        direction.put("issued_bytes", io.issued_bytes[at]);
        direction.put("device_ios", io.device_ios[at]);
        direction.put("device_merges", io.device_merges[at]);
        direction.put("device_bytes", io.device_bytes[at]);
        direction.put("device_iops", io.device_iops(at));
        object.put(name, direction);
    }
    object
}

#[cfg(test)]
mod tests {
    use super::*;
    use result::Severity;

    fn run() -> Run {
        let one = Finding {
            id: "holes-read".into(),
            severity: Severity::Invalid,
            text: "29.1 % of the reads were served without the device: 29.1 % of the file were \
                   never written and read as zeroes"
                .into(),
            advice: "write the whole file first".into(),
            evidence: vec![
                ("issued_bytes".into(), Figure::Count(7)),
                ("missing_percent".into(), Figure::Number(29.1)),
                ("why".into(), Figure::Text("x \"y\"".into())),
            ],
        };
        Run {
            layouts: vec![LaidOut {
                job: "x".into(),
                files: 2,
                size_bytes: 8192,
                written_bytes: Some(4096),
                duration_ms: Some(7),
            }],
            judgement: Some(Judgement {
                findings: vec![one],
                device_io: Some(DeviceIo::default()),
                ..Judgement::default()
            }),
            ..Run::default()
        }
    }

    #[test]
    fn people_read_sentences() {
        let expected = "
Findings:
  invalid: 29.1 % of the reads were served without the device: 29.1 % of the file were never
      written and read as zeroes [holes-read]
      write the whole file first
";
        assert_eq!(findings(&run()), expected);
        assert_eq!(findings(&Run::default()), "");
        let clean = Run {
            judgement: Some(Judgement::default()),
            ..Run::default()
        };
        assert_eq!(findings(&clean), "");
    }

    #[test]
    fn programs_read_an_object_at_the_end_of_the_root() {
        let text = crate::json(&run(), false);
        let tree: serde_json::Value = serde_json::from_str(&text).unwrap();
        let one = &tree["assay"]["findings"][0];
        assert_eq!(one["id"], "holes-read");
        assert_eq!(one["severity"], "invalid");
        assert_eq!(one["evidence"]["issued_bytes"], 7);
        assert_eq!(one["evidence"]["why"], "x \"y\"");
        assert_eq!(tree["assay"]["device_io"]["read"]["device_ios"], 0);
        let layout = serde_json::json!([{
            "job": "x", "files": 2, "size_bytes": 8192, "written_bytes": 4096, "duration_ms": 7
        }]);
        assert_eq!(tree["assay"]["layout"], layout);
        assert_eq!(
            tree.as_object().unwrap().keys().next_back().unwrap(),
            "assay"
        );
        let plain: serde_json::Value =
            serde_json::from_str(&crate::json(&Run::default(), false)).unwrap();
        assert!(plain.get("assay").is_none());
    }
}
