//! Waiting for a moment without missing an order.

use crate::live::Live;
use std::time::Duration;
use sys::clock::Clock;

/// The last stretch before a deadline is spun, because a timer wakes late.
const SPIN_NS: u64 = 60_000;

/// Returns at `deadline` or as soon as an order waits; whoever gives one unparks the thread.
pub fn until<C: Clock>(clock: C, live: &Live, deadline: u64) {
    loop {
        let now = clock.now();
        if now >= deadline || live.ordered() {
            return;
        }
        let left_ns = clock.ns(deadline - now);
        if left_ns > SPIN_NS {
            std::thread::park_timeout(Duration::from_nanos(left_ns - SPIN_NS));
        } else {
            clock.sleep_until(deadline);
            return;
        }
    }
}
