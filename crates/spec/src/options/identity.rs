//! Job identity, description and units.

use crate::kinds::{Unified, UnitBase};
use units::KbBase;

option::options! {
    /// Job identity and units
    pub struct Identity {
        /// Name of the job in reports and generated file names.
        ///
        /// In a job file the section's name is the default. On the command line `--name`
        /// starts a new job.
        name: Option<String>;
        /// Free text that reports repeat.
        description: Option<String>;
        /// Meaning of size suffixes: 1024 or 1000.
        ///
        /// With 1024, `k` is 1024 and `kib` is 1000, for compatibility; with 1000, `k` is
        /// 1000 and `kib` is 1024, as IEC and SI have it. Also chooses which of the two
        /// units leads in reports.
        kb_base: KbBase = "1024", prio(1);
        /// Unit of rates in reports: bytes (8), bits (1) or the engine's choice (0).
        unit_base: UnitBase = "0", prio(1);
        /// Most digits of a humanised number in the normal report.
        significant_figures: u32 = "4", range(1, 10);
        /// Whether the directions are reported apart, folded into one, or both.
        unified_rw_reporting: Unified = "none";
        /// Built-in workload generator to load.
        profile: Option<String>, refused("the act and tiobench profiles are not part of this tool");
    }
}
