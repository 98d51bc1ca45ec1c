//! Places to run in: a scratch directory, and loop devices that nobody else writes to.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

static NEXT: AtomicU32 = AtomicU32::new(0);

/// A directory of its own on the disk that holds the build, removed afterwards.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
}

impl Scratch {
    /// Makes an empty directory.
    pub fn new(name: &str) -> Self {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = root().join(format!("{name}-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).expect("the build directory can be written");
        Scratch { path }
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a file below it and returns the path.
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path.join(name);
        fs::create_dir_all(path.parent().expect("has a parent")).expect("directory");
        fs::write(&path, content).expect("scratch file");
        path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// `target/e2e`, on the same file system as the build so that direct I/O works.
fn root() -> PathBuf {
    match option_env!("CARGO_TARGET_TMPDIR") {
        Some(dir) => PathBuf::from(dir).join("e2e"),
        None => std::env::temp_dir().join("e2e"),
    }
}

/// Where the tests' histories lie: never the user's. One directory a process; those of processes
/// that are gone go too.
pub fn data() -> &'static Path {
    static DATA: OnceLock<PathBuf> = OnceLock::new();
    DATA.get_or_init(|| {
        let all = root().join("data");
        let own = all.join(std::process::id().to_string());
        let gone = |path: &Path| {
            let pid = path.file_name().unwrap_or_default();
            !Path::new("/proc").join(pid).exists()
        };
        for entry in fs::read_dir(&all).into_iter().flatten().flatten() {
            if gone(&entry.path()) {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
        fs::create_dir_all(&own).expect("the build directory can be written");
        own
    })
}

/// Deletes everything below a directory, so two tools can use the same paths in turn.
pub fn empty(dir: &Path) {
    for entry in fs::read_dir(dir).expect("readable directory") {
        let path = entry.expect("entry").path();
        if path.is_dir() {
            if path.file_name().is_some_and(|name| name == "lost+found") {
                continue;
            }
            fs::remove_dir_all(&path).expect("removable directory");
        } else {
            fs::remove_file(&path).expect("removable file");
        }
    }
}

/// A FNV-1a sum of a file's bytes: enough to see that data was left alone.
pub fn checksum(path: &Path) -> u64 {
    let bytes = fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, byte| {
        (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Whether this process may set up devices and mounts.
pub fn is_root() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    status
        .lines()
        .any(|line| line.starts_with("Uid:") && line.split_whitespace().nth(2) == Some("0"))
}

/// Runs a helper program; its last line of complaint is the error.
pub fn system(program: &str, args: &[&str]) -> Result<String, String> {
    let output = Command::new(program)
        .args(args)
        .output()
        .map_err(|error| format!("{program}: {error}"))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    } else {
        let complaint = String::from_utf8_lossy(&output.stderr);
        Err(format!(
            "{program}: {}",
            complaint.lines().last().unwrap_or("failed")
        ))
    }
}

/// A loop device over an image of its own.
#[derive(Debug)]
pub struct LoopDisk {
    device: PathBuf,
    _image: Scratch,
}

impl LoopDisk {
    /// Attaches a sparse image of `size_mib`, or says why this machine cannot.
    pub fn new(size_mib: u64) -> Result<Self, String> {
        if !is_root() {
            return Err("a loop device needs root".into());
        }
        let image = Scratch::new("disk");
        let path = image.path().join("image");
        let file = fs::File::create(&path).map_err(|e| e.to_string())?;
        file.set_len(size_mib << 20).map_err(|e| e.to_string())?;
        let path = path.to_str().expect("UTF-8");
        let device = system("losetup", &["--find", "--show", "--direct-io=on", path])
            .or_else(|_| system("losetup", &["--find", "--show", path]))?;
        Ok(LoopDisk {
            device: device.into(),
            _image: image,
        })
    }

    /// `/dev/loopN`.
    pub fn device(&self) -> &Path {
        &self.device
    }

    /// Makes a file system on it and mounts that.
    pub fn mounted(self, kind: &str, options: &str) -> Result<Mounted, String> {
        let device = self.device.to_str().expect("UTF-8").to_owned();
        let force = if kind == "xfs" { "-f" } else { "-F" };
        system(&format!("mkfs.{kind}"), &["-q", force, &device])?;
        let point = Scratch::new("mount");
        let path = point.path().to_str().expect("UTF-8").to_owned();
        system("mount", &["-o", options, &device, &path])?;
        Ok(Mounted { disk: self, point })
    }

    /// Bytes read from and written to the device so far, from its own statistics.
    pub fn traffic_bytes(&self) -> (u64, u64) {
        let name = self.device.file_name().expect("a device name");
        let stat = Path::new("/sys/block").join(name).join("stat");
        let text = fs::read_to_string(&stat).expect("a block device has statistics");
        let sectors = |field: usize| -> u64 {
            text.split_whitespace()
                .nth(field)
                .and_then(|f| f.parse().ok())
                .expect("a counter")
        };
        (sectors(2) * 512, sectors(6) * 512)
    }
}

impl Drop for LoopDisk {
    fn drop(&mut self) {
        let _ = system(
            "losetup",
            &["--detach", self.device.to_str().expect("UTF-8")],
        );
    }
}

/// A mounted loop device.
#[derive(Debug)]
pub struct Mounted {
    /// The device below.
    pub disk: LoopDisk,
    point: Scratch,
}

impl Mounted {
    /// An ext4 file system of `size_mib`.
    pub fn ext4(size_mib: u64) -> Result<Self, String> {
        LoopDisk::new(size_mib)?.mounted("ext4", "rw")
    }

    /// Where it is mounted.
    pub fn path(&self) -> &Path {
        self.point.path()
    }

    /// Makes it read-only or writable again.
    pub fn remount(&self, mode: &str) {
        let path = self.path().to_str().expect("UTF-8").to_owned();
        system("mount", &["-o", &format!("remount,{mode}"), &path]).expect("remount");
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let path = self.path().to_str().expect("UTF-8");
        // A loop device over a file in it lets go of that a moment after it was detached.
        for _ in 0..100 {
            match system("umount", &[path]) {
                Err(why) if why.contains("busy") => {}
                _ => break,
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
}
