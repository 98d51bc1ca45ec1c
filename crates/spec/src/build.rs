//! Puts jobs together: defaults, sections, command line, in fio's order.
//!
//! Options before the first `--name`, or with none at all, edit the defaults. The command
//! line's jobs come first, then the job files; the second and later files begin with the
//! built-in defaults and wait for everything before them.

use crate::argv::{self, Item};
use crate::check;
use crate::expand::expand;
use crate::jobfile::{self, Section};
use crate::model::{Given, Job, Spec};
use crate::options::Options;
use crate::place::{Diagnostic, Errors, Place};
use crate::showcmd;
use crate::switches::Switches;
use crate::world::World;
use option::{EngineTable, Kind, State, closest, find};

/// A job, or the defaults, while options arrive.
#[derive(Clone, Debug, Default)]
struct Draft {
    options: Options,
    engine: Vec<Given>,
    given: Vec<(String, String)>,
}

struct Builder<'a> {
    engines: &'a [EngineTable],
    world: &'a dyn World,
    switches: Switches,
    defaults: Draft,
    jobs: Vec<Job>,
    notes: Vec<Diagnostic>,
    errors: Vec<Diagnostic>,
    /// What each source said, for `--showcmd`.
    sources: Vec<showcmd::Source>,
}

/// A job of the command line that is not finished.
struct Open {
    draft: Draft,
    name: String,
    place: Place,
}

/// Where the command line's options go.
enum Target {
    Defaults,
    Job(Box<Open>),
    /// A job that `--section` leaves out.
    Skipped,
}

/// Reads a command line (without the program's name) and the job files that it names.
///
/// `engines` are the tables of all engines, known and refused ones; with an empty list no
/// engine name is checked. On success everything is checked that can be checked without
/// looking at files and devices.
pub fn parse(words: &[String], engines: &[EngineTable], world: &dyn World) -> Result<Spec, Errors> {
    let (items, errors) = argv::split(words, engines);
    let mut builder = Builder {
        engines,
        world,
        switches: Switches::default(),
        defaults: Draft::default(),
        jobs: Vec::new(),
        notes: Vec::new(),
        errors,
        sources: vec![showcmd::Source::default()],
    };
    // Sections are chosen before any job begins, wherever the switch stands.
    let (switches, rest): (Vec<Item>, Vec<Item>) = items
        .into_iter()
        .partition(|item| matches!(item, Item::Switch { .. }));
    builder.switches(switches);
    let files = if builder.switches.informs() {
        // What was asked for needs no job, so nothing about jobs can be wrong.
        builder.errors.clear();
        Vec::new()
    } else {
        builder.command_line(rest)
    };
    for (at, (path, place)) in files.iter().enumerate() {
        if at > 0 {
            builder.defaults = Draft::default();
        }
        builder.job_file(path, place, at > 0);
    }
    builder.finish(!words.is_empty())
}

impl<'a> Builder<'a> {
    fn switches(&mut self, items: Vec<Item>) {
        for item in items {
            let Item::Switch { def, value, place } = item else {
                continue;
            };
            match self.switches.apply(def, value.as_deref()) {
                Ok(note) => self.note(&place, def.name, value.as_deref(), note),
                Err(error) => {
                    let text = format!("--{}: {error}", def.name);
                    self.errors.push(Diagnostic::error(Some(place), text));
                }
            }
        }
    }

    /// Takes the command line's other items; returns its job files.
    fn command_line(&mut self, items: Vec<Item>) -> Vec<(String, Place)> {
        let mut files = Vec::new();
        let mut target = Target::Defaults;
        for item in items {
            match item {
                Item::Operand { text, place } => files.push((text, place)),
                Item::Option {
                    name: "name",
                    value,
                    place,
                } => {
                    self.close(target);
                    target = self.begin(value.unwrap_or_default(), place);
                }
                Item::Option { name, value, place } => {
                    self.take(&mut target, name, value.as_deref(), &place);
                }
                Item::Switch { .. } => {}
            }
        }
        self.close(target);
        files
    }

    /// `--name=...` on the command line.
    fn begin(&mut self, name: String, place: Place) -> Target {
        let name = expand(&name, self.world);
        if name.starts_with("global") {
            return Target::Defaults;
        }
        if !self.wanted(&name) {
            return Target::Skipped;
        }
        let mut draft = self.inherit();
        draft.given.push(("name".to_string(), name.clone()));
        if let Some(Err(error)) = draft.options.set("name", Some(&name)) {
            self.errors.push(Diagnostic::error(
                Some(place.clone()),
                format!("--name: {error}"),
            ));
        }
        Target::Job(Box::new(Open { draft, name, place }))
    }

