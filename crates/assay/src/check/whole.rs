//! The phases of the check as one document: their jobs one after the other.

use result::{Disk, DiskCounters, Judgement, Run, SelfCheck};

/// What has been measured so far.
#[derive(Default)]
pub struct Whole {
    run: Option<Run>,
}

impl Whole {
    /// Adds the run of a phase.
    pub fn add(&mut self, title: &str, mut phase: Run) {
        let of_job = format!("{}: ", phase.jobs.first().map_or("", |job| &job.name));
        for finding in phase
            .judgement
            .iter_mut()
            .flat_map(|found| &mut found.findings)
        {
            // A phase is one job: its name would be the title again.
            let text = finding.text.strip_prefix(&of_job);
            finding.text = format!("{title}: {}", text.unwrap_or(&finding.text));
        }
        let Some(run) = &mut self.run else {
            self.run = Some(phase);
            return;
        };
        add_judgement(run.judgement.get_or_insert_default(), phase.judgement);
        run.finished_ms = phase.finished_ms;
        run.notes.extend(phase.notes);
        let before = run.jobs.len() as u32;
        for mut job in phase.jobs {
            job.number += before;
            job.group += before;
            run.jobs.push(job);
        }
        add_disks(&mut run.disks, phase.disks);
    }

    /// The document, with what the tool itself cost, where that is known.
    pub fn finish(self, tool: Option<SelfCheck>) -> Run {
        let mut run = self.run.unwrap_or_default();
        run.self_check = tool;
        run
    }
}

/// Findings of all phases, the gravest first. Verdicts stand with the expectations of the phases,
/// and what devices did is told of one job alone: neither is the whole's.
fn add_judgement(all: &mut Judgement, more: Option<Judgement>) {
    let more = more.unwrap_or_default();
    all.findings.extend(more.findings);
    all.findings
        .sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    all.expectations.extend(more.expectations);
    all.verdict = None;
    all.device_io = None;
}

fn add_disks(all: &mut Vec<Disk>, more: Vec<Disk>) {
    for disk in more {
        match all.iter_mut().find(|known| known.name == disk.name) {
            Some(known) => {
                add_counters(&mut known.counters, &disk.counters);
                add_disks(&mut known.members, disk.members);
            }
            None => all.push(disk),
        }
    }
}

fn add_counters(to: &mut DiskCounters, more: &DiskCounters) {
    for direction in 0..2 {
        to.ios[direction] += more.ios[direction];
        to.merges[direction] += more.merges[direction];
        to.sectors[direction] += more.sectors[direction];
        to.ticks_ms[direction] += more.ticks_ms[direction];
    }
    to.in_queue_ms += more.in_queue_ms;
    to.busy_ms += more.busy_ms;
    to.elapsed_ms += more.elapsed_ms;
}

#[cfg(test)]
mod tests {
    use super::*;
    use result::Severity;

    #[test]
    fn phases_add_up_and_keep_their_jobs() {
        let counters = |n: u64| DiskCounters {
            ios: [n, 2 * n],
            elapsed_ms: n,
            ..Default::default()
        };
        let disk = |name: &str, n| Disk {
            name: name.to_owned(),
            counters: counters(n),
            ..Default::default()
        };
        let finding = |text: &str, severity| result::Finding {
            text: text.to_owned(),
            severity,
            ..Default::default()
        };
        let phase = |name: &str, disks: Vec<Disk>, severity, text: &str| Run {
            judgement: Some(Judgement {
                findings: vec![finding(text, severity)],
                verdict: Some("of one phase".to_owned()),
                expectations: vec![Default::default()],
                ..Default::default()
            }),
            jobs: vec![result::Job {
                name: name.to_owned(),
                number: 1,
                ..Default::default()
            }],
            disks,
            ..Default::default()
        };
        let mut whole = Whole::default();
        whole.add(
            "write",
            phase("write", vec![disk("sda", 3)], Severity::Note, "slow"),
        );
        let disks = vec![disk("sda", 4), disk("sdb", 5)];
        let text = "seq-read: slow";
        whole.add("read", phase("seq-read", disks, Severity::Invalid, text));
        let run = whole.finish(Some(SelfCheck::default()));
        let jobs: Vec<_> = run
            .jobs
            .iter()
            .map(|job| (job.name.as_str(), job.number))
            .collect();
        assert_eq!(jobs, [("write", 1), ("seq-read", 2)]);
        assert_eq!(run.disks[0].counters, counters(7));
        assert_eq!(run.disks[1].counters, counters(5));
        assert!(run.self_check.is_some());
        let judgement = run.judgement.expect("one of all");
        let texts: Vec<&str> = judgement.findings.iter().map(|f| f.text.as_str()).collect();
        assert_eq!(texts, ["read: slow", "write: slow"]);
        assert_eq!(judgement.expectations.len(), 2);
        assert_eq!(judgement.verdict, None);
    }
}
