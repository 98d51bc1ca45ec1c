//! `cargo xtask bench --memory`: bandwidth and latency as Assay measures them, beside other
//! programs.
//!
//! Each row begins with a search for Assay's fastest loop and one run of every peer; the best two
//! stay. Then come the rounds: Assay and both peers one after the other, every second time in
//! reverse. A round's ratio is Assay's figure over the better peer's, which favours the peers. All
//! rates count bytes loaded and stored; reads for ownership are left out, as all peers do.
//!
//! STREAM, lmbench and multichase are no Debian packages; STREAM's loops stand in `loops.c` as any
//! compiler user has them. STREAM has no loop that only reads.
//! stress-ng's stream stressor needs ten seconds for one figure.

mod idle;
mod peers;

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use memory::Machine;
use memory::bandwidth::{self, Job, Subject};
use memory::injector::Setting;
use memory::kernel::Op;
use memory::machine::Threads;
use memory::mixer::Window;
use memory::place::{Pages, Wish};
use memory::sample::Rule;
use serde_json::{Value, json};

use crate::bench::table::median;
use crate::{packages, shell};
use peers::Peer;

/// Peers that stay after the first look.
const KEPT: usize = 2;
/// Time for all rows; a row that has used up its share ends early.
const LONGEST: Duration = Duration::from_secs(450);
/// Rounds that a row gets in any case.
const FEWEST: usize = 3;

/// One comparison.
struct Row {
    name: &'static str,
    op: Op,
    peers: &'static [Peer],
    /// The ratio that is meant to be reached.
    target: f64,
}

const ROWS: [Row; 4] = [
    Row {
        name: "read",
        op: Op::Read,
        peers: &[
            Peer::Likwid("load"),
            Peer::Likwid("load_sse"),
            Peer::Likwid("load_avx"),
            Peer::Likwid("load_avx512"),
            Peer::Sysbench("read"),
        ],
        target: 1.3,
    },
    Row {
        name: "triad, NT stores",
        op: Op::TriadNt,
        peers: &[
            Peer::Likwid("stream_mem_avx_fma"),
            Peer::Likwid("stream_mem_avx512"),
            Peer::Likwid("triad_mem_avx512_fma"),
            Peer::Compiled("t"),
        ],
        target: 1.25,
    },
    Row {
        name: "copy, NT stores",
        op: Op::CopyNt,
        peers: &[
            Peer::Likwid("copy_mem_sse"),
            Peer::Likwid("copy_mem_avx"),
            Peer::Likwid("copy_mem_avx512"),
            Peer::Compiled("c"),
        ],
        target: 1.05,
    },
    Row {
        name: "write, NT stores",
        op: Op::WriteNt,
        peers: &[
            Peer::Likwid("store_mem_sse"),
            Peer::Likwid("store_mem_avx"),
            Peer::Likwid("store_mem_avx512"),
            Peer::Compiled("w"),
        ],
        target: 0.98,
    },
];

/// What one round gave, bytes per second.
struct Round {
    assay: f64,
    /// Assay with 4 KiB pages, which is what the peers have.
    small_pages: f64,
    peers: Vec<f64>,
}

impl Round {
    fn best_peer(&self) -> f64 {
        self.peers.iter().copied().fold(0.0, f64::max)
    }
}

/// A row's rounds.
struct Outcome {
    name: &'static str,
    cpus: usize,
    target: f64,
    kernel: String,
    pages: String,
    peers: Vec<String>,
    /// Rounds in which Assay had clean samples only.
    clean: usize,
    rounds: Vec<Round>,
}

/// What all rows share.
struct Bench {
    machine: Machine,
    loops: PathBuf,
    quick: bool,
    rounds: usize,
}

/// Runs the rows, prints a Markdown table and writes `bench-memory.json`.
///
/// # Errors
/// A program is missing or fails, or there is no room for the buffers.
pub fn run(quick: bool, rounds: usize) -> Result<()> {
    packages::ensure(&packages::FOR_MEMORY)?;
    let bench = Bench {
        machine: Machine::read(&host::Root::default())?,
        loops: peers::compile("loops")?,
        quick,
        rounds,
    };
    let all = bench.machine.workers(Threads::Cores);
    let mut sets = vec![all[..1].to_vec()];
    if all.len() > 1 && !quick {
        sets.push(all);
    }
    let begun = Instant::now();
    let rows = (sets.len() * ROWS.len()) as u32;
    let mut outcomes = Vec::new();
    for cpus in &sets {
        for row in &ROWS {
            let until = begun + LONGEST * (outcomes.len() as u32 + 1) / rows;
            let outcome = bench.row(row, cpus, until);
            outcomes.push(outcome.with_context(|| format!("row {}", row.name))?);
        }
    }
    let latency = idle::run(&bench.machine, quick, rounds)?;
    print!("{}{}", table(&outcomes), latency.table());
    write(&outcomes, &latency)
}

