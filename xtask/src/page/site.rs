//! A server over a small history, for the browser to walk through.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::shell;

/// A name that no page may obey.
const HOSTILE: &str = "<script>alert(1)</script>\"'&\n=x";

/// The server, and a run that it shows live. Both end with this.
pub struct Site {
    children: Vec<Child>,
    link: String,
}

impl Site {
    /// Fills a history in `home` and serves it.
    ///
    /// # Errors
    /// A command that fails.
    pub fn start(assay: &Path, home: &Path) -> Result<Site> {
        let place = home.join("site");
        if place.exists() {
            fs::remove_dir_all(&place)?;
        }
        fs::create_dir_all(&place)?;
        fill(assay, &place)?;
        let mut server = words(assay, &place, &["serve"])
            .stdout(Stdio::piped())
            .spawn()
            .context("assay serve")?;
        let stdout = server.stdout.take().context("what it prints")?;
        let mut site = Site {
            children: vec![server],
            link: String::new(),
        };
        BufReader::new(stdout).read_line(&mut site.link)?;
        ensure!(
            site.link.starts_with("http://"),
            "assay serve printed no link"
        );
        // Two jobs that go on for as long as anybody may look.
        let name = format!("--name={HOSTILE}");
        let mut run = vec![
            "fio",
            "--live=page",
            "--ioengine=null",
            "--rw=randrw",
            "--bs=4k",
        ];
        run.extend([
            "--size=1g",
            "--time_based",
            "--runtime=3600",
            "--rate_iops=20000",
        ]);
        run.extend([
            "--numjobs=2",
            "--status-interval=1",
            "--output=/dev/null",
            &name,
        ]);
        let run = words(assay, &place, &run).stdout(Stdio::null()).spawn();
        site.children.push(run.context("assay fio")?);
        Ok(site)
    }

    /// Addresses of the pages.
    pub fn pages(&self) -> Vec<String> {
        let pages = [
            "",
            "?tag=%3Cscript%3Ealert(1)%3C%2Fscript%3E",
            "run?id=long",
            "compare?a=old&b=new",
            "trend?metric=iops",
            "live",
        ];
        let link = self.link.trim();
        pages.iter().map(|page| format!("{link}{page}")).collect()
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        for child in &mut self.children {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn words(assay: &Path, place: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(assay);
    command
        .args(words)
        .env("ASSAY_DB", place.join("h.db"))
        .env("XDG_RUNTIME_DIR", place)
        .current_dir(place);
    command
}

/// Notes that were measured again and again, a step between them; and a run with a hostile name.
fn fill(assay: &Path, place: &Path) -> Result<()> {
    let done = |line: &[&str]| {
        let status = words(assay, place, line).stdout(Stdio::null()).status();
        ensure!(
            status.context("assay")?.success(),
            "`assay {}` failed",
            line.join(" ")
        );
        Ok(())
    };
    for (tag, level) in [("old", 1.0), ("new", 0.9)] {
        let mut line: Vec<String> = ["import", "--host", "box", "--tag", tag]
            .map(str::to_owned)
            .into();
        for at in 0..8 {
            let factor = level * (1.0 + 0.002 * f64::from(at * 5 % 8));
            line.push(note(place, tag, at, factor)?.display().to_string());
        }
        done(&line.iter().map(String::as_str).collect::<Vec<_>>())?;
    }
    let name = format!("--name={HOSTILE}");
    let run = "fio --ioengine=null --rw=randrw --bs=4k --size=1g --time_based --runtime=4 --save \
               --rate_iops=9000 --output=/dev/null";
    let mut line: Vec<&str> = run.split_whitespace().collect();
    line.push(&name);
    done(&line)?;
    let last = words(assay, place, &["history", "list", "--last", "1"]).output()?;
    let last = String::from_utf8_lossy(&last.stdout).into_owned();
    let id = last.split_whitespace().next().context("a run is kept")?;
    done(&["history", "tag", id, "long"])?;
    done(&["history", "tag", id, HOSTILE])?;
    let seed = shell::root().join("crates/result/tests/seeds/cloud.txt");
    done(&["import", &seed.display().to_string()])
}

fn note(place: &Path, tag: &str, at: u32, factor: f64) -> Result<PathBuf> {
    let row = |name: &str, iops: f64| {
        let (iops, mib) = (iops * factor, iops * factor * 4.0 / 1024.0);
        format!("| 4KiB {name} | {iops:.0} | {mib:.2} MiB/s |\n")
    };
    let text = format!(
        "| what | IOPS | Bandwidth |\n|---|---|---|\n{}{}",
        row("randwrite", 38_000.0),
        row("randread", 91_000.0)
    );
    let path = place.join(format!("{tag}{at}.md"));
    fs::write(&path, text)?;
    Ok(path)
}
