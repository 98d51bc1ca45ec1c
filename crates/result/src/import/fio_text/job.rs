//! The block of one job or group: header, directions, shares, cost.

use super::heading::Heading;
use super::latency::{self, Percentiles, Spread};
use crate::import::commands::Command;
use crate::import::{Out, scan};
use serde_json::{Map, Value, json};

/// One direction of a block.
#[derive(Clone, Debug, Default)]
struct Flow {
    line: usize,
    /// Value and step of its last digit: bytes, bytes per second (several statements), I/Os per
    /// second.
    io: Option<(f64, f64)>,
    rates: Vec<(f64, f64)>,
    iops: Option<(f64, f64)>,
    runtime_ms: u64,
    classes: [Option<Spread>; 3],
    percentiles: [Option<Percentiles>; 3],
    bw: Option<Spread>,
    samples: Option<Spread>,
}

const DIRECTIONS: [&str; 4] = ["read", "write", "trim", "mixed"];
const CLASSES: [&str; 3] = ["slat", "clat", "lat"];

/// What was read of one block.
#[derive(Clone, Debug, Default)]
pub(super) struct JobText {
    pub group: u64,
    pub finished_s: Option<u64>,
    name: String,
    members: u64,
    errno: i64,
    pid: u64,
    flows: [Option<Flow>; 4],
    now: usize,
    sync: Option<Spread>,
    sync_percentiles: Option<Percentiles>,
    /// Which list entries of percentiles belong to: a class, or 3 for syncs.
    listing: usize,
    counts: [Vec<u64>; 3],
    shares: [Map<String, Value>; 6],
    cpu: Option<[f64; 5]>,
    errors: Option<(u64, u64)>,
    depth: u64,
}

/// Order of [`JobText::shares`], as JSON has them.
const SHARES: [&str; 6] = [
    "iodepth_level",
    "iodepth_submit",
    "iodepth_complete",
    "latency_ns",
    "latency_us",
    "latency_ms",
];

impl JobText {
    /// The block that a header begins.
    pub fn header(at: usize, line: &str, command: Option<&Command>) -> Option<Self> {
        let (name, rest) = line.split_once(": (groupid=")?;
        let (group, rest) = rest.split_once(',')?;
        let (jobs, rest) = rest.split_once("):")?;
        let errno = scan::after_like(rest, "err")?.0;
        // A line of progress that was not overwritten may stand before it.
        let name = name.rsplit_once("s] ").map_or(name, |(_, name)| name);
        let mut job = JobText {
            name: whole_name(name.trim(), command),
            group: group.trim().parse().ok()?,
            members: scan::printed(scan::after(jobs, "jobs")?)?.value as u64,
            errno: scan::printed(errno.trim_start_matches('-'))?.value as i64,
            ..JobText::default()
        };
        if let Some(text) = scan::after(rest, "pid") {
            job.pid = scan::list(text, ' ').first().copied().unwrap_or(0);
            let date = text.split_once(": ").map_or("", |(_, date)| date);
            job.finished_s = scan::ctime(date);
            // The first direction may stand on the same line.
            let direction = DIRECTIONS
                .iter()
                .find_map(|word| date.find(&format!("{word}: ")));
            if let Some(start) = direction {
                job.flow_line(at, &date[start..]);
            }
        }
        Some(job)
    }

    /// Takes a line of the block; false when it says nothing.
    pub fn line(&mut self, at: usize, line: &str, out: &mut Out) -> bool {
        let mut known = false;
        let mut last_bad = None;
        for part in parts(line) {
            match self.part(at, part, out) {
                true => known = true,
                false if part.contains(['=', '[', '%']) => last_bad = Some(part),
                false => {}
            }
        }
        if let (true, Some(bad)) = (known, last_bad) {
            out.unreadable(at, bad);
        }
        known
    }

