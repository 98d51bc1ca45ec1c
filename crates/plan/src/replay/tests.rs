//! Recordings of both kinds, as they are read.

use super::*;

fn rules() -> Rules {
    Rules {
        scale: 1,
        align: 0,
        time_percent: 100,
        redirect: None,
        directory: None,
        skip: Default::default(),
        readonly: false,
    }
}

fn read(text: &str, rules: Rules) -> (Vec<Result<Recorded, String>>, Vec<String>) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log");
    std::fs::write(&path, text).unwrap();
    let origin = Origin {
        source: Source::File(path),
        rules,
        root: host::Root::default(),
    };
    let mut reader = Reader::open(&origin).unwrap();
    let found = reader.by_ref().collect();
    let names = reader.files.list.into_iter().map(|file| file.name);
    (found, names.collect())
}

const LOG: &str = "fio version 3 iolog\n0 a add\n0 b add\n100 a open\n\
    300 a read 10000 512\n500 b write 4096 4096\n900 b sync 0 0\n1000 a trim 0 4096\n";

#[test]
fn times_offsets_and_kinds_follow_the_rules() {
    let (found, names) = read(LOG, rules());
    let found: Vec<Recorded> = found.into_iter().map(Result::unwrap).collect();
    let at: Vec<u64> = found.iter().map(|r| r.at_ns / 1000).collect();
    // Time counts from the first stamp that is not zero.
    assert_eq!(
        (at, names),
        (vec![200, 400, 800, 900], vec!["a".into(), "b".into()])
    );

    let changed = Rules {
        scale: 2,
        align: 1024,
        time_percent: 50,
        directory: Some("d".into()),
        skip: spec::kinds::ReplaySkip {
            trim: true,
            ..Default::default()
        },
        readonly: true,
        ..rules()
    };
    let (found, names) = read(LOG, changed);
    let found: Vec<_> = found.into_iter().map(Result::unwrap).collect();
    let short: Vec<_> = found
        .iter()
        .map(|r| (r.at_ns / 1000, r.ddir, r.offset, r.len))
        .collect();
    let wanted = [(400, Ddir::Read, 4096, 512), (1600, Ddir::Sync, 0, 0)];
    assert_eq!((short, names[0].as_str()), (wanted.to_vec(), "d/a"));
}

#[test]
fn everything_can_be_sent_elsewhere() {
    let redirect = Some("/x".to_owned());
    let (found, names) = read(
        LOG,
        Rules {
            redirect,
            ..rules()
        },
    );
    assert!(found.iter().all(|r| r.as_ref().is_ok_and(|r| r.file == 0)));
    assert_eq!(names, ["/x"]);
}

#[test]
fn version_2_waits_until_milliseconds_after_the_start() {
    let log = "fio version 2 iolog\na add\na read 0 512\na wait 70 0\na read 0 512\n";
    let (found, _) = read(log, rules());
    let at: Vec<u64> = found.into_iter().map(|r| r.unwrap().at_ns).collect();
    assert_eq!(at, [0, 70_000_000]);
}

#[test]
fn a_bad_line_is_told_with_its_number() {
    let (found, _) = read("fio version 3 iolog\n1 a add\n2 a jump 0 512\n", rules());
    let error = found[0].clone().unwrap_err();
    assert!(
        error.starts_with("line 3: ") && error.contains("jump"),
        "{error}"
    );
}
