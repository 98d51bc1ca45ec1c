//! Why a plan cannot be made: one line per fault, with the job and the option.

use crate::guard::GuardError;
use crate::regions::RegionError;
use spec::Place;
use std::fmt;
use std::path::PathBuf;
use workload::verify::VerifySpecError;

/// One fault of one job.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: job `{job}`: {fault}")]
pub struct PlanError {
    /// Where the job begins.
    pub place: Place,
    /// The job's name.
    pub job: String,
    /// What is wrong.
    pub fault: Fault,
}

/// What is wrong with a job.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// An option that cannot be, by itself or beside another. The text names it.
    #[error("{text}")]
    Option {
        /// The option to change.
        option: &'static str,
        /// The whole line.
        text: String,
    },
    /// Sizes and offsets.
    #[error(transparent)]
    Region(#[from] RegionError),
    /// A target that must not be written.
    #[error(transparent)]
    Guard(#[from] GuardError),
    /// Headers that do not fit.
    #[error(transparent)]
    Verify(#[from] VerifySpecError),
    /// A target or directory that cannot be used.
    #[error("{}: {reason}", path.display())]
    Path {
        /// Which.
        path: PathBuf,
        /// Why, naming the option where one is to blame.
        reason: String,
    },
    /// Direct I/O that the device would refuse.
    #[error(
        "{option}={value} but {} needs a multiple of {align} for direct I/O",
        path.display()
    )]
    Direct {
        /// The option that is not a multiple.
        option: &'static str,
        /// Its value in bytes.
        value: u64,
        /// The target.
        path: PathBuf,
        /// What the target wants, in bytes.
        align: u32,
    },
}

impl Fault {
    /// A fault of one option; `text` names it.
    pub(crate) fn option(option: &'static str, text: impl Into<String>) -> Self {
        Fault::Option {
            option,
            text: text.into(),
        }
    }
}

/// All faults that were found; never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanErrors(pub Vec<PlanError>);

impl fmt::Display for PlanErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, error) in self.0.iter().enumerate() {
            let separator = if at == 0 { "" } else { "\n" };
            write!(f, "{separator}{error}")?;
        }
        Ok(())
    }
}

impl std::error::Error for PlanErrors {}
