//! One virtual machine: qemu without KVM, its serial console line by line.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

/// A machine that runs.
#[derive(Debug)]
pub struct Machine {
    child: Child,
    lines: Receiver<String>,
    deadline: Instant,
}

impl Machine {
    /// Starts a machine with two CPUs and a gigabyte; the script is told how often it was.
    ///
    /// # Errors
    /// qemu cannot be started.
    pub fn start(
        kernel: &Path,
        initramfs: &Path,
        devices: &[String],
        stage: u32,
        limit: Duration,
    ) -> Result<Machine> {
        let mut child = Command::new("qemu-system-x86_64")
            .args(["-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2"])
            .args([
                "-m",
                "1024",
                "-nodefaults",
                "-no-reboot",
                "-display",
                "none",
            ])
            .args(["-serial", "stdio", "-kernel"])
            .arg(kernel)
            .arg("-initrd")
            .arg(initramfs)
            .arg("-append")
            .arg(format!(
                "console=ttyS0 quiet panic=-1 mitigations=off lab.stage={stage}"
            ))
            .args(devices)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .context("qemu-system-x86_64")?;
        let console = child.stdout.take().context("the console")?;
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(console).split(b'\n').map_while(Result::ok) {
                let text = String::from_utf8_lossy(&line);
                // Nobody listens any more once the machine is given up.
                let _ = sender.send(text.trim_end().to_owned());
            }
        });
        Ok(Machine {
            child,
            lines,
            deadline: Instant::now() + limit,
        })
    }

    /// The next line of the console; `None` when the machine is off or its time is up.
    pub fn line(&mut self) -> Option<String> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        self.lines.recv_timeout(left).ok()
    }

    /// Pulls the plug.
    pub fn kill(&mut self) {
        // It may be off already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        self.kill();
    }
}
