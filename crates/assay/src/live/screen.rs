//! The view on a terminal: a few lines below what was printed before, gone at the end.

use super::Moment;
use super::windows::{Flow, Window};
use crate::signals::Listener;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyModifiers};
use ratatui::crossterm::terminal;
use ratatui::layout::{Constraint, Layout};
use ratatui::style::{Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{Paragraph, Row, Sparkline, Table};
use ratatui::{Frame, Terminal, TerminalOptions, Viewport};
use render::human::{count, rate, time};
use result::Run;
use std::collections::VecDeque;
use std::io::Stdout;
use std::sync::Arc;
use std::time::Duration;
use units::Ddir;

/// Lines of the view.
const HEIGHT: u16 = 14;
/// Windows that the curves show at most.
const HISTORY: usize = 240;

/// What can be looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Page {
    #[default]
    Rates,
    Jobs,
    Devices,
}

const PAGES: [(Page, &str); 3] = [
    (Page::Rates, "rates"),
    (Page::Jobs, "jobs"),
    (Page::Devices, "devices"),
];

/// What is drawn.
#[derive(Default)]
struct State {
    page: Page,
    stopping: bool,
    /// What was found last, in one line.
    finding: Option<String>,
    moment: Moment,
    window: Window,
    iops: VecDeque<u64>,
    p99_ns: VecDeque<u64>,
}

/// A view on standard output.
pub struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
    state: State,
    signals: Arc<Listener>,
}

impl Screen {
    /// Takes a part of the terminal; `None` where it is too small or does not answer.
    pub fn open(signals: Arc<Listener>) -> Option<Screen> {
        let (columns, rows) = terminal::size().ok()?;
        if columns < 60 || rows < HEIGHT + 2 || !std::io::IsTerminal::is_terminal(&std::io::stdin())
        {
            return None;
        }
        terminal::enable_raw_mode().ok()?;
        let options = TerminalOptions {
            viewport: Viewport::Inline(HEIGHT),
        };
        let backend = CrosstermBackend::new(std::io::stdout());
        match Terminal::with_options(backend, options) {
            Ok(terminal) => {
                signals.on_exit(|| {
                    let _ = terminal::disable_raw_mode();
                });
                Some(Screen {
                    terminal,
                    state: State::default(),
                    signals,
                })
            }
            Err(_) => {
                let _ = terminal::disable_raw_mode();
                None
            }
        }
    }

    /// Heeds the keys and draws.
    pub fn show(&mut self, moment: &Moment) {
        self.state.moment = moment.clone();
        while event::poll(Duration::ZERO).unwrap_or(false) {
            if let Ok(Event::Key(key)) = event::read() {
                let control = key.modifiers.contains(KeyModifiers::CONTROL);
                if self.state.press(key.code, control) {
                    self.signals.stop();
                }
            }
        }
        self.draw();
    }

    /// Takes in a window, and the document that it was made of for its findings.
    pub fn take(&mut self, moment: &Moment, window: Window, run: &Run) {
        self.state.moment = moment.clone();
        self.state.find(run);
        self.state.take(window);
        self.draw();
    }

    fn draw(&mut self) {
        // A terminal that is gone takes no view; the run goes on.
        let _ = self.terminal.draw(|frame| self.state.draw(frame));
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = self.terminal.clear();
        let _ = terminal::disable_raw_mode();
        let _ = self.terminal.show_cursor();
    }
}

impl State {
    /// Obeys a key; true when the run is to end.
    fn press(&mut self, key: KeyCode, control: bool) -> bool {
        let at = PAGES
            .iter()
            .position(|(page, _)| *page == self.page)
            .unwrap_or(0);
        match key {
            KeyCode::Char('c') if control => self.stopping = true,
            KeyCode::Char('q') | KeyCode::Esc => self.stopping = true,
            KeyCode::Tab | KeyCode::Right => self.page = PAGES[(at + 1) % PAGES.len()].0,
            KeyCode::Left => self.page = PAGES[(at + PAGES.len() - 1) % PAGES.len()].0,
            KeyCode::Char(digit @ '1'..='3') => {
                self.page = PAGES[digit as usize - '1' as usize].0;
            }
            _ => {}
        }
        self.stopping
    }

    /// The last finding stays until there is another.
    fn find(&mut self, run: &Run) {
        let found = run.judgement.iter().flat_map(|judged| &judged.findings);
        if let Some(last) = found.max_by_key(|finding| finding.severity) {
            let (word, of) = (last.severity.word(), &self.moment.title);
            self.finding = Some(format!("{word}: {of}: {}", last.text));
        }
    }

