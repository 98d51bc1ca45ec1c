//! Commands that run before and after a job.

use crate::failure::step;
use result::Failure;
use std::fs::File;
use std::process::{Command, Stdio};

/// errno of a job that was called off.
const ECANCELED: i32 = 125;

/// Runs `command` in a shell and waits for it; what it prints goes to `file`.
///
/// # Errors
/// The file cannot be made, the shell cannot be started, or the command says no.
pub fn run(command: &str, option: &str, file: &str) -> Result<(), Failure> {
    let cannot = |error| step(format!("{option}={command}"), &error);
    let out = File::create(file).map_err(|error| step(format!("open {file}"), &error))?;
    let err = out.try_clone().map_err(cannot)?;
    let ended = Command::new("/bin/sh")
        .args(["-c", command])
        .stdin(Stdio::null())
        .stdout(out)
        .stderr(err)
        .status()
        .map_err(cannot)?;
    if ended.success() {
        return Ok(());
    }
    let message = format!("{option}={command} ended with {ended}; see {file}");
    Err(Failure::new(ECANCELED, option, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_is_printed_is_kept_and_a_failure_is_told() {
        let file = std::env::temp_dir().join(format!("assay-script-{}", std::process::id()));
        let file = file.to_str().expect("ASCII");
        run("echo one; echo two >&2", "exec_prerun", file).expect("success");
        assert_eq!(std::fs::read_to_string(file).expect("output"), "one\ntwo\n");
        let failure = run("exit 3", "exec_prerun", file).expect_err("not 0");
        assert_eq!(failure.errno, ECANCELED);
        assert!(
            failure.message.contains("exit status: 3"),
            "{}",
            failure.message
        );
        std::fs::remove_file(file).expect("clean up");
    }
}
