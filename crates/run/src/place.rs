//! Where and as whom a worker runs: CPUs, memory policy, priorities, identity.

use crate::failure::step;
use plan::model::{MemoryMode, Worker};
use result::Failure;
use sys::{numa, process};

/// Sets the elevators that the job asks for; the kernel must then say that it uses them.
pub fn switch_elevators(worker: &Worker) -> Result<(), Failure> {
    for (file, word) in &worker.schedulers {
        let told = |error: &std::io::Error| {
            step(
                format!("set ioscheduler={word} in {}", file.display()),
                error,
            )
        };
        std::fs::write(file, word).map_err(|error| told(&error))?;
        let now = std::fs::read_to_string(file).map_err(|error| told(&error))?;
        let chosen = format!("[{word}]");
        if !now
            .split_whitespace()
            .any(|have| have == chosen || have == word)
        {
            return Err(told(&std::io::ErrorKind::InvalidInput.into()));
        }
    }
    Ok(())
}

/// Applies the placement of a worker to the calling thread.
pub fn take(worker: &Worker) -> Result<(), Failure> {
    let place = &worker.placement;
    if let Some(name) = &place.comm {
        process::set_thread_name(name).map_err(|e| step("prctl", &e))?;
    }
    if let Some(gid) = place.gid {
        process::set_thread_gid(gid).map_err(|e| step("setgid", &e))?;
    }
    if let Some(uid) = place.uid {
        process::set_thread_uid(uid).map_err(|e| step("setuid", &e))?;
    }
    if let Some(cpus) = &place.cpus {
        let cpus: Vec<usize> = cpus.iter().map(|cpu| *cpu as usize).collect();
        process::set_affinity(&cpus).map_err(|e| step("cpu_set_affinity", &e))?;
    }
    if let Some((mode, nodes)) = &place.memory {
        let policy = match mode {
            MemoryMode::Default => numa::Policy::Default,
            MemoryMode::Local => numa::Policy::Local,
            MemoryMode::Prefer => numa::Policy::Prefer(nodes.first().copied()),
            MemoryMode::Bind => numa::Policy::Bind(nodes.clone()),
            MemoryMode::Interleave => numa::Policy::Interleave(nodes.clone()),
        };
        numa::set_policy(&policy).map_err(|e| step("set_mempolicy", &e))?;
    }
    if let Some(priority) = place.io_priority {
        process::set_io_priority(priority).map_err(|e| step("ioprio_set", &e))?;
    }
    if place.nice != 0 {
        process::set_nice(place.nice).map_err(|e| step("nice", &e))?;
    }
    Ok(())
}
