//! Windows of logs: what is summed up between two rows, and when a row is due.
//!
//! Times are whole milliseconds since the time zero of the job's logs and windows belong to a
//! direction, both as in fio. A row is written by the first request that ends at or after the end
//! of its window, and carries the time of that request.

use measure::{BINS, bin_index};

/// Sums of one latency log and direction.
#[derive(Clone, Copy, Debug, Default)]
pub struct Window {
    n: u64,
    sum: u64,
    max: u64,
    /// Start of the window, a multiple of its length.
    from_ms: u64,
}

/// What a row of a windowed log tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Mean, rounded half up.
    pub mean: u64,
    /// Largest value.
    pub max: u64,
}

impl Window {
    /// Adds a value seen at `now_ms`; the row when the window of `every_ms` is over.
    #[inline]
    pub fn add(&mut self, value: u64, now_ms: u64, every_ms: u64) -> Option<Summary> {
        self.n += 1;
        self.sum += value;
        self.max = self.max.max(value);
        if now_ms < self.from_ms + every_ms {
            return None;
        }
        self.from_ms = now_ms - now_ms % every_ms;
        self.take()
    }

    /// The row of the unfinished window, if anything was added since the last row.
    pub fn take(&mut self) -> Option<Summary> {
        let (n, sum, max) = (self.n, self.sum, self.max);
        (self.n, self.sum, self.max) = (0, 0, 0);
        (n > 0).then(|| Summary {
            mean: ((u128::from(sum) * 2 + u128::from(n)) / (2 * u128::from(n))) as u64,
            max,
        })
    }
}

/// Counts of a histogram log.
pub type Bins = Box<[u64; BINS]>;

/// Bins without counts.
pub fn no_bins() -> Bins {
    vec![0; BINS]
        .into_boxed_slice()
        .try_into()
        .expect("the vector has BINS elements")
}

/// Bins of one direction since its last row.
#[derive(Clone, Debug)]
pub struct BinsWindow {
    /// Counts since the last row.
    pub bins: Bins,
    /// Start of the window; 0 until a request has ended at or after the first millisecond.
    from_ms: u64,
}

impl BinsWindow {
    /// An empty window.
    pub fn new() -> Self {
        BinsWindow {
            bins: no_bins(),
            from_ms: 0,
        }
    }

    /// Counts a value; true when the window of `every_ms` is over. Unlike windows of means,
    /// these start with the first request and follow each other from there.
    #[inline]
    pub fn add(&mut self, value_ns: u64, now_ms: u64, every_ms: u64) -> bool {
        self.bins[bin_index(value_ns)] += 1;
        if self.from_ms == 0 {
            self.from_ms = now_ms;
        }
        if now_ms < self.from_ms + every_ms {
            return false;
        }
        self.from_ms += every_ms;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_row_comes_with_the_request_that_ends_the_window() {
        let mut window = Window::default();
        assert_eq!(window.add(10, 0, 50), None);
        assert_eq!(window.add(13, 49, 50), None);
        assert_eq!(window.add(40, 130, 50), Some(Summary { mean: 21, max: 40 }));
        // The next window began at 100, so that it is over at 150.
        assert_eq!(window.add(7, 149, 50), None);
        assert_eq!(window.add(8, 150, 50), Some(Summary { mean: 8, max: 8 }));
        assert_eq!(window.take(), None);
    }

    #[test]
    fn the_last_window_may_be_short() {
        let mut window = Window::default();
        assert_eq!(window.add(3, 10, 1000), None);
        assert_eq!(window.take(), Some(Summary { mean: 3, max: 3 }));
        assert_eq!(window.take(), None);
    }

    #[test]
    fn histogram_windows_start_with_the_first_request_and_do_not_drift() {
        let mut window = BinsWindow::new();
        assert!(!window.add(1, 0, 100));
        assert!(!window.add(1, 1, 100));
        assert!(!window.add(1, 100, 100));
        assert!(window.add(1, 130, 100));
        assert!(!window.add(1, 200, 100));
        assert!(window.add(1, 201, 100));
        assert_eq!(window.bins[1], 6);
    }

    proptest! {
        #[test]
        fn nothing_is_lost_or_counted_twice(
            values in prop::collection::vec((0u64..1 << 40, 0u64..40), 1..200),
            every_ms in 1u64..200,
        ) {
            let (mut window, mut now, mut open) = (Window::default(), 0, Vec::new());
            for (value, step) in values {
                now += step;
                open.push(value);
                if let Some(row) = window.add(value, now, every_ms) {
                    let mean = open.iter().sum::<u64>() as f64 / open.len() as f64;
                    prop_assert_eq!(row.mean, (mean + 0.5) as u64);
                    prop_assert_eq!(Some(row.max), open.iter().copied().max());
                    open.clear();
                }
            }
            prop_assert_eq!(window.take().is_some(), !open.is_empty());
        }
    }
}
