//! Where and as whom a worker runs, and what happens around its work.

/// Where and as whom the worker runs.
#[derive(Clone, Debug, Default)]
pub struct Placement {
    /// CPUs; `None` leaves the inherited mask.
    pub cpus: Option<Vec<u32>>,
    /// Memory policy: mode and nodes.
    pub memory: Option<(MemoryMode, Vec<u32>)>,
    /// `nice`.
    pub nice: i32,
    /// I/O priority class and level as `ioprio_set` takes them.
    pub io_priority: Option<u16>,
    /// `uid`.
    pub uid: Option<u32>,
    /// `gid`.
    pub gid: Option<u32>,
    /// Thread name.
    pub comm: Option<String>,
}

/// `numa_mem_policy`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryMode {
    /// The system's default.
    Default,
    /// Prefer one node.
    Prefer,
    /// These nodes only.
    Bind,
    /// Interleave over the nodes.
    Interleave,
    /// The node of the CPU.
    Local,
}

/// What happens before, between and after.
#[derive(Clone, Debug, Default)]
pub struct Lifecycle {
    /// Stop after layout.
    pub create_only: bool,
    /// `fsync` every file when the write phase ends.
    pub end_fsync: bool,
    /// One `syncfs` instead.
    pub end_syncfs: bool,
    /// `fsync` dirty files on close.
    pub fsync_on_close: bool,
    /// Delete files at the end.
    pub unlink: bool,
    /// Delete files after every loop.
    pub unlink_each_loop: bool,
    /// End others when this one ends: scope.
    pub exitall: Option<ExitScope>,
    /// End all others when this one fails.
    pub exitall_on_error: bool,
    /// Shell command before.
    pub prerun: Option<String>,
    /// Shell command after.
    pub postrun: Option<String>,
}

impl Lifecycle {
    /// True when files are flushed at the end of a pass.
    pub fn syncs_at_end(&self) -> bool {
        self.end_fsync || self.end_syncfs || self.fsync_on_close
    }
}

/// `exit_what`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitScope {
    /// The reporting group.
    Group,
    /// The stage (stonewall section).
    Stage,
    /// Everything.
    All,
}