    fn take(&mut self, window: Window) {
        let total = window.total();
        let ios: u64 = total.0.iter().map(|flow| flow.ios).sum();
        let slowest = total
            .0
            .iter()
            .filter_map(|flow| flow.ns)
            .map(|ns| ns[1])
            .max();
        for (history, value) in [
            (&mut self.iops, window.per_s(ios) as u64),
            (&mut self.p99_ns, slowest.unwrap_or(0)),
        ] {
            history.push_back(value);
            if history.len() > HISTORY {
                history.pop_front();
            }
        }
        self.window = window;
    }

    fn draw(&self, frame: &mut Frame<'_>) {
        let [head, body, foot] = Layout::vertical([
            Constraint::Length(2),
            Constraint::Min(1),
            Constraint::Length(1),
        ])
        .areas(frame.area());
        let finding = self.finding.as_deref().unwrap_or_default();
        let lines = vec![self.head(), Line::from(plain(finding))];
        frame.render_widget(Paragraph::new(lines), head);
        match self.page {
            Page::Rates => self.rates(frame, body),
            Page::Jobs => frame.render_widget(self.jobs(), body),
            Page::Devices => frame.render_widget(self.devices(), body),
        }
        let dim = Style::new().add_modifier(Modifier::DIM);
        frame.render_widget(Paragraph::new(self.keys()).style(dim), foot);
    }

    fn head(&self) -> Line<'static> {
        let moment = &self.moment;
        let left = match moment.eta_s {
            Some(left) => format!("{left} s left"),
            None => "no end known".to_owned(),
        };
        let phase = if self.stopping {
            "stopping"
        } else {
            moment.phase()
        };
        let title = plain(&moment.title);
        let elapsed = moment.elapsed_ns as f64 / 1e9;
        let running = moment.running;
        Line::from(format!(
            "{title}   {phase}   {elapsed:.1} s, {left}   {running} running"
        ))
        .style(Style::new().add_modifier(Modifier::BOLD))
    }

    fn keys(&self) -> String {
        let pages = PAGES.iter().enumerate().map(|(at, (page, name))| {
            let number = at + 1;
            match *page == self.page {
                true => format!("[{number} {name}]"),
                false => format!(" {number} {name} "),
            }
        });
        format!(
            "{}  tab: next   q: stop and report",
            pages.collect::<Vec<_>>().join(" ")
        )
    }

    fn rates(&self, frame: &mut Frame<'_>, area: ratatui::layout::Rect) {
        let total = self.window.total();
        let flows: Vec<(&str, &Flow)> = Ddir::DATA
            .into_iter()
            .map(|ddir| (ddir.name(), &total[ddir]))
            .filter(|(_, flow)| flow.ios > 0)
            .collect();
        let lines = flows.len().max(1) as u16 + 1;
        let [table, label, iops, slow_label, slow] = Layout::vertical([
            Constraint::Length(lines),
            Constraint::Length(1),
            Constraint::Min(1),
            Constraint::Length(1),
            Constraint::Min(1),
        ])
        .areas(area);
        let rows = flows
            .iter()
            .map(|(name, flow)| self.row((*name).to_owned(), flow));
        frame.render_widget(columns(rows.collect(), "direction"), table);
        let last = |history: &VecDeque<u64>| history.back().copied().unwrap_or(0) as f64;
        let most = |history: &VecDeque<u64>| history.iter().copied().max().unwrap_or(0) as f64;
        let words = format!(
            "IOPS {}, at most {}",
            count(last(&self.iops)),
            count(most(&self.iops))
        );
        frame.render_widget(Paragraph::new(words), label);
        frame.render_widget(curve(&self.iops, iops.width), iops);
        let words = format!(
            "p99 {}, at most {}",
            time(last(&self.p99_ns)),
            time(most(&self.p99_ns))
        );
        frame.render_widget(Paragraph::new(words), slow_label);
        frame.render_widget(curve(&self.p99_ns, slow.width), slow);
    }

    fn row(&self, name: String, flow: &Flow) -> Row<'static> {
        let ns = |at: usize| {
            flow.ns
                .map_or_else(|| "-".to_owned(), |ns| time(ns[at] as f64))
        };
        Row::new([
            name,
            count(self.window.per_s(flow.ios)),
            rate(self.window.per_s(flow.bytes)),
            ns(0),
            ns(1),
            ns(2),
        ])
    }

    fn jobs(&self) -> Table<'static> {
        let mut rows = Vec::new();
        for (at, job) in self.window.jobs.iter().enumerate() {
            let mut all = Flow::default();
            for flow in &job.flows.0 {
                all.add(flow);
            }
            all.rank();
            let cpu = job.cpu_us as f64 * 1e5 / self.window.ns.max(1) as f64;
            let name = format!(
                "{} {} {cpu:.0} %",
                plain(&job.name),
                self.moment.phase_of(at)
            );
            rows.push(self.row(name, &all));
        }
        columns(rows, "job, phase, CPU")
    }

    fn devices(&self) -> Table<'static> {
        let head = ["device", "read", "written", "IOPS", "in flight", "busy"];
        let rows = self.window.disks.iter().map(|disk| {
            let rates = disk.rates();
            Row::new([
                plain(&disk.name),
                rate(rates.bytes_per_s[0]),
                rate(rates.bytes_per_s[1]),
                count(rates.iops),
                format!("{:.1}", rates.in_flight),
                format!("{:.0} %", rates.busy_percent),
            ])
        });
        let widths = [24, 13, 13, 10, 10, 8].map(Constraint::Length);
        Table::new(rows.collect::<Vec<_>>(), widths).header(Row::new(head))
    }
}

