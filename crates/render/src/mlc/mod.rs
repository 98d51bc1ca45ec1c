//! The text of the Memory Latency Checker, piece by piece, because its rows appear as they are
//! measured.
//!
//! The layout is that of published runs of versions 3.9 to 3.11b: tabs, widths and blank lines
//! count, because scripts cut them apart. What MLC does not print stands in lines that begin with
//! `***`, as its own remarks do, and never holds two decimal numbers with nothing but blanks
//! between them: a script that looks for rows would take them for one.

mod transfer;

use result::memory::Figure;

pub use transfer::{Homed, transfer_lines, transfer_matrix, transfer_start};

/// The version whose text this is.
pub const MLC_VERSION: &str = "v3.11b";

/// Bytes in a MB of MLC's tables.
const MB: f64 = 1e6;

/// The first line of every report. Scripts look for the words and the version; the rest says that
/// the numbers are not Intel's.
pub fn banner() -> String {
    format!("Intel(R) Memory Latency Checker - {MLC_VERSION} (its text; measured by Assay)\n")
}

/// The words of the command line, and the blank line behind them.
pub fn command_line(line: &str) -> String {
    format!("Command line parameters: {line} \n\n")
}

/// A remark.
pub fn remark(text: &str) -> String {
    format!("*** {text}\n")
}

/// What MLC says when it may not turn the prefetchers off.
pub const PREFETCHERS_KEPT: &str = "*** Unable to modify prefetchers (try executing 'modprobe msr')\n\
                                    *** So, enabling random access for latency measurements\n";

/// Buffer of a thread whose latency is measured.
pub fn latency_buffer(bytes: u64) -> String {
    format!("Using buffer size of {:.3}MiB\n", mib(bytes))
}

/// Buffers of threads that read and write.
pub fn load_buffers(bytes: u64) -> String {
    let mib = mib(bytes);
    format!(
        "Using buffer size of {mib:.3}MiB/thread for reads and an additional {mib:.3}MiB/thread \
         for writes\n"
    )
}

fn mib(bytes: u64) -> f64 {
    bytes as f64 / 1_048_576.0
}

/// The result of an idle latency.
pub fn idle_latency(clocks: f64, ns: f64) -> String {
    format!("Each iteration took {clocks:.1} base frequency clocks (\t{ns:.1}\tns)\n")
}

/// Head of the idle latencies of all CPUs.
pub fn every_cpu_start(nodes: &[u32]) -> String {
    let mut text =
        String::from("Measuring idle latencies (in ns) for all cores...\n\t\tNuma node\n");
    text += &format!("{:<9}\t{}\n", "CPU", columns(nodes));
    text
}

/// Head of the matrix of idle latencies.
pub fn latency_matrix_start(random: bool, nodes: &[u32]) -> String {
    let order = if random { "random" } else { "sequential" };
    format!(
        "Measuring idle latencies for {order} access (in ns)...\n{}",
        matrix_head(nodes)
    )
}

fn columns(nodes: &[u32]) -> String {
    nodes.iter().map(|node| format!("{node:6}\t")).collect()
}

fn matrix_head(nodes: &[u32]) -> String {
    format!("\t\tNuma node\nNuma node\t{}\n", columns(nodes))
}

/// A row of latencies: a node or a CPU, and one number a node. `None` is a node that was not
/// measured.
pub fn latency_row(from: u32, ns: &[Option<f64>]) -> String {
    row(from, ns, |ns| format!("{ns:6.1}"))
}

/// A row of bandwidths in bytes per second.
pub fn bandwidth_row(from: u32, rates: &[Option<f64>]) -> String {
    row(from, rates, |rate| format!("{:.1}", rate / MB))
}

fn row(from: u32, cells: &[Option<f64>], show: impl Fn(f64) -> String) -> String {
    let cells: Vec<String> = cells
        .iter()
        .map(|cell| cell.map_or_else(|| format!("{:>6}\t", "-"), |value| show(value) + "\t"))
        .collect();
    format!("{from:8}\t{}\n", cells.concat())
}

/// What all bandwidths say before their rows.
fn bandwidth_head(one_per_core: bool) -> String {
    let threads = if one_per_core {
        "Using only one thread from each core if Hyper-threading is enabled"
    } else {
        "Using all the threads from each core if Hyper-threading is enabled"
    };
    format!("Bandwidths are in MB/sec (1 MB/sec = 1,000,000 Bytes/sec)\n{threads}\n")
}

/// Head of the five mixes at full speed.
pub fn peak_start(one_per_core: bool) -> String {
    format!(
        "Measuring Peak Injection Memory Bandwidths for the system\n{}{MIXES}",
        bandwidth_head(one_per_core)
    )
}

/// Head of the five mixes at the best of several speeds.
pub fn max_start(one_per_core: bool) -> String {
    format!(
        "Measuring Maximum Memory Bandwidths for the system\n\
         Will take several minutes to complete as multiple injection rates will be tried to get \
         the best bandwidth\n{}{MIXES}",
        bandwidth_head(one_per_core)
    )
}

const MIXES: &str = "Using traffic with the following read-write ratios\n";

/// The five mixes and the numbers that `-W` gives them; 0 is reads.
pub const FIVE_MIXES: [(&str, u8); 5] = [
    ("ALL Reads        :", 0),
    ("3:1 Reads-Writes :", 3),
    ("2:1 Reads-Writes :", 2),
    ("1:1 Reads-Writes :", 5),
    ("Stream-triad like:", 10),
];

