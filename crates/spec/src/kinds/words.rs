//! Enumerations: the words and what they mean.

option::choices! {
    /// Direction and order of the requests.
    pub enum Mode {
        /// Sequential reads.
        Read = "read";
        /// Sequential writes.
        Write = "write";
        /// Sequential trims (block devices).
        Trim = "trim";
        /// Random reads.
        RandRead = "randread";
        /// Random writes.
        RandWrite = "randwrite";
        /// Random trims (block devices).
        RandTrim = "randtrim";
        /// Sequential reads and writes mixed.
        ReadWrite = "rw" | "readwrite";
        /// Random reads and writes mixed.
        RandRw = "randrw";
        /// Sequential; each block is trimmed, then written.
        TrimWrite = "trimwrite";
        /// Random; each block is trimmed, then written.
        RandTrimWrite = "randtrimwrite";
    }
}

option::choices! {
    /// When asynchronous requests are stamped.
    pub enum Stamps {
        /// Issued after the submitting system call, complete per reap, as fio does.
        Fio = "fio";
        /// Issued before it: one system call submits and waits.
        Early = "early";
        /// Each completion has its own stamp.
        Each = "each";
    }
}

option::choices! {
    /// When completions are taken.
    pub enum Reap {
        /// When the queue is full, as fio does.
        Fio = "fio";
        /// After every submission.
        Prompt = "prompt";
    }
}

option::choices! {
    /// What the number behind `rw=` means for random modes.
    pub enum Sequencer {
        /// The requests of one draw follow each other.
        Sequential = "sequential";
        /// The requests of one draw repeat the same offset.
        Identical = "identical";
    }
}

option::choices! {
    /// How results of the directions are put together.
    pub enum Unified {
        /// One report per direction.
        None = "none" | "0";
        /// All directions folded into one.
        Mixed = "mixed" | "1";
        /// One report per direction, and the folded one beside them.
        Both = "both" | "2";
    }
}

option::choices! {
    /// Whether rates are counted in bytes or bits.
    pub enum UnitBase {
        /// The engine decides; bytes for storage.
        Auto = "0";
        /// Bytes.
        Bytes = "8";
        /// Bits.
        Bits = "1";
    }
}

option::choices! {
    /// A type that every file is assumed to have.
    pub enum FileType {
        /// Look at each file.
        Auto = "none";
        /// Regular files.
        File = "file";
        /// Block devices.
        Block = "block";
        /// Character devices.
        Char = "char";
    }
}

option::choices! {
    /// Serialisation of I/O to a file between jobs.
    pub enum FileLock {
        /// No locking.
        None = "none";
        /// One I/O at a time.
        Exclusive = "exclusive";
        /// Readers together, writers alone.
        ReadWrite = "readwrite";
    }
}

option::choices! {
    /// How space is reserved when a file is laid out.
    pub enum Fallocate {
        /// fallocate(2) where the file system has it.
        Native = "native";
        /// Nothing is reserved.
        None = "none" | "0";
        /// posix_fallocate(3).
        Posix = "posix" | "1";
        /// fallocate(2) that keeps the file size.
        Keep = "keep";
        /// Only the file size is set.
        Truncate = "truncate";
    }
}

option::choices! {
    /// What the kernel is told about the coming accesses.
    pub enum FadviseHint {
        /// Random or sequential, as the job is.
        Workload = "1";
        /// Nothing.
        None = "0";
        /// POSIX_FADV_RANDOM.
        Random = "random";
        /// POSIX_FADV_SEQUENTIAL.
        Sequential = "sequential";
        /// POSIX_FADV_NOREUSE.
        NoReuse = "noreuse";
    }
}

option::choices! {
    /// Expected lifetime of written data.
    pub enum WriteHint {
        /// No expectation.
        None = "none";
        /// Short-lived.
        Short = "short";
        /// Between short and long.
        Medium = "medium";
        /// Long-lived.
        Long = "long";
        /// Very long-lived.
        Extreme = "extreme";
    }
}

option::choices! {
    /// Synchronous writes by open flag.
    pub enum SyncMode {
        /// No flag.
        None = "none" | "0";
        /// O_SYNC: data and metadata are durable when a write returns.
        Sync = "sync" | "1";
        /// O_DSYNC: data is durable when a write returns.
        Dsync = "dsync";
    }
}

option::choices! {
    /// The generator behind random offsets.
    pub enum Generator {
        /// Combined Tausworthe generator, 32 bits; 64 bits when there are too many blocks.
        Tausworthe = "tausworthe";
        /// Linear feedback shift register: each block exactly once, without a map.
        Lfsr = "lfsr";
        /// Combined Tausworthe generator, 64 bits.
        Tausworthe64 = "tausworthe64";
    }
}

option::choices! {
    /// How duplicate buffers are chosen.
    pub enum DedupeMode {
        /// Repeat the latest unique buffer.
        Repeat = "repeat";
        /// Pick from a working set.
        WorkingSet = "working_set";
    }
}

option::choices! {
    /// Where I/O buffers live.
    pub enum MemKind {
        /// Private anonymous memory.
        Malloc = "malloc";
        /// A System V shared memory segment.
        Shm = "shm";
        /// A System V shared memory segment of huge pages.
        ShmHuge = "shmhuge";
        /// A private mapping, anonymous or of a file.
        Mmap = "mmap";
        /// A shared mapping, anonymous or of a file.
        MmapShared = "mmapshared";
        /// A private mapping of huge pages, anonymous or of a file.
        MmapHuge = "mmaphuge";
        /// Memory of a GPU.
        CudaMalloc = "cudamalloc", refused("needs a CUDA driver");
    }
}

