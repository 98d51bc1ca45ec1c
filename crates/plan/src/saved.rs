//! Files with the state of a verified job (`local-JOB-N-verify.state`), in version 3 of fio's
//! format: a header with version, size and CRC-32C, then the numbers of one job. All words are
//! little endian. The state of the random generators has its place there and is left zero:
//! sequences start from their seed.

use std::collections::{HashSet, VecDeque};
use std::io;
use std::path::{Path, PathBuf};
use workload::checksum::crc32c;
use workload::verify::Saved;

const VERSION: u64 = 3;
const HEADER: usize = 24;
/// Bytes before the list of completed writes.
const FIXED: usize = 152;
const NAME: usize = 64;
/// Bytes of one completed write.
const WRITE: usize = 16;

/// What is saved of one job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// Queue depth.
    pub depth: u32,
    /// Number of files.
    pub files: u32,
    /// Writes issued.
    pub writes: u64,
    /// Thread number, from 0.
    pub index: u64,
    /// The job's name.
    pub name: String,
    /// Offsets of the last completed writes of each file, the latest first.
    pub completed: Vec<VecDeque<u64>>,
}

/// The file of a job; `index` is its thread number from 0.
pub fn path(directory: Option<&str>, name: &str, index: u64) -> PathBuf {
    let name = name.replace('/', ".");
    let file = format!("local-{name}-{index}-verify.state");
    directory.map_or_else(|| PathBuf::from(&file), |dir| Path::new(dir).join(&file))
}

impl State {
    /// The whole file.
    pub fn encode(&self) -> Vec<u8> {
        let count = self.completed.iter().map(VecDeque::len).sum::<usize>();
        let mut body = Vec::with_capacity(FIXED + WRITE * count);
        body.extend((count as u64).to_le_bytes());
        body.extend(self.depth.to_le_bytes());
        body.extend(self.files.to_le_bytes());
        body.extend(self.writes.to_le_bytes());
        body.extend(self.index.to_le_bytes());
        body.resize(FIXED - NAME, 0);
        let name = &self.name.as_bytes()[..self.name.len().min(NAME - 1)];
        body.extend_from_slice(name);
        body.resize(FIXED, 0);
        for (file, offsets) in self.completed.iter().enumerate() {
            for offset in offsets {
                body.extend((file as u64).to_le_bytes());
                body.extend(offset.to_le_bytes());
            }
        }
        // fio reads room for as many as can be.
        let room = FIXED + WRITE * (self.depth as usize * self.files as usize).max(count);
        body.resize(room, 0);
        let mut all = Vec::with_capacity(HEADER + body.len());
        for word in [VERSION, body.len() as u64, u64::from(crc32c(&body))] {
            all.extend(word.to_le_bytes());
        }
        all.extend(body);
        all
    }
}

/// Puts a state into its file, where it is whole at any time, power cuts included.
///
/// # Errors
/// The file or its directory cannot be written.
pub fn write(path: &Path, state: &State) -> io::Result<()> {
    use std::io::Write;
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    let mut file = std::fs::File::create(&part)?;
    file.write_all(&state.encode())?;
    file.sync_all()?;
    std::fs::rename(&part, path)
}

/// Reads the state that an earlier run left in `path`.
///
/// # Errors
/// The file is missing, of another version or damaged.
pub fn read(path: &Path) -> io::Result<Saved> {
    decode(&std::fs::read(path)?).map_err(|text| io::Error::new(io::ErrorKind::InvalidData, text))
}

fn decode(all: &[u8]) -> Result<Saved, String> {
    let word = |bytes: &[u8], at: usize| -> Result<u64, String> {
        let word = bytes.get(at..at + 8).ok_or("is cut short")?;
        Ok(u64::from_le_bytes(word.try_into().expect("eight bytes")))
    };
    let version = word(all, 0)?;
    if version != VERSION {
        return Err(format!("is of version {version}, not {VERSION}"));
    }
    let size = usize::try_from(word(all, 8)?).unwrap_or(usize::MAX);
    let body = all[HEADER.min(all.len())..]
        .get(..size)
        .ok_or("is cut short")?;
    if u64::from(crc32c(body)) != word(all, 16)? {
        return Err("is damaged: its checksum is another".into());
    }
    let count = usize::try_from(word(body, 0)?).unwrap_or(usize::MAX);
    let mut completed = HashSet::new();
    for at in 0..count.min(body.len() / WRITE) {
        let file = word(body, FIXED + at * WRITE)?;
        let offset = word(body, FIXED + at * WRITE + 8)?;
        completed.insert((
            u16::try_from(file).map_err(|_| "names too many files")?,
            offset,
        ));
    }
    Ok(Saved {
        writes: word(body, 16)?,
        depth: word(body, 8)? & u64::from(u32::MAX),
        completed,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state() -> State {
        State {
            depth: 2,
            files: 2,
            writes: 77,
            index: 3,
            name: "a/b".into(),
            completed: vec![VecDeque::from([4096, 0]), VecDeque::from([512])],
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let saved = decode(&state().encode()).unwrap();
        assert_eq!((saved.writes, saved.depth), (77, 2));
        assert_eq!(
            saved.completed,
            HashSet::from([(0, 4096), (0, 0), (1, 512)])
        );
        assert_eq!(
            path(Some("d"), "a/b", 3),
            Path::new("d/local-a.b-3-verify.state")
        );
    }

    /// One completed write at 0xc000 of a job named x, as fio 3.33 saved it but for the state
    /// of its generator.
    #[test]
    fn the_layout_is_fios() {
        let job = State {
            depth: 1,
            files: 1,
            writes: 16,
            index: 0,
            name: "x".into(),
            completed: vec![VecDeque::from([0xc000])],
        };
        let all = job.encode();
        assert_eq!((all.len(), all[0], all[8]), (192, 3, 0xa8));
        assert_eq!((all[0x18], all[0x20], all[0x24], all[0x28]), (1, 1, 1, 16));
        assert_eq!((all[0x70], &all[0xb8..0xbb]), (b'x', &[0, 0xc0, 0][..]));
    }

    #[test]
    fn other_versions_and_damage_are_told() {
        let mut all = state().encode();
        all[40] ^= 1;
        assert!(decode(&all).unwrap_err().contains("damaged"));
        all[0] = 5;
        assert!(decode(&all).unwrap_err().contains("version 5"));
        assert!(
            decode(&state().encode()[..90])
                .unwrap_err()
                .contains("short")
        );
        assert!(decode(&[]).is_err());
    }
}
