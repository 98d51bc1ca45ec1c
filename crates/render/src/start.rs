//! The lines printed before the load starts: one per job, the version, what is being laid out.

use crate::FIO_VERSION;
use units::{Ddir, Human, PerDdir};

/// Block size ranges of a job line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockSizes {
    /// Smallest and largest size per direction, in bytes.
    PerDirection(PerDdir<(u64, u64)>),
    /// `bs_is_seq_rand`: sizes of sequential and of random I/O, in bytes.
    SequentialRandom((u64, u64), (u64, u64)),
}

/// What the line about a job says.
#[derive(Clone, Copy, Debug)]
pub struct JobLine<'a> {
    /// Job name.
    pub name: &'a str,
    /// Reporting group.
    pub group: u32,
    /// `rw` in its canonical word, such as `randrw`.
    pub rw: &'a str,
    /// Block sizes.
    pub sizes: BlockSizes,
    /// Engine name.
    pub engine: &'a str,
    /// `iodepth`.
    pub depth: u32,
    /// `numjobs`; clones show as one line `...`.
    pub clones: u32,
    /// `kb_base`.
    pub kb_base: u32,
    /// `significant_figures`.
    pub significant_figures: u32,
}

impl JobLine<'_> {
    /// The line, and a second one for clones.
    pub fn text(&self) -> String {
        let human = Human::bytes(self.significant_figures, self.kb_base);
        let range = |(min, max)| format!("{}-{}", human.show(min), human.show(max));
        let sizes = match self.sizes {
            BlockSizes::PerDirection(sizes) => format!(
                "(R) {}, (W) {}, (T) {}",
                range(sizes[Ddir::Read]),
                range(sizes[Ddir::Write]),
                range(sizes[Ddir::Trim]),
            ),
            BlockSizes::SequentialRandom(sequential, random) => {
                format!(
                    "(R) {}, (W) {}, bs_is_seq_rand",
                    range(sequential),
                    range(random)
                )
            }
        };
        let clones = if self.clones > 1 { "...\n" } else { "" };
        format!(
            "{}: (g={}): rw={}, bs={sizes}, ioengine={}, iodepth={}\n{clones}",
            self.name, self.group, self.rw, self.engine, self.depth
        )
    }
}

/// The version and how many workers start: `Starting 2 threads and 1 process`.
pub fn starting(threads: u32, processes: u32) -> String {
    let mut parts = Vec::new();
    if threads > 0 {
        parts.push(format!(
            "{threads} thread{}",
            if threads > 1 { "s" } else { "" }
        ));
    }
    if processes > 0 {
        parts.push(format!(
            "{processes} process{}",
            if processes > 1 { "es" } else { "" }
        ));
    }
    format!("{FIO_VERSION}\nStarting {}\n", parts.join(" and "))
}

/// A job is about to write `files` files of together `bytes` bytes so that it can read them.
pub fn laying_out(name: &str, files: u32, bytes: u64) -> String {
    let mib = bytes >> 20;
    if files > 1 {
        format!("{name}: Laying out IO files ({files} files / total {mib}MiB)\n")
    } else {
        format!("{name}: Laying out IO file ({files} file / {mib}MiB)\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: JobLine = JobLine {
        name: "c",
        group: 0,
        rw: "read",
        sizes: BlockSizes::PerDirection(PerDdir([(4096, 4096), (8192, 8192), (1 << 20, 1 << 20)])),
        engine: "null",
        depth: 7,
        clones: 1,
        kb_base: 1024,
        significant_figures: 4,
    };

    #[test]
    fn job_lines_as_fio_prints_them() {
        assert_eq!(
            LINE.text(),
            "c: (g=0): rw=read, bs=(R) 4096B-4096B, (W) 8192B-8192B, (T) 1024KiB-1024KiB, \
             ioengine=null, iodepth=7\n"
        );
        let cloned = JobLine {
            sizes: BlockSizes::SequentialRandom((4096, 8192), (4096, 65_536)),
            clones: 3,
            ..LINE
        };
        assert_eq!(
            cloned.text(),
            "c: (g=0): rw=read, bs=(R) 4096B-8192B, (W) 4096B-64.0KiB, bs_is_seq_rand, \
             ioengine=null, iodepth=7\n...\n"
        );
    }

    #[test]
    fn starting_counts_workers() {
        let line = |threads, processes| starting(threads, processes).replace(FIO_VERSION, "V");
        assert_eq!(line(1, 3), "V\nStarting 1 thread and 3 processes\n");
        assert_eq!(line(2, 0), "V\nStarting 2 threads\n");
        assert_eq!(line(0, 1), "V\nStarting 1 process\n");
    }

    #[test]
    fn layout_lines() {
        assert_eq!(
            laying_out("a", 1, 16 << 20),
            "a: Laying out IO file (1 file / 16MiB)\n"
        );
        let many = "a: Laying out IO files (3 files / total 3MiB)\n";
        assert_eq!(laying_out("a", 3, 3 << 20), many);
    }
}
