//! Kernel, modules and busybox out of Debian packages, kept outside the tree.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use crate::{packages, shell};

/// Programs that build and run machines.
const TOOLS: [packages::Needed; 4] = [
    ("qemu-system-x86_64", "qemu-system-x86"),
    ("depmod", "kmod"),
    ("xz", "xz-utils"),
    ("strip", "binutils"),
];

/// An unpacked kernel.
#[derive(Debug)]
pub struct Image {
    root: PathBuf,
    version: String,
}

impl Image {
    /// Downloads and unpacks what is missing.
    ///
    /// # Errors
    /// No network, no Debian, or no room.
    pub fn ready() -> Result<Image> {
        packages::ensure(&TOOLS)?;
        let kept = cache()?;
        fs::create_dir_all(&kept).with_context(|| kept.display().to_string())?;
        if let Some(image) = newest(&kept) {
            return Ok(image);
        }
        let package = kernel_package()?;
        let work = kept.join("new");
        let _ = fs::remove_dir_all(&work);
        fs::create_dir_all(&work)?;
        let text = work.display().to_string();
        // apt-get writes into the current directory, and as root gives up its rights there.
        for name in [package.as_str(), "busybox-static"] {
            eprintln!("lab: fetching {name}");
            let fetch = format!("cd '{text}' && apt-get download --quiet=2 '{name}'");
            shell::capture(&["sh", "-c", &fetch])?;
        }
        for entry in fs::read_dir(&work)?.flatten() {
            let path = entry.path();
            if path.extension().is_some_and(|extension| extension == "deb") {
                shell::capture(&["dpkg-deb", "-x", &path.display().to_string(), &text])?;
                fs::remove_file(&path)?;
            }
        }
        let version = only(&work.join("lib/modules"))?;
        shell::capture(&["depmod", "-b", &text, &version])?;
        // Complete only now: a download that was cut off is not taken for an image.
        fs::rename(&work, kept.join(&version))?;
        newest(&kept).context("the kernel that was just unpacked")
    }

    /// The kernel.
    pub fn kernel(&self) -> PathBuf {
        self.root.join(format!("boot/vmlinuz-{}", self.version))
    }

    /// A static busybox.
    pub fn busybox(&self) -> PathBuf {
        self.root.join("bin/busybox")
    }

    /// Modules and what they need, in the order of loading: name and content. Names of what is
    /// built in are passed over.
    ///
    /// # Errors
    /// A module cannot be read.
    pub fn modules(&self, names: &[&str]) -> Result<Vec<(String, Vec<u8>)>> {
        let base = self.root.join("lib/modules").join(&self.version);
        let dependencies = fs::read_to_string(base.join("modules.dep"))?;
        let builtin = fs::read_to_string(base.join("modules.builtin"))?;
        let mut order = Vec::new();
        for name in names {
            let line = dependencies.lines().find(|line| {
                let path = line.split(':').next().unwrap_or_default();
                module_name(path) == *name
            });
            match line {
                Some(line) => {
                    let (path, needs) = line.split_once(':').unwrap_or((line, ""));
                    // modules.dep names the nearest need first; the farthest must come first.
                    order.extend(needs.split_whitespace().rev());
                    order.push(path);
                }
                None if builtin.lines().any(|path| module_name(path) == *name) => {}
                None => bail!("the kernel has no module {name}"),
            }
        }
        let mut seen = HashSet::new();
        order.retain(|path| seen.insert(*path));
        let load = |path: &str| {
            let file = base.join(path).display().to_string();
            let content = if path.ends_with(".xz") {
                output(&["xz", "-dc", &file])?
            } else {
                fs::read(&file)?
            };
            Ok((format!("{}.ko", module_name(path)), content))
        };
        order.into_iter().map(load).collect()
    }
}

/// `kernel/drivers/md/md-mod.ko.xz` is `md-mod`.
fn module_name(path: &str) -> &str {
    let file = path.rsplit('/').next().unwrap_or(path);
    file.split(".ko").next().unwrap_or(file)
}

fn output(words: &[&str]) -> Result<Vec<u8>> {
    let output = shell::command(words).output()?;
    ensure!(output.status.success(), "`{}` failed", words.join(" "));
    Ok(output.stdout)
}

fn cache() -> Result<PathBuf> {
    let base = match std::env::var_os("XDG_CACHE_HOME") {
        Some(path) if !path.is_empty() => PathBuf::from(path),
        _ => PathBuf::from(std::env::var_os("HOME").context("no HOME")?).join(".cache"),
    };
    Ok(base.join("assay-lab"))
}

fn newest(kept: &Path) -> Option<Image> {
    let entries = fs::read_dir(kept).ok()?.flatten();
    let versions = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let version = versions.filter(|name| name != "new").max()?;
    Some(Image {
        root: kept.join(&version),
        version,
    })
}

fn only(dir: &Path) -> Result<String> {
    let mut names = fs::read_dir(dir)
        .with_context(|| dir.display().to_string())?
        .flatten();
    let name = names.next().context("the package holds no modules")?;
    Ok(name.file_name().to_string_lossy().into_owned())
}

/// The newest generic 6.12 kernel that the archives offer, signed or not.
fn kernel_package() -> Result<String> {
    let found = shell::capture(&[
        "apt-cache",
        "search",
        "--names-only",
        r"^linux-image-6\.12\.[0-9]+.*-amd64(-unsigned)?$",
    ])?;
    let names = found.lines().filter_map(|line| line.split(' ').next());
    let generic = names.filter(|name| !name.contains("-cloud-") && !name.contains("-rt-"));
    let revision = |name: &str| -> u32 {
        let rest = name.trim_start_matches("linux-image-6.12.");
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().unwrap_or(0)
    };
    let newest = generic.max_by_key(|name| revision(name));
    Ok(newest
        .context("the archives offer no linux-image-6.12")?
        .to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_named_after_their_files() {
        assert_eq!(module_name("kernel/drivers/md/md-mod.ko.xz"), "md-mod");
        assert_eq!(module_name("kernel/fs/ext4/ext4.ko"), "ext4");
    }
}
