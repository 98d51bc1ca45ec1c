//! What runs now, as the lines of the runs tell it, and the pictures of it.

use crate::live::channel::Ear;
use render::chart::{Axis, Better, Chart, ChartData, Lines, Point, Rule, Series, Unit, extremes};
use render::report::{Block, Cell, Column, Section, Table};
use result::Finding;
use serde_json::{Map, Value};
use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Runs that are over and stay on the page.
const MOST_OVER: usize = 8;
/// Intervals of a run that are kept: an hour of half seconds.
const MOST_KEPT: usize = 7_200;
/// Shorter intervals are not drawn.
const LEAST_S: f64 = 0.2;
/// Points of a line in a picture.
const MOST_POINTS: usize = 120;
/// Rows of jobs.
const MOST_JOBS: usize = 64;
/// Phases that are told.
const MOST_PHASES: usize = 32;
/// A page is made so often at most.
const PAUSE: Duration = Duration::from_millis(400);
/// After so long without news a reader hears that there are none.
const SILENCE: Duration = Duration::from_secs(10);

const DIRECTIONS: [&str; 3] = ["read", "write", "trim"];

/// Everything that was heard of.
#[derive(Default)]
pub struct Hub {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    runs: Vec<Watched>,
    version: u64,
    /// The page of a version, made once for all readers.
    made: Option<(u64, Arc<str>)>,
}

impl Hub {
    /// Takes in what runs tell, until the process ends.
    pub fn listen(&self, ear: &Ear) {
        loop {
            match ear.next() {
                Ok(Some(line)) => self.change(|runs| take(runs, &line)),
                Ok(None) => {}
                Err(_) => return,
            }
        }
    }

