//! Every line of `acceptance/seeds.txt` in all three formats at once.

use super::compare::{self, Fixed};
use crate::harness::command::have_peer;
use crate::harness::{Line, Scratch, Shrink, assert_none, fio};

#[test]
fn every_seed_reports_as_fio_does() {
    if !have_peer("parity of the seeds") {
        return;
    }
    let scratch = Scratch::new("parity");
    let dir = scratch.path();
    let mut findings = Vec::new();
    for line in Line::read("seeds.txt") {
        let words = line.words(&Shrink::of(&line), &[("DIR", dir)]);
        let fixed = if line.bounded_by_size() {
            Fixed::Totals
        } else {
            Fixed::Form
        };
        let command = || fio("--output-format=json+,normal,terse").args(words.clone());
        let [peer, here] = compare::both(dir, command);
        let found = compare::differences(&peer, &here, fixed);
        findings.extend(
            found
                .into_iter()
                .map(|text| format!("{}: {text}", line.name)),
        );
    }
    assert_none(&findings, "parity of the seeds");
}

#[test]
fn rate_samples_have_lines_of_their_own() {
    if !have_peer("rate samples") {
        return;
    }
    let scratch = Scratch::new("parity");
    let words = "--ioengine=null --name=x --rw=randrw --size=1g --time_based --runtime=1800ms \
        --iodepth=4 --output-format=json+,normal,terse";
    let [peer, here] = compare::both(scratch.path(), || fio(words));
    assert!(peer.stdout.contains("   iops        : min="), "{peer}");
    assert_none(&compare::differences(&peer, &here, Fixed::Samples), words);
}