    fn close(&mut self, target: Target) {
        if let Target::Job(open) = target {
            self.add(open.draft, open.name, open.place, false, false);
        }
    }

    fn take(&mut self, target: &mut Target, name: &str, value: Option<&str>, place: &Place) {
        match target {
            Target::Skipped => {}
            Target::Defaults => {
                let mut draft = std::mem::take(&mut self.defaults);
                self.set(&mut draft, name, value, place);
                self.defaults = draft;
            }
            Target::Job(open) => self.set(&mut open.draft, name, value, place),
        }
    }

    fn wanted(&self, section: &str) -> bool {
        let chosen = &self.switches.sections;
        chosen.is_empty() || chosen.iter().any(|name| name == section)
    }

    /// A new job's beginning: the defaults, marked as such.
    fn inherit(&self) -> Draft {
        let mut draft = self.defaults.clone();
        draft.given.clear();
        // A global section cannot name the jobs below it.
        draft.options.identity.name = None;
        draft
            .engine
            .iter_mut()
            .for_each(|given| given.inherited = true);
        draft
    }

    fn job_file(&mut self, path: &str, place: &Place, later: bool) {
        let mut sections = match jobfile::read(path, self.world) {
            Ok(sections) => sections,
            Err(mut error) => {
                error.place.get_or_insert_with(|| place.clone());
                self.errors.push(error);
                return;
            }
        };
        self.sources.push(showcmd::Source {
            file: Some(path.to_string()),
            ..Default::default()
        });
        let mut stonewall = later;
        for section in &mut sections {
            // fio sorts by priority and otherwise keeps the order.
            section.lines.sort_by_key(|line| {
                std::cmp::Reverse(Options::def(&line.name).map_or(0, |def| def.prio))
            });
            if section.is_global() {
                let mut draft = std::mem::take(&mut self.defaults);
                self.lines(&mut draft, section);
                self.defaults = draft;
            } else if self.wanted(&section.name) {
                let mut draft = self.inherit();
                self.lines(&mut draft, section);
                let implicit = std::mem::take(&mut stonewall);
                let (name, place) = (section.name.clone(), section.place.clone());
                self.add(draft, name, place, true, implicit);
            }
        }
    }

    fn lines(&mut self, draft: &mut Draft, section: &Section) {
        for line in &section.lines {
            self.set(draft, &line.name, line.value.as_deref(), &line.place);
        }
    }

    /// Sets one option of a draft.
    fn set(&mut self, draft: &mut Draft, name: &str, value: Option<&str>, place: &Place) {
        let name = expand(name, self.world);
        let value = value.map(|text| expand(text, self.world));
        let text = value.as_deref();
        let shown = text.unwrap_or("").trim().to_string();
        if let Some(result) = draft.options.set(&name, text) {
            let canonical = Options::def(&name).map_or(name.as_str(), |def| def.name);
            draft.given.push((canonical.to_string(), shown));
            match result {
                Ok(note) => self.note(place, canonical, text, note),
                Err(error) => {
                    let text = format!("{}: {error}", said(&name, text));
                    self.errors
                        .push(Diagnostic::error(Some(place.clone()), text));
                }
            }
            return;
        }
        let def = self
            .engines
            .iter()
            .find_map(|engine| find(engine.defs, &name));
        let Some((_, def)) = def else {
            self.unknown(&name, place);
            return;
        };
        draft.given.push((def.name.to_string(), shown));
        draft.engine.push(Given {
            name: def.name.to_string(),
            value,
            place: place.clone(),
            inherited: false,
        });
    }

    fn unknown(&mut self, name: &str, place: &Place) {
        let hint = closest(name, argv::option_names(self.engines))
            .map(|near| format!("; did you mean `{near}`?"))
            .unwrap_or_default();
        let text = format!("unknown option `{name}`{hint}");
        self.errors
            .push(Diagnostic::error(Some(place.clone()), text));
    }

    fn note(&mut self, place: &Place, name: &str, value: Option<&str>, note: Option<String>) {
        if let Some(note) = note {
            let text = format!("{}: {note}", said(name, value));
            self.notes.push(Diagnostic::note(Some(place.clone()), text));
        }
    }

