//! The chores of the project: `cargo xtask test`, `bench`, `icount`, `fuzz`, `lab`, `page`, `docs`,
//! `tidy`.
#![forbid(unsafe_code)]

mod bench;
mod docs;
mod fuzz;
mod icount;
mod lab;
mod packages;
mod page;
mod shell;
mod test;
mod tidy;

use std::process::ExitCode;

const USAGE: &str = "\
cargo xtask test [--no-lab] what must pass: format, lints, tidy, docs, bench --quick, icount,
                            lab, every test, page
cargo xtask tidy            the project's own rules about its files
cargo xtask docs            writes docs/compatibility.md from the option tables, and
                            docs/run.schema.json from the types of the result
cargo xtask bench [--quick] [--rounds N] [ROW..]
                            Assay and fio in turn on the same work; a table and target/bench.json
cargo xtask bench --memory [--quick] [--rounds N]
                            memory bandwidth beside likwid-bench, sysbench and compiled loops,
                            latency beside a chase in C
cargo xtask bench --history [--quick]
                            a thousand reports imported, a hundred thousand runs searched
cargo xtask bench --report [--quick]
                            a report of a thousand runs, and one of ten million latencies
cargo xtask fuzz [TARGET..] [--seconds N] [--from NUMBER]
                            damaged texts of every kind through their readers, side by side
cargo xtask lab [SCENARIO..]
                            emulated NVMe drives and failing devices in virtual machines
cargo xtask page [FILE..]   pages of reports and of the server in a browser: what is drawn, told and
                            fetched; screenshots
cargo xtask icount [--traffic | --record REASON]
                            instructions per I/O, compared with xtask/icount.json, and the loads
                            and stores of the memory kernels";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let done = match words.first().map(String::as_str) {
        Some("test") => test::all(&words[1..]),
        Some("docs") if words.len() == 1 => docs::write(),
        Some("tidy") if words.len() == 1 => tidy::check(),
        Some("fuzz") => fuzz::run(&words[1..]),
        Some("lab") => lab::run(&words[1..]),
        Some("page") => page::run(&words[1..]),
        Some("icount") => icount::run(&words[1..]),
        Some("bench") => {
            bench::Options::parse(&words[1..]).and_then(|options| bench::run(&options))
        }
        _ => Err(anyhow::anyhow!("{USAGE}")),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}
