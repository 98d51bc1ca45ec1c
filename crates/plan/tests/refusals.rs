//! Jobs that cannot be: each gets one line that names the option or the path, before anything
//! is touched.

mod support;

use plan::layout::{self, LayoutError};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use support::plan;

/// Plans `line` in an empty directory; returns the refusal without the directory's name. The
/// directory must stay empty.
fn refusal(line: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    let text = plan(line, dir.path()).expect_err(line);
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "{line}");
    assert_eq!(text.lines().count(), 1, "{line}: {text}");
    text.replace(dir.path().to_str().unwrap(), "$DIR")
}

fn refused(line: &str, says: &str) {
    let text = refusal(line);
    assert!(
        text.ends_with(says),
        "{line}:\n{text}\nshould end in\n{says}"
    );
}

#[test]
fn files_and_directories() {
    refused(
        "--name=a --filename=$DIR/f --size=1m --rw=write --allow_file_create=0",
        "job `a`: $DIR/f: does not exist, and allow_file_create=0 forbids to create it",
    );
    refused(
        "--name=a --filename=$DIR --size=1m",
        "is a directory; filename= takes files and devices",
    );
    refused(
        "--name=a --directory=$DIR/no --size=1m",
        "directory=$DIR/no: does not exist",
    );
    refused(
        "--name=a --directory=/dev/null --size=1m",
        "directory=/dev/null: is not a directory",
    );
    refused(
        "--name=a --filename=/dev/no_such_disk --size=1m --rw=read",
        "/dev/no_such_disk is no device, and no ordinary file is created in /dev; check the name",
    );
    refused(
        "--name=a --filename=/dev/no_such_disk --rw=read",
        "/dev/no_such_disk is no device, and no ordinary file is created in /dev; check the name",
    );
    refused(
        "--name=a --filename=/dev/zero",
        "size= is needed: /dev/zero has no size of its own",
    );
    refused(
        "--readonly --name=a --filename=$DIR/f --size=1m --rw=read",
        "$DIR/f: must be laid out first, which --readonly forbids",
    );
    refused(
        "--name=a --directory=$DIR --nrfiles=0 --size=1m",
        "a job needs at least one file",
    );
}

#[test]
fn sizes() {
    refused(
        "--name=a --directory=$DIR --size=4k --bs=8k",
        "bs=8192 is larger than size=4096",
    );
    refused(
        "--name=a --directory=$DIR",
        "size= is needed: $DIR/a.0.0 has no size of its own",
    );
    refused(
        "--name=a --directory=$DIR --size=50%",
        "size=50% is a share of $DIR/a.0.0, which does not exist or is empty",
    );
    refused(
        "--name=a --directory=$DIR --rw=read --bs=64k --size=415k --filesize=14k-233k \
         --nrfiles=3",
        "bs=65536 is larger than the size that filesize= gives $DIR/a.0.0",
    );
    refused(
        "--name=a --directory=$DIR --size=40k --nrfiles=20",
        "bs=4096 is larger than the 2048 bytes of each of 20 files",
    );
    refused(
        "--name=a --directory=$DIR --filesize=64k --offset=128k",
        "offset=131072 lies beyond the end of $DIR/a.0.0 (65536 bytes)",
    );
    refused(
        "--name=a --directory=$DIR --size=64k --offset=9000000000000000000 --numjobs=2 \
         --offset_increment=9000000000000000000",
        "offset= leads beyond the largest file offset",
    );
    refused(
        "--name=a --directory=$DIR --size=8g --bs=4g",
        "a request moves 1 to 2147483647 bytes",
    );
}

