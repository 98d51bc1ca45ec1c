//! Where the history lies, and how a verb keeps its run there.

use anyhow::bail;
use host::picture::{self, Depth, Scope};
use result::Run;
use std::path::PathBuf;
use store::{About, Saved, Sqlite, Store};

/// Variable that names the file of the history.
const VARIABLE: &str = "ASSAY_DB";

/// Where the history lies.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct Place {
    /// File of the history; without it `ASSAY_DB`, else `assay/history.db` below the user's data
    #[arg(long, value_name = "FILE", global = true)]
    db: Option<PathBuf>,
}

impl Place {
    fn path(&self) -> anyhow::Result<PathBuf> {
        match (&self.db, std::env::var_os(VARIABLE)) {
            (Some(path), _) => Ok(path.clone()),
            (None, Some(path)) if !path.is_empty() => Ok(path.into()),
            _ => Ok(store::default_path()?),
        }
    }

    /// Opens the history, or makes it.
    pub fn open(&self) -> anyhow::Result<Box<dyn Store>> {
        Ok(Box::new(Sqlite::open(&self.path()?)?))
    }

    /// Opens a history that should be there.
    pub fn open_known(&self) -> anyhow::Result<Box<dyn Store>> {
        let path = self.path()?;
        if !path.exists() {
            bail!("{}: there is no history yet", path.display());
        }
        self.open()
    }
}

/// How a verb of our own keeps what it measured.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct Keeping {
    /// Do not keep the run in the history
    #[arg(long, global = true)]
    no_save: bool,
    /// Tag it, so that `assay compare` and `assay history` find it; may be repeated
    #[arg(long, value_name = "TAG", global = true)]
    tag: Vec<String>,
    #[command(flatten)]
    place: Place,
}

impl Keeping {
    /// Nothing is to be kept.
    pub fn nothing(&self) -> bool {
        self.no_save
    }

    /// Where the history lies.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// The same with one more tag.
    pub fn tagged(&self, tag: &str) -> Keeping {
        let mut more = self.clone();
        more.tag.push(tag.to_owned());
        more
    }

    /// What the arguments say of each run.
    pub fn about(&self, suite: Option<&str>) -> About {
        About {
            suite: suite.map(str::to_owned),
            tags: self.tag.clone(),
            ..About::default()
        }
    }

    /// Keeps a run, unless that was not wanted.
    ///
    /// # Errors
    /// When the history cannot be written.
    pub fn keep(&self, run: &Run, suite: &str) -> anyhow::Result<Option<i64>> {
        if self.no_save {
            return Ok(None);
        }
        let saved = self.place.open()?.save(run, &self.about(Some(suite)))?;
        Ok(Some(saved.id()))
    }

    /// Keeps a run and says so in one line, for people. The figures are out already, so that a
    /// history that takes nothing is told and no reason to fail.
    pub fn keep_and_tell(&self, run: &Run, suite: &str) -> String {
        match self.keep(run, suite) {
            Ok(Some(id)) => format!("kept as run {id}      `assay history show {id}`\n"),
            Ok(None) => String::new(),
            Err(error) => {
                eprintln!("assay: the run is not kept: {error:#}");
                String::new()
            }
        }
    }

    /// Keeps runs; how many are new, and how many were there.
    ///
    /// # Errors
    /// When the history cannot be written; the runs before the failure are kept.
    pub fn keep_all<'a>(
        &self,
        runs: impl Iterator<Item = &'a Run>,
        about: &About,
    ) -> anyhow::Result<(usize, usize)> {
        let mut store = self.place.open()?;
        let (mut new, mut known) = (0, 0);
        for run in runs {
            match store.save(run, about)? {
                Saved::New(_) => new += 1,
                Saved::Known(_) => known += 1,
            }
        }
        Ok((new, known))
    }
}

/// Whether a run of another program's language is to be kept: such programs keep nothing, so
/// that has to be asked for, in the environment or by `--save`.
pub fn asked(save: bool) -> bool {
    save || std::env::var_os(VARIABLE).is_some_and(|path| !path.is_empty())
}

/// Keeps such a run.
///
/// # Errors
/// When the history cannot be written.
pub fn keep(run: &Run) -> anyhow::Result<()> {
    Place::default().open()?.save(run, &About::default())?;
    Ok(())
}

/// The command line of this process, for the record.
pub fn command_line() -> String {
    let words: Vec<String> = std::env::args_os()
        .skip(1)
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    command("assay", &words)
}

/// A command line as a shell takes it.
pub fn command(program: &str, words: &[String]) -> String {
    // `shell-words` quotes an `=`, which no shell minds.
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    let mut line = program.to_owned();
    for word in words {
        line.push(' ');
        match !word.is_empty() && word.chars().all(plain) {
            true => line.push_str(word),
            false => line.push_str(&shell_words::quote(word)),
        }
    }
    line
}

/// The machine, where its disks are not what is measured.
pub fn machine() -> Option<result::Host> {
    let facts = host::Facts::read(&host::Root::default()).ok()?;
    Some(picture::take(&facts, Scope::Paths(&[]), Depth::Listed))
}
