//! The macros, from a user's side.

use crate::{Def, IdList, Kind, Names, OptionSet, State, ValueError, problems};
use units::{Amount, KbBase, PerDdir, Span};

crate::choices! {
    /// How to go
    enum Gait {
        /// Slowly.
        Walk = "walk" | "0";
        /// Fast.
        Run = "run";
        /// Not yet.
        Fly = "fly", later("wings");
        /// Never.
        Beam = "beam", refused("no such physics");
    }
}

crate::options! {
    /// Sample options
    struct Sample {
        /// A number within limits.
        ///
        /// With a second paragraph
        /// over two lines.
        number: u32 = "5", range(1, 2000), aliases(&["num", "n"]);
        /// A word that may stand alone.
        alone: bool, bare(), parent("number");
        /// A list by direction.
        list: PerDdir<u64> = "4k", bytes();
        /// A pause.
        pause: Span = "10", millis();
        /// Ways.
        gait: Gait = "run";
        /// Not there yet.
        missing: u32 = "3", later("work");
        /// Gone.
        gone: Option<String>, refused("removed");
        /// Ignored.
        ignored: Option<u32>, obsolete("nobody uses it"), hidden();
        /// With dashes.
        dashed: Amount, name("dash-ed");
    }
}

fn set(sample: &mut Sample, name: &str, text: Option<&str>) -> Result<Option<String>, ValueError> {
    sample
        .set_named(name, text, KbBase::Binary)
        .expect("a declared name")
}

#[test]
fn defaults_come_from_the_declaration() {
    let sample = Sample::default();
    assert_eq!(
        (sample.number, sample.alone, sample.list),
        (5, false, PerDdir::splat(4096))
    );
    assert_eq!((sample.pause, sample.gait), (Span::from_ms(10), Gait::Run));
    for index in 0..Sample::DEFS.len() {
        assert!(sample.is_default(index));
        assert_eq!(Sample::default_error(index), None);
    }
}

#[test]
fn names_aliases_and_bare_words_set_fields() {
    let mut sample = Sample::default();
    set(&mut sample, "num", Some("1k")).unwrap();
    set(&mut sample, "alone", None).unwrap();
    set(&mut sample, "list", Some(",8k,")).unwrap();
    set(&mut sample, "pause", Some("2")).unwrap();
    set(&mut sample, "gait", Some("0")).unwrap();
    set(&mut sample, "dash-ed", Some("7%")).unwrap();
    assert_eq!((sample.number, sample.alone), (1024, true));
    assert_eq!(sample.list, PerDdir([4096, 8192, 4096]));
    assert_eq!((sample.pause, sample.gait), (Span::from_ms(2), Gait::Walk));
    assert_eq!(sample.dashed, Amount::Percent(7));
    let shown: Vec<String> = (0..5).map(|index| sample.show(index)).collect();
    assert_eq!(shown, ["1024", "1", "4096,8192,4096", "2ms", "walk"]);
    assert!(!sample.is_default(0) && sample.is_default(5));
    assert!(
        sample
            .set_named("dashed", Some("1"), KbBase::Binary)
            .is_none()
    );
}

#[test]
fn errors_leave_the_field_alone() {
    let mut sample = Sample::default();
    for (name, text) in [
        ("number", Some("0")),
        ("number", Some("2001")),
        ("number", None),
        ("list", Some("9k,9k,x")),
        ("gait", Some("crawl")),
        ("gait", Some("fly")),
        ("gait", Some("beam")),
        ("missing", Some("4")),
        ("gone", Some("x")),
        ("alone", Some("2")),
    ] {
        assert!(set(&mut sample, name, text).is_err(), "{name}");
        assert_eq!(sample, Sample::default(), "{name}");
    }
    let message = |name: &str, text| set(&mut Sample::default(), name, Some(text)).unwrap_err();
    assert_eq!(
        message("gait", "runn").to_string(),
        "`runn` is not one of walk, run, fly, beam; did you mean `run`?"
    );
    assert_eq!(message("missing", "4"), ValueError::NotYet("work"));
    assert_eq!(
        message("number", "2001").to_string(),
        "2001 is out of range (1 to 2000)"
    );
}

#[test]
fn an_unsupported_option_may_be_given_its_own_default() {
    let mut sample = Sample::default();
    assert_eq!(set(&mut sample, "missing", Some("3")), Ok(None));
    let note = set(&mut sample, "ignored", Some("anything")).unwrap();
    assert_eq!(note.as_deref(), Some("has no effect: nobody uses it"));
}

#[test]
fn help_is_the_doc_comment() {
    let def = &Sample::DEFS[0];
    assert_eq!(def.summary(), "A number within limits.");
    assert_eq!(
        def.paragraphs()[1],
        "With a second paragraph over two lines."
    );
    assert_eq!(
        (Sample::DEFS[1].kind, Sample::DEFS[2].kind),
        (Kind::Set, Kind::Bytes)
    );
    assert!(Sample::DEFS[2].per_direction);
    let words: Vec<&str> = Sample::DEFS[4].choices.iter().map(|c| c.name).collect();
    assert_eq!(words, ["walk", "run", "fly", "beam"]);
    assert_eq!(Sample::DEFS[5].state, State::Later("work"));
}

#[test]
fn the_self_test_finds_faults() {
    let defs: Vec<&Def> = Sample::DEFS.iter().collect();
    assert_eq!(problems(&defs), Vec::<String>::new());
    const BAD: &[Def] = &[
        Def::of::<u32>("a", " Help."),
        Def::of::<u32>("a", " Help."),
        Def::of::<u32>("Upper", ""),
        Def::of::<u32>("b", " Help.").parent("nobody"),
    ];
    let found = problems(&BAD.iter().collect::<Vec<_>>());
    assert_eq!(
        found,
        [
            "a: declared twice",
            "Upper: not a legal option name",
            "Upper: no help",
            "b: `nobody` does not exist"
        ]
    );
}

#[test]
fn nearest_names() {
    assert_eq!(crate::distance("kitten", "sitting"), 3);
    assert_eq!(crate::distance("", "abc"), 3);
    assert_eq!(
        crate::closest("blocksiz", ["bs", "blocksize", "size"]),
        Some("blocksize")
    );
    assert_eq!(crate::closest("zzzzzz", ["bs", "blocksize", "size"]), None);
}

#[test]
fn lists_show_what_they_read() {
    use crate::{Ctx, Value};
    let ctx = Ctx {
        kb_base: KbBase::Binary,
        def: &Sample::DEFS[0],
    };
    let ids = |text: &str| IdList::parse(text, &ctx).map(|s| s.value.show());
    assert_eq!(ids("0,5,8-15,9").unwrap(), "0,5,8-15");
    assert_eq!(ids("3,2,1").unwrap(), "1-3");
    for text in ["", "x", "5-2", "1,,2", "0-4294967295", "-1"] {
        assert!(ids(text).is_err(), "{text}");
    }
    let names = Names::parse(r"/a\:b:/c:", &ctx).unwrap().value;
    assert_eq!(names.0, ["/a:b", "/c"]);
    assert_eq!(names.show(), r"/a\:b:/c");
}
