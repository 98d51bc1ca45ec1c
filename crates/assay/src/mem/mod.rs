//! `assay mem`: what the memory can do, with the spread of every figure and the conditions.
//!
//! Each section is a verb; without one all of them run in about a minute. A section is printed
//! when it is done, the conditions at the end. `--json` prints the Results document instead, and
//! `--output` writes it to a file; both hold the raw samples.

mod baseline;
mod conditions;
mod dimms;
mod sections;
mod session;

use anyhow::bail;
pub(crate) use conditions::Before;
pub(crate) use sections::touched;
use session::Session;
use std::path::PathBuf;
use std::process::ExitCode;

/// Exit status when a figure is worse than its baseline allows.
const EXIT_WORSE: u8 = 3;

/// Words after `mem`.
#[derive(clap::Args, Debug)]
pub struct Arguments {
    #[command(subcommand)]
    section: Option<Section>,
    #[command(flatten)]
    options: Options,
}

/// What to measure.
#[derive(clap::Subcommand, Clone, Debug, PartialEq)]
enum Section {
    /// One dependent load, with the shares of DRAM, TLB and prefetchers
    Latency,
    /// Latency over working sets from 4 KiB to 2 GiB: the levels of cache
    Cache,
    /// Reads, writes, copies, mixes and the STREAM kernels
    Bandwidth {
        /// Only these: read, write, write-nt, 3:1, 2:1, 2:1-nt, copy, copy-nt, scale, add, triad,
        /// triad-nt
        #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = sections::mix)]
        mixes: Vec<&'static sections::Named>,
    },
    /// Latency while the other CPUs make load, with the knee
    Loaded {
        /// Mixes of the load, as for bandwidth
        #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = sections::mix)]
        mixes: Vec<&'static sections::Named>,
        /// Pauses in cycles between two lines of a load thread, instead of an adaptive choice
        #[arg(long, value_name = "LIST", value_delimiter = ',')]
        delays: Vec<u32>,
    },
    /// Lines that go from core to core
    C2c,
    /// Latency and bandwidth from every NUMA node to every node
    Matrix,
    /// Reads, region by region of the physical memory: a slow module shows. Needs reserved pages of
    /// 1 GiB, or root; `--buffer` says how much memory, otherwise all that is free
    Scan,
    /// Measures again what a document holds, and fails where it is worse
    Check {
        /// Document of an earlier run (`--output`)
        #[arg(long, value_name = "FILE")]
        baseline: PathBuf,
        /// By how much a figure may be worse
        #[arg(long, value_name = "PERCENT", default_value = "3%", value_parser = share)]
        max_regress: f64,
    },
}

/// What all sections take.
#[derive(clap::Args, Debug, Default)]
struct Options {
    /// Print the Results document as JSON instead of tables
    #[arg(long, global = true)]
    json: bool,
    /// Also write the Results document to this file
    #[arg(long, short, global = true, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Go on until the 95 % interval of every figure is this narrow on either side
    #[arg(long, global = true, value_name = "PERCENT", value_parser = share)]
    until_ci: Option<f64>,
    /// CPUs to use, such as 0-3,8; the first one measures latency
    #[arg(long, global = true, value_name = "LIST", value_parser = list)]
    cpus: Option<Cpus>,
    /// Take all hardware threads of a core, not one
    #[arg(long, global = true)]
    all_threads: bool,
    /// NUMA node of the memory; otherwise that of the CPU that uses it
    #[arg(long, global = true, value_name = "N")]
    node: Option<u32>,
    /// Size of a buffer, such as 512m; otherwise several times the last-level cache
    #[arg(long, global = true, value_name = "SIZE", value_parser = bytes)]
    buffer: Option<u64>,
    /// Pages of the buffers
    #[arg(long, global = true, value_enum, default_value_t)]
    pages: Pages,
    /// Instructions of the kernels: sse2, avx2, avx512 or neon; otherwise the best of them
    #[arg(long, global = true, value_name = "NAME", value_parser = isa)]
    isa: Option<memory::kernel::Isa>,
    /// Turn the prefetchers of the CPUs that measure latency off meanwhile, which needs root and
    /// /dev/cpu/N/msr; otherwise the order of the loads defeats them
    #[arg(long, global = true)]
    prefetch_off: bool,
    /// Memory modules, such as 8xDDR5-4800, where the firmware does not list them
    #[arg(long, global = true, value_name = "MODULES", value_parser = dimms::parse)]
    dimms: Option<result::memory::DataSheet>,
    /// Measure so often; each time is a run of its own in the history
    #[arg(long, global = true, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeat: u32,
    #[command(flatten)]
    keeping: crate::history::Keeping,
}

