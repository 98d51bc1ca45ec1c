//! The guard and the read-only check on a real block device: a loop device with ext4, which
//! needs root. Without it the test says so and passes.

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;
use support::plan;

struct Loop {
    dir: tempfile::TempDir,
    device: PathBuf,
}

fn run(program: &str, args: &[&str]) -> Option<String> {
    let out = Command::new(program).args(args).output().ok()?;
    out.status
        .success()
        .then(|| String::from_utf8_lossy(&out.stdout).trim().to_owned())
}

impl Loop {
    fn new() -> Option<Loop> {
        let dir = tempfile::tempdir().ok()?;
        let image = dir.path().join("image");
        std::fs::File::create(&image).ok()?.set_len(32 << 20).ok()?;
        run("mkfs.ext4", &["-q", image.to_str()?])?;
        let device = run("losetup", &["--find", "--show", image.to_str()?])?.into();
        std::fs::create_dir(dir.path().join("mnt")).ok()?;
        Some(Loop { dir, device })
    }

    fn mount(&self, how: &str) -> PathBuf {
        let at = self.dir.path().join("mnt");
        let (device, path) = (self.device.to_str().unwrap(), at.to_str().unwrap());
        run("mount", &["-o", how, device, path]).expect("mount");
        at
    }

    fn unmount(&self) {
        run("umount", &[self.dir.path().join("mnt").to_str().unwrap()]);
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        self.unmount();
        run("losetup", &["--detach", self.device.to_str().unwrap()]);
    }
}

#[test]
fn a_mounted_device_is_neither_written_nor_trimmed() {
    let Some(device) = Loop::new() else {
        eprintln!("SKIP: no loop device to be had");
        return;
    };
    let name = device.device.display().to_string();
    let line = |more: &str| format!("--name=a --ioengine=psync --filename={name} {more}");
    let nowhere = Path::new("/nonexistent");
    for rw in ["write", "randwrite", "rw", "randtrim", "trimwrite"] {
        plan(&line(&format!("--rw={rw}")), nowhere).unwrap_or_else(|e| panic!("{rw}: {e}"));
    }
    let at = device.mount("rw");
    for rw in ["write", "randwrite", "rw", "randtrim", "trimwrite"] {
        let text = plan(&line(&format!("--rw={rw}")), nowhere).expect_err(rw);
        let says = format!(
            "it is mounted at {}; allow_mounted_write=1 overrides",
            at.display()
        );
        assert!(
            text.contains(&format!("refusing to write to {name} (")),
            "{text}"
        );
        assert!(text.contains("MB): ") && text.ends_with(&says), "{text}");
        let allowed = plan(
            &line(&format!("--rw={rw} --allow_mounted_write=1")),
            nowhere,
        )
        .unwrap();
        assert!(allowed.workers[0].targets[0].permit.is_some());
    }
    let reads = plan(&line("--rw=randread --size=150%"), nowhere);
    assert!(reads.is_err(), "no share is above 100");
    let reads = plan(&line("--rw=randread"), nowhere).unwrap();
    let target = &reads.workers[0].targets[0];
    assert!(target.permit.is_none() && !target.how(&reads.workers[0].access).write);
    assert_eq!(
        (target.kind, target.size_bytes),
        (plan::TargetKind::Block, 32 << 20)
    );
    device.unmount();

    // Held by another: the kernel's own answer.
    let claim = std::fs::OpenOptions::new()
        .read(true)
        .custom_flags_exclusive()
        .open(&device.device)
        .unwrap();
    let text = plan(&line("--rw=write"), nowhere).unwrap_err();
    assert!(text.contains("the kernel says it is in use"), "{text}");
    drop(claim);

    let at = device.mount("ro");
    let text = plan("--name=a --filename=$DIR/f --size=1m --rw=write", &at).unwrap_err();
    assert!(
        text.ends_with("/mnt/f: its file system is read-only"),
        "{text}"
    );
    let text = plan("--name=a --filename=$DIR/f --size=1m --rw=read", &at).unwrap_err();
    assert!(
        text.ends_with("/mnt/f: its file system is read-only"),
        "{text}"
    );
}

/// `O_EXCL` on a block device claims it.
trait Exclusive {
    fn custom_flags_exclusive(&mut self) -> &mut Self;
}

impl Exclusive for std::fs::OpenOptions {
    fn custom_flags_exclusive(&mut self) -> &mut Self {
        use std::os::unix::fs::OpenOptionsExt;
        const O_EXCL: i32 = 0o200;
        self.custom_flags(O_EXCL)
    }
}
