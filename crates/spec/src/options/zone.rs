//! Zoned access and data placement.

use crate::kinds::{Placement, PlacementPick, ZoneMode};
use option::IdList;
use units::Amount;

option::options! {
    /// Zones and data placement
    pub struct Zone {
        /// How zones restrict the offsets.
        zonemode: ZoneMode = "none";
        /// Bytes per visit of a zone, or the size of a device's zones.
        zonesize: u64 = "0", bytes();
        /// Usable bytes of a zone.
        zonecapacity: u64 = "0", bytes();
        /// Size of a zone in strided mode.
        zonerange: u64 = "0", bytes();
        /// Gap behind each visit.
        zoneskip: Amount = "0";
        /// Permit reads behind the write pointer.
        read_beyond_wp: bool = "0";
        /// Most zones being written, over all jobs.
        max_open_zones: u32 = "0", range(0, 4096);
        /// Most zones being written, per job.
        job_max_open_zones: u32 = "0", range(0, 4096);
        /// Ignore the device's own limits.
        ignore_zone_limits: bool = "0";
        /// Fill ratio above which zones are reset.
        zone_reset_threshold: Option<f64>, within(0.0, 1.0);
        /// Resets per write.
        zone_reset_frequency: Option<f64>, within(0.0, 1.0);
        /// Repair write pointers after failed writes.
        recover_zbd_write_error: bool = "0";
        /// Write the short rest of a zone instead of finishing it.
        write_zone_remainder: bool = "0", refused("the rest of a zone is finished, not written");
        /// Use NVMe flexible data placement.
        fdp: bool = "0", refused("NVMe data placement");
        /// Data placement protocol.
        dataplacement: Placement = "none", aliases(&["data_placement"]),
            refused("NVMe data placement");
        /// How the next placement identifier is chosen.
        plid_select: PlacementPick = "roundrobin", aliases(&["fdp_pli_select"]),
            refused("NVMe data placement");
        /// Placement identifiers to use.
        plids: Option<IdList>, aliases(&["fdp_pli"]), refused("NVMe data placement");
        /// File that maps address ranges to placement identifiers.
        dp_scheme: Option<String>, refused("NVMe data placement");
    }
}
