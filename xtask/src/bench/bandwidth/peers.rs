//! The programs beside which memory bandwidth is measured: one run of one of them, in bytes loaded
//! and stored per second.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::shell;

/// One way of measuring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// A test of likwid-bench.
    Likwid(&'static str),
    /// sysbench's memory test; `read` or `write`.
    Sysbench(&'static str),
    /// A plain loop of `loops.c` as the compiler makes it.
    Compiled(&'static str),
}

impl Peer {
    /// The name in the table.
    pub fn name(self) -> String {
        match self {
            Peer::Likwid(test) => format!("likwid-bench {test}"),
            Peer::Sysbench(what) => format!("sysbench memory {what}"),
            Peer::Compiled(kernel) => format!("gcc -O3 loop, {kernel}"),
        }
    }

    /// Whether the processor can run it.
    pub fn runs_here(self) -> bool {
        let Peer::Likwid(test) = self else {
            return true;
        };
        (!test.contains("avx512") || memory::kernel::Isa::Avx512.supported())
            && (!test.contains("avx") || memory::kernel::Isa::Avx2.supported())
    }

    /// Runs it on `cpus` over `megabytes` in all for about `seconds`.
    ///
    /// # Errors
    /// It fails, or prints no rate.
    pub fn rate(self, cpus: &[u32], megabytes: u64, seconds: f64, loops: &Path) -> Result<f64> {
        let list = cpus.iter().map(u32::to_string);
        let list = list.collect::<Vec<_>>().join(",");
        let threads = cpus.len();
        let words: Vec<String> = match self {
            Peer::Likwid(test) => {
                let place = format!("S0:{megabytes}MB:{threads}");
                // Passes that take about the wished time at 10 GB/s and thread.
                let passes = seconds * 10_000.0 * threads as f64 / megabytes as f64;
                let passes = (passes.round() as u64).max(2).to_string();
                let words = ["likwid-bench", "-t", test, "-W", &place, "-i", &passes];
                words.map(str::to_owned).to_vec()
            }
            Peer::Sysbench(what) => vec![
                "taskset".into(),
                "-c".into(),
                list,
                "sysbench".into(),
                "memory".into(),
                format!("--threads={threads}"),
                format!("--time={}", seconds.ceil()),
                // Only powers of two are accepted.
                format!(
                    "--memory-block-size={}M",
                    prev_power_of_two(megabytes / threads as u64)
                ),
                "--memory-total-size=1P".into(),
                "--memory-scope=local".into(),
                format!("--memory-oper={what}"),
                "run".into(),
            ],
            Peer::Compiled(kernel) => vec![
                "taskset".into(),
                "-c".into(),
                list,
                loops.display().to_string(),
                kernel.into(),
                megabytes.to_string(),
                threads.to_string(),
                seconds.to_string(),
            ],
        };
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let text = shell::capture(&words)?;
        self.parse(&text)
            .with_context(|| format!("no rate in what `{}` printed", words.join(" ")))
    }

    /// Bytes per second in a program's output.
    fn parse(self, text: &str) -> Option<f64> {
        match self {
            // `MByte/s:` and a number, of 1e6 bytes.
            Peer::Likwid(_) => {
                let line = text
                    .lines()
                    .find_map(|line| line.strip_prefix("MByte/s:"))?;
                Some(line.trim().parse::<f64>().ok()? * 1e6)
            }
            // `4096.00 MiB transferred (3740.97 MiB/sec)`.
            Peer::Sysbench(_) => {
                let (_, rest) = text.split_once("MiB transferred (")?;
                let (number, _) = rest.split_once(" MiB/sec")?;
                Some(number.parse::<f64>().ok()? * f64::from(1 << 20))
            }
            Peer::Compiled(_) => text.trim().parse().ok(),
        }
    }
}

/// The largest power of two up to `n`, and 1 for 0.
fn prev_power_of_two(n: u64) -> u64 {
    1 << n.checked_ilog2().unwrap_or(0)
}

/// Compiles `NAME.c` of this directory as a user of STREAM would.
///
/// # Errors
/// There is no C compiler, or it fails.
pub fn compile(name: &str) -> Result<PathBuf> {
    let source = shell::root().join(format!("xtask/src/bench/bandwidth/{name}.c"));
    let program = shell::target().join(format!("memory-{name}"));
    let (from, to) = (source.display().to_string(), program.display().to_string());
    // Without -ffast-math a sum of doubles is a chain of additions and measures those.
    shell::run(&[
        "cc",
        "-O3",
        "-march=native",
        "-ffast-math",
        "-pthread",
        "-o",
        &to,
        &from,
    ])?;
    Ok(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_found_in_what_the_programs_print() {
        let likwid = "Time:\t\t\t7.0e-01 sec\nMFlops/s:\t\t0.00\nMByte/s:\t\t5678.42\nCycles: 1\n";
        assert_eq!(Peer::Likwid("load").parse(likwid), Some(5_678_420_000.0));
        let sysbench = "4096.00 MiB transferred (2.50 MiB/sec)\n";
        assert_eq!(
            Peer::Sysbench("read").parse(sysbench),
            Some(2.5 * 1_048_576.0)
        );
        assert_eq!(Peer::Compiled("r").parse("123\n"), Some(123.0));
        assert_eq!((prev_power_of_two(520), prev_power_of_two(0)), (512, 1));
        assert_eq!(Peer::Likwid("load").parse("ERROR"), None);
        assert_eq!(Peer::Sysbench("read").parse(""), None);
    }
}