    fn part(&mut self, at: usize, part: &str, out: &mut Out) -> bool {
        let part = part.trim();
        let word = part.split([' ', '(', ':']).next().unwrap_or_default();
        if part.contains("th=[") {
            return self.entries(at, part, out);
        }
        match word {
            "read" | "write" | "trim" | "mixed" if part.contains(['=']) => self.flow_line(at, part),
            "slat" | "clat" | "lat" | "sync" if part.contains("percentiles") => {
                self.listing = CLASSES.iter().position(|class| *class == word).unwrap_or(3);
                let Some(unit) = latency::unit_of(part).and_then(scan::time_unit) else {
                    return false;
                };
                let list = Some(Percentiles::new(unit));
                match (self.listing, self.flow()) {
                    (3, _) => self.sync_percentiles = list,
                    (class, Some(flow)) => flow.percentiles[class] = list,
                    _ => return false,
                }
                true
            }
            "slat" | "clat" | "lat" | "sync" if part.contains("min=") => {
                let unit = latency::unit_of(part).and_then(scan::time_unit);
                let spread = unit.and_then(|unit| latency::spread(at, part, unit, out));
                let class = CLASSES.iter().position(|class| *class == word);
                match (spread, class, self.flow()) {
                    (Some(_), Some(class), Some(flow)) if flow.classes[class].is_none() => {
                        flow.classes[class] = spread;
                    }
                    // The same line again, read otherwise, is not believed.
                    (Some(_), Some(_), Some(_)) => return false,
                    (Some(_), None, _) => self.sync = spread,
                    _ => return false,
                }
                true
            }
            "lat" => self.coarse(part),
            "bw" => self.sampled(at, part, out, true),
            "iops" => self.sampled(at, part, out, false),
            "cpu" => self.cost(part),
            "IO" if part.starts_with("IO depths") => self.table(0, part),
            "submit" => self.table(1, part),
            "complete" => self.table(2, part),
            "issued" => self.issued(at, part, out),
            "errors" => {
                let number = |key| Some(scan::printed(scan::after(part, key)?)?.value as u64);
                self.errors = number("total").zip(number("first_error"));
                self.errors.is_some()
            }
            "latency" => {
                let depth = scan::after(part, "depth").and_then(scan::printed);
                self.depth = depth.map_or(0, |depth| depth.value as u64);
                depth.is_some()
            }
            // A heading of its own line, nothing to take.
            "fsync/fdatasync/sync_file_range" => true,
            "|" | "" => true,
            _ => false,
        }
    }

    fn flow(&mut self) -> Option<&mut Flow> {
        self.flows[self.now].as_mut()
    }

    /// `write: io=..., bw=..., iops=..., runt=...` of fio 2 or
    /// `write: IOPS=..., BW=... (...)(.../...)` of fio 3.
    fn flow_line(&mut self, at: usize, part: &str) -> bool {
        let Some(now) = DIRECTIONS.iter().position(|word| part.starts_with(word)) else {
            return false;
        };
        let mut flow = Flow {
            line: at,
            ..Flow::default()
        };
        let bytes = |text: &str, base: f64| {
            let number = scan::printed_grouped(text)?;
            let unit = scan::byte_unit(number.unit, base);
            // Nothing at all has no unit.
            let unit = unit.or((number.value == 0.0).then_some(1.0))?;
            Some(number.scaled(unit))
        };
        let count = |text: &str| {
            let number = scan::printed_grouped(text)?;
            Some(number.scaled(scan::count_unit(number.unit)?))
        };
        if let Some(text) = scan::after(part, "IOPS") {
            flow.iops = count(text);
            let Some(rates) = scan::after(part, "BW") else {
                return false;
            };
            flow.rates.extend(bytes(rates, 1000.0));
            let mut groups = rates.split('(').skip(1);
            flow.rates
                .extend(groups.next().and_then(|text| bytes(text, 1000.0)));
            let moved = groups.next().unwrap_or_default();
            flow.io = bytes(moved, 1000.0);
            let time = moved.split_once('/').map_or("", |(_, time)| time);
            flow.runtime_ms = scan::printed(time).map_or(0, |time| time.value as u64);
        } else {
            // fio 2 writes KB for 1024 bytes, and decimals that are off by up to half of one.
            let figure = |key| {
                let (value, step) = scan::after(part, key).and_then(|text| bytes(text, 1024.0))?;
                let unit = f64::powi(1024.0, (value.log2() / 10.0).floor().clamp(0.0, 5.0) as i32);
                Some((
                    value,
                    if value.rem_euclid(unit) == 0.0 {
                        step
                    } else {
                        unit
                    },
                ))
            };
            flow.io = figure("io");
            flow.rates.extend(figure("bw"));
            flow.iops = scan::after(part, "iops").and_then(count);
            flow.runtime_ms = scan::after(part, "runt")
                .and_then(scan::printed)
                .map_or(0, |time| time.value as u64);
        }
        if flow.rates.is_empty() || flow.iops.is_none() {
            return false;
        }
        self.now = now;
        self.listing = 1;
        self.flows[now] = Some(flow);
        true
    }

