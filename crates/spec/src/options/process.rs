//! Clones, groups, order of jobs, CPUs and memory nodes.

use crate::kinds::{CpuPolicy, ExitWhat, MemPolicy, NodeList};
use option::IdList;

option::options! {
    /// Jobs, order and placement
    pub struct Process {
        /// Clones of the job, each a worker with its own statistics.
        numjobs: u32 = "1";
        /// Workers are threads; accepted for compatibility, since they always are.
        thread: bool, bare();
        /// One report per group instead of one per worker.
        group_reporting: bool, bare();
        /// Begin a new reporting group.
        new_group: bool, bare();
        /// Wait for all earlier jobs; also begins a new reporting group.
        stonewall: bool, aliases(&["wait_for_previous"]), bare();
        /// Wait for one earlier job, by name.
        wait_for: Option<String>;
        /// End the other jobs when one ends.
        exitall: bool, bare();
        /// Which jobs `exitall` ends.
        exit_what: ExitWhat = "group";
        /// Shell command to run before the job; its output goes to `<job>.prerun.txt`.
        exec_prerun: Option<String>;
        /// Shell command to run after the job; its output goes to `<job>.postrun.txt`.
        exec_postrun: Option<String>;
        /// Name of the worker in the process table.
        comm: Option<String>;
        /// CPU niceness of the workers.
        nice: i32 = "0", range(-20, 19);
        /// I/O priority within its class, 0 is highest.
        prio: Option<u32>, range(0, 7);
        /// I/O priority class: 1 real time, 2 best effort, 3 idle.
        prioclass: Option<u32>, range(0, 3);
        /// I/O priority hint.
        priohint: Option<u32>, range(0, 1023);
        /// CPUs that may be used, as a bit mask.
        cpumask: Option<u64>;
        /// CPUs that may be used, as a list.
        cpus_allowed: Option<IdList>;
        /// How the CPUs are divided over clones.
        cpus_allowed_policy: CpuPolicy = "shared", prio(1), parent("cpus_allowed");
        /// NUMA nodes whose CPUs may be used.
        numa_cpu_nodes: Option<NodeList>;
        /// Where memory comes from: default, local, prefer:node, bind:nodes, interleave.
        numa_mem_policy: MemPolicy;
        /// Control group of version 2 to run in, below the root of the tree; made if it is not
        /// there.
        ///
        /// Jobs are threads of one process, and the kernel divides I/O among processes: all jobs
        /// of a run name the same group.
        cgroup: Option<String>;
        /// Weight of the control group beside others, which have 100 unless they say otherwise.
        cgroup_weight: Option<u32>, range(100, 1000), parent("cgroup");
        /// Keep a control group that was made.
        cgroup_nodelete: bool = "0", parent("cgroup");
        /// User to become before the work.
        uid: Option<u32>;
        /// Group to become before the work.
        gid: Option<u32>;
    }
}
