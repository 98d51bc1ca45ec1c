//! Recorded requests as a generator, and how the loop that issues them learns when each is due.

use crate::batch::{Batch, Fill};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use units::Ddir;

/// One recorded request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// When it was issued, nanoseconds after the recording began.
    pub at_ns: u64,
    /// First byte.
    pub offset: u64,
    /// Bytes; 0 for the synchronisation kinds.
    pub len: u32,
    /// Index of the file.
    pub file: u16,
    /// What it does.
    pub ddir: Ddir,
}

impl Recorded {
    /// Is this the request of these numbers?
    pub fn is(&self, file: u16, ddir: Ddir, offset: u64, len: u32) -> bool {
        (self.file, self.ddir, self.offset, self.len) == (file, ddir, offset, len)
    }
}

/// Requests that a [`Replay`] has given out, for the loop that times them. Generator and loop
/// lock it once per block of requests.
#[derive(Clone, Debug, Default)]
pub struct Timetable(Arc<Mutex<VecDeque<Recorded>>>);

impl Timetable {
    /// Moves the requests given out since the last call to `due`.
    pub fn take(&self, due: &mut VecDeque<Recorded>) {
        due.append(&mut self.0.lock().expect("nothing panics under this lock"));
    }

    fn add(&self, block: &[Recorded]) {
        let mut due = self.0.lock().expect("nothing panics under this lock");
        due.extend(block);
    }
}

/// Gives out recorded requests once, in their order.
pub struct Replay {
    requests: Box<dyn Iterator<Item = Recorded> + Send>,
    /// Where the times go, when they count.
    times: Option<Timetable>,
    block: Vec<Recorded>,
    begun: bool,
}

impl Replay {
    /// A generator over `requests`, of which it takes no more than it gives out.
    pub fn new(
        requests: Box<dyn Iterator<Item = Recorded> + Send>,
        times: Option<Timetable>,
    ) -> Self {
        Replay {
            requests,
            times,
            block: Vec::with_capacity(Batch::CAPACITY),
            begun: false,
        }
    }
}

impl Fill for Replay {
    fn fill(&mut self, batch: &mut Batch, want: usize) -> usize {
        batch.clear();
        self.block.clear();
        let want = want.min(Batch::CAPACITY);
        self.block.extend(self.requests.by_ref().take(want));
        for (at, request) in self.block.iter().enumerate() {
            batch.offset[at] = request.offset;
            batch.len[at] = request.len;
            batch.ddir[at] = request.ddir;
            batch.file[at] = request.file;
        }
        batch.n = self.block.len();
        if let Some(times) = &self.times {
            times.add(&self.block);
        }
        batch.n
    }

    /// A recording is replayed once, however many `loops` there are, as in fio.
    fn restart(&mut self) {}

    fn more(&mut self) -> bool {
        !std::mem::replace(&mut self.begun, true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_come_once_in_order_and_leave_their_times() {
        let record = |n: u64| Recorded {
            at_ns: n * 10,
            offset: n * 512,
            len: 512,
            file: (n % 3) as u16,
            ddir: Ddir::Write,
        };
        let times = Timetable::default();
        let all: Vec<Recorded> = (0..150).map(record).collect();
        let mut replay = Replay::new(Box::new(all.clone().into_iter()), Some(times.clone()));
        assert!(replay.more());
        let (mut batch, mut seen) = (Batch::default(), Vec::new());
        while replay.fill(&mut batch, 64) > 0 {
            seen.extend((0..batch.n).map(|i| (batch.file[i], batch.offset[i])));
        }
        assert!(
            seen.iter()
                .copied()
                .eq(all.iter().map(|r| (r.file, r.offset)))
        );
        let mut due = VecDeque::new();
        times.take(&mut due);
        assert!(due.iter().eq(&all));
        assert!(!replay.more());
    }
}
