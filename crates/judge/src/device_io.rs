//! What the jobs asked for against what the devices below them did.

use result::{DeviceIo, Run};
use units::Ddir;

/// Bytes of the sectors that the kernel counts in.
const SECTOR: u64 = 512;
/// An I/O of this size is never split.
const PAGE: u64 = 4096;

/// The comparison; `None` where it would mislead: a job without a disk or with a warm-up, a
/// verification pass, devices that were not watched.
pub(crate) fn of(run: &Run) -> Option<DeviceIo> {
    let comparable = run.jobs.iter().all(|job| {
        let setup = job.setup.as_ref();
        setup.is_some_and(|setup| setup.on_disk && !setup.warms_up && !setup.verifies)
    });
    if !comparable || run.jobs.is_empty() || run.disks.is_empty() {
        return None;
    }
    let mut io = DeviceIo::default();
    for job in &run.jobs {
        for (at, ddir) in [Ddir::Read, Ddir::Write].into_iter().enumerate() {
            io.issued_ios[at] += job.dirs[ddir].ios;
            io.issued_bytes[at] += job.dirs[ddir].bytes;
            io.runtime_ms = io.runtime_ms.max(job.dirs[ddir].runtime_ms);
        }
    }
    for disk in &run.disks {
        for at in 0..2 {
            io.device_ios[at] += disk.counters.ios[at];
            io.device_merges[at] += disk.counters.merges[at];
            io.device_bytes[at] += disk.counters.sectors[at] * SECTOR;
        }
    }
    let uncounted = |disk: &result::Disk| disk.counters.sectors == [0; 2];
    if run.source.is_some() && run.disks.iter().all(uncounted) {
        count_requests(&mut io);
    }
    Some(io)
}

/// Reports that count requests and no sectors: an I/O of up to a page is one request, which may
/// have been merged; a larger one may have been several, so that only too few of them mean
/// something.
fn count_requests(io: &mut DeviceIo) {
    for at in 0..2 {
        let size = io.issued_bytes[at] / io.issued_ios[at].max(1);
        let requests = io.device_ios[at] + io.device_merges[at];
        let bytes = requests * size.max(SECTOR);
        io.device_bytes[at] = match size {
            0 => requests * SECTOR,
            1..=PAGE => bytes,
            _ => bytes.min(io.issued_bytes[at]),
        };
    }
}
