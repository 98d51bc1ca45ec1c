//! `assay expect`: what may be expected before anything is run, and the verdict after a run.

use anyhow::{Context, bail};
use host::picture::{self, Depth, Scope};
use judge::expect::{self, Allowed, Declared, Limit, Workload};
use std::path::PathBuf;
use std::process::ExitCode;

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
    /// Also tell how long this amount of data takes, such as 28711018KiB
    #[arg(long, value_name = "SIZE")]
    time_to_save: Option<String>,
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
    if let Some(declared) = declared(arguments.expect.as_deref())? {
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
    if let Some(text) = &arguments.time_to_save {
        let bytes = amount(text).context("--time-to-save")?;
        print_time(bytes, block_bytes, binding, allowed);
    }
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

/// What `--expect` of any verb declares.
///
/// # Errors
/// One line with the option, what was given and what is wrong with it.
pub fn declared(text: Option<&str>) -> anyhow::Result<Option<Declared>> {
    let read = |text: &str| text.parse().with_context(|| format!("--expect={text}"));
    text.map(read).transpose()
}

/// An amount of data. Unlike in fio's options, KiB is 1024 bytes and kB 1000, as people write.
pub fn amount(text: &str) -> anyhow::Result<u64> {
    let base = match text.ends_with(['b', 'B']) {
        true => units::KbBase::Decimal,
        false => units::KbBase::Binary,
    };
    match units::number::bytes(text, base)?.value {
        0 => bail!("{text}: expected more than nothing"),
        bytes => Ok(bytes),
    }
}

/// How long `bytes` take: at the limit, and at what is left of it.
fn print_time(bytes: u64, block_bytes: u64, limit: &Limit, allowed: Allowed) {
    let rate = allowed.iops * block_bytes as f64;
    // A limit is kept to nine tenths most of the time; the providers promise no more.
    const KEPT: f64 = 0.9;
    let least = bytes as f64 / rate;
    let most = match limit.burst {
        Some(burst) => {
            let by_iops = burst.iops.map_or(f64::INFINITY, |n| n * block_bytes as f64);
            let left = by_iops
                .min(burst.bytes_per_s.unwrap_or(f64::INFINITY))
                .min(rate);
            // While the credits last, at the burst; the rest at what is left.
            let burst_bytes = rate * burst.seconds.unwrap_or(0.0);
            match bytes as f64 <= burst_bytes {
                true => least / KEPT,
                false => burst.seconds.unwrap_or(0.0) + (bytes as f64 - burst_bytes) / left / KEPT,
            }
        }
        None => least / KEPT,
    };
    println!(
        "{} take {} to {}: the first at {}, the second at 90 % of it{}",
        units::Human::bytes(4, 1024).show(bytes),
        span(least),
        span(most),
        limit.name,
        if limit.burst.is_some() {
            ", without credits"
        } else {
            ""
        }
    );
}

/// Seconds, or what suits them better.
fn span(seconds: f64) -> String {
    match seconds {
        s if s < 600.0 => format!("{s:.2} s"),
        s if s < 36_000.0 => format!("{:.1} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::amount;

    #[test]
    fn amounts_are_read_as_people_write_them() {
        for (text, bytes) in [
            ("28711018KiB", 28_711_018 << 10),
            ("2GB", 2_000_000_000),
            ("4k", 4096),
            ("1T", 1 << 40),
            ("512", 512),
        ] {
            assert_eq!(amount(text).ok(), Some(bytes), "{text}");
        }
        for wrong in ["", "0", "4kfoo", "-1"] {
            assert!(amount(wrong).is_err(), "{wrong}");
        }
    }
}
