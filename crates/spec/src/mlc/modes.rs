//! The modes, and which flags each of them takes.

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    /// No mode on the command line: the five sections in turn.
    Everything,
    /// Idle latency from every node to every node.
    LatencyMatrix,
    /// Idle latency of one thread.
    IdleLatency,
    /// Bandwidth from every node to every node.
    BandwidthMatrix,
    /// Bandwidth of five mixes, all threads as fast as they can.
    PeakInjection,
    /// The same five mixes, best over several settings.
    MaxBandwidth,
    /// Latency of one thread under the load of the others.
    LoadedLatency,
    /// Transfers from cache to cache.
    CacheToCache,
    /// Bandwidth of every GiB of physical memory.
    Scan,
}

impl Mode {
    /// The modes that have a word.
    pub const ALL: [Mode; 8] = [
        Mode::LatencyMatrix,
        Mode::IdleLatency,
        Mode::BandwidthMatrix,
        Mode::PeakInjection,
        Mode::MaxBandwidth,
        Mode::LoadedLatency,
        Mode::CacheToCache,
        Mode::Scan,
    ];

    /// The word on the command line, without its dashes; empty for [`Mode::Everything`].
    pub const fn word(self) -> &'static str {
        match self {
            Mode::Everything => "",
            Mode::LatencyMatrix => "latency_matrix",
            Mode::IdleLatency => "idle_latency",
            Mode::BandwidthMatrix => "bandwidth_matrix",
            Mode::PeakInjection => "peak_injection_bandwidth",
            Mode::MaxBandwidth => "max_bandwidth",
            Mode::LoadedLatency => "loaded_latency",
            Mode::CacheToCache => "c2c_latency",
            Mode::Scan => "memory_bandwidth_scan",
        }
    }

    /// What it measures, for the help.
    pub const fn summary(self) -> &'static str {
        match self {
            Mode::Everything => "all of these in about three minutes",
            Mode::LatencyMatrix => "idle latency from every NUMA node to every node",
            Mode::IdleLatency => "idle latency of one thread",
            Mode::BandwidthMatrix => "bandwidth from every NUMA node to every node",
            Mode::PeakInjection => "bandwidth of five mixes of reads and writes",
            Mode::MaxBandwidth => "the same mixes, the best of several delays and thread counts",
            Mode::LoadedLatency => "latency while the other CPUs make load",
            Mode::CacheToCache => "transfers of lines between the caches of two cores",
            Mode::Scan => "bandwidth of each GiB of physical memory",
        }
    }

    /// Letters of the flags that it takes, as MLC's help lists them. `-e` asks for what holds
    /// anyway and `-v` for more text, so they go with every mode; `-b` and `-t` without a mode are
    /// ours.
    pub const fn letters(self) -> &'static str {
        match self {
            Mode::Everything => "bertXv",
            Mode::LatencyMatrix => "abDelLhrtxXv",
            Mode::IdleLatency => "abcDeijJlLhrtxXfpv",
            Mode::BandwidthMatrix => "belLhMRtWXYZv",
            Mode::PeakInjection | Mode::MaxBandwidth => "bekKmlLhMtXYZv",
            Mode::LoadedLatency => "bBcdDefgiIjJkmKlLhMnopPQrRstTuUvWXYZ",
            Mode::CacheToCache => "bcCDEGHiLhrSwxev",
            Mode::Scan => "jnqStev",
        }
    }

    /// One thread follows dependent loads through memory.
    pub fn chases(self) -> bool {
        matches!(
            self,
            Mode::Everything | Mode::LatencyMatrix | Mode::IdleLatency | Mode::LoadedLatency
        )
    }

    /// Does the mode take this flag?
    pub fn takes(self, letter: char) -> bool {
        self.letters().contains(letter)
    }

    /// How errors name the mode.
    pub fn name(self) -> String {
        match self {
            Mode::Everything => "a run without a mode".to_owned(),
            mode => format!("--{}", mode.word()),
        }
    }
}
