//! Why something could not be measured: one line, with what would help.

use std::io;

/// See the module.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The machine or its limits do not allow it.
    #[error("{0}")]
    Refused(String),
    /// A system call failed.
    #[error("{what}: {source}")]
    System {
        /// What was tried.
        what: String,
        /// What the system said.
        source: io::Error,
    },
    /// A fact about the machine cannot be read.
    #[error(transparent)]
    Host(#[from] host::HostError),
}

impl From<io::Error> for Error {
    fn from(source: io::Error) -> Error {
        let what = "starting the worker threads".into();
        Error::System { what, source }
    }
}

impl From<crate::kernel::Error> for Error {
    fn from(error: crate::kernel::Error) -> Error {
        Error::refused(error.to_string())
    }
}

impl Error {
    pub(crate) fn refused(why: impl Into<String>) -> Error {
        Error::Refused(why.into())
    }

    /// For `map_err`: names what was tried.
    pub(crate) fn system(what: impl Into<String>) -> impl FnOnce(io::Error) -> Error {
        let what = what.into();
        move |source| Error::System { what, source }
    }
}
