//! CPUs, memory nodes, priorities and identity of one worker.

use crate::error::Fault;
use crate::job::Job;
use crate::model::{MemoryMode, Placement};
use host::Facts;
use spec::Spec;
use spec::kinds::{CpuPolicy, MemPolicy, NodeList};

/// Best effort: the class of a bare `prio=`.
const BEST_EFFORT: u8 = 2;

/// Settles the placement of the worker with thread number `number`.
pub(crate) fn placement(
    job: &Job<'_>,
    facts: &Facts,
    number: u32,
    clock_cpu: Option<u32>,
    faults: &mut Vec<Fault>,
) -> Placement {
    let process = &job.options.process;
    let cpus = match cpus(job, facts).and_then(|cpus| beside(clock_cpu, cpus)) {
        Ok(cpus) => cpus,
        Err(fault) => {
            faults.push(fault);
            None
        }
    };
    let memory = match memory(&process.numa_mem_policy, facts) {
        Ok(memory) => memory,
        Err(fault) => {
            faults.push(fault);
            None
        }
    };
    let split = process.cpus_allowed_policy == CpuPolicy::Split;
    let one = |cpus: Vec<u32>| vec![cpus[(number as usize - 1) % cpus.len()]];
    let given = [process.prio, process.prioclass, process.priohint];
    let io_priority = given.iter().any(Option::is_some).then(|| {
        // All are bounded by the option table: class 0 to 3, level 0 to 7, hint 0 to 1023.
        let class = process.prioclass.map_or(BEST_EFFORT, |class| class as u8);
        let hint = process.priohint.unwrap_or(0) as u16;
        sys::process::io_priority(class, process.prio.unwrap_or(0) as u8, hint)
    });
    Placement {
        cpus: if split { cpus.map(one) } else { cpus },
        memory,
        nice: process.nice,
        io_priority,
        uid: process.uid,
        gid: process.gid,
        comm: process.comm.clone(),
    }
}

/// The CPUs that both `cpus_allowed` and `cpumask` permit, never none. `numa_cpu_nodes` replaces
/// them, as it is applied last in fio.
fn cpus(job: &Job<'_>, facts: &Facts) -> Result<Option<Vec<u32>>, Fault> {
    let process = &job.options.process;
    let mut allowed: Option<Vec<u32>> = None;
    let mut restrict = |option: &'static str, wanted: Vec<u32>| {
        let missing = wanted.iter().find(|cpu| !facts.cpus.contains(cpu));
        if let Some(cpu) = missing {
            let text = format!("{option}: CPU {cpu} is not online");
            return Err(Fault::option(option, text));
        }
        let mut both = wanted;
        if let Some(before) = &allowed {
            both.retain(|cpu| before.contains(cpu));
        }
        if both.is_empty() {
            return Err(Fault::option(
                option,
                format!("{option} leaves no CPU to run on"),
            ));
        }
        allowed = Some(both);
        Ok(())
    };
    if let Some(list) = &process.numa_cpu_nodes {
        let ids = nodes(list, facts, "numa_cpu_nodes")?;
        let of = facts.nodes.iter().filter(|node| ids.contains(&node.id));
        restrict(
            "numa_cpu_nodes",
            of.flat_map(|node| node.cpus.clone()).collect(),
        )?;
        return Ok(allowed);
    }
    if let Some(mask) = process.cpumask {
        restrict(
            "cpumask",
            (0..64).filter(|bit| mask >> bit & 1 == 1).collect(),
        )?;
    }
    if let Some(list) = &process.cpus_allowed {
        restrict("cpus_allowed", list.0.clone())?;
    }
    Ok(allowed)
}

/// The CPUs without that of the clock's thread.
fn beside(clock: Option<u32>, cpus: Option<Vec<u32>>) -> Result<Option<Vec<u32>>, Fault> {
    let Some(clock) = clock else {
        return Ok(cpus);
    };
    let mut cpus = match cpus {
        Some(cpus) => cpus,
        None => {
            let own = sys::process::affinity().map_err(|error| {
                let text = format!("gtod_cpu={clock}: the CPUs of this process: {error}");
                Fault::option("gtod_cpu", text)
            })?;
            own.into_iter().map(|cpu| cpu as u32).collect()
        }
    };
    cpus.retain(|cpu| *cpu != clock);
    if cpus.is_empty() {
        let text = format!("gtod_cpu={clock} leaves no CPU to run on");
        return Err(Fault::option("gtod_cpu", text));
    }
    Ok(Some(cpus))
}

/// The CPU that keeps the time for all jobs, when one of them asks for that; `None` with the
/// index of a job that cannot be.
pub(crate) fn clock_cpu(spec: &Spec, facts: &Facts) -> Result<Option<u32>, (usize, Fault)> {
    let mut found: Option<u32> = None;
    for (index, job) in spec.jobs.iter().enumerate() {
        let fault = |text: String| Err((index, Fault::option("gtod_cpu", text)));
        let Some(cpu) = job.options.measure.gtod_cpu else {
            continue;
        };
        if !facts.cpus.contains(&cpu) {
            return fault(format!("gtod_cpu={cpu}: CPU {cpu} is not online"));
        }
        if let Some(other) = found.filter(|other| *other != cpu) {
            let text = format!("gtod_cpu={cpu}: one CPU keeps the time for all jobs, here {other}");
            return fault(text);
        }
        found = Some(cpu);
    }
    let sourced = |job: &spec::Job| job.options.measure.clocksource.is_some();
    match (found, spec.jobs.iter().position(sourced)) {
        (Some(cpu), Some(index)) => {
            let text = format!("gtod_cpu={cpu} and clocksource= exclude each other");
            Err((index, Fault::option("gtod_cpu", text)))
        }
        _ => Ok(found),
    }
}

fn nodes(list: &NodeList, facts: &Facts, option: &'static str) -> Result<Vec<u32>, Fault> {
    let known: Vec<u32> = facts.nodes.iter().map(|node| node.id).collect();
    let NodeList::Nodes(ids) = list else {
        return Ok(known);
    };
    match ids.0.iter().find(|id| !known.contains(id)) {
        Some(id) => {
            let last = known.last().copied().unwrap_or(0);
            let text = format!("{option}: there is no node {id}, the last is {last}");
            Err(Fault::option(option, text))
        }
        None => Ok(ids.0.clone()),
    }
}

fn memory(policy: &MemPolicy, facts: &Facts) -> Result<Option<(MemoryMode, Vec<u32>)>, Fault> {
    const OPTION: &str = "numa_mem_policy";
    Ok(match policy {
        MemPolicy::Default => None,
        MemPolicy::Local => Some((MemoryMode::Local, Vec::new())),
        MemPolicy::Prefer(node) => {
            let list = NodeList::Nodes(option::IdList(vec![*node]));
            Some((MemoryMode::Prefer, nodes(&list, facts, OPTION)?))
        }
        MemPolicy::Bind(list) => Some((MemoryMode::Bind, nodes(list, facts, OPTION)?)),
        MemPolicy::Interleave(list) => Some((MemoryMode::Interleave, nodes(list, facts, OPTION)?)),
    })
}