    fn change(&self, by: impl FnOnce(&mut Vec<Watched>)) {
        let mut state = self.lock();
        by(&mut state.runs);
        state.version += 1;
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The sections of the page, the newest run first.
    pub fn sections(&self) -> Vec<(String, Section)> {
        let mut state = self.lock();
        state.bury(|pid| !alive(pid));
        state.sections()
    }

    /// The next page after the one that was seen; `None` after a while without news.
    pub fn next(&self, seen: Option<u64>) -> Option<(u64, Arc<str>)> {
        let begun = Instant::now();
        let mut state = self.lock();
        loop {
            // A run that was killed says nothing more.
            state.bury(|pid| !alive(pid));
            if seen != Some(state.version) {
                break;
            }
            let left = SILENCE.checked_sub(begun.elapsed())?;
            let wait = left.min(Duration::from_secs(2));
            let waited = self.changed.wait_timeout(state, wait);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        if seen.is_some() {
            drop(state);
            std::thread::sleep(PAUSE);
            state = self.lock();
        }
        let version = state.version;
        let made = match &state.made {
            Some((known, page)) if *known == version => Arc::clone(page),
            _ => render::site::fragment(&state.sections()).into(),
        };
        state.made = Some((version, Arc::clone(&made)));
        Some((version, made))
    }
}

impl State {
    /// Runs whose process is gone are over.
    fn bury(&mut self, gone: impl Fn(u64) -> bool) {
        for run in self.runs.iter_mut().filter(|run| !run.over) {
            if gone(run.pid) {
                run.over = true;
                self.version += 1;
            }
        }
    }

    fn sections(&self) -> Vec<(String, Section)> {
        if self.runs.is_empty() {
            let words = "Nothing runs now. `assay check` shows itself here, and so does `assay \
                         fio --live=page ...`.";
            let section = Section {
                heading: "No runs".to_owned(),
                blocks: vec![Block::Words(words.to_owned())],
            };
            return vec![("none".to_owned(), section)];
        }
        let named = |run: &Watched| (format!("r{}-{}", run.pid, run.since_ms), run.section());
        self.runs.iter().rev().map(named).collect()
    }
}

fn alive(pid: u64) -> bool {
    Path::new("/proc").join(pid.to_string()).exists()
}

/// One direction in one interval.
#[derive(Clone, Copy, Debug, Default)]
struct Flow {
    iops: f64,
    bytes_per_s: f64,
    /// Percentiles 50, 99 and 99.9, nanoseconds.
    ns: [Option<f64>; 3],
}

/// One interval.
#[derive(Clone, Debug, Default)]
struct Window {
    at_s: f64,
    flows: [Option<Flow>; 3],
}

/// What a line is of; of a direction that did nothing, perhaps nothing.
type Quantity<'a> = &'a dyn Fn(Option<&Flow>) -> Option<f64>;

/// One run.
#[derive(Debug, Default)]
struct Watched {
    pid: u64,
    since_ms: u64,
    command: String,
    state: String,
    windows: VecDeque<Window>,
    /// Intervals that were let go.
    forgotten: bool,
    /// When each phase began, and its name.
    phases: Vec<(f64, String)>,
    jobs: Vec<(String, String, [Option<Flow>; 3])>,
    jobs_left_out: u64,
    devices: Vec<Value>,
    findings: Vec<Finding>,
    over: bool,
}

/// Finds the run of a line, or begins one.
fn take(runs: &mut Vec<Watched>, line: &Map<String, Value>) {
    let number = |name: &str| line.get(name).and_then(Value::as_u64);
    let (Some(pid), Some(since_ms)) = (number("pid"), number("since_ms")) else {
        return;
    };
    let known = runs
        .iter()
        .position(|run| (run.pid, run.since_ms) == (pid, since_ms));
    let gone = line.contains_key("gone");
    let at = match known {
        Some(at) => at,
        None if gone => return,
        None => {
            runs.push(Watched {
                pid,
                since_ms,
                command: word(line.get("command")),
                ..Watched::default()
            });
            runs.len() - 1
        }
    };
    match gone {
        true => runs[at].over = true,
        false => runs[at].take(line),
    }
    while runs.iter().filter(|run| run.over).count() > MOST_OVER {
        let Some(oldest) = runs.iter().position(|run| run.over) else {
            break;
        };
        runs.remove(oldest);
    }
}

fn word(value: Option<&Value>) -> String {
    value.and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn float(value: &Value, name: &str) -> f64 {
    value.get(name).and_then(Value::as_f64).unwrap_or(0.0)
}

fn list<'a>(line: &'a Map<String, Value>, name: &str) -> &'a [Value] {
    line.get(name)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

fn flows(get: impl Fn(&'static str) -> Option<Value>) -> [Option<Flow>; 3] {
    DIRECTIONS.map(|direction| {
        let value = get(direction)?;
        let ns = |name: &str| value.get(name).and_then(Value::as_f64);
        Some(Flow {
            iops: float(&value, "iops"),
            bytes_per_s: float(&value, "bytes_per_s"),
            ns: ["p50_ns", "p99_ns", "p99_9_ns"].map(ns),
        })
    })
}

impl Watched {
    fn take(&mut self, line: &Map<String, Value>) {
        let at_s = line.get("at_s").and_then(Value::as_f64).unwrap_or(0.0);
        let window_s = line.get("window_s").and_then(Value::as_f64).unwrap_or(0.0);
        let title = word(line.get("title"));
        let anew = self.phases.last().is_none_or(|(_, last)| *last != title);
        if anew && self.phases.len() < MOST_PHASES {
            self.phases.push(((at_s - window_s).max(0.0), title));
        }
        let left = match line.get("eta_s").and_then(Value::as_u64) {
            Some(left) => format!("{left} s left"),
            None => "no end known".to_owned(),
        };
        let running = line.get("running").and_then(Value::as_u64).unwrap_or(0);
        let jobs = if running == 1 { "job" } else { "jobs" };
        let phase = word(line.get("phase"));
        self.state = format!("{phase}, {at_s:.1} s since the start, {left}, {running} {jobs}");
        // What is left at the end of a phase may be too short to have a rate.
        if window_s >= LEAST_S || self.windows.is_empty() {
            if self.windows.len() == MOST_KEPT {
                self.windows.pop_front();
                self.forgotten = true;
            }
            self.windows.push_back(Window {
                at_s,
                flows: flows(|direction| line.get(direction).cloned()),
            });
        }
        let job = |job: &Value| {
            let named = |name: &str| word(job.get(name));
            let flows = flows(|direction| job.get(direction).cloned());
            (named("name"), named("phase"), flows)
        };
        let jobs = list(line, "jobs");
        self.jobs = jobs.iter().take(MOST_JOBS).map(job).collect();
        let left_out = line.get("jobs_left_out").and_then(Value::as_u64);
        self.jobs_left_out = left_out.unwrap_or(jobs.len().saturating_sub(MOST_JOBS) as u64);
        self.devices = list(line, "devices").to_vec();
        for told in list(line, "findings") {
            match serde_json::from_value::<Finding>(told.clone()) {
                Ok(finding) if !self.findings.contains(&finding) => self.findings.push(finding),
                _ => {}
            }
        }
        self.over = false;
    }

    fn section(&self) -> Section {
        let state = match self.over {
            true => "ended".to_owned(),
            false => self.state.clone(),
        };
        let mut facts = vec![
            ("command".to_owned(), self.command.clone()),
            ("process".to_owned(), self.pid.to_string()),
            ("state".to_owned(), state),
        ];
        let begun = |(at, name): &(f64, String)| format!("{name} from {at:.1} s on");
        let phases = self.phases.iter().filter(|(_, name)| !name.is_empty());
        let phases: Vec<String> = phases.map(begun).collect();
        if !phases.is_empty() {
            facts.push(("phases".to_owned(), phases.join("; ")));
        }
        let mut blocks = vec![Block::Facts(facts)];
        let told = self.findings.iter().cloned();
        blocks.extend(told.map(|finding| Block::Finding(String::new(), finding)));
        if self.forgotten {
            let words = format!("The pictures show the last {MOST_KEPT} intervals.");
            blocks.push(Block::Words(words));
        }
        if let Some(last) = self.windows.back().filter(|_| !self.over) {
            blocks.push(Block::Table("Now".to_owned(), now(last)));
        }
        let rate = |of: fn(&Flow) -> f64| self.series(&[("", &|flow| Some(flow.map_or(0.0, of)))]);
        let ns = |at: usize| move |flow: Option<&Flow>| flow.and_then(|flow| flow.ns[at]);
        let latency = self.series(&[(" p50", &ns(0)), (" p99", &ns(1))]);
        let (iops, bandwidth) = (rate(|flow| flow.iops), rate(|flow| flow.bytes_per_s));
        let pictures = [
            ("IOPS", Unit::PerS, Better::More, iops),
            ("Bandwidth", Unit::BytesPerS, Better::More, bandwidth),
            ("Latency", Unit::Ns, Better::Less, latency),
        ];
        for (title, unit, better, series) in pictures {
            if series.iter().any(|series| series.points.len() > 1) {
                blocks.push(Block::Chart(self.chart(title, unit, better, series)));
            }
        }
        if self.jobs.len() > 1 && !self.over {
            blocks.push(Block::Table("Jobs".to_owned(), self.job_table()));
            if self.jobs_left_out > 0 {
                blocks.push(Block::Words(format!("{} more jobs.", self.jobs_left_out)));
            }
        }
        if !self.devices.is_empty() && !self.over {
            blocks.push(Block::Table("Devices".to_owned(), self.device_table()));
        }
        Section {
            heading: short(&self.command),
            blocks,
        }
    }

    /// A line for each direction that has values, and each of the quantities. It is interrupted
    /// where there was none.
    fn series(&self, what: &[(&str, Quantity)]) -> Vec<Series> {
        let mut all = Vec::new();
        for (at, direction) in DIRECTIONS.iter().enumerate() {
            let used = self.windows.iter().any(|window| window.flows[at].is_some());
            for (quantity, of) in what.iter().filter(|_| used) {
                let value = |window: &Window| of(window.flows[at].as_ref());
                let found: Vec<Option<f64>> = self.windows.iter().map(value).collect();
                if found.iter().any(Option::is_some) {
                    let name = format!("{direction}{quantity}");
                    let points = self.thinned(&found);
                    all.push(Series { name, points });
                }
            }
        }
        all
    }

    /// Extremes of the values of the windows, and the gaps between them.
    fn thinned(&self, values: &[Option<f64>]) -> Vec<Point> {
        let known = values.iter().enumerate();
        let known: Vec<(usize, f64)> = known.filter_map(|(at, v)| Some((at, (*v)?))).collect();
        let bare: Vec<f64> = known.iter().map(|(_, value)| *value).collect();
        let mut points = Vec::new();
        let mut last = None;
        for (at, value) in extremes(&bare, MOST_POINTS)
            .into_iter()
            .map(|kept| known[kept])
        {
            let missing =
                last.and_then(|last| (last..at).find(|between| values[*between].is_none()));
            points.extend(missing.map(|gap| Point::new(self.windows[gap].at_s, f64::NAN)));
            points.push(Point::new(self.windows[at].at_s, value));
            last = Some(at);
        }
        points
    }

    fn chart(&self, title: &str, unit: Unit, better: Better, series: Vec<Series>) -> Chart {
        // The first phase begins with the run.
        let later = self.phases.iter().skip(1);
        let steps = later.map(|(at, name)| Rule {
            at: *at,
            name: name.clone(),
        });
        Chart {
            title: title.to_owned(),
            note: String::new(),
            better,
            data: ChartData::Lines(Lines {
                x: Axis::linear("time", Unit::Seconds),
                y: Axis::linear(title, unit),
                series,
                steps: steps.collect(),
                ..Lines::default()
            }),
        }
    }

    fn job_table(&self) -> Table {
        let mut table = Table {
            columns: [Column::words("job"), Column::words("phase")]
                .into_iter()
                .chain(flow_columns())
                .collect(),
            rows: Vec::new(),
        };
        for (name, phase, flows) in &self.jobs {
            let before = table.rows.len();
            let mut row = |direction: &str, flow: &Flow| {
                let name = Cell::words(format!("{name}{direction}"));
                let mut cells = vec![name, Cell::words(phase)];
                cells.extend(flow_cells(flow));
                table.rows.push(cells);
            };
            for (direction, flow) in DIRECTIONS.iter().zip(flows) {
                if let Some(flow) = flow {
                    row(&format!(", {direction}"), flow);
                }
            }
            if table.rows.len() == before {
                let mut cells = vec![Cell::words(name), Cell::words(phase)];
                cells.extend(flow_columns().map(|_| Cell::words("-")));
                table.rows.push(cells);
            }
        }
        table
    }

    fn device_table(&self) -> Table {
        let row = |device: &Value| {
            vec![
                Cell::words(word(device.get("name"))),
                Cell::of(Unit::BytesPerS, float(device, "read_bytes_per_s")),
                Cell::of(Unit::BytesPerS, float(device, "written_bytes_per_s")),
                Cell::of(Unit::PerS, float(device, "iops")),
                Cell::words(format!("{:.1}", float(device, "in_flight"))),
                Cell::of(Unit::Percent, float(device, "busy_percent")),
            ]
        };
        Table {
            columns: vec![
                Column::words("device"),
                Column::of("read", Unit::BytesPerS),
                Column::of("written", Unit::BytesPerS),
                Column::of("IOPS", Unit::PerS),
                Column::of("in flight", Unit::Count),
                Column::of("busy", Unit::Percent),
            ],
            rows: self.devices.iter().map(row).collect(),
        }
    }
}

/// As much of a command as makes a heading.
fn short(command: &str) -> String {
    const MOST: usize = 48;
    match command.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}...", command[..end].trim_end()),
        None => command.to_owned(),
    }
}

fn flow_columns() -> impl Iterator<Item = Column> {
    let all = [
        ("IOPS", Unit::PerS),
        ("bandwidth", Unit::BytesPerS),
        ("p50", Unit::Ns),
        ("p99", Unit::Ns),
        ("p99.9", Unit::Ns),
    ];
    all.into_iter().map(|(name, unit)| Column::of(name, unit))
}

fn flow_cells(flow: &Flow) -> Vec<Cell> {
    let ns = |value: Option<f64>| {
        value.map_or_else(|| Cell::words("-"), |value| Cell::of(Unit::Ns, value))
    };
    let mut cells = vec![
        Cell::of(Unit::PerS, flow.iops),
        Cell::of(Unit::BytesPerS, flow.bytes_per_s),
    ];
    cells.extend(flow.ns.map(ns));
    cells
}

/// The last interval, a row for each direction.
fn now(window: &Window) -> Table {
    let row = |(direction, flow): (&&str, &Option<Flow>)| {
        let mut cells = vec![Cell::words(*direction)];
        cells.extend(flow_cells(flow.as_ref()?));
        Some(cells)
    };
    Table {
        columns: [Column::words("direction")]
            .into_iter()
            .chain(flow_columns())
            .collect(),
        rows: DIRECTIONS
            .iter()
            .zip(&window.flows)
            .filter_map(row)
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn line(pid: u64, at_s: f64, iops: f64) -> Map<String, Value> {
        let value = json!({
            "pid": pid, "since_ms": 1, "command": "assay <b>", "at_s": at_s, "window_s": 0.5,
            "title": if at_s > 1.5 { "later" } else { "first" },
            "phase": "run", "running": 1, "eta_s": null,
            "read": {"iops": iops, "bytes_per_s": 4096.0 * iops, "p50_ns": 900, "p99_ns": null},
            "jobs": [{"name": "j<script>", "phase": "run"}, {"name": "k", "phase": "over"}],
            "devices": [{"name": "sda", "iops": 7.0}],
            "findings": [{"severity": "warning", "text": "odd"}],
        });
        value.as_object().expect("an object").clone()
    }

    fn page(state: &State) -> String {
        render::site::fragment(&state.sections())
    }

    #[test]
    fn a_run_is_drawn_as_it_goes_on_and_stays_when_it_is_over() {
        let mut state = State::default();
        assert!(page(&state).contains("Nothing runs now"));
        take(&mut state.runs, &line(7, 1.0, 500.0));
        take(&mut state.runs, &line(7, 2.0, 700.0));
        let text = page(&state);
        for words in [
            "700",
            "1 s, 500",
            "later from 1.5 s on",
            "j&lt;script&gt;",
            "sda",
            "odd",
        ] {
            assert!(text.contains(words), "{words} missing: {text}");
        }
        assert!(!text.contains("<script") && !text.contains("<b>"), "{text}");
        assert_eq!(text.matches("<figure").count(), 3, "{text}");
        // Another run comes first; the killed one is told as over.
        take(&mut state.runs, &line(8, 1.0, 1.0));
        let (first, second) = (page(&state).find("r8-1"), page(&state).find("r7-1"));
        assert!(first < second, "{first:?} {second:?}");
        let version = state.version;
        state.bury(|pid| pid == 7);
        assert!(state.version > version && page(&state).contains("ended"));
    }

    #[test]
    fn what_is_no_line_changes_nothing_and_old_runs_go() {
        let mut runs = Vec::new();
        let empty = Map::new();
        take(&mut runs, &empty);
        assert!(runs.is_empty());
        for pid in 0..20 {
            take(&mut runs, &line(pid, 1.0, 1.0));
            let gone = json!({"pid": pid, "since_ms": 1, "gone": true});
            take(&mut runs, gone.as_object().expect("an object"));
        }
        assert_eq!(runs.len(), MOST_OVER);
        assert_eq!(runs[0].pid, 12);
        for at in 0..MOST_KEPT + 5 {
            take(&mut runs, &line(99, at as f64, 1.0));
        }
        let last = runs.last().expect("a run");
        assert!(last.windows.len() == MOST_KEPT && last.forgotten);
    }

    #[test]
    fn a_line_is_interrupted_where_nothing_was_done() {
        let mut run = Watched::default();
        for at in 0..8 {
            let mut line = line(7, f64::from(at), 500.0);
            if (3..5).contains(&at) {
                let written = line.remove("read").expect("a flow");
                line.insert("write".to_owned(), written);
            }
            run.take(&line);
        }
        let section = run.section();
        let charts = section.blocks.iter().filter_map(|block| match block {
            Block::Chart(chart) => Some(chart),
            _ => None,
        });
        let charts: Vec<&Chart> = charts.collect();
        let path = |at: usize| {
            let svg = charts[at].svg("c");
            let d = svg
                .split("path class=\"line\" d=\"")
                .nth(1)
                .expect("a line");
            d.split('"').next().expect("its end").to_owned()
        };
        // No reads are 0 reads per second, and no latency.
        assert_eq!(
            (path(0).matches('M').count(), path(0).matches('L').count()),
            (1, 7)
        );
        assert_eq!(
            (path(2).matches('M').count(), path(2).matches('L').count()),
            (2, 4)
        );
        let table = charts[2].table();
        assert!(!format!("{table:?}").contains("NaN"), "{table:?}");
    }

    #[test]
    fn readers_get_each_page_once() {
        let hub = Hub::default();
        hub.change(|runs| take(runs, &line(std::process::id().into(), 1.0, 5.0)));
        let (version, first) = hub.next(None).expect("a page");
        hub.change(|runs| take(runs, &line(std::process::id().into(), 2.0, 6.0)));
        let (later, second) = hub.next(Some(version)).expect("a page");
        assert!(later > version && first != second);
    }
}
