//! The readers, each with undamaged texts of its own.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use render::TerseVersion;
use result::{Run, import};
use spec::World;

use crate::shell;

/// A reader.
pub struct Target {
    /// The word that chooses it.
    pub name: &'static str,
    /// Words that it looks for, besides those of its texts.
    pub words: &'static [&'static str],
    /// Texts that it reads.
    pub corpus: fn() -> Result<Vec<String>>,
    /// What every caller does with a text; the number chooses among several ways.
    pub read: fn(u64, &str) -> Result<()>,
}

/// All of them.
pub static TARGETS: [Target; 12] = [
    Target {
        name: "fio-text",
        words: &[
            "fio-3.33",
            "$ fio --name=a\n",
            "  lat (usec)   : 50=99.99%\n",
            "clat percentiles (usec):\n |  1.00th=[",
            "Run status group 0 (all jobs):\n",
        ],
        corpus: || {
            let mut texts = seeds("fio-normal")?;
            texts.push(render::normal(&ours()?));
            Ok(texts)
        },
        read: report,
    },
    Target {
        name: "fio-json",
        words: &[
            "\"fio version\" : \"fio-3.1\"",
            "{\n",
            "}\n",
            "[1,2]",
            "null",
        ],
        corpus: || {
            let run = ours()?;
            let mut texts = folder("goldens")?;
            texts.extend([render::json(&run, false), render::json(&run, true)]);
            Ok(texts)
        },
        read: report,
    },
    Target {
        name: "terse",
        words: &["3;fio-3.1;", ";;;;;;;;", "5;fio-3.33;"],
        corpus: || {
            let run = ours()?;
            let versions = (2..=5).filter_map(TerseVersion::from_number);
            Ok(versions
                .map(|version| render::terse(&run, version))
                .collect())
        },
        read: report,
    },
    Target {
        name: "logs",
        words: &[", ", "0, 0, 0, 0\n"],
        corpus: || {
            let row = |n: u64| {
                let (ms, value) = (n * 500, 1000 + n);
                format!("{ms}, {value}, {}, 4096, {}\n", n % 2, n * 4096)
            };
            let old = |n: u64| format!("{}, {}, {}, 0\n", n * 500, 1000 + n, n % 3);
            Ok(vec![(0..50).map(row).collect(), (0..50).map(old).collect()])
        },
        read: |number, text| {
            let names = [
                "a_bw.1.log",
                "a_clat.2.log",
                "a_iops.log",
                "a_slat.1.log",
                "a_lat.3.log",
            ];
            imported(names[number as usize % names.len()], text)
        },
    },
    Target {
        name: "dd",
        words: &[
            " bytes copied, ",
            "1+0 records out\n",
            " s, ",
            "$ dd if=a of=b\n",
        ],
        corpus: || seeds("dd"),
        read: report,
    },
    Target {
        name: "mlc",
        words: &[
            "Measuring Maximum Memory Bandwidths\n",
            "$ mlc\n",
            "00000\t",
        ],
        corpus: || seeds("mlc"),
        read: report,
    },
    Target {
        name: "tables",
        words: &["| a | IOPS | Bandwidth |\n|---|---|---|\n", "|", "```\n"],
        corpus: || seeds("table"),
        read: report,
    },
    Target {
        name: "notes",
        words: &["```\n", "$ fio --name=a\n", "{\n", "3;fio-3.1;"],
        corpus: || {
            let mut texts = folder("seeds")?;
            texts.extend(folder("goldens")?);
            texts.extend(folder("documents")?);
            Ok(texts)
        },
        read: report,
    },
    Target {
        name: "documents",
        words: &["\"schema\":1", "null", "[1,2]", "{}", "\"\""],
        corpus: || folder("documents"),
        read: |_, text| {
            imported("a.json", text)?;
            match serde_json::from_str::<Run>(text) {
                Ok(run) => sound(&run),
                Err(_) => Ok(()),
            }
        },
    },
    Target {
        name: "job-files",
        words: &[
            "[a]\n",
            "[global]\n",
            "include b.fio\n",
            "${A}",
            "$ncpus*",
            "; ",
            "\\",
            "=",
            ":",
        ],
        corpus: || {
            let jobs = shell::root().join("tests/acceptance/jobs");
            let mut texts = files(&jobs)?;
            texts.extend(files(&jobs.join("kbench"))?);
            texts.extend(invocations()?.iter().map(|line| as_file(line)));
            Ok(texts)
        },
        read: |_, text| jobs(&["job.fio".to_owned()], text),
    },
    Target {
        name: "command-lines",
        words: &[
            "--",
            "--name=b ",
            "--section=a ",
            "'",
            "\"",
            ",",
            "/",
            "%",
            "job.fio ",
            "k-",
        ],
        corpus: invocations,
        read: |_, text| {
            let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
            jobs(&words, "[a]\nsize=1m\n[b]\nrw=${A}\n")
        },
    },
    Target {
        name: "mlc-words",
        words: &[
            "-",
            "--loaded_latency ",
            "-d",
            "-o",
            "W2 ",
            "0-3 ",
            "seq ",
            "rand ",
            "dram ",
        ],
        corpus: || {
            let lines = [
                "--loaded_latency -t2 -d0 -W2 -b100m -T",
                "--idle_latency -c0 -j0 -b200m -t5 -l128 -r -D4096",
                "--bandwidth_matrix -W3 -Z -u -m0xff -e",
                "0-1 W2 seq 100000 dram 0 pmem /mnt\n2 R rand 4096 dram 1\n",
                "0\n2\n8\n1000\n20000\n",
                "0123456789abcdef\nffffffffffffffff\n",
            ];
            Ok(lines.map(str::to_owned).to_vec())
        },
        read: |_, text| {
            let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
            told(spec::mlc::parse(&words).err())?;
            told(spec::mlc::delays(text).err())?;
            told(spec::mlc::pattern(text).err())?;
            told(spec::mlc::threads(text).err())
        },
    },
];