/// A row of the peak table.
pub fn peak_row(label: &str, rate: f64) -> String {
    format!("{label}\t{:.1}\t\n", rate / MB)
}

/// A row of the table of maxima, which has one digit more.
pub fn max_row(label: &str, rate: f64) -> String {
    format!("{label}\t{:.2}\t\n", rate / MB)
}

/// Says what the load consists of; nothing for a mix without a name.
fn traffic(traffic: u8) -> String {
    match traffic {
        0 => "Using Read-only traffic type\n".to_owned(),
        number => format!("Using traffic type W{number}\n"),
    }
}

/// Head of the matrix of bandwidths.
pub fn bandwidth_matrix_start(one_per_core: bool, mix: u8, nodes: &[u32]) -> String {
    format!(
        "Measuring Memory Bandwidths between nodes within system \n{}{}{}",
        bandwidth_head(one_per_core),
        traffic(mix),
        matrix_head(nodes)
    )
}

/// What the threads of a loaded latency do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// All the same mix.
    Mix(u8),
    /// Each what a file says.
    File,
}

/// Head of a loaded latency.
pub fn loaded_start(one_per_core: bool, load: Load) -> String {
    let head = bandwidth_head(one_per_core);
    let threads = head.lines().nth(1).unwrap_or_default();
    let mix = match load {
        Load::Mix(number) => traffic(number),
        Load::File => "Using the traffic types of the file\n".to_owned(),
    };
    format!(
        "Measuring Loaded Latencies for the system\n{threads}\n{mix}\
         Inject\tLatency\tBandwidth\nDelay\t(ns)\tMB/sec\n==========================\n"
    )
}

/// A row of a loaded latency. Without a latency thread the time is 0.
pub fn loaded_row(delay: u32, ns: Option<f64>, rate: f64) -> String {
    format!(
        " {delay:05}\t{:6.2}\t{:9.1}\n",
        ns.unwrap_or(0.0),
        rate / MB
    )
}

/// What each thread reached.
pub fn thread_rows(cpus: &[u32], rates: &[f64]) -> String {
    let line = |(cpu, rate): (&u32, &f64)| format!("*** CPU {cpu}: {:.1} MB/sec\n", rate / MB);
    cpus.iter().zip(rates).map(line).collect()
}

/// The spread behind a number, for `-v`; `unit` is what a value is divided by and its name.
pub fn spread(what: &str, figure: &Figure, (unit, name): (f64, &str)) -> String {
    let disturbed = if figure.disturbed { ", disturbed" } else { "" };
    format!(
        "*** {what}: median {:.1} {name}, MAD {:.1}, 95 % interval {:.1} to {:.1}, {} samples, \
         {} dropped{disturbed}\n",
        figure.median / unit,
        figure.mad / unit,
        figure.low / unit,
        figure.high / unit,
        figure.n,
        figure.dropped
    )
}

/// Nanoseconds, for [`spread`].
pub const NS: (f64, &str) = (1.0, "ns");
/// Megabytes per second, for [`spread`].
pub const MB_PER_S: (f64, &str) = (MB, "MB/sec");

/// A histogram of latencies: `counts` of buckets of `2^shift` cycles from 0 on. Empty buckets
/// are left out; the last of `buckets` has no end.
pub fn histogram(shift: u32, counts: &[u64], buckets: usize) -> String {
    let width = 1u64 << shift;
    let mut text = format!("Latency histogram, buckets of {width} cycles\n");
    for (at, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
        let first = at as u64 * width;
        let last = match at + 1 == buckets {
            true => String::new(),
            false => (first + width - 1).to_string(),
        };
        text += &format!("[{first}-{last}]\t{count}\n");
    }
    text
}

/// Head of a scan.
pub fn scan_start(threads: usize, cpu_node: u32, memory_node: u32) -> String {
    format!(
        "Running memory bandwidth scan using {threads} threads on numa node {cpu_node} accessing \
         memory on numa node {memory_node}\n"
    )
}

/// Says how much of the memory is scanned.
pub fn scan_pages(pages: usize, page_bytes: u64) -> String {
    match page_bytes {
        0x4000_0000 => format!("Reserved {pages} 1GB free pages\n"),
        bytes => format!("Reserved {pages} regions of {} MiB\n", bytes >> 20),
    }
}

/// The histogram and the rows of a scan: addresses, and bytes per second. `bucket` is the width
/// of the histogram in MB/s.
pub fn scan_rows(regions: &[(u64, f64)], bucket: u32) -> String {
    let bucket = u64::from(bucket.max(1));
    let mut buckets = std::collections::BTreeMap::<u64, u64>::new();
    for (_, rate) in regions {
        *buckets.entry((rate / MB) as u64 / bucket).or_default() += 1;
    }
    let mut text = String::from("\nHistogram: Bandwidth(MB/sec)\tPages\n");
    for (at, count) in buckets {
        text += &format!("[{}-{}]\t{count}\n", at * bucket, (at + 1) * bucket - 1);
    }
    text += "\nphys_addr\tGB page #\tMB/sec\n";
    for (address, rate) in regions {
        text += &format!("{address:#x}\t{}\t{:.0}\n", address >> 30, rate / MB);
    }
    text
}

#[cfg(test)]
mod tests;
