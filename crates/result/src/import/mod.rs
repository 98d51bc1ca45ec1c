//! Reading the reports of other tools into a `Run`.

mod fio_json;

pub use fio_json::fio_json;

use thiserror::Error;

/// Why a report could not be read.
#[derive(Debug, Error)]
pub enum ImportError {
    /// No line starts a JSON document.
    #[error("no JSON document found: no line of the text starts with an opening brace")]
    NoDocument,
    /// A document breaks off, is no JSON, or is not what fio 3 writes.
    #[error("document {document}: {source}")]
    Malformed {
        /// Number of the document in the text, from 1.
        document: usize,
        /// What is wrong, with line and column counted from the start of the first document.
        source: serde_json::Error,
    },
}
