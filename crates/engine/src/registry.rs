//! The list of engines. A new engine is one file and one line here.

use crate::api::{Caps, Engine, Job};
use option::{EngineTable, OptionSet, State, ValueError};
use units::KbBase;

/// Work that is generic over the engine; [`dispatch`] runs it for one chosen by name.
pub trait Visitor {
    /// What the work gives.
    type Out;
    /// Does the work for engine `E`.
    fn visit<E: Engine>(self) -> Self::Out;
}

macro_rules! engines {
    ($($kind:ident => $engine:ty),* $(,)?) => {
        /// An engine that is built in.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum EngineKind { $(
            #[doc = concat!("[`", stringify!($engine), "`].")]
            $kind
        ),* }

        impl EngineKind {
            /// All engines, in the order of the list.
            pub const ALL: &'static [EngineKind] = &[$(EngineKind::$kind),*];
        }

        const BUILT_IN: &[EngineTable] = &[$(table::<$engine>()),*];

        /// Runs `visitor` for the engine `kind` names: the one place where a run's code is
        /// specialised.
        pub fn dispatch<V: Visitor>(kind: EngineKind, visitor: V) -> V::Out {
            match kind { $(EngineKind::$kind => visitor.visit::<$engine>()),* }
        }
    };
}

engines! {
    Sync => crate::sync::Sync,
    Psync => crate::psync::Psync,
    Vsync => crate::vsync::Vsync,
    Pvsync => crate::pvsync::Pvsync,
    Pvsync2 => crate::pvsync2::Pvsync2,
    Libaio => crate::libaio::Libaio,
    Uring => crate::io_uring::Uring,
    Mmap => crate::mmap::Mmap,
    Null => crate::null::Null,
    Posixaio => crate::posixaio::Posixaio,
    Nop => crate::nop::Nop,
    Cpuio => crate::cpuio::Cpuio,
    Exec => crate::exec::Exec,
    UringCmd => crate::io_uring_cmd::UringCmd,
    Net => crate::net::Net<false>,
    Netsplice => crate::net::Net<true>,
    Filecreate => crate::names::Names<crate::files::Filecreate>,
    Filestat => crate::names::Names<crate::files::Filestat>,
    Filedelete => crate::names::Names<crate::files::Filedelete>,
    Dircreate => crate::names::Names<crate::directories::Dircreate>,
    Dirstat => crate::names::Names<crate::directories::Dirstat>,
    Falloc => crate::falloc::Falloc,
    Ftruncate => crate::ftruncate::Ftruncate,
    Splice => crate::splice::Splice,
    PageFault => crate::page_fault::PageFault,
    Http => crate::http::Http,
    Dirdelete => crate::names::Names<crate::directories::Dirdelete>,
}

const fn table<E: Engine>() -> EngineTable {
    EngineTable {
        name: E::NAME,
        aliases: E::ALIASES,
        help: E::HELP,
        defs: <E::Options as OptionSet>::DEFS,
        state: State::Works,
    }
}

const fn absent(name: &'static str, help: &'static str, reason: &'static str) -> EngineTable {
    EngineTable {
        name,
        aliases: &[],
        help,
        defs: &[],
        state: State::Refused(reason),
    }
}

const fn later(name: &'static str, help: &'static str) -> EngineTable {
    EngineTable {
        name,
        aliases: &[],
        help,
        defs: &[],
        state: State::Later("not built yet"),
    }
}

const LIBRARY: &str = "needs a library that Assay does not link";
const HARDWARE: &str = "needs hardware that Assay does not drive";
const PLATFORM: &str = "belongs to another operating system";

/// fio's engines that are not built in.
const ABSENT: &[EngineTable] = &[
    later("e4defrag", "Defragments ext4 files"),
    later("sg", "SCSI generic commands"),
    later("mtd", "Raw flash"),
    later("nbd", "Network block device"),
    later("libzbc", "Zoned block devices through libzbc"),
    absent("rbd", "Ceph block devices", LIBRARY),
    absent("rados", "Ceph objects", LIBRARY),
    absent("nfs", "NFS through libnfs", LIBRARY),
    absent("libiscsi", "iSCSI through libiscsi", LIBRARY),
    absent("rdma", "RDMA verbs", HARDWARE),
    absent("libpmem", "Persistent memory through libpmem", HARDWARE),
    absent("pmemblk", "Persistent memory blocks", HARDWARE),
    absent(
        "dev-dax",
        "Persistent memory as a character device",
        HARDWARE,
    ),
    absent("gfapi", "GlusterFS", LIBRARY),
    absent("gfapi_async", "GlusterFS, asynchronous", LIBRARY),
    absent("libhdfs", "Hadoop file system", LIBRARY),
    absent("ime_psync", "DDN IME", LIBRARY),
    absent("ime_psyncv", "DDN IME, vectored", LIBRARY),
    absent("ime_aio", "DDN IME, asynchronous", LIBRARY),
    absent("dfs", "DAOS", LIBRARY),
    absent("libcufile", "GPUDirect storage", HARDWARE),
    absent("libhipfile", "ROCm file I/O", HARDWARE),
    absent("libblkio", "libblkio drivers", LIBRARY),
    absent("xnvme", "xNVMe", LIBRARY),
    absent(
        "cpp_null",
        "fio's example of an engine in C++",
        "it is an example for fio's plugins",
    ),
    absent("windowsaio", "Windows asynchronous I/O", PLATFORM),
    absent("solarisaio", "Solaris asynchronous I/O", PLATFORM),
    absent("guasi", "GUASI asynchronous system calls", PLATFORM),
    absent(
        "external",
        "An engine in a shared object",
        "fio's plugins are built against fio",
    ),
];

