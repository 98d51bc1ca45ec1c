//! What a history promises: nothing lost, nothing overwritten, everything found again.

use result::{Run, import};
use std::path::Path;
use std::process::{Command, Stdio};
use store::{About, Filter, Saved, Sqlite, Store, StoreError};

const NOTES: &str = include_str!("../../result/tests/seeds/cloud.txt");

fn runs() -> Vec<Run> {
    let runs = import::read("cloud.txt", NOTES).runs;
    assert_eq!(runs.len(), 25);
    runs
}

fn numbered(mut run: Run, number: usize) -> Run {
    run.notes = vec![number.to_string()];
    run
}

fn place() -> tempfile::TempDir {
    tempfile::tempdir().expect("a directory")
}

fn open(path: &Path) -> Sqlite {
    Sqlite::open(path).expect("a history")
}

#[test]
fn runs_come_back_as_they_were() {
    let place = place();
    let path = place.path().join("deep/er/history.db");
    let runs = runs();
    let mut store = open(&path);
    let about = About {
        host: Some("one".to_owned()),
        ..About::default()
    };
    for run in &runs {
        assert!(matches!(store.save(run, &about), Ok(Saved::New(_))));
    }
    drop(store);
    let mut store = open(&path);
    for (run, id) in runs.iter().zip(1..) {
        assert_eq!(store.document(id).expect("a document"), *run);
        assert_eq!(store.save(run, &about).expect("saved"), Saved::Known(id));
    }
    assert!(matches!(store.document(99), Err(StoreError::NoRun(99))));
    let filter = Filter {
        figures: true,
        ..Filter::default()
    };
    let all = store.list(&filter).expect("a list");
    assert_eq!(all.len(), 25);
    assert_eq!(all[0].host.as_deref(), Some("one"));
    let entry = all.iter().find(|entry| entry.id == 20).expect("the 20th");
    assert_eq!(
        (entry.title.as_str(), entry.devices.as_slice()),
        ("seq-write", &["sdb".to_owned()][..])
    );
    let iops = entry
        .metrics
        .iter()
        .find(|metric| metric.name == "iops")
        .expect("a figure");
    assert!((iops.value - 38_106.5).abs() < 0.1 && iops.higher_is_better);
    assert_eq!(iops.direction, "write");
    assert_eq!(entry.iops, Some(iops.value));
}

#[test]
fn runs_are_found() {
    let place = place();
    let mut store = open(&place.path().join("h.db"));
    for run in &runs() {
        store.save(run, &About::default()).expect("saved");
    }
    store.tag(20, "before", true).expect("a tag");
    store.tag(21, "before", true).expect("a tag");
    store.tag(21, "before", false).expect("no tag");
    store.note(20, "quiet machine").expect("a note");
    let count = |filter: &Filter| store.list(filter).expect("a list").len();
    let with = |change: fn(&mut Filter)| {
        let mut filter = Filter::default();
        change(&mut filter);
        count(&filter)
    };
    assert_eq!(with(|f| f.tag = Some("before".to_owned())), 1);
    assert_eq!(with(|f| f.device = Some("sdc".to_owned())), 6);
    assert_eq!(with(|f| f.host = Some("x".to_owned())), 0);
    assert_eq!(with(|f| f.last = Some(3)), 3);
    // Reports of fio have a date, dd's lines have none.
    assert_eq!(with(|f| f.since_ms = Some(1)), 18);
    assert_eq!(with(|f| f.until_ms = Some(1)), 7);
    let entry = &store
        .list(&Filter {
            id: Some(20),
            ..Filter::default()
        })
        .expect("a list")[0];
    assert_eq!(
        (entry.tags.len(), entry.note.as_deref()),
        (1, Some("quiet machine"))
    );
    // The same work on three disks is the same configuration.
    let same = Filter {
        configuration: Some(entry.configuration.clone()),
        ..Filter::default()
    };
    assert_eq!(count(&same), 3);
    assert!(matches!(
        store.tag(77, "x", true),
        Err(StoreError::NoRun(77))
    ));
    store.remove(21).expect("removed");
    assert!(matches!(store.remove(21), Err(StoreError::NoRun(21))));
    // Tagged runs stay, and so do those whose time nobody knows.
    assert_eq!(store.collect(i64::MAX).expect("collected"), 16);
    let left = store.list(&Filter::default()).expect("a list");
    assert_eq!(left.len(), 8);
    assert!(
        left.iter()
            .all(|left| left.finished_ms == 0 || left.id == 20)
    );
    assert!(store.sound().expect("a check"));
}