option::choices! {
    /// Who submits the requests.
    pub enum SubmitMode {
        /// The job's own thread.
        Inline = "inline";
        /// A pool of threads, so that a slow submission delays no other.
        Offload = "offload";
    }
}

option::choices! {
    /// Spacing of rated requests.
    pub enum RateProcess {
        /// Evenly spaced.
        Linear = "linear";
        /// Exponentially distributed gaps.
        Poisson = "poisson";
    }
}

option::choices! {
    /// When a block counts for `thinktime_blocks`.
    pub enum ThinkCount {
        /// When it completes.
        Complete = "complete";
        /// When it is issued.
        Issue = "issue";
    }
}

option::choices! {
    /// Which jobs end when `exitall` strikes.
    pub enum ExitWhat {
        /// The job's own reporting group.
        Group = "group";
        /// All that run now; those behind the next stonewall still start.
        Stonewall = "stonewall";
        /// Every job.
        All = "all";
    }
}

option::choices! {
    /// How a CPU list is divided over clones.
    pub enum CpuPolicy {
        /// Every clone may use all.
        Shared = "shared";
        /// Each clone gets one.
        Split = "split";
    }
}

option::choices! {
    /// How zones restrict the offsets.
    pub enum ZoneMode {
        /// No zones.
        None = "none";
        /// A window moves over the file.
        Strided = "strided";
        /// A zoned block device.
        Zbd = "zbd";
    }
}

option::choices! {
    /// Data placement protocol.
    pub enum Placement {
        /// None.
        None = "none";
        /// NVMe flexible data placement.
        Fdp = "fdp";
        /// NVMe streams.
        Streams = "streams";
    }
}

option::choices! {
    /// Choice of the next placement identifier.
    pub enum PlacementPick {
        /// In turn.
        RoundRobin = "roundrobin";
        /// At random.
        Random = "random";
        /// By offset, as a scheme file says.
        Scheme = "scheme";
    }
}

option::choices! {
    /// Checksum or pattern that written blocks carry.
    pub enum VerifyKind {
        /// No verification.
        None = "0" | "none";
        /// MD5.
        Md5 = "md5";
        /// CRC-64.
        Crc64 = "crc64";
        /// CRC-32.
        Crc32 = "crc32";
        /// CRC-32C, by hardware where there is any.
        Crc32c = "crc32c" | "crc32c-intel";
        /// CRC-16.
        Crc16 = "crc16";
        /// CRC-7.
        Crc7 = "crc7";
        /// SHA-1.
        Sha1 = "sha1";
        /// SHA-256.
        Sha256 = "sha256";
        /// SHA-512.
        Sha512 = "sha512";
        /// SHA3-224.
        Sha3_224 = "sha3-224";
        /// SHA3-256.
        Sha3_256 = "sha3-256";
        /// SHA3-384.
        Sha3_384 = "sha3-384";
        /// SHA3-512.
        Sha3_512 = "sha3-512";
        /// xxHash, 32 bits.
        Xxhash = "xxhash";
        /// The block header alone.
        Meta = "meta";
        /// `verify_pattern` without a header.
        Pattern = "pattern";
        /// `verify_pattern` behind a header.
        PatternHdr = "pattern_hdr";
        /// Goes through the motions and checks nothing.
        Null = "null";
    }
}

option::choices! {
    /// Which writes an offline verification covers.
    pub enum VerifyPolicy {
        /// All that completed.
        Completed = "completed";
        /// All that a later fsync covered.
        Fsynced = "fsynced";
    }
}

option::choices! {
    /// The clock for latencies.
    pub enum ClockSource {
        /// The CPU's own counter.
        Cpu = "cpu";
        /// clock_gettime(2).
        ClockGettime = "clock_gettime";
        /// gettimeofday(2).
        Gettimeofday = "gettimeofday";
    }
}

option::choices! {
    /// What a log row tells of its window.
    pub enum LogValue {
        /// The mean.
        Average = "avg" | "0";
        /// The largest.
        Max = "max" | "1";
        /// Mean and largest, in two columns.
        Both = "both";
    }
}

option::choices! {
    /// After which errors a job goes on.
    pub enum ContinueOn {
        /// None: the first error ends the job.
        None = "none" | "0";
        /// Errors of reads.
        Read = "read";
        /// Errors of writes.
        Write = "write";
        /// Errors of reads and writes.
        Io = "io";
        /// Failed verification.
        Verify = "verify";
        /// All errors.
        All = "all" | "1";
    }
}

impl Mode {
    /// True when offsets are random.
    pub const fn is_random(self) -> bool {
        matches!(
            self,
            Mode::RandRead | Mode::RandWrite | Mode::RandTrim | Mode::RandRw | Mode::RandTrimWrite
        )
    }

    /// True when the job reads.
    pub const fn reads(self) -> bool {
        matches!(
            self,
            Mode::Read | Mode::RandRead | Mode::ReadWrite | Mode::RandRw
        )
    }

    /// True when the job writes.
    pub const fn writes(self) -> bool {
        !matches!(
            self,
            Mode::Read | Mode::RandRead | Mode::Trim | Mode::RandTrim
        )
    }

    /// True when the job trims.
    pub const fn trims(self) -> bool {
        matches!(
            self,
            Mode::Trim | Mode::RandTrim | Mode::TrimWrite | Mode::RandTrimWrite
        )
    }
}