impl Bench {
    fn row(&self, row: &Row, cpus: &[u32], until: Instant) -> Result<Outcome> {
        let job = self.measure(cpus, row.op.into(), Pages::Large, true)?;
        let setting = job.rows[0].setting;
        let pages = job.placements[0].pages();
        let peers = self.qualify(row, cpus)?;
        let mut outcome = Outcome {
            name: row.name,
            cpus: cpus.len(),
            target: row.target,
            kernel: setting.name(),
            pages,
            peers: peers.iter().map(|peer| peer.name()).collect(),
            clean: 0,
            rounds: Vec::new(),
        };
        for round in 0..self.rounds {
            if round >= FEWEST && Instant::now() >= until {
                break;
            }
            let (one, clean) = self.round(round, cpus, row.op, setting, &peers)?;
            eprintln!(
                "{:<18} {} core(s) round {:>2}: {:.2}",
                row.name,
                cpus.len(),
                round + 1,
                one.assay / one.best_peer()
            );
            outcome.clean += usize::from(clean);
            outcome.rounds.push(one);
        }
        Ok(outcome)
    }

    /// Assay and the peers in turn, every second time in reverse.
    fn round(
        &self,
        round: usize,
        cpus: &[u32],
        op: Op,
        setting: Setting,
        peers: &[Peer],
    ) -> Result<(Round, bool)> {
        let job = Job {
            setting: Some(setting),
            ..op.into()
        };
        let assay = || -> Result<(f64, f64, bool)> {
            let large = self.measure(cpus, job, Pages::Large, false)?;
            let small = self.measure(cpus, job, Pages::Small, false)?;
            let (large, small) = (&large.rows[0].rate, &small.rows[0].rate);
            Ok((large.median, small.median, !large.disturbed))
        };
        let others =
            || -> Result<Vec<f64>> { peers.iter().map(|peer| self.peer(*peer, cpus)).collect() };
        let ((assay, small_pages, clean), peers) = if round.is_multiple_of(2) {
            let assay = assay()?;
            (assay, others()?)
        } else {
            let others = others()?;
            (assay()?, others)
        };
        let one = Round {
            assay,
            small_pages,
            peers,
        };
        Ok((one, clean))
    }

    /// The best peers of a row after one run each.
    fn qualify(&self, row: &Row, cpus: &[u32]) -> Result<Vec<Peer>> {
        let mut rates = Vec::new();
        for peer in row.peers.iter().filter(|peer| peer.runs_here()) {
            let rate = self.peer(*peer, cpus)?;
            eprintln!("{:<32} {:>6.2} GB/s", peer.name(), rate / 1e9);
            rates.push((rate, *peer));
        }
        rates.sort_by(|a, b| b.0.total_cmp(&a.0));
        rates.truncate(KEPT);
        Ok(rates.into_iter().map(|(_, peer)| peer).collect())
    }

    fn peer(&self, peer: Peer, cpus: &[u32]) -> Result<f64> {
        let bytes = self.thread_bytes(cpus) * cpus.len() as u64;
        let seconds = if self.quick { 0.05 } else { 0.6 };
        peer.rate(cpus, bytes / 1_000_000, seconds, &self.loops)
    }

    fn measure(
        &self,
        cpus: &[u32],
        job: Job,
        pages: Pages,
        search: bool,
    ) -> Result<bandwidth::Bandwidth> {
        let rule = Rule {
            samples: if search || self.quick { 1 } else { 7 },
            warm_up: 1,
            cap: Duration::from_millis(if self.quick { 100 } else { 1500 }),
            ..Rule::default()
        };
        let subject = Subject {
            cpus: cpus.to_vec(),
            wish: Wish {
                bytes: self.thread_bytes(cpus),
                pages,
                ..Wish::default()
            },
            shared: false,
            jobs: vec![job],
            isa: None,
            rule,
            window: Window {
                length: Duration::from_millis(if self.quick { 5 } else { 40 }),
                ..Window::default()
            },
        };
        Ok(bandwidth::measure(&self.machine, &subject)?)
    }