/// Why a name is no engine one can use.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnknownEngine {
    /// fio has it, this does not.
    #[error("ioengine={name}: not supported ({reason})")]
    Absent {
        /// As typed.
        name: String,
        /// Why not.
        reason: &'static str,
    },
    /// Nobody has it.
    #[error("ioengine={name}: no such engine{}", .nearest.map_or(String::new(),
        |nearest| format!("; did you mean `{nearest}`?")))]
    Unknown {
        /// As typed.
        name: String,
        /// The nearest name of an engine that is built in.
        nearest: Option<&'static str>,
    },
}

impl EngineKind {
    /// The engine called `name`, also by an alias. A trailing blank is no part of the name.
    pub fn parse(name: &str) -> Result<EngineKind, UnknownEngine> {
        let name = name.trim();
        let is = |table: &&EngineTable| table.name == name || table.aliases.contains(&name);
        if let Some(at) = BUILT_IN.iter().position(|table| is(&table)) {
            return Ok(EngineKind::ALL[at]);
        }
        let plugin = name.starts_with("external:") || name.contains('/');
        let wanted = if plugin { "external" } else { name };
        if let Some(table) = ABSENT.iter().find(|table| table.name == wanted)
            && let State::Later(reason) | State::Refused(reason) = table.state
        {
            return Err(UnknownEngine::Absent {
                name: name.to_owned(),
                reason,
            });
        }
        let names = BUILT_IN
            .iter()
            .flat_map(|t| t.aliases.iter().copied().chain([t.name]));
        Err(UnknownEngine::Unknown {
            name: name.to_owned(),
            nearest: option::closest(name, names),
        })
    }

    /// Name as `ioengine=` takes it.
    pub fn name(self) -> &'static str {
        self.table().name
    }

    /// Names, help and options.
    pub fn table(self) -> &'static EngineTable {
        &BUILT_IN[self as usize]
    }

    /// What the engine can do.
    pub fn caps(self) -> Caps {
        struct Get;
        impl Visitor for Get {
            type Out = Caps;
            fn visit<E: Engine>(self) -> Caps {
                E::CAPS
            }
        }
        dispatch(self, Get)
    }
}

/// All engines that are known: those built in, then those refused by name.
pub fn tables() -> impl Iterator<Item = &'static EngineTable> {
    BUILT_IN.iter().chain(ABSENT)
}

/// Why an engine's options were not taken.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum OptionError {
    /// The engine has no such option.
    #[error("{engine} has no option `{name}`{}", .nearest.map_or(String::new(),
        |nearest| format!("; did you mean `{nearest}`?")))]
    Unknown {
        /// The engine.
        engine: &'static str,
        /// As typed.
        name: String,
        /// The engine's nearest option.
        nearest: Option<&'static str>,
    },
    /// The value is wrong.
    #[error("{given}: {source}")]
    Value {
        /// The option and its value, as typed.
        given: String,
        /// What is wrong.
        #[source]
        source: ValueError,
    },
}

/// An engine's options set from text: pairs of name and value, `None` where only the name was
/// typed. Returns the options and notes on how values were read.
pub fn options_from<E: Engine>(
    pairs: &[(&str, Option<&str>)],
    kb_base: KbBase,
) -> Result<(E::Options, Vec<String>), OptionError> {
    let mut options = E::Options::default();
    let mut notes = Vec::new();
    for &(name, value) in pairs {
        match options.set_named(name, value, kb_base) {
            Some(Ok(note)) => notes.extend(note.map(|note| format!("{name}: {note}"))),
            Some(Err(source)) => {
                return Err(OptionError::Value {
                    given: value.map_or_else(|| name.to_owned(), |value| format!("{name}={value}")),
                    source,
                });
            }
            None => {
                let names = <E::Options as OptionSet>::DEFS.iter().map(|def| def.name);
                let nearest = option::closest(name, names);
                let name = name.to_owned();
                return Err(OptionError::Unknown {
                    engine: E::NAME,
                    name,
                    nearest,
                });
            }
        }
    }
    Ok((options, notes))
}

/// Checks an engine's options as [`options_from`] would set them; returns the notes.
pub fn check_options(
    kind: EngineKind,
    pairs: &[(&str, Option<&str>)],
    kb_base: KbBase,
) -> Result<Vec<String>, OptionError> {
    struct Check<'a>(&'a [(&'a str, Option<&'a str>)], KbBase);
    impl Visitor for Check<'_> {
        type Out = Result<Vec<String>, OptionError>;
        fn visit<E: Engine>(self) -> Self::Out {
            options_from::<E>(self.0, self.1).map(|(_, notes)| notes)
        }
    }
    dispatch(kind, Check(pairs, kb_base))
}