/// A list of CPUs as an argument.
#[derive(Clone, Debug, Default)]
struct Cpus(Vec<u32>);

/// Which pages to ask for.
#[derive(clap::ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Pages {
    /// Large ones: reserved if enough are free, else transparent
    #[default]
    Large,
    /// The base size, 4 KiB on most machines
    Small,
    /// Transparent huge pages
    Transparent,
    /// Reserved pages of 2 MiB
    #[value(name = "2m")]
    TwoMiB,
    /// Reserved pages of 1 GiB
    #[value(name = "1g")]
    OneGiB,
}

fn share(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text);
    match number.trim().parse::<f64>() {
        Ok(percent) if percent > 0.0 && percent <= 100.0 => Ok(percent / 100.0),
        _ => Err("expected a percentage above 0, such as 1%".to_owned()),
    }
}

fn bytes(text: &str) -> Result<u64, String> {
    let bytes = units::number::bytes(text, units::KbBase::Binary).map_err(|e| e.to_string())?;
    match bytes.value {
        0..4096 => Err("4096 bytes at least".to_owned()),
        bytes => Ok(bytes),
    }
}

fn list(text: &str) -> Result<Cpus, String> {
    const DEF: option::Def = option::Def::of::<option::IdList>("cpus", "CPUs");
    let ctx = option::Ctx {
        kb_base: units::KbBase::Binary,
        def: &DEF,
    };
    let ids = <option::IdList as option::Value>::parse(text, &ctx).map_err(|e| e.to_string())?;
    Ok(Cpus(ids.value.0))
}

fn isa(text: &str) -> Result<memory::kernel::Isa, String> {
    let known = memory::kernel::Isa::ALL;
    let isa = memory::kernel::Isa::parse(text).ok_or_else(|| {
        let words: Vec<&str> = known.iter().map(|isa| isa.name()).collect();
        format!("expected one of {}", words.join(", "))
    })?;
    match isa.supported() {
        true => Ok(isa),
        false => Err(format!("this processor has no {text}")),
    }
}

/// Measures and prints.
pub fn main(arguments: &Arguments) -> ExitCode {
    match run(arguments) {
        Ok(code) => code,
        Err(error) if crate::out::is_gone(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("assay: mem: {error:#}");
            ExitCode::from(1)
        }
    }
}

fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let options = &arguments.options;
    let check = matches!(arguments.section, Some(Section::Check { .. }));
    let one = [
        (options.json, "--json"),
        (options.output.is_some(), "--output"),
        (check, "check"),
    ];
    if let Some((_, what)) = one.iter().find(|(given, _)| *given && options.repeat > 1) {
        bail!(
            "--repeat={}: {what} is about one document; repeated runs are kept in the history, \
             where `assay compare` and `assay history export` find them",
            options.repeat
        );
    }
    let document = session::begin(options)?;
    for round in 0..options.repeat {
        if round > 0 {
            crate::out::put("\n")?;
        }
        let session = Session::new(options, &document)?;
        if let Some(Section::Check {
            baseline,
            max_regress,
        }) = &arguments.section
        {
            return baseline::check(&session, baseline, *max_regress);
        }
        let sections = match &arguments.section {
            Some(section) => vec![section.clone()],
            None => sections::all(&session),
        };
        for section in &sections {
            sections::run(&session, section)?;
        }
        session.finish()?;
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_of_their_own_grammar() {
        assert_eq!(share("1%"), Ok(0.01));
        assert_eq!(share("2.5"), Ok(0.025));
        assert!(share("0").is_err() && share("x%").is_err() && share("200%").is_err());
        assert_eq!(bytes("512m"), Ok(512 << 20));
        assert!(bytes("1").is_err() && bytes("4kfoo").is_err());
        assert_eq!(list("0-2,5").unwrap().0, [0, 1, 2, 5]);
        assert!(list("x").is_err());
        assert!(isa("mmx").unwrap_err().contains("sse2, avx2"));
    }
}
