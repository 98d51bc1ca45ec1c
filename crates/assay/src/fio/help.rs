//! `--version`, `--help`, `--cmdhelp`, `--enghelp`: all from the option and engine tables.

use spec::Switches;
use std::process::ExitCode;

/// What is printed when nothing was asked for.
pub fn usage() -> String {
    spec::help::usage()
}

/// `--inflate-log`: the rows of a compressed log.
fn inflate(path: &str) -> ExitCode {
    let told = std::fs::File::open(path).and_then(|file| {
        let mut out = std::io::stdout().lock();
        run::inflate(std::io::BufReader::new(file), &mut out)
    });
    match told {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever reads has had enough.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("fio: --inflate-log={path}: {error}");
            ExitCode::from(1)
        }
    }
}

/// Answers the switches that only ask for information.
pub fn show(switches: &Switches) -> ExitCode {
    if switches.version {
        // Scripts test the first line for `fio-3.`.
        println!(
            "{}\nassay-{}",
            render::FIO_VERSION,
            env!("CARGO_PKG_VERSION")
        );
        return ExitCode::SUCCESS;
    }
    if let Some(path) = &switches.inflate_log {
        return inflate(path);
    }
    if switches.help {
        print!("{}", usage());
        return ExitCode::SUCCESS;
    }
    let engines: Vec<option::EngineTable> = engine::registry::tables().copied().collect();
    let (text, known) = match (&switches.cmdhelp, &switches.enghelp) {
        (Some(name), _) => spec::help::option_help(name),
        (None, Some(name)) => spec::help::engine_help(&engines, name),
        (None, None) => (usage(), true),
    };
    print!("{text}");
    if known {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(1)
    }
}
