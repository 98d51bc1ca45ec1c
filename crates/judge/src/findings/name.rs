//! A job whose name says something else than it does.

use crate::Evidence;
use crate::job::{Workers, jobs};
use crate::say::{With, finding};
use result::{Finding, Severity};
use units::Ddir;

pub(crate) fn rule(evidence: &Evidence<'_>) -> Vec<Finding> {
    let mut found: Vec<Finding> = Vec::new();
    for job in jobs(evidence) {
        let Some((word, does)) = contradiction(&job) else {
            continue;
        };
        let text = format!("{}: the name says `{word}`, the job {does}", job.name);
        let advice = "rename the job: the name is what tables and charts will show";
        found.push(
            finding("name-misleads", Severity::Note, text, advice)
                .word("says", &word)
                .word("does", &does),
        );
    }
    found
}

fn contradiction(job: &Workers<'_>) -> Option<(String, String)> {
    let name = job.name.to_ascii_lowercase();
    let words: Vec<&str> = name
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let any = |list: &[&str]| words.iter().find(|word| list.contains(*word)).copied();
    let random = any(&[
        "rand",
        "random",
        "randread",
        "randwrite",
        "randrw",
        "randr",
        "randw",
    ]);
    let sequential = any(&[
        "seq",
        "sequential",
        "seqread",
        "seqwrite",
        "seqrw",
        "seqr",
        "seqw",
    ]);
    let reads = any(&["read", "reads", "randread", "seqread"]);
    let writes = any(&["write", "writes", "randwrite", "seqwrite"]);
    let mixed = any(&["rw", "randrw", "seqrw", "mix", "mixed", "readwrite"]);
    let (read, written) = (job.ios(Ddir::Read) > 0, job.ios(Ddir::Write) > 0);
    let told = |word: &str, does: &str| Some((word.to_owned(), does.to_owned()));
    match (random, sequential) {
        (Some(word), None) if !job.setup.random && (read || written) => {
            return told(word, "is sequential");
        }
        (None, Some(word)) if job.setup.random => return told(word, "is random"),
        _ => {}
    }
    match (reads, writes) {
        (Some(word), None) if written && !read && mixed.is_none() => {
            return told(word, "only writes");
        }
        (None, Some(word)) if read && !written && mixed.is_none() => {
            return told(word, "only reads");
        }
        _ => {}
    }
    // `4-jobs` or `4jobs`.
    let pairs = words
        .windows(2)
        .filter(|pair| pair[1] == "jobs")
        .map(|pair| pair[0]);
    let joined = words.iter().filter_map(|word| word.strip_suffix("jobs"));
    let count = pairs
        .chain(joined)
        .find_map(|word| word.parse::<u64>().ok());
    let members = job.members();
    count
        .filter(|count| *count != members)
        .and_then(|count| told(&format!("{count} jobs"), &format!("has {members}")))
}
