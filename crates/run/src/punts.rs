//! Kernel threads that did requests of io_uring in a worker's place.

use result::Punts;
use std::fs;

/// Clock ticks of `/proc` are hundredths of a second.
const TICK_US: u64 = 10_000;

/// Those of the calling thread's ring, which must still exist. The kernel lists them among the
/// process's threads as `iou-wrk-` and the thread that submitted.
pub fn of_this_thread() -> Punts {
    let name = format!("iou-wrk-{}", sys::process::thread_id());
    let mut punts = Punts::default();
    let Ok(tasks) = fs::read_dir("/proc/self/task") else {
        return punts;
    };
    for task in tasks.flatten() {
        let Ok(stat) = fs::read_to_string(task.path().join("stat")) else {
            continue;
        };
        if let Some(ticks) = ticks_of(&stat, &name) {
            punts.threads += 1;
            punts.cpu_us += ticks * TICK_US;
        }
    }
    punts
}

/// User and system time of a task of that name.
fn ticks_of(stat: &str, name: &str) -> Option<u64> {
    let (head, tail) = stat.rsplit_once(") ")?;
    let (_, comm) = head.split_once('(')?;
    // Behind the name: state, then numbers; user and system time are the 12th and 13th of them.
    let mut times = tail.split_whitespace().skip(11);
    let (user, system) = (times.next()?, times.next()?);
    (comm == name).then_some(user.parse::<u64>().ok()? + system.parse::<u64>().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_a_task_by_name() {
        let stat = "77 (iou-wrk-42) S 1 1 1 0 -1 4194560 1 0 0 0 3 9 0 0 20 0 2 0 100 1 1";
        assert_eq!(ticks_of(stat, "iou-wrk-42"), Some(12));
        assert_eq!(ticks_of(stat, "iou-wrk-4"), None);
        let own = of_this_thread();
        assert_eq!((own.threads, own.cpu_us), (0, 0));
    }
}
