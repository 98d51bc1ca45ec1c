//! Whatever a file holds, reading it ends with runs and remarks.

use proptest::prelude::*;
use result::{Run, import};
use units::Ddir;

const SEEDS: [&str; 5] = [
    include_str!("seeds/striping.txt"),
    include_str!("seeds/instance_store.txt"),
    include_str!("seeds/tables.txt"),
    include_str!("seeds/laptops.txt"),
    include_str!("seeds/cloud.txt"),
];

/// Pieces that readers look for.
const PIECES: [&str; 44] = [
    "fio --name=a ",
    "a: (g=0): rw=read, bs=4K-4K/4K-4K, ioengine=psync, iodepth=1",
    "\n",
    " ",
    "a: (groupid=0, jobs=1): err= 0: pid=3: Sat May 23 01:26:06 2020",
    "  read: IOPS=",
    "BW=",
    "  write: io=",
    "bw=",
    "runt=",
    "iops=",
    "KB/s",
    "MiB/s",
    "(",
    ")",
    "/",
    "msec",
    ", ",
    "=",
    "    clat (usec): min=",
    "max=",
    "avg=",
    "stdev=",
    "clat percentiles (usec):",
    "1.00th=[",
    "]",
    "%",
    "Run status group 0 (all jobs):",
    "  READ: io=",
    "Disk stats (read/write):",
    "  sda: ios=1/2, merge=0/0, ticks=1/1, in_queue=1, util=1.00%",
    "aggrios=1/2",
    "```",
    "dd if=a of=b",
    "1+0 records out",
    " bytes copied, ",
    " s, ",
    "| a | IOPS | Bandwidth |",
    "Measuring Loaded Latencies for the system",
    "Measuring Peak Injection Memory",
    "00000",
    "{\n\"fio version\": \"fio-3.1\"",
    "3;fio-3.1;",
    "issued rwts: total=",
];

/// What callers do with what was found.
fn use_up(text: &str, name: &str) -> Result<(), TestCaseError> {
    let imported = import::read(name, text);
    let lines = text.lines().count();
    for problem in &imported.problems {
        prop_assert!(
            problem.line >= 1 && problem.line <= lines.max(1),
            "{problem:?}"
        );
    }
    for run in imported.runs {
        let source = run.source.as_ref().expect("a source");
        prop_assert!(source.first_line <= source.last_line && source.last_line <= lines);
        for job in run.reported() {
            for ddir in Ddir::DATA {
                let dir = &job.dirs[ddir];
                prop_assert!(dir.iops().is_finite() && dir.bytes_per_s().is_finite());
                let _ = dir.mean_latency_ns();
            }
        }
        for group in 0..2 {
            let _ = result::group_total(&run.jobs, group, Ddir::Write);
        }
        let written = serde_json::to_string(&run).expect("a document");
        let again: Run = serde_json::from_str(&written).expect("the same document");
        prop_assert_eq!(again.jobs.len(), run.jobs.len());
    }
    Ok(())
}

/// A window of lines of a seed, and changes of bytes in it.
fn damaged() -> impl Strategy<Value = String> {
    let changes = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0u8..4), 0..40);
    (0..SEEDS.len(), any::<prop::sample::Index>(), changes).prop_map(|(seed, start, changes)| {
        let lines: Vec<&str> = SEEDS[seed].lines().collect();
        let start = start.index(lines.len());
        let end = lines.len().min(start + 80);
        let mut bytes = lines[start..end].join("\n").into_bytes();
        for (at, byte, how) in changes {
            if bytes.is_empty() {
                break;
            }
            let at = at.index(bytes.len());
            match how {
                0 => bytes[at] = byte,
                1 => bytes[at] = b"0123456789.,=[](%/| \n"[usize::from(byte) % 21],
                2 => drop(bytes.remove(at)),
                _ => {
                    let piece = bytes[at..bytes.len().min(at + 30)].to_vec();
                    let to = usize::from(byte) * 7 % (bytes.len() + 1);
                    bytes.splice(to..to, piece);
                }
            }
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

fn pieces() -> impl Strategy<Value = String> {
    let number = prop_oneof![
        any::<u64>().prop_map(|n| n.to_string()),
        any::<f64>().prop_map(|n| n.to_string()),
        Just("99999999999999999999999999".to_owned()),
    ];
    let piece = prop_oneof![
        4 => prop::sample::select(&PIECES[..]).prop_map(str::to_owned),
        1 => number,
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_reports(text in damaged()) {
        use_up(&text, "a.txt")?;
    }

    #[test]
    fn pieces_of_reports(text in pieces()) {
        use_up(&text, "a.txt")?;
        use_up(&text, "a_bw.1.log")?;
    }

    #[test]
    fn any_text(text in "\\PC*") {
        use_up(&text, "a.txt")?;
        use_up(&text, "a_lat.log")?;
    }
}
