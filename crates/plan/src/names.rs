//! Which files a clone works on, by name: generated names, given names, directories.

use std::path::Path;

/// What decides the names, from the options.
#[derive(Clone, Copy, Debug)]
pub struct Naming<'a> {
    /// Job name.
    pub job: &'a str,
    /// `filename`, split; empty when it was not given.
    pub names: &'a [String],
    /// `directory`, split; empty for the working directory.
    pub directories: &'a [String],
    /// `filename_format`.
    pub format: &'a str,
    /// `nrfiles`.
    pub nrfiles: u32,
}

impl Naming<'_> {
    /// Paths of clone number `clone`, in the order of file numbers, spelled as fio spells them.
    ///
    /// Given names stand below the first directory and are shared by all clones; generated names
    /// are dealt to the directories by clone. A job whose name is that of an existing device
    /// works on the device.
    pub fn paths(&self, clone: u32) -> Vec<String> {
        if !self.names.is_empty() {
            let dir = self.directories.first();
            return self.names.iter().map(|name| below(dir, name)).collect();
        }
        let index = clone as usize % self.directories.len().max(1);
        let dir = self.directories.get(index);
        if self.nrfiles == 1 && is_special(&below(dir, self.job)) {
            return vec![below(dir, self.job)];
        }
        let name = |file| generated(self.format, self.job, clone, file);
        (0..self.nrfiles)
            .map(|file| below(dir, &name(file)))
            .collect()
    }
}

/// Adds every regular file at or below `directory` to `names`, in the order in which the kernel
/// lists them, as fio does. Links are not followed.
///
/// # Errors
/// A directory cannot be read.
pub(crate) fn below_directory(directory: &Path, names: &mut Vec<String>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_file() {
            names.push(entry.path().to_string_lossy().into_owned());
        } else if kind.is_dir() {
            below_directory(&entry.path(), names)?;
        }
    }
    Ok(())
}

fn below(dir: Option<&String>, name: &str) -> String {
    dir.map_or_else(|| name.to_owned(), |dir| format!("{dir}/{name}"))
}

/// A device, FIFO or socket.
fn is_special(name: &str) -> bool {
    std::fs::symlink_metadata(Path::new(name)).is_ok_and(|meta| {
        let kind = meta.file_type();
        !kind.is_file() && !kind.is_dir() && !kind.is_symlink()
    }) || std::fs::metadata(Path::new(name)).is_ok_and(|meta| !meta.is_file() && !meta.is_dir())
}

/// Replaces the keywords of `filename_format`, whatever their case. `$clientuid` is empty
/// outside client/server runs.
fn generated(format: &str, job: &str, clone: u32, file: u32) -> String {
    if format.is_empty() {
        return format!("{job}.{clone}.{file}");
    }
    let words = [
        ("$jobname", job.to_owned()),
        ("$jobnum", clone.to_string()),
        ("$filenum", file.to_string()),
        ("$clientuid", String::new()),
    ];
    let mut out = String::new();
    let mut rest = format;
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let known = words.iter().find(|(word, _)| {
            rest.get(..word.len())
                .is_some_and(|head| head.eq_ignore_ascii_case(word))
        });
        match known {
            Some((word, value)) => {
                out.push_str(value);
                rest = &rest[word.len()..];
            }
            None => {
                out.push('$');
                rest = &rest[1..];
            }
        }
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMAT: &str = "$jobname.$jobnum.$filenum";

    fn naming<'a>(names: &'a [String], directories: &'a [String]) -> Naming<'a> {
        Naming {
            job: "j",
            names,
            directories,
            format: FORMAT,
            nrfiles: 2,
        }
    }

    fn strings(list: &[&str]) -> Vec<String> {
        list.iter().map(|s| s.to_string()).collect()
    }

    #[test]
    fn generated_names_are_dealt_to_directories() {
        let dirs = strings(&["/a", "/b/"]);
        let naming = naming(&[], &dirs);
        assert_eq!(naming.paths(0), ["/a/j.0.0", "/a/j.0.1"]);
        assert_eq!(naming.paths(1), ["/b//j.1.0", "/b//j.1.1"]);
        assert_eq!(naming.paths(2), ["/a/j.2.0", "/a/j.2.1"]);
    }

    #[test]
    fn given_names_are_shared_below_the_first_directory() {
        let (names, dirs) = (strings(&["x", "y"]), strings(&["/a", "/b"]));
        for clone in 0..3 {
            assert_eq!(naming(&names, &dirs).paths(clone), ["/a/x", "/a/y"]);
        }
        assert_eq!(naming(&names, &[]).paths(7), ["x", "y"]);
    }

    #[test]
    fn a_job_named_after_a_device_uses_it() {
        let one = Naming {
            job: "/dev/null",
            nrfiles: 1,
            ..naming(&[], &[])
        };
        assert_eq!(one.paths(3), ["/dev/null"]);
        let two = Naming {
            job: "/dev/null",
            ..naming(&[], &[])
        };
        assert_eq!(two.paths(3), ["/dev/null.3.0", "/dev/null.3.1"]);
        let dir = Naming {
            job: "/tmp",
            nrfiles: 1,
            ..naming(&[], &[])
        };
        assert_eq!(dir.paths(0), ["/tmp.0.0"]);
    }

    #[test]
    fn keywords_in_any_case_and_unknown_ones_left() {
        assert_eq!(
            generated("d$jobNum/$FILENUM-$jobname$", "j", 4, 9),
            "d4/9-j$"
        );
        assert_eq!(generated("", "j", 1, 2), "j.1.2");
        assert_eq!(generated("$job$clientuid", "j", 1, 2), "$job");
        // A job name that looks like a keyword is taken as it is.
        assert_eq!(generated(FORMAT, "$jobname", 0, 0), "$jobname.0.0");
    }
}
