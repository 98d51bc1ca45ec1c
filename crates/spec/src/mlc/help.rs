//! `--help`.

use super::{Flags, Mode, PREFETCH_OFF};
use option::{Kind, OptionSet, State};

/// The text: modes, flags with their modes, the table of mixes.
pub fn text() -> String {
    let mut out = String::from(
        "Measures memory with the command lines and the text of the Memory Latency Checker.\n\n\
         usage: mlc [--MODE] [FLAGS]\n\nModes\n",
    );
    out += &format!("  {:28} {}\n", "(none)", Mode::Everything.summary());
    for mode in Mode::ALL {
        out += &format!("  {:28} {}\n", mode.name(), mode.summary());
    }
    out += "\nFlags: the value stands behind the letter (-b10m) or is the next word (-b 10m)\n";
    for def in Flags::DEFS {
        let value = if def.kind == Kind::Set { "" } else { "N" };
        let state = match def.state {
            State::Works => String::new(),
            State::Later(why) | State::Refused(why) | State::Obsolete(why) => {
                format!(" Refused: {why}.")
            }
        };
        let default = match def.default {
            Some(text) => format!(" [{text}]"),
            None => String::new(),
        };
        out += &format!(
            "  -{}{value:4} {}{default}{state}\n",
            def.name,
            def.summary()
        );
    }
    out += "  --save Keep the tables in the history; ASSAY_DB does so too\n";
    out += &format!(
        "  {PREFETCH_OFF} turn the prefetchers of the CPU that measures latency off meanwhile \
         (root, /dev/cpu/N/msr); idle latency is then in ascending order\n"
    );
    out += "\nWhich mode takes which flags\n";
    out += &format!("  {:28} {}\n", "(none)", letters(Mode::Everything));
    for mode in Mode::ALL {
        out += &format!("  {:28} {}\n", mode.name(), letters(mode));
    }
    out += "\nMixes of -W, counted as the memory sees them (a store is a read and a write)\n\
            \x20 2 2:1   3 3:1   4 3:2   5 1:1   6 NT writes   7 2:1 NT   8 1:1 NT   9 3:1 NT\n\
            \x20 10 2:1 NT, two sources   11 3:1, two sources   12 to 17 4:1 to 9:1   19 9:1\n\
            \x20 21, 23, 27: R, W3, W7 over two targets, in a file of -o\n";
    out
}

fn letters(mode: Mode) -> String {
    let words: Vec<String> = mode.letters().chars().map(|c| format!("-{c}")).collect();
    words.join(" ")
}
