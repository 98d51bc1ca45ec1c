//! A world made of strings, for tests.

use crate::world::World;
use std::collections::BTreeMap;
use std::io;

/// Files and variables by name; four CPUs, 4 KiB pages, 1 GiB of memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct FakeWorld {
    env: BTreeMap<String, String>,
    files: BTreeMap<String, Vec<u8>>,
}

impl FakeWorld {
    pub(crate) fn with_env(mut self, name: &str, value: &str) -> Self {
        self.env.insert(name.into(), value.into());
        self
    }

    pub(crate) fn with_file(mut self, path: &str, text: impl AsRef<[u8]>) -> Self {
        self.files.insert(path.into(), text.as_ref().to_vec());
        self
    }
}

impl World for FakeWorld {
    fn env(&self, name: &str) -> Option<String> {
        self.env.get(name).cloned()
    }

    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        self.files
            .get(path)
            .cloned()
            .ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn exists(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }

    fn cpus(&self) -> u64 {
        4
    }

    fn page_bytes(&self) -> u64 {
        4096
    }

    fn memory_mib(&self) -> u64 {
        1024
    }
}
