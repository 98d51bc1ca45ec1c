//! Where the history lies.

use crate::StoreError;
use std::ffi::OsString;
use std::path::PathBuf;

/// `assay/history.db` below the data directory of the user (XDG Base Directory Specification).
///
/// # Errors
/// When neither `XDG_DATA_HOME` nor `HOME` says where that is.
pub fn default_path() -> Result<PathBuf, StoreError> {
    below(std::env::var_os("XDG_DATA_HOME"), std::env::var_os("HOME")).ok_or(StoreError::NoPlace)
}

fn below(data: Option<OsString>, home: Option<OsString>) -> Option<PathBuf> {
    // A relative path is to be ignored.
    let data = data.map(PathBuf::from).filter(|path| path.is_absolute());
    let home = home.map(PathBuf::from).filter(|path| path.is_absolute());
    let data = data.or_else(|| home.map(|home| home.join(".local/share")))?;
    Some(data.join("assay/history.db"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn follows_the_specification() {
        let some = |text: &str| Some(OsString::from(text));
        let path = |text: &str| Some(PathBuf::from(text));
        assert_eq!(below(some("/d"), some("/h")), path("/d/assay/history.db"));
        assert_eq!(
            below(None, some("/h")),
            path("/h/.local/share/assay/history.db")
        );
        assert_eq!(
            below(some("d"), some("/h")),
            path("/h/.local/share/assay/history.db")
        );
        assert_eq!(below(some(""), None), None);
    }
}
