//! Jobs that exist twice: as options for fio and as a [`VerifySpec`].

use std::path::Path;
use std::process::{Command, Output};
use workload::Pattern;
use workload::verify::{VerifyKind, VerifySpec};

/// False, with a visible reason, where there is no fio to compare with.
pub fn fio_present() -> bool {
    let present = Command::new("fio").arg("--version").output().is_ok();
    if !present {
        println!("SKIP: no fio to compare with");
    }
    present
}

/// One verified job on the file `f`.
#[derive(Clone, Debug)]
pub struct Job {
    pub bs: usize,
    pub size: usize,
    kind: VerifyKind,
    interval: u32,
    offset: u32,
    compress: u32,
    pattern: Option<(&'static str, Pattern)>,
    largest: usize,
}

impl Job {
    pub fn new(kind: VerifyKind) -> Self {
        Job {
            bs: 4096,
            size: super::SIZE,
            kind,
            interval: 0,
            offset: 0,
            compress: 0,
            pattern: None,
            largest: 0,
        }
    }

    pub fn block(self, bs: usize) -> Self {
        Job { bs, ..self }
    }

    pub fn size(self, size: usize) -> Self {
        Job { size, ..self }
    }

    pub fn interval(self, interval: u32) -> Self {
        Job { interval, ..self }
    }

    pub fn offset(self, offset: u32) -> Self {
        Job { offset, ..self }
    }

    pub fn compress(self, compress: u32) -> Self {
        Job { compress, ..self }
    }

    pub fn pattern(self, pattern: (&'static str, Pattern)) -> Self {
        Job {
            pattern: Some(pattern),
            ..self
        }
    }

    /// Requests of `bs` to `largest` bytes.
    pub fn up_to(self, largest: usize) -> Self {
        Job { largest, ..self }
    }

    /// The same job for this crate.
    pub fn spec(&self) -> VerifySpec {
        let bs = self.bs as u32;
        let largest = self.largest.max(self.bs) as u32;
        VerifySpec {
            interval: VerifySpec::interval_for(self.interval, bs, largest, false),
            offset: self.offset,
            pattern: self.pattern.as_ref().map(|(_, pattern)| pattern.clone()),
            compress_percent: self.compress,
            ..VerifySpec::new(self.kind)
        }
    }

    /// True if each block differs from the others.
    pub fn has_places(&self) -> bool {
        let offsets = self
            .pattern
            .as_ref()
            .is_some_and(|(_, p)| !p.offsets().is_empty());
        self.kind != VerifyKind::Pattern || offsets
    }

    /// True if damage to the data is found by whoever has not written them: fio's `meta` is
    /// about the header alone.
    pub fn checks_data(&self, by_fio: bool) -> bool {
        self.kind != VerifyKind::Meta || self.pattern.is_some() || (!by_fio && self.compress == 0)
    }

    /// The options of this job.
    fn options(&self, args: &[&str]) -> Vec<String> {
        let mut options = vec![
            format!("--size={}", self.size),
            format!("--verify={}", self.kind.name()),
        ];
        let mut add = |name: &str, value: &dyn std::fmt::Display| {
            options.push(format!("--{name}={value}"));
        };
        match self.largest {
            0 => add("bs", &self.bs),
            largest => add("bsrange", &format_args!("{}-{largest}", self.bs)),
        }
        for (name, value) in [
            ("verify_interval", self.interval),
            ("verify_offset", self.offset),
            ("buffer_compress_percentage", self.compress),
        ] {
            if value > 0 {
                add(name, &value);
            }
        }
        if let Some((text, _)) = &self.pattern {
            add("verify_pattern", text);
        }
        options.extend(args.iter().map(|arg| (*arg).to_owned()));
        options
    }
}

/// Runs all jobs at once, each on the file of its number, which is also its thread number.
fn run(dir: &Path, jobs: &[Job], args: &[&str]) -> Output {
    let mut fio = Command::new("fio");
    fio.current_dir(dir)
        .args(["--output=out", "--output-format=json", "--ioengine=psync"]);
    for (nth, job) in jobs.iter().enumerate() {
        fio.arg(format!("--name=job{nth}"))
            .arg(format!("--filename={nth}"));
        fio.args(job.options(args));
    }
    fio.output().unwrap()
}

/// What fio writes for each job with this `rw`.
pub fn write(jobs: &[Job], rw: &str) -> Vec<Vec<u8>> {
    let dir = tempfile::tempdir().unwrap();
    let out = run(dir.path(), jobs, &[&format!("--rw={rw}"), "--do_verify=0"]);
    assert!(
        out.status.success(),
        "{}",
        String::from_utf8_lossy(&out.stderr)
    );
    (0..jobs.len())
        .map(|nth| std::fs::read(dir.path().join(nth.to_string())).unwrap())
        .collect()
}

/// Lets fio verify one file per job; for each whether it was content, and all it said.
pub fn read(jobs: &[Job], files: &[Vec<u8>], args: &[&str]) -> (Vec<bool>, String) {
    let dir = tempfile::tempdir().unwrap();
    for (nth, file) in files.iter().enumerate() {
        std::fs::write(dir.path().join(nth.to_string()), file).unwrap();
    }
    let out = run(dir.path(), jobs, args);
    let report = std::fs::read_to_string(dir.path().join("out")).unwrap();
    let errors = report
        .lines()
        .filter_map(|line| line.trim().strip_prefix("\"error\" : "));
    let fine: Vec<bool> = errors.map(|error| error.starts_with("0,")).collect();
    assert_eq!(fine.len(), jobs.len(), "{report}");
    (
        fine,
        String::from_utf8_lossy(&out.stderr).trim_end().to_owned(),
    )
}