#[test]
fn options_beside_each_other() {
    refused(
        "--name=a --directory=$DIR --rw=randwrite --fill_device=1",
        "fill_device=1 fills in order, rw=randwrite is random",
    );
    refused(
        "--name=a --directory=$DIR --rw=read --size=1m --fill_device=1",
        "fill_device=1 needs a job that writes",
    );
    refused(
        "--name=a --directory=$DIR --size=1m --numjobs=0",
        "a job needs at least one clone",
    );
    refused(
        "--name=a --directory=$DIR --size=1m --iomem_align=1000 --iomem_align=5000",
        "iomem_align=5000: needs a power of two",
    );
    refused(
        "--name=x --directory=$DIR --size=1m --name=x --directory=$DIR --size=1m --name=b \
         --directory=$DIR --size=1m --wait_for=x",
        "wait_for=x: several earlier jobs have this name",
    );
    refused(
        "--name=a --directory=$DIR --size=1m --group_reporting --name=b --directory=$DIR \
         --size=1m --group_reporting --lat_percentiles=1",
        "lat_percentiles differs from the other jobs of its reporting group",
    );
    refused(
        "--name=a --directory=$DIR --size=1m --rw=write --bs=32 --verify=md5",
        "raise bs or verify_interval",
    );
    refused(
        "--name=a --directory=$DIR --size=1m --rw=write --buffer_pattern='$DIR/none'",
        "buffer_pattern: cannot read $DIR/none: No such file or directory (os error 2)",
    );
}

#[test]
fn places() {
    refused(
        "--name=a --directory=$DIR --size=1m --cpus_allowed=0,4000",
        "cpus_allowed: CPU 4000 is not online",
    );
    let text = refusal("--name=a --directory=$DIR --size=1m --numa_cpu_nodes=99");
    assert!(
        text.contains("numa_cpu_nodes: there is no node 99"),
        "{text}"
    );
    let text = refusal("--name=a --directory=$DIR --size=1m --numa_mem_policy=bind:77");
    assert!(
        text.contains("numa_mem_policy: there is no node 77"),
        "{text}"
    );
}

#[test]
fn direct_io_with_an_impossible_alignment() {
    // Known for file systems on block devices only.
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f");
    std::fs::write(&path, vec![1u8; 1 << 20]).unwrap();
    let open = sys::file::Open {
        read: true,
        ..Default::default()
    };
    let Some(limits) = sys::file::File::open(&path, open).unwrap().direct_limits() else {
        eprintln!("SKIP: the temporary directory tells no limits of direct I/O");
        return;
    };
    let align = limits.offset_align;
    let says = |options: &str, what: &str| {
        let line = format!("--name=a --filename=$DIR/f --direct=1 {options}");
        let text = plan(&line, dir.path()).expect_err(&line);
        let says = format!(
            "{what} but {} needs a multiple of {align} for direct I/O",
            path.display()
        );
        assert!(text.ends_with(&says), "{text}\nshould end in\n{says}");
    };
    says("--bs=1001", "bs=1001");
    says("--bsrange=1001-8008", "bsrange=1001");
    says("--bssplit=4096/50:4097/50", "bssplit=4097");
    says("--offset=100", "offset=100");
    says("--rw=randread --ba=1000", "blockalign=1000");
    plan("--name=a --filename=$DIR/f --direct=1 --bs=64k", dir.path()).unwrap();
    // A file that does not exist yet is judged by the device below its directory.
    let text = plan(
        "--name=a --directory=$DIR --direct=1 --bs=1001 --size=1m",
        dir.path(),
    );
    assert!(text.unwrap_err().contains("bs=1001 but "));
}

#[test]
fn space_is_counted_over_all_jobs() {
    let dir = tempfile::tempdir().unwrap();
    let available = host::space::of(dir.path()).unwrap().available_bytes;
    let half = available / 2 + (64 << 20);
    let line = format!("--directory=$DIR --size={half} --rw=read --name=a --name=b");
    let plan = plan(&line, dir.path()).unwrap();
    let error = layout::make(&plan.layouts, &AtomicBool::new(false), &mut |_| ()).unwrap_err();
    match error {
        LayoutError::NoSpace { path, needed, .. } => {
            assert_eq!(path, dir.path().join("a.0.0"));
            assert!(needed >= 2 * half - 8192, "{needed}");
        }
        other => panic!("{other}"),
    }
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn what_fits_is_not_refused() {
    let dir = tempfile::tempdir().unwrap();
    for line in [
        "--name=a --directory=$DIR --size=8k --bs=8k",
        "--name=a --ioengine=null --size=1t --rw=randtrim",
        "--name=a --filename=/dev/zero --size=1m",
        "--name=a --directory=$DIR --rw=write --fill_device=1",
        "--name=a --directory=$DIR --size=1m --verify=crc32c --rw=write",
    ] {
        plan(line, dir.path()).unwrap_or_else(|e| panic!("{line}: {e}"));
    }
    assert!(Path::new("/dev/zero").exists());
}
