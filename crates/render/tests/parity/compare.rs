//! Line by line and field by field, with the differences between fio 3.33 and 3.42 named here.

use crate::capture::Capture;

/// Compares all three renderings of a capture with what fio printed.
pub fn check(capture: &Capture) {
    let run = capture.run();
    lines(
        "normal",
        capture,
        &normal_of_342(&capture.normal),
        &render::normal(&run),
    );
    lines(
        "json+",
        capture,
        &capture.json,
        &json_of_333(&render::json(&run, true)),
    );
    let number = capture
        .terse
        .split(';')
        .next()
        .and_then(|number| number.parse().ok());
    let version = number
        .and_then(render::TerseVersion::from_number)
        .expect("a known version");
    lines(
        "terse",
        capture,
        &capture.terse,
        &terse_of_333(&render::terse(&run, version)),
    );
}

const PASSED_OVER: &str = "err=84 (error=Invalid or incomplete multibyte or wide character):";

/// fio 3.33's normal text as 3.42 prints it.
fn normal_of_342(text: &str) -> String {
    text.lines()
        .map(|line| {
            let line = line.replace("; 0 zone resets", "");
            let line = line.replace("sync_file_range:", "sync_file_range/syncfs:");
            let line = line.replace("target=0, window=0,", "target=0.00ns, window=0.00ns,");
            let line = line.replace("err=84 ():", PASSED_OVER);
            let disk = line.contains(": ios=") && line.contains("in_queue=");
            let line = if disk {
                line.replace(", merge=", ", sectors=0/0, merge=")
            } else {
                line
            };
            line + "\n"
        })
        .collect()
}

/// Our JSON without the keys that 3.33 does not have, and with its version.
fn json_of_333(text: &str) -> String {
    const NEWER: [&str; 5] = [
        "\"job_start\" : ",
        "\"latency_target_ns\" : ",
        "\"latency_window_us\" : ",
        "\"read_sectors\" : ",
        "\"write_sectors\" : ",
    ];
    let mut kept: Vec<String> = Vec::new();
    for line in text.replace(render::FIO_VERSION, "fio-3.33").lines() {
        if !NEWER.iter().any(|key| line.trim_start().starts_with(key)) {
            kept.push(line.to_owned());
        } else if let Some(before) = kept.last_mut().filter(|_| !line.ends_with(',')) {
            // The last key of an object takes the comma before it along.
            before.truncate(before.trim_end_matches(',').len());
        }
    }
    kept.join("\n") + "\n"
}

fn terse_of_333(text: &str) -> String {
    text.replace(render::FIO_VERSION, "fio-3.33")
}

fn lines(format: &str, capture: &Capture, fio: &str, ours: &str) {
    let name = &capture.name;
    for (number, (theirs, mine)) in fio.lines().zip(ours.lines()).enumerate() {
        assert!(
            same(theirs, mine) || lost_figures(theirs, mine) || a_second_apart(theirs, mine),
            "{name}, {format}, line {}:\n fio  {theirs}\n ours {mine}",
            number + 1
        );
    }
    assert_eq!(
        fio.lines().count(),
        ours.lines().count(),
        "{name}, {format}: number of lines\n--- fio\n{fio}\n--- ours\n{ours}"
    );
    assert_eq!(
        fio.ends_with('\n'),
        ours.ends_with('\n'),
        "{name}, {format}: last line end"
    );
}

/// With `unified_rw_reporting=both`, 3.33 forgets `significant_figures` for the folded line.
fn lost_figures(fio: &str, ours: &str) -> bool {
    fio.starts_with("  mixed: IOPS=0, BW=0 (0)(0B/") && ours.starts_with("  mixed: IOPS=")
}

/// fio asks for the time anew for each format, and a second may begin in between.
fn a_second_apart(fio: &str, ours: &str) -> bool {
    let parts = |line: &str| {
        let (head, rest) = line.split_once(" pid=")?;
        let (pid, date) = rest.split_once(": ")?;
        let date = jiff::civil::DateTime::strptime("%a %b %e %H:%M:%S %Y", date).ok()?;
        Some((head.to_owned(), pid.to_owned(), date))
    };
    let (Some((a, pid, then)), Some((b, other, now))) = (parts(fio), parts(ours)) else {
        return false;
    };
    (a, pid) == (b, other) && then.duration_until(now).unsigned_abs().as_secs() <= 1
}

/// Equal but for decimal fractions, which may differ by one in the last digit or a millionth:
/// JSON rounds means and deviations to six decimals before we read them.
fn same(fio: &str, ours: &str) -> bool {
    if fio == ours {
        return true;
    }
    let (theirs, mine) = (tokens(fio), tokens(ours));
    theirs.len() == mine.len() && theirs.iter().zip(&mine).all(|(a, b)| a == b || near(a, b))
}

/// Numbers and what stands between them.
fn tokens(line: &str) -> Vec<&str> {
    let number = |c: char| c.is_ascii_digit() || c == '.';
    let mut out = Vec::new();
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let inside = number(first);
        let end = rest.find(|c| number(c) != inside).unwrap_or(rest.len());
        out.push(&rest[..end]);
        rest = &rest[end..];
    }
    out
}

fn near(a: &str, b: &str) -> bool {
    let decimals = |text: &str| text.split_once('.').map(|(_, digits)| digits.len());
    let (Some(places), true) = (decimals(a), decimals(a) == decimals(b)) else {
        return false;
    };
    let (Ok(x), Ok(y)) = (a.parse::<f64>(), b.parse::<f64>()) else {
        return false;
    };
    let step = 10f64.powi(-(places as i32));
    (x - y).abs() <= 1.001 * step + 1e-6 * x.abs()
}

#[test]
fn a_second_may_begin_between_two_formats() {
    let line = |second: &str| {
        format!("a: (groupid=0, jobs=1): err= 0: pid=5542: Sun Nov 22 12:53:{second} 2026")
    };
    assert!(a_second_apart(&line("53"), &line("54")));
    assert!(!a_second_apart(&line("53"), &line("55")));
    assert!(!a_second_apart("  read: IOPS=1", "  read: IOPS=2"));
}
