//! The conditions of a run: what the host says before, and what has changed at the end.

use host::cgroup::Limits;
use host::cpu::Times;
use host::{Processor, Root};
use memory::Machine;
use result::memory::{Cache, Clock, Conditions};

/// What has to be known before anything is measured.
#[derive(Debug)]
pub struct Before {
    times: Option<Times>,
    throttled: u64,
    core_hz: f64,
}

/// Frequency drift above this share deserves a remark.
const DRIFT: f64 = 0.03;
/// So does stolen time above this share.
const STEAL: f64 = 0.005;

impl Before {
    /// Looks.
    pub fn look(root: &Root) -> Before {
        Before {
            times: times(root),
            throttled: Limits::read(root).throttled.unwrap_or(0),
            core_hz: core_hz(),
        }
    }

    /// The conditions; pages and prefetchers are filled in by the sections.
    pub fn conditions(&self, machine: &Machine, isa: &str) -> Conditions {
        let root = machine.root();
        let processor = Processor::read(root);
        let limits = Limits::read(root);
        let core_hz = core_hz();
        let mut c = Conditions {
            processor: processor.name,
            cpus: machine.cpus.iter().map(|cpu| cpu.id).collect(),
            cores: cores(machine),
            smt: processor.smt,
            caches: caches(machine),
            nodes: machine.memory_nodes(),
            isa: isa.to_owned(),
            clock: clock(self.core_hz, core_hz),
            governor: processor.governor,
            boost: processor.boost,
            hypervisor: processor.hypervisor,
            memory_limit_bytes: limits.memory_bytes,
            cpu_limit: limits.cpus,
            throttled: limits.throttled.unwrap_or(0).saturating_sub(self.throttled),
            steal: self.steal(root),
            numa_balancing: processor.numa_balancing,
            ..Conditions::default()
        };
        remarks(&mut c);
        c
    }

    fn steal(&self, root: &Root) -> f64 {
        let (Some(before), Some(after)) = (self.times, times(root)) else {
            return 0.0;
        };
        let total = after.total.saturating_sub(before.total);
        let stolen = after.steal.saturating_sub(before.steal);
        stolen as f64 / total.max(1) as f64
    }
}

fn times(root: &Root) -> Option<Times> {
    host::cpu::times(root).ok().map(|(sum, _)| sum)
}

fn core_hz() -> f64 {
    memory::chase::core_ghz().median * 1e9
}

fn cores(machine: &Machine) -> usize {
    machine.workers(memory::machine::Threads::Cores).len()
}

fn caches(machine: &Machine) -> Vec<Cache> {
    let caches = machine.cpus.first().map(|cpu| cpu.caches.as_slice());
    let cache = |cache: &host::topology::Cache| Cache {
        level: cache.level,
        bytes: cache.bytes,
        shared_by: cache.cpus.len(),
    };
    caches.unwrap_or_default().iter().map(cache).collect()
}

fn clock(before: f64, after: f64) -> Clock {
    let (source, ticks_per_s) = match sys::tsc::Tsc::get() {
        Ok(tsc) => ("TSC", tsc.hz() as f64),
        Err(_) => ("clock_gettime", 1e9),
    };
    let known = |hz: f64| (hz > 0.0).then_some(hz);
    Clock {
        source: source.to_owned(),
        ticks_per_s,
        core_hz_before: known(before),
        core_hz_after: known(after),
    }
}

fn remarks(c: &mut Conditions) {
    let mut say = |text: String| c.remarks.push(text);
    if let Some(drift) = c.clock.drift().filter(|drift| drift.abs() > DRIFT) {
        say(format!(
            "the core's frequency moved by {:+.1} % meanwhile; rates within the caches moved with it",
            drift * 100.0
        ));
    }
    if c.steal > STEAL {
        say("the host took CPU time away; disturbed samples were dropped".to_owned());
    }
    if c.throttled > 0 {
        say("the limit on CPU time held this process back".to_owned());
    }
    if c.hypervisor.is_some() {
        say("a guest shares memory and caches with others: levels drift, ratios hold".to_owned());
    }
    if c.smt == Some(true) {
        say("SMT is on: one thread of each core is used unless --all-threads is given".to_owned());
    }
}