    fn thread_bytes(&self, cpus: &[u32]) -> u64 {
        if self.quick {
            return 64 << 20;
        }
        self.machine.sizes(cpus.len(), None).thread_bytes
    }
}

fn middle(outcome: &Outcome, of: impl Fn(&Round) -> f64) -> (f64, f64, f64) {
    spread(outcome.rounds.iter().map(of))
}

/// Median, lowest and highest.
fn spread(values: impl Iterator<Item = f64>) -> (f64, f64, f64) {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let ends = (values.first(), values.last());
    let (low, high) = (ends.0.copied(), ends.1.copied());
    (
        median(&values).unwrap_or(f64::NAN),
        low.unwrap_or(f64::NAN),
        high.unwrap_or(f64::NAN),
    )
}

fn table(outcomes: &[Outcome]) -> String {
    let mut text = String::from(
        "| work | cores | best peer | peer GB/s | Assay GB/s | Assay/peer | spread | wanted | \
         with 4 KiB pages | Assay's loop | clean |\n\
         |---|---:|---|---:|---:|---:|---:|---:|---:|---|---:|\n",
    );
    for row in outcomes {
        let giga = |of: &dyn Fn(&Round) -> f64| middle(row, of).0 / 1e9;
        let (ratio, low, high) = middle(row, |round| round.assay / round.best_peer());
        let small = middle(row, |round| round.small_pages / round.best_peer()).0;
        // The peer that was ahead more often.
        let second = |round: &&Round| round.peers.get(1).is_some_and(|&p| p > round.peers[0]);
        let seconds = row.rounds.iter().filter(second).count();
        let best = usize::from(seconds * 2 > row.rounds.len());
        text.push_str(&format!(
            "| {} | {} | {} | {:.1} | {:.1} | **{ratio:.2}** | {low:.2}..{high:.2} | {:.2} | \
             {small:.2} | {} | {}/{} |\n",
            row.name,
            row.cpus,
            row.peers[best],
            giga(&Round::best_peer),
            giga(&|round| round.assay),
            row.target,
            row.kernel,
            row.clean,
            row.rounds.len(),
        ));
    }
    text
}

fn write(outcomes: &[Outcome], latency: &idle::Outcome) -> Result<()> {
    let rows: Vec<Value> = outcomes.iter().map(row_json).collect();
    let path = shell::target().join("bench-memory.json");
    let all = json!({ "rows": rows, "idle_latency": latency.json() });
    let text = serde_json::to_string_pretty(&all)?;
    fs::write(&path, text + "\n").with_context(|| path.display().to_string())?;
    eprintln!("wrote {}", path.display());
    Ok(())
}

fn row_json(row: &Outcome) -> Value {
    let rounds = row.rounds.iter().map(|round| {
        json!({
            "assay": round.assay,
            "assay_small_pages": round.small_pages,
            "peers": round.peers,
        })
    });
    json!({
        "name": row.name,
        "cores": row.cpus,
        "unit": "bytes loaded and stored per second",
        "kernel": row.kernel,
        "pages": row.pages,
        "peers": row.peers,
        "target_ratio": row.target,
        "median_ratio": middle(row, |round| round.assay / round.best_peer()).0,
        "clean_rounds": row.clean,
        "rounds": rounds.collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_against_the_better_peer_of_the_round() {
        let round = |assay, peers: [f64; 2]| Round {
            assay,
            small_pages: assay / 2.0,
            peers: peers.to_vec(),
        };
        let outcome = Outcome {
            name: "read",
            cpus: 2,
            target: 1.3,
            kernel: "read-sse2-1s".into(),
            pages: "2 MiB".into(),
            peers: vec!["one".into(), "other".into()],
            clean: 2,
            rounds: vec![
                round(6e9, [3e9, 2e9]),
                round(6e9, [1e9, 4e9]),
                round(9e9, [1e9, 3e9]),
            ],
        };
        let text = table(&[outcome]);
        let row = text.lines().last().unwrap();
        assert_eq!(
            row,
            "| read | 2 | other | 3.0 | 6.0 | **2.00** | 1.50..3.00 | 1.30 | 1.00 | \
             read-sse2-1s | 2/3 |"
        );
    }
}
