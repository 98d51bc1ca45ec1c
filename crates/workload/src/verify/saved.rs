//! Where an interrupted run had come to: what may be verified of it, and no more.

use crate::batch::{Batch, Fill};
use std::collections::HashSet;
use std::sync::Arc;
use units::Ddir;

/// How far the writes of a run had come when its state was saved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Saved {
    /// Writes that had been issued.
    pub writes: u64,
    /// Writes before the last `depth` ones were complete; those were, if they are listed.
    pub depth: u64,
    /// File and offset of the last writes that had completed.
    pub completed: HashSet<(u16, u64)>,
}

impl Saved {
    /// Is the write with this number, counted from 0, known to have reached the medium?
    pub fn holds(&self, number: u64, file: u16, offset: u64) -> bool {
        number < self.writes
            && (self.writes - number > self.depth || self.completed.contains(&(file, offset)))
    }
}

/// The requests of a reading workload up to the first one whose data were not written for
/// certain (`verify_state_load`). Reads come in the order of the writes.
pub struct UntilSaved {
    inner: Box<dyn Fill>,
    saved: Arc<Saved>,
    reads: u64,
    over: bool,
}

impl UntilSaved {
    /// Ends `inner` where `saved` does.
    pub fn new(inner: Box<dyn Fill>, saved: Arc<Saved>) -> Self {
        UntilSaved {
            inner,
            saved,
            reads: 0,
            over: false,
        }
    }
}

impl Fill for UntilSaved {
    fn fill(&mut self, batch: &mut Batch, want: usize) -> usize {
        if self.over {
            batch.clear();
            return 0;
        }
        let n = self.inner.fill(batch, want);
        for at in (0..n).filter(|&at| batch.ddir[at] == Ddir::Read) {
            if !self
                .saved
                .holds(self.reads, batch.file[at], batch.offset[at])
            {
                self.over = true;
                batch.n = at;
                break;
            }
            self.reads += 1;
        }
        batch.n
    }

    fn restart(&mut self) {
        self.inner.restart();
    }

    fn more(&mut self) -> bool {
        !self.over && self.inner.more()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FileRegion, Spec, generator};

    #[test]
    fn reading_ends_with_what_was_written_for_certain() {
        let spec = Spec {
            files: vec![FileRegion::new(0, 1 << 20)],
            size: 1 << 20,
            ..Spec::default()
        };
        for (writes, completed, wanted) in [
            (256, vec![255, 254], 256),
            (100, vec![99, 98], 100),
            (100, vec![99], 98),
            (100, vec![98], 99),
            (1, vec![], 0),
            (0, vec![], 0),
        ] {
            let saved = Saved {
                writes,
                depth: 2,
                completed: completed.iter().map(|n| (0, n * 4096)).collect(),
            };
            let mut reads = UntilSaved::new(generator(&spec).unwrap(), Arc::new(saved));
            let (mut batch, mut n) = (Batch::default(), 0);
            while reads.fill(&mut batch, 64) > 0 {
                n += batch.n;
            }
            assert_eq!(n, wanted, "{writes} {completed:?}");
        }
    }
}