#[test]
fn other_files_are_left_alone() {
    let place = place();
    let path = place.path().join("letter.txt");
    for content in [&b"Dear Sir or Madam, this is no database at all."[..], b"x"] {
        std::fs::write(&path, content).expect("a file");
        let error = Sqlite::open(&path).err().expect("an error");
        assert!(matches!(error, StoreError::Foreign { .. }), "{error}");
        assert!(error.to_string().contains("left as it is"), "{error}");
        assert_eq!(std::fs::read(&path).expect("the file"), content);
    }
    assert!(matches!(
        Sqlite::open(place.path()),
        Err(StoreError::Foreign { .. })
    ));
    // Somebody else's database.
    let path = place.path().join("other.db");
    let other = rusqlite::Connection::open(&path).expect("a database");
    other
        .execute_batch("CREATE TABLE mine (x); INSERT INTO mine VALUES (1)")
        .expect("a table");
    drop(other);
    let before = std::fs::read(&path).expect("the file");
    assert!(matches!(
        Sqlite::open(&path),
        Err(StoreError::Foreign { .. })
    ));
    assert_eq!(std::fs::read(&path).expect("the file"), before);
}

#[test]
fn damage_and_later_versions_are_told() {
    let place = place();
    let path = place.path().join("h.db");
    let mut store = open(&path);
    for run in &runs() {
        store.save(run, &About::default()).expect("saved");
    }
    drop(store);
    let whole = std::fs::read(&path).expect("the file");
    // The first page after the head, and the middle of the file.
    let mut damaged = whole.clone();
    let third = whole.len() / 3;
    damaged[100..3000].fill(0xee);
    damaged[third..2 * third].fill(0xee);
    std::fs::write(&path, &damaged).expect("a file");
    let told = Sqlite::open(&path).and_then(|store| store.list(&Filter::default()).map(drop));
    let error = told.expect_err("damage");
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error}");
    assert_eq!(std::fs::read(&path).expect("the file"), damaged);
    std::fs::write(&path, &whole).expect("a file");
    let raw = rusqlite::Connection::open(&path).expect("a database");
    raw.pragma_update(None, "user_version", 99)
        .expect("a version");
    drop(raw);
    let error = Sqlite::open(&path).err().expect("an error");
    assert!(
        matches!(error, StoreError::Newer { found: 99, .. }),
        "{error}"
    );
}

/// A history as each version wrote it.
const SAMPLES: [(u32, &str); 1] = [(1, include_str!("samples/v1.sql"))];

#[test]
fn histories_of_every_version_open() {
    let versions = SAMPLES.map(|(version, _)| version);
    assert!(
        versions.into_iter().eq(1..=store::VERSION),
        "a version without a sample"
    );
    for (version, sample) in SAMPLES {
        let place = place();
        let path = place.path().join("h.db");
        let raw = rusqlite::Connection::open(&path).expect("a database");
        raw.execute_batch(sample).expect("the sample");
        raw.pragma_update(None, "application_id", 0x4173_7379)
            .expect("ours");
        raw.pragma_update(None, "user_version", version)
            .expect("a version");
        drop(raw);
        let mut store = open(&path);
        let filter = Filter {
            tag: Some("before".to_owned()),
            figures: true,
            ..Filter::default()
        };
        let found = store.list(&filter).expect("a list");
        assert_eq!(found.len(), 1);
        let one = &found[0];
        assert_eq!(one.host.as_deref(), Some("db1"));
        assert_eq!(one.suite.as_deref(), Some("nightly"));
        assert_eq!(one.note.as_deref(), Some("quiet machine"));
        assert_eq!(one.iops, Some(38_000.0));
        assert_eq!(one.metrics.len(), 2);
        let all = store.list(&Filter::default()).expect("a list");
        assert_eq!(all.len(), 2);
        for entry in &all {
            let run = store.document(entry.id).expect("a document");
            assert_eq!(store::metrics(&run)[0].value, entry.iops.expect("a rate"));
            // It is known again, and another one is not.
            let about = About::default();
            let again = store.save(&run, &about).expect("saved");
            assert_eq!(again, Saved::Known(entry.id), "version {version}");
            let other = numbered(run, 7);
            assert!(matches!(store.save(&other, &about), Ok(Saved::New(_))));
        }
        assert!(store.sound().expect("a check"));
    }
}

