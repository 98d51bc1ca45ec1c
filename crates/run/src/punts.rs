//! Kernel threads that did requests of io_uring in a worker's place.

use result::Punts;
use std::fs;

/// Those of the calling thread's ring, which must still exist. The kernel lists them among the
/// process's threads as `iou-wrk-` and the thread that submitted.
pub fn of_this_thread() -> Punts {
    let name = format!("iou-wrk-{}", sys::process::thread_id());
    let mut punts = Punts::default();
    let Ok(tasks) = fs::read_dir("/proc/self/task") else {
        return punts;
    };
    for task in tasks.flatten() {
        let file = |name| fs::read_to_string(task.path().join(name)).unwrap_or_default();
        if file("comm").trim_end() == name {
            punts.threads += 1;
            punts.cpu_us += cpu_us(&file("schedstat"), &file("stat"));
        }
    }
    punts
}

/// CPU time of a task: nanoseconds where the scheduler tells them, else clock ticks of 10 ms.
fn cpu_us(schedstat: &str, stat: &str) -> u64 {
    const TICK_US: u64 = 10_000;
    let first = schedstat.split_whitespace().next();
    if let Some(ns) = first.and_then(|word| word.parse::<u64>().ok()) {
        return ns / 1000;
    }
    // Behind the name: state, then numbers; user and system time are the 12th and 13th words.
    let tail = stat.rsplit_once(") ").map_or("", |(_, tail)| tail);
    let times = tail.split_whitespace().skip(11).take(2);
    times
        .filter_map(|word| word.parse::<u64>().ok())
        .sum::<u64>()
        * TICK_US
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_a_task() {
        let stat = "77 (iou-wrk-42) S 1 1 1 0 -1 4194560 1 0 0 0 3 9 0 0 20 0 2 0 100 1 1";
        assert_eq!(cpu_us("5000000 300 7\n", stat), 5000);
        assert_eq!(cpu_us("", stat), 120_000);
        assert_eq!(cpu_us("", ""), 0);
        let own = of_this_thread();
        assert_eq!((own.threads, own.cpu_us), (0, 0));
    }
}
