//! `assay expect`: what may be expected before anything is run, and the verdict after a run.

use anyhow::{Context, bail};
use host::picture::{self, Depth, Scope};
use judge::expect::{self, Declared, Limit, Measured, Workload};
use result::Run;
use std::path::PathBuf;
use std::process::ExitCode;
use units::Ddir;

/// Data older than this are told as old, months.
const OLD_MONTHS: i64 = 24;

/// What is to be run where.
#[derive(clap::Args)]
pub struct Arguments {
    /// A file, directory or device; its links are read from the machine
    target: Option<PathBuf>,
    /// Bytes of one I/O, as for fio
    #[arg(long, default_value = "4k")]
    bs: String,
    /// `read`, `write` or a mix, as for fio
    #[arg(long, default_value = "randread")]
    rw: String,
    /// I/Os in flight: tells the latency at which they suffice
    #[arg(long)]
    iodepth: Option<u32>,
    /// What was bought: type=io1,gib=300,iops=15000,count=2,instance=m5d.4xlarge
    #[arg(long, value_name = "WHAT")]
    expect: Option<String>,
}

/// Prints the limits and the one that binds.
pub fn main(arguments: &Arguments) -> ExitCode {
    match show(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("assay expect: {error:#}");
            ExitCode::from(1)
        }
    }
}

fn show(arguments: &Arguments) -> anyhow::Result<()> {
    let block_bytes = units::number::bytes(&arguments.bs, units::KbBase::Binary)?.value;
    let read_share = match arguments.rw.as_str() {
        "read" | "randread" => 1.0,
        "write" | "randwrite" => 0.0,
        "rw" | "readwrite" | "randrw" => 0.5,
        other => bail!("--rw={other} is none of read, randread, write, randwrite, rw, randrw"),
    };
    let work = Workload {
        block_bytes,
        read_share,
    };
    let mut limits = Vec::new();
    if let Some(text) = &arguments.expect {
        let declared: Declared = text.parse().with_context(|| format!("--expect={text}"))?;
        limits.extend(expect::limits(&declared, &work));
    }
    if let Some(target) = &arguments.target {
        if !target.exists() {
            bail!("{}: no such file or device", target.display());
        }
        let facts = host::Facts::read(&host::Root::default())?;
        let paths = [target.clone()];
        let host = picture::take(&facts, Scope::Paths(&paths), Depth::Listed);
        limits.extend(expect::of_host(&host, &work));
    }
    let Some((binding, allowed)) = expect::binding(&limits, block_bytes) else {
        println!("no limit is known: declare one with --expect=type=...,gib=...");
        return Ok(());
    };
    println!("{:34} {:>12} {:>14}  source", "limit", "IOPS", "MB/s");
    for limit in &limits {
        print_limit(limit, block_bytes);
    }
    let rate = allowed.iops * block_bytes as f64 / 1e6;
    println!(
        "\nexpected: {:.0} IOPS, {rate:.1} MB/s at {block_bytes} bytes, bound by {} ({})",
        allowed.iops,
        binding.name,
        if allowed.by_bytes {
            "bytes per second"
        } else {
            "I/Os per second"
        }
    );
    if let Some(depth) = arguments.iodepth {
        let us = f64::from(depth) * 1e6 / allowed.iops;
        println!("a depth of {depth} suffices while I/Os take {us:.0} us or less");
    }
    Ok(())
}

fn print_limit(limit: &Limit, block_bytes: u64) {
    let Some(allowed) = limit.allows(block_bytes) else {
        return;
    };
    let old = if is_old(&limit.as_of) { ", OLD" } else { "" };
    let from = match limit.as_of.as_str() {
        "" => limit.source.clone(),
        as_of => format!("{} ({as_of}{old})", limit.source),
    };
    let rate = allowed.iops * block_bytes as f64 / 1e6;
    println!(
        "{:34} {:>12.0} {rate:>14.1}  {from}",
        limit.name, allowed.iops
    );
    if let Some(lasting) = &limit.while_it_lasts {
        println!("  {lasting}");
    }
}

/// Whether `YYYY-MM` is long ago.
fn is_old(as_of: &str) -> bool {
    let Some((year, month)) = as_of.split_once('-') else {
        return false;
    };
    let (Ok(year), Ok(month)) = (year.parse::<i64>(), month.parse::<i64>()) else {
        return false;
    };
    let now = jiff::Zoned::now();
    let months = |year: i64, month: i64| 12 * year + month;
    months(now.year().into(), now.month().into()) - months(year, month) > OLD_MONTHS
}

/// The verdict of a finished run against what was declared and what the machine tells.
pub fn verdict(run: &Run, declared: &Declared) -> Option<String> {
    let (mut ios, mut bytes, mut reads, mut runtime_ms) = (0, 0, 0, 0);
    let (mut waited_ns, mut depth) = (0.0, 0);
    for job in &run.jobs {
        for ddir in [Ddir::Read, Ddir::Write] {
            let dir = &job.dirs[ddir];
            ios += dir.ios;
            bytes += dir.bytes;
            runtime_ms = runtime_ms.max(dir.runtime_ms);
            waited_ns += dir.lat.moments.sum as f64;
            if ddir == Ddir::Read {
                reads += dir.ios;
            }
        }
        let setup = job.setup.as_ref()?;
        depth += if setup.sync {
            1
        } else {
            u64::from(setup.iodepth)
        };
    }
    if ios == 0 || runtime_ms == 0 {
        return None;
    }
    let work = Workload {
        block_bytes: bytes / ios,
        read_share: reads as f64 / ios as f64,
    };
    let mut limits = expect::limits(declared, &work);
    limits.extend(
        run.host
            .iter()
            .flat_map(|host| expect::of_host(host, &work)),
    );
    let measured = Measured {
        block_bytes: work.block_bytes,
        iops: ios as f64 * 1000.0 / runtime_ms as f64,
        depth,
        latency_ns: waited_ns / ios as f64,
    };
    expect::verdict(&limits, &measured)
}