    fn entries(&mut self, at: usize, part: &str, out: &mut Out) -> bool {
        let listing = self.listing;
        let list = match listing {
            3 => self.sync_percentiles.as_mut(),
            class => self
                .flow()
                .and_then(|flow| flow.percentiles[class].as_mut()),
        };
        let Some(list) = list else {
            return false;
        };
        list.line(at, part, out);
        true
    }

    fn coarse(&mut self, part: &str) -> bool {
        let to = match latency::unit_of(part) {
            Some("nsec") => 3,
            Some("usec") => 4,
            Some("msec") => 5,
            _ => return false,
        };
        self.table(to, part)
    }

    /// `key=12.3%, key=4.5%`; keys ascend, or else one of them was misread.
    fn table(&mut self, to: usize, part: &str) -> bool {
        let Some((_, list)) = part.split_once(':') else {
            return false;
        };
        let mut sound = true;
        let mut last = -1.0;
        for entry in list.split(',') {
            let Some((key, value)) = entry.rsplit_once('=') else {
                sound &= entry.trim().is_empty();
                continue;
            };
            let (key, value) = (key.trim(), scan::printed(value));
            let edge = scan::printed(key.trim_start_matches(">=")).map(|edge| edge.value);
            let over = f64::from(u8::from(key.starts_with('>'))) * 0.5;
            match (edge, value) {
                (Some(edge), Some(value)) if value.unit == "%" && edge + over > last => {
                    last = edge + over;
                    self.shares[to].insert(key.to_owned(), json!(value.value));
                }
                _ => sound = false,
            }
        }
        sound
    }

    fn sampled(&mut self, at: usize, part: &str, out: &mut Out, bw: bool) -> bool {
        let scale = match latency::unit_of(part).filter(|_| bw) {
            Some(unit) => {
                let unit = unit.replace(' ', "");
                match scan::byte_unit(&unit, 1024.0) {
                    Some(bytes) => bytes / 1024.0,
                    None => return false,
                }
            }
            None if bw => return false,
            None => 1.0,
        };
        let Some(spread) = latency::spread(at, part, scale, out) else {
            return false;
        };
        let Some(flow) = self.flow() else {
            return false;
        };
        let place = if bw { &mut flow.bw } else { &mut flow.samples };
        let again = place.is_some();
        place.get_or_insert(spread);
        !again
    }

    fn cost(&mut self, part: &str) -> bool {
        let figure = |key| Some(scan::printed(scan::after(part, key)?)?.value);
        let all = (|| {
            Some([
                figure("usr")?,
                figure("sys")?,
                figure("ctx")?,
                figure("majf")?,
                figure("minf")?,
            ])
        })();
        self.cpu = self.cpu.or(all);
        all.is_some()
    }

    /// `total=r=0/w=1650319/d=0, short=...` of fio 2, `total=0,102400,0,0 short=...` of fio 3.
    fn issued(&mut self, at: usize, part: &str, out: &mut Out) -> bool {
        let mut sound = true;
        for (i, (key, other)) in [("total", "total"), ("short", "short"), ("drop", "dropped")]
            .into_iter()
            .enumerate()
        {
            let Some(text) = scan::after(part, key).or_else(|| scan::after(part, other)) else {
                sound = false;
                continue;
            };
            let numbers = match text.starts_with("r=") {
                true => {
                    let end = text.find([',', ' ']).unwrap_or(text.len());
                    text[..end]
                        .split('/')
                        .filter_map(|part| part.split_once('=')?.1.parse().ok())
                        .collect()
                }
                false => scan::list(text, ','),
            };
            sound &= numbers.len() >= 3;
            if numbers.len() > self.counts[i].len() {
                self.counts[i] = numbers;
            }
        }
        if !sound {
            out.unreadable(at, part);
        }
        true
    }

