//! What a layout makes, and that nothing is left of one that fails.

use super::*;
use std::fs;

const MIB: u64 = 1 << 20;

fn file(path: &Path, from_bytes: u64, to_bytes: u64, how: Make) -> NewFile {
    NewFile {
        path: Arc::new(path.to_owned()),
        from_bytes,
        to_bytes,
        how,
    }
}

fn layout(files: Vec<NewFile>) -> Layout {
    let contents = FillPolicy::default();
    Layout {
        worker: 1,
        job: "j".into(),
        files,
        fsync: true,
        contents,
    }
}

fn run(layouts: &[Layout]) -> Result<Made, LayoutError> {
    make(layouts, &AtomicBool::new(false), &mut |_| ())
}

const FULL: Make = Make::Full(Some(Allocation::Native));
const RESERVE: Make = Make::Allocate {
    how: Allocation::Native,
    enough: true,
};

#[test]
fn data_is_random_to_the_last_byte_and_progress_ends_at_the_total() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a/b/f");
    let layouts = [layout(vec![file(&path, 0, 2 * MIB + 77, FULL)])];
    let mut seen = Vec::new();
    let made = make(&layouts, &AtomicBool::new(false), &mut |p| {
        seen.push((p.begins, p.done_bytes, p.total_bytes));
    });
    let total = 2 * MIB + 77;
    assert_eq!(seen.first(), Some(&(true, 0, total)));
    assert_eq!(seen.last(), Some(&(false, total, total)));
    let bytes = fs::read(&path).unwrap();
    assert_eq!(bytes.len() as u64, total);
    assert!(bytes.chunks(64).all(|chunk| chunk.iter().any(|&b| b != 0)));
    assert_ne!(bytes[..4096], bytes[MIB as usize..][..4096]);
    let made = made.unwrap();
    assert_eq!((made.created.len(), made.directories.len()), (1, 2));
    made.undo();
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn longer_files_keep_what_they_hold() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f");
    fs::write(&path, "precious").unwrap();
    let made = run(&[layout(vec![file(&path, 8, MIB, FULL)])]).unwrap();
    let bytes = fs::read(&path).unwrap();
    assert_eq!(
        (bytes.len() as u64, &bytes[..8]),
        (MIB, b"precious".as_slice())
    );
    assert_eq!(made.extended, [(path.clone(), 8)]);
    made.undo();
    assert_eq!(fs::read(&path).unwrap(), b"precious");
}

#[test]
fn each_way_of_making() {
    let dir = tempfile::tempdir().unwrap();
    let truncate = Make::Allocate {
        how: Allocation::Truncate,
        enough: true,
    };
    let keep = Make::Allocate {
        how: Allocation::KeepSize,
        enough: true,
    };
    for (name, how, size) in [
        ("native", RESERVE, Some(MIB)),
        ("truncate", truncate, Some(MIB)),
        ("keep", keep, Some(0)),
        ("empty", Make::Empty, Some(0)),
        ("dir", Make::Directory, None),
    ] {
        let path = dir.path().join(name).join("f");
        run(&[layout(vec![file(&path, 0, MIB, how)])]).unwrap();
        assert!(path.parent().unwrap().is_dir(), "{name}");
        assert_eq!(fs::metadata(&path).ok().map(|m| m.len()), size, "{name}");
    }
}

#[test]
fn a_cancelled_layout_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let old = dir.path().join("old");
    fs::write(&old, "12345").unwrap();
    let new = dir.path().join("d/new");
    let layouts = [layout(vec![
        file(&old, 5, 2 * MIB, FULL),
        file(&new, 0, 4 * MIB, FULL),
    ])];
    let cancel = AtomicBool::new(false);
    let error = make(&layouts, &cancel, &mut |p| {
        cancel.store(p.done_bytes > 3 * MIB, Ordering::Relaxed);
    });
    assert!(matches!(error, Err(LayoutError::Cancelled)));
    assert_eq!(fs::read(&old).unwrap(), b"12345");
    assert!(!dir.path().join("d").exists());
}

#[test]
fn space_is_checked_before_anything_is_made() {
    let dir = tempfile::tempdir().unwrap();
    let (small, large) = (dir.path().join("a/small"), dir.path().join("large"));
    let huge = 1 << 62;
    let layouts = [
        layout(vec![file(&small, 0, MIB, FULL)]),
        layout(vec![file(&large, 0, huge, FULL)]),
    ];
    match run(&layouts) {
        Err(LayoutError::NoSpace {
            path,
            needed,
            available,
            quota,
        }) => {
            assert_eq!((path, needed), (small.clone(), MIB + huge));
            assert!(available < huge && !quota);
        }
        other => panic!("{other:?}"),
    }
    assert!(!dir.path().join("a").exists());
    // What may never be needed is not insisted on.
    let maybe = Make::Allocate {
        how: Allocation::Native,
        enough: false,
    };
    run(&[layout(vec![file(&large, 0, huge, maybe)])]).unwrap();
}

#[test]
fn headlines_are_fios() {
    let path = Path::new("f");
    let one = layout(vec![file(path, MIB, 16 * MIB, FULL)]);
    assert_eq!(
        one.headline().unwrap(),
        "j: Laying out IO file (1 file / 16MiB)"
    );
    let two = file(path, 0, 16 * MIB, RESERVE);
    let two = layout(vec![two.clone(), two, file(path, 0, MIB, Make::Directory)]);
    assert_eq!(
        two.headline().unwrap(),
        "j: Laying out IO files (2 files / total 32MiB)"
    );
    assert_eq!(
        layout(vec![file(path, 0, MIB, Make::Directory)]).headline(),
        None
    );
}

#[test]
fn a_file_in_the_way_of_a_directory_is_named() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("file"), "").unwrap();
    let path = dir.path().join("file/below");
    let error = run(&[layout(vec![file(&path, 0, MIB, FULL)])]).unwrap_err();
    assert!(error.to_string().contains("file/below"), "{error}");
}