#[test]
fn an_empty_file_becomes_a_history() {
    let place = place();
    let path = place.path().join("h.db");
    std::fs::write(&path, "").expect("a file");
    assert!(
        open(&path)
            .list(&Filter::default())
            .expect("a list")
            .is_empty()
    );
}

#[test]
fn several_write_at_once() {
    let place = place();
    let path = place.path().join("h.db");
    let run = runs().remove(7);
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let (path, run) = (&path, &run);
            scope.spawn(move || {
                // Each opens for itself, the first ones at the same time as it is made.
                let mut store = open(path);
                for n in 0..25 {
                    let run = numbered(run.clone(), writer * 100 + n);
                    store.save(&run, &About::default()).expect("saved");
                }
            });
        }
    });
    let store = open(&path);
    assert_eq!(store.list(&Filter::default()).expect("a list").len(), 100);
    assert!(store.sound().expect("a check"));
}

/// Set for the child of the next test: the file to write to.
const WRITER: &str = "ASSAY_TEST_WRITER";

#[test]
fn a_killed_writer_loses_the_run_in_progress_only() {
    if let Some(path) = std::env::var_os(WRITER) {
        return write_until_killed(Path::new(&path));
    }
    let times = std::env::var("ASSAY_TEST_KILLS")
        .ok()
        .and_then(|n| n.parse().ok());
    let times: usize = times.unwrap_or(200);
    let place = place();
    let path = place.path().join("h.db");
    drop(open(&path));
    let mut before = 0;
    for kill in 0..times {
        let acknowledged = place.path().join("acknowledged");
        std::fs::write(&acknowledged, "").expect("a file");
        let mut child = Command::new(std::env::current_exe().expect("this test"))
            .args(["--exact", "a_killed_writer_loses_the_run_in_progress_only"])
            .env(WRITER, &path)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("a child");
        // Kill it somewhere in its work: after the first run, and a little later each time.
        let begun = || std::fs::metadata(&acknowledged).is_ok_and(|meta| meta.len() > 0);
        while !begun() {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        std::thread::sleep(std::time::Duration::from_micros(700 * (kill as u64 % 37)));
        child.kill().expect("killed");
        child.wait().expect("gone");
        let told = std::fs::read_to_string(&acknowledged)
            .expect("the file")
            .lines()
            .count();
        let store = open(&path);
        assert!(store.sound().expect("a check"), "after kill {kill}");
        let now = store.list(&Filter::default()).expect("a list").len();
        // What was acknowledged is there; one more may have been saved and not acknowledged.
        assert!(
            now >= before + told && now <= before + told + 1,
            "{before} {told} {now}"
        );
        before = now;
    }
}

fn write_until_killed(path: &Path) {
    use std::io::Write;
    let acknowledged = path.with_file_name("acknowledged");
    let mut acknowledged = std::fs::OpenOptions::new()
        .append(true)
        .open(acknowledged)
        .expect("a file");
    let run = runs().remove(7);
    let mut store = open(path);
    let process = std::process::id() as usize;
    for number in 0.. {
        let run = numbered(run.clone(), process * 1_000_000 + number);
        store.save(&run, &About::default()).expect("saved");
        writeln!(acknowledged, "{number}").expect("a line");
    }
}