    /// The entry of `jobs`.
    pub fn tree(
        &self,
        heading: Option<&Heading>,
        command: Option<&Command>,
        notes: &mut Vec<String>,
        out: &mut Out,
    ) -> Value {
        let options = heading.map_or_else(Map::new, |heading| heading.options(command));
        let mut tree = json!({
            "jobname": self.name,
            "groupid": self.group,
            "error": self.errno,
            "job options": options,
            "assay_members": self.members,
            "assay_pid": self.pid,
            "latency_depth": self.depth,
        });
        let mut runtime_ms = 0;
        for (i, name) in DIRECTIONS.iter().enumerate() {
            let Some(flow) = &self.flows[i] else {
                continue;
            };
            runtime_ms = runtime_ms.max(flow.runtime_ms);
            let block = match heading {
                Some(heading) => heading.block_bytes[i % 3],
                None => command
                    .and_then(|command| command.value("bs"))
                    .and_then(|size| {
                        let size = scan::printed(&size)?;
                        let unit = size.unit.to_ascii_uppercase();
                        let unit = unit.trim_end_matches(['B', 'I']).to_owned() + "B";
                        Some(size.value * scan::byte_unit(&unit, 1024.0)?)
                    }),
            };
            let counts = [0, 1, 2].map(|kind| self.counts[kind].get(i % 3).copied());
            tree[*name] = flow.tree(name, counts, block, notes, out);
        }
        let runtime_ms = runtime_ms.saturating_mul(self.members.max(1));
        tree["job_runtime"] = json!(runtime_ms);
        if let Some([usr, sys, ctx, majf, minf]) = self.cpu {
            tree["usr_cpu"] = json!(usr);
            tree["sys_cpu"] = json!(sys);
            for (key, value) in [("ctx", ctx), ("majf", majf), ("minf", minf)] {
                tree[key] = json!(value as u64);
            }
        }
        for (key, shares) in SHARES.iter().zip(&self.shares) {
            tree[*key] = Value::Object(shares.clone());
        }
        if let Some((total, first)) = self.errors {
            tree["total_err"] = json!(total);
            tree["first_error"] = json!(first);
        }
        if let Some(sync) = self.sync {
            let n = self.counts[0].get(3).copied().unwrap_or(0);
            let lat = latency::tree(Some(sync), self.sync_percentiles.as_ref(), n);
            tree["sync"] = json!({"total_ios": n, "lat_ns": lat});
        }
        tree
    }
}

impl Flow {
    fn tree(
        &self,
        name: &str,
        [total, short, dropped]: [Option<u64>; 3],
        block: Option<f64>,
        notes: &mut Vec<String>,
        out: &mut Out,
    ) -> Value {
        let seconds = self.runtime_ms as f64 / 1000.0;
        let printed_iops = self.iops.unwrap_or_default();
        // The count must say the same as the rate, else one of them was misread.
        let fits = |count: u64| near(count as f64 / seconds, printed_iops);
        let counted = total.filter(|count| self.runtime_ms == 0 || fits(*count));
        if let (Some(total), None) = (total, counted) {
            let iops = printed_iops.0;
            out.problem(
                self.line,
                format!("{total} {name}s and {iops} a second contradict each other"),
            );
        }
        let issued = counted.unwrap_or_else(|| {
            notes.push(format!("the number of {name}s is derived from their rate"));
            (printed_iops.0 * seconds).round() as u64
        });
        // Count times block size is exact, where both printed figures agree with it.
        let agree = |bytes: f64| {
            let rates = self.rates.iter();
            self.io.is_none_or(|io| near(bytes, io))
                && (self.runtime_ms == 0 || rates.clone().all(|rate| near(bytes / seconds, *rate)))
        };
        let whole = block.zip(counted).map(|(block, n)| block * n as f64);
        // Otherwise what was printed with more digits.
        let io = self.io.unwrap_or_default();
        let finer = |rate: &&(f64, f64)| {
            self.runtime_ms > 0 && (io.0 == 0.0 || rate.1 / rate.0 < io.1 / io.0)
        };
        let rate = self.rates.first().filter(finer);
        let (bytes, exact) = match (whole.filter(|bytes| agree(*bytes)), rate) {
            (Some(bytes), _) => (bytes, true),
            (None, Some((rate, _))) => (rate * seconds, false),
            (None, None) => (io.0, false),
        };
        let class = |i: usize| latency::tree(self.classes[i], self.percentiles[i].as_ref(), issued);
        let mut tree = json!({
            "io_bytes": bytes.round() as u64,
            "runtime": self.runtime_ms,
            "total_ios": issued,
            "short_ios": short.unwrap_or(0),
            "drop_ios": dropped.unwrap_or(0),
            "slat_ns": class(0),
            "clat_ns": class(1),
            "lat_ns": class(2),
        });
        for (prefix, dev, spread) in [
            ("bw", "bw_dev", self.bw),
            ("iops", "iops_stddev", self.samples),
        ] {
            let Some(spread) = spread else { continue };
            // fio 2 does not say how many; two are the fewest that have a deviation.
            let n = spread.samples.max(if spread.stddev > 0.0 { 2 } else { 1 });
            tree[format!("{prefix}_min")] = json!(spread.min.round() as u64);
            tree[format!("{prefix}_max")] = json!(spread.max.round() as u64);
            tree[format!("{prefix}_mean")] = json!(spread.mean);
            tree[dev] = json!(spread.stddev);
            tree[format!("{prefix}_samples")] = json!(n);
        }
        if counted.is_none() || self.runtime_ms == 0 {
            tree["assay_iops"] = json!(printed_iops.0);
        }
        if let Some((rate, _)) = self
            .rates
            .first()
            .filter(|_| !exact || self.runtime_ms == 0)
        {
            tree["assay_bytes_per_s"] = json!(rate);
        }
        tree
    }
}