fn columns(rows: Vec<Row<'static>>, first: &'static str) -> Table<'static> {
    let head = [first, "IOPS", "bandwidth", "p50", "p99", "p99.9"];
    let widths = [30, 10, 13, 10, 10, 10].map(Constraint::Length);
    Table::new(rows, widths).header(Row::new(head))
}

/// The newest values that fit.
fn curve(history: &VecDeque<u64>, width: u16) -> Sparkline<'static> {
    let skip = history.len().saturating_sub(usize::from(width));
    let values: Vec<u64> = history.iter().skip(skip).copied().collect();
    Sparkline::default().data(values)
}

/// Names from outside give the terminal no orders.
fn plain(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::windows::Windows;
    use measure::Latency;
    use ratatui::backend::TestBackend;
    use result::{Direction, Disk, DiskCounters, Finding, Job, Judgement, Severity};
    use units::PerDdir;

    fn run() -> Run {
        let mut clat = Latency::with_histogram();
        clat.add(250_000, 5_000);
        let read = Direction {
            ios: 5_000,
            bytes: 5_000 * 4096,
            clat,
            ..Direction::default()
        };
        let none = Direction::default;
        Run {
            jobs: vec![Job {
                name: "a\u{1b}[31mjob".to_owned(),
                number: 1,
                dirs: PerDdir([read, none(), none()]),
                ..Job::default()
            }],
            disks: vec![Disk {
                name: "sda".to_owned(),
                counters: DiskCounters {
                    ios: [4_000, 0],
                    in_queue_ms: 3_000,
                    busy_ms: 500,
                    elapsed_ms: 1_000,
                    ..DiskCounters::default()
                },
                ..Disk::default()
            }],
            ..Run::default()
        }
    }

    fn drawn(state: &State) -> String {
        let mut terminal = Terminal::new(TestBackend::new(90, HEIGHT)).expect("a terminal");
        terminal.draw(|frame| state.draw(frame)).expect("drawn");
        terminal.backend().to_string()
    }

    #[test]
    fn the_pages_show_rates_jobs_and_devices() {
        let mut state = State {
            moment: Moment {
                title: "random read".to_owned(),
                elapsed_ns: 1_500_000_000,
                running: 1,
                eta_s: Some(2),
                phases: vec!["run"],
            },
            ..State::default()
        };
        state.take(Windows::default().next(&run(), 1_000_000_000));
        let rates = drawn(&state);
        for words in [
            "random read",
            "run",
            "1.5 s, 2 s left",
            "5000",
            "19.5 MiB/s",
            "250.",
        ] {
            assert!(rates.contains(words), "{words} missing:\n{rates}");
        }
        let judged = Judgement {
            findings: vec![Finding {
                id: "x".to_owned(),
                severity: Severity::Warning,
                text: "half of the reads were of holes".to_owned(),
                advice: String::new(),
                evidence: Vec::new(),
            }],
            ..Judgement::default()
        };
        state.find(&Run {
            judgement: Some(judged),
            ..Run::default()
        });
        state.find(&run());
        let found = drawn(&state);
        assert!(
            found.contains("warning: random read: half of the reads"),
            "{found}"
        );
        assert!(!state.press(KeyCode::Tab, false));
        let jobs = drawn(&state);
        assert!(
            jobs.contains("a [31mjob") && !jobs.contains('\u{1b}'),
            "{jobs}"
        );
        assert!(!state.press(KeyCode::Char('3'), false));
        let devices = drawn(&state);
        for words in ["sda", "4000", "3.0", "50 %"] {
            assert!(devices.contains(words), "{words} missing:\n{devices}");
        }
        assert!(!state.press(KeyCode::Char('x'), false) && state.page == Page::Devices);
        assert!(state.press(KeyCode::Char('c'), true) && drawn(&state).contains("stopping"));
    }
}
