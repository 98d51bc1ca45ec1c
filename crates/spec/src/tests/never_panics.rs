//! Any bytes in a job file and any words on the command line end in a result.

use super::ENGINES;
use crate::options::Options;
use crate::testing::FakeWorld;
use crate::{help, parse};
use proptest::prelude::*;

/// Pieces that reach deep into the grammars.
fn piece() -> impl Strategy<Value = String> {
    let words: Vec<&'static str> = Options::defs()
        .map(|def| def.name)
        .chain([
            "=",
            "=",
            "=",
            ":",
            ",",
            "-",
            "--",
            "[",
            "]",
            "[a]",
            "\n",
            "\n",
            " ",
            "global",
            "include ",
            "${",
            "}",
            "$ncpus",
            "(",
            ")",
            "*",
            "/",
            "%",
            "0x",
            "0",
            "1",
            "9e9",
            "4k",
            ".5",
            "1ib",
            "z",
            "randread:",
            "zoned:",
            "zipf:",
            "\"",
            "'",
            "%o",
            "\u{a0}",
            "\u{301}",
            "18446744073709551616",
            "99999999999999999999999999999999999999999",
            "-1",
            "1e99",
        ])
        .collect();
    prop_oneof![
        4 => proptest::sample::select(words).prop_map(str::to_string),
        1 => "\\PC{0,6}",
        1 => "[0-9a-z.:,/%-]{0,8}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn job_files(pieces in proptest::collection::vec(piece(), 0..40)) {
        let text = pieces.concat();
        let world = FakeWorld::default().with_file("j", &text).with_file("a", &text);
        let _ = parse(&["j".to_string(), "a".to_string()], ENGINES, &world);
    }

    #[test]
    fn job_file_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let world = FakeWorld::default().with_file("j", &bytes);
        let _ = parse(&["j".to_string()], ENGINES, &world);
    }

    #[test]
    fn command_lines(words in proptest::collection::vec(
        proptest::collection::vec(piece(), 0..4).prop_map(|p| format!("--{}", p.concat())), 0..8,
    )) {
        let _ = parse(&words, ENGINES, &FakeWorld::default());
    }

    #[test]
    fn every_option_with_any_text(text in proptest::collection::vec(piece(), 0..5)) {
        let text = text.concat();
        let mut options = Options::default();
        for def in Options::defs() {
            let _ = options.set(def.name, Some(&text));
            let _ = options.set(def.name, None);
        }
    }

    #[test]
    fn help_for_anything(name in "\\PC{0,20}") {
        let _ = help::option_help(&name);
        let _ = help::engine_help(ENGINES, &name);
    }
}