/// Equal as far as the printed figure goes, cut off or rounded.
fn near(value: f64, (printed, step): (f64, f64)) -> bool {
    (value - printed).abs() <= step * 1.02 + printed * 1e-9
}

/// The name as typed, where a scanner lost its first letters.
fn whole_name(printed: &str, command: Option<&Command>) -> String {
    let typed = command.and_then(|command| command.value("name"));
    match typed {
        Some(typed) if typed.ends_with(printed) && !printed.is_empty() => typed,
        _ => printed.to_owned(),
    }
}

/// A totals line of a group, `WRITE: io=28584MB, aggrb=487812KB/s, ..., mint=60003msec, ...` or
/// `READ: bw=..., io=..., run=...`, with its direction.
pub(super) fn group_line(line: &str) -> Option<(Value, &'static str)> {
    let line = line.trim();
    let direction = DIRECTIONS.into_iter().find(|word| {
        let head = line.get(..word.len()).unwrap_or_default();
        head.eq_ignore_ascii_case(word) && line[word.len()..].starts_with(": ")
    })?;
    let old = scan::after(line, "aggrb");
    let rate = scan::printed_grouped(old.or_else(|| scan::after(line, "bw"))?)?;
    let base = if old.is_some() { 1024.0 } else { 1000.0 };
    let rate = rate.value * scan::byte_unit(rate.unit, base)?;
    let io = scan::printed(scan::after(line, "io")?)?;
    let io = io.value * scan::byte_unit(io.unit, base)?;
    let time = scan::after(line, "maxt").or_else(|| scan::after(line, "run"))?;
    let ms = scan::printed(time)?.value as u64;
    let bytes = if ms > 0 {
        rate * ms as f64 / 1000.0
    } else {
        io
    };
    let tree = json!({
        "io_bytes": bytes.round() as u64,
        "runtime": ms,
        "assay_bytes_per_s": rate,
    });
    Some((tree, direction))
}

/// Splits a line where a scanner ran several into one.
fn parts(line: &str) -> Vec<&str> {
    const BEGINNINGS: [&str; 17] = [
        "read: IOPS=",
        "write: IOPS=",
        "trim: IOPS=",
        "mixed: IOPS=",
        "read : io=",
        "write: io=",
        "slat (",
        "clat (",
        "lat (",
        "bw (",
        "iops :",
        "clat percentiles (",
        "lat percentiles (",
        "IO depths",
        "submit :",
        "complete :",
        "issued rwts:",
    ];
    let mut cuts: Vec<usize> = BEGINNINGS
        .iter()
        .flat_map(|words| line.match_indices(words).map(|(at, _)| at))
        .filter(|at| {
            let before = line[..*at].chars().next_back();
            before.is_none_or(|c| !c.is_ascii_alphanumeric())
        })
        .collect();
    cuts.push(0);
    cuts.sort_unstable();
    cuts.dedup();
    let ends = cuts.iter().skip(1).copied().chain([line.len()]);
    cuts.iter()
        .zip(ends)
        .map(|(start, end)| &line[*start..end])
        .filter(|part| !part.trim().is_empty())
        .collect()
}