    /// Finishes a job: engine name, engine options, name.
    fn add(&mut self, mut draft: Draft, section: String, place: Place, file: bool, wall: bool) {
        if wall {
            draft.options.process.stonewall = true;
        }
        self.resolve_engine(&mut draft, &place);
        let name = draft
            .options
            .identity
            .name
            .clone()
            .unwrap_or_else(|| section.clone());
        let job = Job {
            name,
            section,
            options: draft.options,
            engine_options: draft.engine,
            given: draft.given,
            global_given: self.defaults.given.clone(),
            place,
            from_file: file,
            implicit_stonewall: wall,
        };
        if let Some(source) = self.sources.last_mut() {
            source.globals.clone_from(&self.defaults.given);
            source.jobs.push(self.jobs.len());
        }
        self.jobs.push(job);
    }

    /// Checks the engine's name and that it knows the options left for it.
    fn resolve_engine(&mut self, draft: &mut Draft, place: &Place) {
        if self.engines.is_empty() {
            return;
        }
        let asked = draft.options.queue.ioengine.clone();
        let answers = |e: &&EngineTable| e.name == asked || e.aliases.contains(&asked.as_str());
        let engine = match self.engines.iter().find(answers) {
            Some(EngineTable {
                state: State::Later(why),
                ..
            }) => Err(format!("ioengine={asked}: not supported yet ({why})")),
            Some(EngineTable {
                state: State::Refused(why),
                ..
            }) => Err(format!("ioengine={asked}: not supported ({why})")),
            Some(engine) => Ok(engine),
            None => {
                let hint = closest(&asked, self.engines.iter().map(|e| e.name))
                    .map(|near| format!("; did you mean `{near}`?"))
                    .unwrap_or_default();
                Err(format!("unknown engine `{asked}`{hint}"))
            }
        };
        let engine = match engine {
            Ok(engine) => engine,
            Err(text) => {
                self.errors
                    .push(Diagnostic::error(Some(place.clone()), text));
                return;
            }
        };
        draft.options.queue.ioengine = engine.name.to_string();
        let mut kept = Vec::new();
        for mut given in std::mem::take(&mut draft.engine) {
            let at = Some(given.place.clone());
            match find(engine.defs, &given.name) {
                Some((_, def)) if given.value.is_some() || def.kind == Kind::Set => {
                    given.name = def.name.to_string();
                    kept.push(given);
                }
                Some(_) => {
                    let text = format!("{}: needs a value", given.name);
                    self.errors.push(Diagnostic::error(at, text));
                }
                None if given.inherited => {
                    let text =
                        format!("{}: not an option of {}; left out", given.name, engine.name);
                    self.notes.push(Diagnostic::note(at, text));
                }
                None => {
                    let owners = self
                        .engines
                        .iter()
                        .filter(|e| find(e.defs, &given.name).is_some());
                    let owners: Vec<&str> = owners.map(|e| e.name).collect();
                    let text = format!(
                        "{}: not an option of {} but of {}",
                        given.name,
                        engine.name,
                        owners.join(", ")
                    );
                    self.errors.push(Diagnostic::error(at, text));
                }
            }
        }
        draft.engine = kept;
    }

    fn finish(mut self, anything_said: bool) -> Result<Spec, Errors> {
        let nothing = self.jobs.is_empty() && self.errors.is_empty();
        if nothing && !self.switches.informs() && !(self.switches.parse_only && anything_said) {
            let files: Vec<&str> = self
                .sources
                .iter()
                .filter_map(|source| source.file.as_deref())
                .collect();
            let text = match files.as_slice() {
                [] => "no jobs defined; see --help".to_owned(),
                files => format!("no jobs defined in {}; see --help", files.join(", ")),
            };
            self.errors.push(Diagnostic::error(None, text));
        }
        let command_lines = self
            .sources
            .iter()
            .filter_map(|s| showcmd::line(s, &self.jobs))
            .collect();
        let mut spec = Spec {
            switches: self.switches,
            jobs: self.jobs,
            global_given: self.defaults.given,
            notes: self.notes,
            command_lines,
        };
        for diagnostic in check::check(&spec) {
            use crate::place::Severity::{Error, Warning};
            match diagnostic.severity {
                Error => self.errors.push(diagnostic),
                Warning if spec.switches.warnings_fatal => self.errors.push(diagnostic),
                _ => spec.notes.push(diagnostic),
            }
        }
        if self.errors.is_empty() {
            Ok(spec)
        } else {
            Err(Errors(self.errors))
        }
    }
}

/// An option as it was typed.
fn said(name: &str, value: Option<&str>) -> String {
    match value {
        Some(value) => format!("{name}={value}"),
        None => name.to_string(),
    }
}