/// What the normal report says about a job before it starts; nothing if its options are wrong.
pub fn opening(
    kind: EngineKind,
    pairs: &[(&str, Option<&str>)],
    kb_base: KbBase,
    job: &Job<'_>,
) -> Vec<String> {
    struct Tell<'a>(&'a [(&'a str, Option<&'a str>)], KbBase, &'a Job<'a>);
    impl Visitor for Tell<'_> {
        type Out = Vec<String>;
        fn visit<E: Engine>(self) -> Vec<String> {
            let options = options_from::<E>(self.0, self.1);
            options.map_or_else(|_| Vec::new(), |(options, _)| E::opening(&options, self.2))
        }
    }
    dispatch(kind, Tell(pairs, kb_base, job))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_aliases_lead_to_engines() {
        for &kind in EngineKind::ALL {
            assert_eq!(EngineKind::parse(kind.name()), Ok(kind));
        }
        for name in ["aio", "linuxaio", "libaio "] {
            assert_eq!(EngineKind::parse(name), Ok(EngineKind::Libaio));
        }
    }

    #[test]
    fn names_are_unique_and_options_sound() {
        let names = tables().flat_map(|t| t.aliases.iter().chain([&t.name]));
        let mut seen = std::collections::BTreeSet::new();
        for name in names {
            assert!(seen.insert(*name), "{name} is listed twice");
        }
        for table in tables() {
            assert!(!table.help.is_empty(), "{}", table.name);
            let defs: Vec<_> = table.defs.iter().collect();
            assert_eq!(
                option::problems(&defs),
                Vec::<String>::new(),
                "{}",
                table.name
            );
        }
    }

    #[test]
    fn other_names_are_refused_with_a_reason() {
        let text = |name| EngineKind::parse(name).unwrap_err().to_string();
        assert_eq!(
            text("libaoi"),
            "ioengine=libaoi: no such engine; did you mean `libaio`?"
        );
        assert_eq!(text("zzzzzzzz"), "ioengine=zzzzzzzz: no such engine");
        assert_eq!(
            text("rbd"),
            format!("ioengine=rbd: not supported ({LIBRARY})")
        );
        assert!(text("external:/tmp/x.so").contains("plugins"));
        assert!(text("mtd").contains("not built yet"));
    }

    #[test]
    fn bad_values_are_told_with_what_would_do() {
        let mut wrong = Vec::new();
        let mut tested = 0;
        for &kind in EngineKind::ALL {
            let table = tables().find(|table| table.name == kind.name());
            let defs = table.map_or(&[][..], |table| table.defs).iter();
            for def in defs.filter(|def| def.state == option::State::Works) {
                let mut values = vec![("~?~".to_owned(), None)];
                if let (Some(min), Some(max)) = (def.min, def.max) {
                    let range = format!("{min} to {max}");
                    values.push(((max + 1.0).to_string(), Some(range.clone())));
                    values.push(("99999999999999999999".to_owned(), Some(range)));
                }
                for (value, range) in values {
                    let told = check_options(kind, &[(def.name, Some(&value))], KbBase::Binary);
                    let text = match told {
                        Err(error) => error.to_string(),
                        // Any text will do, or only the start can tell.
                        Ok(_) if def.kind == option::Kind::Text => continue,
                        Ok(_) => "accepted".to_owned(),
                    };
                    tested += 1;
                    let words = ["accepted: ", "expected ", " is not one of "];
                    let says = match &range {
                        Some(range) => text.contains(range.as_str()),
                        None => words.iter().any(|word| text.contains(word)),
                    };
                    if !says || !text.contains(&format!("{}={value}", def.name)) {
                        wrong.push(format!("{}: {}={value}: {text}", kind.name(), def.name));
                    }
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        assert!(tested > 50, "{tested}");
    }

    #[test]
    fn options_are_checked_by_engine() {
        let check = |kind, name, value| {
            check_options(kind, &[(name, value)], KbBase::Binary).map_err(|e| e.to_string())
        };
        assert_eq!(check(EngineKind::Uring, "hipri", None), Ok(vec![]));
        assert_eq!(
            check(EngineKind::Uring, "nonvectored", Some("0")),
            Ok(vec![])
        );
        assert!(check(EngineKind::Uring, "nonvectored", Some("2")).is_err());
        assert!(check(EngineKind::Libaio, "cmdprio_percentage", Some("101")).is_err());
        assert_eq!(
            check(EngineKind::Uring, "fixedbuf", None).unwrap_err(),
            "io_uring has no option `fixedbuf`; did you mean `fixedbufs`?"
        );
        assert_eq!(
            check(EngineKind::Psync, "hipri", None).unwrap_err(),
            "psync has no option `hipri`"
        );
    }
}
