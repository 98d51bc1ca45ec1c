//! What direct I/O wants, said before the first request fails with `EINVAL`.

use crate::api::{EngineError, Io, Setup};
use std::path::Path;
use sys::file::{DirectLimits, File};
use units::Ddir;

/// Refuses a job whose block size or buffers direct I/O cannot take, naming what it wants.
/// Devices that do not say what they want pass.
pub(crate) fn check<O>(engine: &'static str, setup: &Setup<'_, O>) -> Result<(), EngineError> {
    if !setup.direct || !(setup.reads || setup.writes) {
        return Ok(());
    }
    for file in &setup.files {
        let Some(limits) = file.direct_limits() else {
            continue;
        };
        let addresses = (0..setup.pool.slots()).map(|slot| setup.pool.slot(slot).as_ptr() as usize);
        let what =
            fault(file.path(), limits, u64::from(setup.min_len), "block size").or_else(|| {
                addresses
                    .filter_map(|at| misplaced(file.path(), limits, at))
                    .next()
            });
        if let Some(what) = what {
            return Err(EngineError::Unsupported { engine, what });
        }
    }
    Ok(())
}

/// Why a request on a direct file may have failed with `EINVAL`; `None` if its shape is fine or
/// the device does not say what it wants. `address` is that of the request's first byte.
pub fn explain(file: &File, io: &Io, address: usize) -> Option<String> {
    if !matches!(io.ddir, Ddir::Read | Ddir::Write) {
        return None;
    }
    let limits = file.direct_limits()?;
    fault(file.path(), limits, u64::from(io.len), "length")
        .or_else(|| fault(file.path(), limits, io.offset, "offset"))
        .or_else(|| misplaced(file.path(), limits, address))
}

fn fault(path: &Path, limits: DirectLimits, value: u64, name: &str) -> Option<String> {
    let align = limits.offset_align;
    (!value.is_multiple_of(u64::from(align))).then(|| {
        format!(
            "direct I/O on {} wants offsets and lengths in multiples of {align} bytes, \
             but the {name} is {value}",
            path.display()
        )
    })
}

fn misplaced(path: &Path, limits: DirectLimits, address: usize) -> Option<String> {
    let align = limits.memory_align.max(1);
    (!address.is_multiple_of(align as usize)).then(|| {
        format!(
            "direct I/O on {} wants buffers at multiples of {align} bytes; set iomem_align={align}",
            path.display()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_name_what_is_wanted() {
        let limits = DirectLimits {
            memory_align: 512,
            offset_align: 4096,
        };
        let path = Path::new("/dev/x");
        assert_eq!(fault(path, limits, 8192, "length"), None);
        let text = fault(path, limits, 512, "length").unwrap();
        assert!(text.contains("/dev/x") && text.contains("4096") && text.contains("is 512"));
        assert_eq!(misplaced(path, limits, 1024), None);
        assert!(
            misplaced(path, limits, 1025)
                .unwrap()
                .contains("multiples of 512")
        );
    }
}