/// A refusal says something.
fn told(refusal: Option<String>) -> Result<()> {
    ensure!(
        refusal.is_none_or(|text| !text.trim().is_empty()),
        "a refusal without words"
    );
    Ok(())
}

fn report(_: u64, text: &str) -> Result<()> {
    imported("a.txt", text)
}

/// What every caller does with a file.
fn imported(name: &str, text: &str) -> Result<()> {
    let found = import::read(name, text);
    let lines = text.lines().count();
    for problem in &found.problems {
        ensure!(
            (1..=lines.max(1)).contains(&problem.line),
            "a problem on line {} of {lines}",
            problem.line
        );
    }
    found.runs.iter().try_for_each(sound)
}

/// A document that was read comes back, has figures, and can be shown.
fn sound(run: &Run) -> Result<()> {
    let json = serde_json::to_string(run)?;
    let again: Run = serde_json::from_str(&json).context("its own document")?;
    ensure!(again.jobs.len() == run.jobs.len(), "jobs were lost");
    for metric in store::metrics(run) {
        ensure!(metric.value.is_finite(), "{} is no number", metric.name);
    }
    let _ = store::work(run);
    let _ = render::normal(run);
    let _ = render::json(run, true);
    Ok(())
}

/// A command line with a job file: refused in words, or understood in the same way again.
fn jobs(words: &[String], file: &str) -> Result<()> {
    let engines: Vec<option::EngineTable> = engine::registry::tables().copied().collect();
    let world = OneFile(file);
    match spec::parse(words, &engines, &world) {
        Err(errors) => {
            ensure!(!errors.0.is_empty(), "refused without a reason");
            let mute = errors.0.iter().find(|error| error.text.trim().is_empty());
            ensure!(mute.is_none(), "an error without words: {mute:?}");
        }
        Ok(spec) => {
            for job in &spec.jobs {
                let set = spec::Options::defs().filter(|def| job.options.was_set(def.name));
                set.map(|def| def.name)
                    .try_for_each(|name| shown(&job.options, name))?;
            }
        }
    }
    Ok(())
}

/// An option that was taken is shown as text that means the same.
fn shown(options: &spec::Options, name: &str) -> Result<()> {
    let text = options.show(name).with_context(|| name.to_owned())?;
    if text.is_empty() {
        return Ok(());
    }
    let mut again = spec::Options::default();
    let taken = again
        .set(name, Some(&text))
        .with_context(|| name.to_owned())?;
    taken.with_context(|| format!("{name} is shown as `{text}`"))?;
    let twice = again.show(name).unwrap_or_default();
    ensure!(twice == text, "{name}: `{text}` is read as `{twice}`");
    Ok(())
}

/// A world with one job file and one variable.
struct OneFile<'a>(&'a str);

impl World for OneFile<'_> {
    fn env(&self, name: &str) -> Option<String> {
        (name == "A").then(|| "randread".to_owned())
    }

    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        match self.exists(path) {
            true => Ok(self.0.as_bytes().to_vec()),
            false => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn exists(&self, path: &str) -> bool {
        path.ends_with(".fio")
    }

    fn cpus(&self) -> u64 {
        4
    }

    fn page_bytes(&self) -> u64 {
        4096
    }

    fn memory_mib(&self) -> u64 {
        1024
    }
}

/// The reports of a format among people's notes.
fn seeds(format: &str) -> Result<Vec<String>> {
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for text in folder("seeds")? {
        for source in import::read("a.txt", &text)
            .runs
            .into_iter()
            .filter_map(|run| run.source)
        {
            texts.entry(source.format).or_default().push(source.text);
        }
    }
    let known: Vec<String> = texts.keys().cloned().collect();
    let found = texts.remove(format);
    found.with_context(|| {
        format!(
            "no report of format {format}; there are {}",
            known.join(", ")
        )
    })
}

/// The texts of a folder of the importers' tests.
fn folder(name: &str) -> Result<Vec<String>> {
    files(&shell::root().join("crates/result/tests").join(name))
}

fn files(folder: &Path) -> Result<Vec<String>> {
    let mut paths: Vec<_> = fs::read_dir(folder)
        .with_context(|| folder.display().to_string())?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<_>>()?;
    paths.retain(|path| path.is_file());
    paths.sort();
    let text = |path| fs::read_to_string(&path).with_context(|| format!("{path:?}"));
    paths.into_iter().map(text).collect()
}

/// A document of our own.
fn ours() -> Result<Run> {
    let path = shell::root().join("crates/result/tests/documents/v1.json");
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    Ok(serde_json::from_str(&text)?)
}

/// Command lines of vendors and scripts, without the program's name.
fn invocations() -> Result<Vec<String>> {
    let path = shell::root().join("tests/acceptance/invocations.txt");
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let words = lines.filter_map(|line| line.split_once(": fio "));
    Ok(words.map(|(_, words)| words.to_owned()).collect())
}

/// The same as a job file.
fn as_file(line: &str) -> String {
    let words = line.split_whitespace();
    let options = words.filter_map(|word| word.strip_prefix("--"));
    let options = options.filter(|option| !option.starts_with("name"));
    options.fold("[a]\n".to_owned(), |file, option| file + option + "\n")
}
