//! Every mistake is one clear line with its place.

use super::{good, read};
use crate::testing::FakeWorld;

fn errors(line: &str) -> Vec<String> {
    let errors = read(line, &FakeWorld::default()).expect_err(line);
    errors.0.iter().map(ToString::to_string).collect()
}

#[track_caller]
fn wrong(line: &str, want: &str) {
    assert_eq!(errors(line), [want], "{line}");
}

#[track_caller]
fn wrong_file(text: &str, want: &str) {
    let world = FakeWorld::default().with_file("j.fio", text);
    let errors = read("j.fio", &world).expect_err(text);
    assert_eq!(errors.to_string(), want);
}

#[test]
fn unknown_names_get_the_nearest() {
    let word = "command line, word 2";
    wrong(
        "--name=a --iodepht=4",
        &format!("{word}: unknown option `--iodepht=4`; did you mean `--iodepth`?"),
    );
    wrong_file(
        "[a]\n  blocksiz=4k\n",
        "j.fio:2:3: unknown option `blocksiz`; did you mean `blocksize`?",
    );
    wrong_file(
        "[a]\nhipry\n",
        "j.fio:2:1: unknown option `hipry`; did you mean `hipri`?",
    );
    wrong_file(
        "[a]\nxxxxxxxxxxxx=1\n",
        "j.fio:2:1: unknown option `xxxxxxxxxxxx`",
    );
    wrong(
        "--name=a --ioengine=libaoi",
        "command line, word 1: unknown engine `libaoi`; did you mean `libaio`?",
    );
    wrong(
        "--name=a --ioengine=rbd",
        "command line, word 1: ioengine=rbd: not supported (needs librbd)",
    );
    wrong(
        "--name=a --hipri",
        &format!("{word}: hipri: not an option of psync but of io_uring"),
    );
}

#[test]
fn values_that_cannot_be() {
    let at = "command line, word 2";
    wrong(
        "--name=a --bs=4q",
        &format!(
            "{at}: bs=4q: `q` in `4q` is not a unit; sizes end in k, m, g, t or p (optionally \
             followed by b, i or ib); accepted: at least 1"
        ),
    );
    wrong(
        "--name=a --bs=4kfoo",
        &format!(
            "{at}: bs=4kfoo: `kfoo` in `4kfoo` is not a unit; sizes end in k, m, g, t or p \
             (optionally followed by b, i or ib); accepted: at least 1"
        ),
    );
    wrong(
        "--name=a --runtime=5x",
        &format!("{at}: runtime=5x: `x` in `5x` is not a unit; times end in d, h, m, s, ms or us"),
    );
    wrong(
        "--name=a --bs=0",
        &format!("{at}: bs=0: 0 is out of range (at least 1)"),
    );
    wrong(
        "--name=a --rwmixread=101",
        &format!("{at}: rwmixread=101: 101 is out of range (0 to 100)"),
    );
    wrong(
        "--name=a --size=101%",
        &format!("{at}: size=101%: 101% is out of range (0% to 100%)"),
    );
    wrong(
        "--name=a --direct=true",
        &format!("{at}: direct=true: `true`: expected 0 or 1"),
    );
    wrong(
        "--name=a --rw=randreed",
        &format!(
            "{at}: rw=randreed: `randreed` is not one of read, write, trim, randread, \
             randwrite, randtrim, rw, randrw, trimwrite, randtrimwrite; did you mean `randread`?"
        ),
    );
    wrong(
        "--name=a --bs=1,2,3,4",
        &format!("{at}: bs=1,2,3,4: `1,2,3,4`: expected one to three values: read,write,trim"),
    );
    wrong(
        "--name=a --size=(1+",
        &format!(
            "{at}: size=(1+: `(1+` is not a valid expression; accepted: bytes such as 64k or 1g, \
             shares such as 50%, zones such as 2z"
        ),
    );
    wrong_file("[a]\ndirect\n", "j.fio:2:1: direct: needs a value");
    wrong(
        "--name=a --bssplit=4k/60:8k/50",
        &format!(
            "{at}: bssplit=4k/60:8k/50: `4k/60:8k/50`: the percentages add up to more than 100"
        ),
    );
}

#[test]
fn what_is_not_built_is_refused_by_name() {
    let at = "command line, word 2";
    wrong(
        "--name=a --block_error_percentiles=1",
        &format!("{at}: block_error_percentiles=1: not supported (trim failure histograms)"),
    );
    wrong(
        "--name=a --mem=cudamalloc",
        &format!("{at}: mem=cudamalloc: not supported (needs a CUDA driver)"),
    );
    wrong(
        "--server",
        "command line, word 1: --server: not supported yet (runs over several hosts)",
    );
}

#[test]
fn contradictions_are_errors() {
    let job = "command line, word 1: job `a`:";
    wrong(
        "--name=a --latency_target=1ms",
        &format!("{job} latency_target needs a latency_window to judge by"),
    );
    wrong(
        "--name=a --ramp_time=1 --ramp_size=1m",
        &format!("{job} ramp_time and ramp_size exclude each other"),
    );
    wrong(
        "--name=a --ss=iops:5% --ss_dur=5 --ss_interval=2",
        &format!(
            "{job} steadystate_duration=5s must be a multiple of \
             steadystate_check_interval=2s, and more than one"
        ),
    );
    wrong(
        "--name=a --ss=iops:5% --ss_dur=5 --ss_interval=100ms",
        &format!("{job} steadystate_check_interval must be at least 1s"),
    );
    wrong(
        "--name=a --rate=1m --rate_iops=10",
        &format!("{job} rate and rate_iops exclude each other"),
    );
    wrong(
        "--name=a --verify_offset=8",
        &format!("{job} verify_offset must be 40 at least, the size of a header"),
    );
    assert_eq!(good("--name=a --verify_offset=40").jobs.len(), 1);
    wrong(
        "--name=a --rw=write --readonly",
        &format!("{job} trim and write operations are not allowed with the --readonly parameter"),
    );
    wrong(
        "--name=a --wait_for=b",
        &format!("{job} wait_for=b: no earlier job has this name"),
    );
    good("--name=b --name=a --wait_for=b");
    wrong(
        "--name=a --time_based --warnings-fatal",
        &format!("{job} time_based needs a runtime; without one it has no effect"),
    );
    assert_eq!(good("--name=a --time_based").notes.len(), 1);
}

#[test]
fn nothing_to_do_is_an_error_unless_information_was_asked_for() {
    wrong("", "no jobs defined; see --help");
    wrong("--bs=4k", "no jobs defined; see --help");
    wrong(
        "none.fio",
        "command line, word 1: cannot read job file `none.fio`: entity not found",
    );
    wrong_file("", "no jobs defined in j.fio; see --help");
    for line in [
        "--version",
        "-v",
        "-h",
        "--help",
        "--cmdhelp",
        "--enghelp=io_uring",
    ] {
        assert!(good(line).switches.informs(), "{line}");
    }
}

#[test]
fn all_mistakes_are_told_at_once() {
    let told = errors("--name=a --bs=x --nosuchthing=1 --eta-interval=1ms --output-format=jsn");
    assert_eq!(told.len(), 4, "{told:?}");
}
