//! What a loop does with the data, and how its bytes are counted.

/// What is done with each group of lines. `a` is written, `b` and `c` are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// Loads.
    Read,
    /// Stores.
    Write,
    /// Stores past the caches.
    WriteNt,
    /// `a = b`.
    Copy,
    /// The same with stores past the caches.
    CopyNt,
    /// `a = q * b`.
    Scale,
    /// The same with stores past the caches.
    ScaleNt,
    /// `a = b + c`.
    Add,
    /// The same with stores past the caches.
    AddNt,
    /// `a = b + q * c`.
    Triad,
    /// The same with stores past the caches.
    TriadNt,
    /// Loads of some lines and stores to others.
    Mix {
        /// Lines loaded in a group.
        loads: usize,
        /// Lines stored in a group.
        stores: usize,
    },
    /// The same with stores past the caches.
    MixNt {
        /// Lines loaded in a group.
        loads: usize,
        /// Lines stored in a group.
        stores: usize,
    },
}

/// Lines that one group moves, and how they are counted. A regular store fetches its line first
/// (read for ownership), so a memory controller sees a read and a write; a store past the caches
/// is one write. Some processors leave the fetch out when they see whole lines being written, and
/// only counters of the memory controller could tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traffic {
    /// Lines loaded.
    pub loads: usize,
    /// Lines stored.
    pub stores: usize,
    /// Stores go past the caches.
    pub nt: bool,
}

impl Traffic {
    /// Lines loaded and stored, which is how STREAM counts.
    pub fn lines(&self) -> usize {
        self.loads + self.stores
    }

    /// Lines the memory controller reads.
    pub fn controller_reads(&self) -> usize {
        self.loads + if self.nt { 0 } else { self.stores }
    }

    /// Lines the memory controller reads and writes.
    pub fn controller_lines(&self) -> usize {
        self.controller_reads() + self.stores
    }

    /// Bytes the memory controller moves for `bytes` loaded and stored.
    pub fn controller_bytes(&self, bytes: f64) -> f64 {
        bytes * self.controller_lines() as f64 / self.lines() as f64
    }

    /// Bytes that arrive somewhere for `bytes` loaded and stored, which is how `memcpy` is
    /// counted: those stored, or those loaded where nothing is.
    pub fn arriving_bytes(&self, bytes: f64) -> f64 {
        let arriving = if self.stores == 0 {
            self.loads
        } else {
            self.stores
        };
        bytes * arriving as f64 / self.lines() as f64
    }
}

impl Op {
    /// Every operation that has loops.
    pub const ALL: [Op; 23] = [
        Op::Read,
        Op::Write,
        Op::WriteNt,
        Op::Copy,
        Op::CopyNt,
        Op::Scale,
        Op::ScaleNt,
        Op::Add,
        Op::AddNt,
        Op::Triad,
        Op::TriadNt,
        Op::mix(1, 1),
        Op::mix(1, 2),
        Op::mix(2, 1),
        Op::mix(3, 1),
        Op::mix(4, 1),
        Op::mix(5, 1),
        Op::mix(6, 1),
        Op::mix(7, 1),
        Op::mix(8, 1),
        Op::mix_nt(1, 1),
        Op::mix_nt(2, 1),
        Op::mix_nt(3, 1),
    ];

    const fn mix(loads: usize, stores: usize) -> Op {
        Op::Mix { loads, stores }
    }

    const fn mix_nt(loads: usize, stores: usize) -> Op {
        Op::MixNt { loads, stores }
    }

    /// Lines of one group.
    pub fn traffic(self) -> Traffic {
        let (loads, stores, nt) = match self {
            Op::Read => (1, 0, false),
            Op::Write => (0, 1, false),
            Op::WriteNt => (0, 1, true),
            Op::Copy | Op::Scale => (1, 1, false),
            Op::CopyNt | Op::ScaleNt => (1, 1, true),
            Op::Add | Op::Triad => (2, 1, false),
            Op::AddNt | Op::TriadNt => (2, 1, true),
            Op::Mix { loads, stores } => (loads, stores, false),
            Op::MixNt { loads, stores } => (loads, stores, true),
        };
        Traffic { loads, stores, nt }
    }

    /// The word for reports; mixes as lines loaded and stored, `mix-3l1s`.
    pub fn name(self) -> String {
        match self {
            Op::Read => "read".into(),
            Op::Write => "write".into(),
            Op::WriteNt => "write-nt".into(),
            Op::Copy => "copy".into(),
            Op::CopyNt => "copy-nt".into(),
            Op::Scale => "scale".into(),
            Op::ScaleNt => "scale-nt".into(),
            Op::Add => "add".into(),
            Op::AddNt => "add-nt".into(),
            Op::Triad => "triad".into(),
            Op::TriadNt => "triad-nt".into(),
            Op::Mix { loads, stores } => format!("mix-{loads}l{stores}s"),
            Op::MixNt { loads, stores } => format!("mix-{loads}l{stores}s-nt"),
        }
    }

    /// The operation whose traffic at the memory controller is `-W n` of Intel's Memory Latency
    /// Checker, where a regular store counts as a read and a write. 21, 23 and 27 are 1 (reads
    /// only), 3 and 7 from two buffers. `None` for numbers without a meaning.
    pub fn of_traffic_type(n: u32) -> Option<Op> {
        Some(match n {
            2 => Op::mix(1, 1),
            3 | 23 => Op::mix(2, 1),
            4 => Op::mix(1, 2),
            5 => Op::Write,
            6 => Op::WriteNt,
            7 | 27 => Op::mix_nt(2, 1),
            8 => Op::mix_nt(1, 1),
            9 => Op::mix_nt(3, 1),
            10 => Op::TriadNt,
            11 => Op::Triad,
            12..=17 => Op::mix(n as usize - 9, 1),
            // Nine tenths of what the memory sees are reads, which is 17 by another name.
            19 => Op::mix(8, 1),
            21 => Op::Read,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads and writes at the controller, from the published table of traffic types.
    #[test]
    fn traffic_types_have_their_ratio() {
        let table = [
            (2, 2, 1),
            (3, 3, 1),
            (4, 3, 2),
            (5, 1, 1),
            (6, 0, 1),
            (7, 2, 1),
            (8, 1, 1),
            (9, 3, 1),
            (10, 2, 1),
            (11, 3, 1),
            (12, 4, 1),
            (13, 5, 1),
            (14, 6, 1),
            (15, 7, 1),
            (16, 8, 1),
            (17, 9, 1),
            (19, 9, 1),
            (21, 1, 0),
            (23, 3, 1),
            (27, 2, 1),
        ];
        for (n, reads, writes) in table {
            let traffic = Op::of_traffic_type(n).unwrap().traffic();
            assert_eq!(traffic.controller_reads(), reads, "-W{n}");
            assert_eq!(traffic.stores, writes, "-W{n}");
        }
        assert_eq!(Op::of_traffic_type(18), None);
        assert_eq!(Op::of_traffic_type(0), None);
    }

    #[test]
    fn the_three_ways_of_counting_a_copy() {
        let copy = Op::Copy.traffic();
        assert_eq!(copy.controller_bytes(12.0), 18.0);
        assert_eq!(copy.arriving_bytes(12.0), 6.0);
        assert_eq!(Op::CopyNt.traffic().controller_bytes(12.0), 12.0);
        assert_eq!(Op::Read.traffic().arriving_bytes(12.0), 12.0);
    }
}
