//! Recorded request sequences (`read_iolog`): which files they name, what is done to them, and
//! the requests themselves.
//!
//! A log is read once for the plan, because the guard must know every name before anything is
//! opened. Its requests are kept, unless `read_iolog_chunked` asks to read the log again, bit by
//! bit, while the run goes on. Unlike fio, a line that cannot be understood is an error.

mod merge;
mod text;
mod trace;

use crate::error::Fault;
use crate::job::Job;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use units::{Ddir, PerDdir};
use workload::Recorded;

pub use merge::Merge;
pub(crate) use merge::merge;

/// Requests that one clone replays.
#[derive(Clone, Debug)]
pub struct Replay {
    entries: Entries,
    /// Whether the recorded times are kept.
    pub timed: bool,
    /// Directions that occur.
    pub uses: PerDdir<bool>,
    /// Longest request, bytes.
    pub longest: u64,
    /// Shortest request, bytes.
    pub shortest: u64,
    /// Bytes of all requests together.
    pub bytes: u64,
    /// `number_ios`; 0 for all.
    pub most: u64,
    merge: Option<Merge>,
}

#[derive(Clone, Debug)]
enum Entries {
    Kept(Arc<[Recorded]>),
    /// Read again, with the same rules and so with the same file numbers.
    Again(Arc<Origin>),
}

/// One file of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LogFile {
    pub name: String,
    /// It is written or trimmed.
    pub modified: bool,
    /// Where the farthest request ends, bytes.
    pub end: u64,
}

/// What a log says besides its requests.
#[derive(Debug)]
pub(crate) struct Scan {
    pub replay: Replay,
    pub files: Vec<LogFile>,
    /// Requests in flight at once, as far as a trace shows it.
    pub depth: Option<u32>,
    /// Writes and trims left out because of `--readonly`.
    pub left_out: u64,
}

/// Where a log comes from and how it is to be read.
#[derive(Clone, Debug)]
struct Origin {
    source: Source,
    rules: Rules,
    /// Where devices are looked up.
    root: host::Root,
}

#[derive(Clone, Debug)]
enum Source {
    File(PathBuf),
    Socket(PathBuf),
    Stdin,
    Merged(Merge),
}

/// How requests are changed on their way.
#[derive(Clone, Debug)]
struct Rules {
    scale: u64,
    align: u64,
    time_percent: u64,
    redirect: Option<String>,
    directory: Option<String>,
    skip: spec::kinds::ReplaySkip,
    readonly: bool,
}

impl Replay {
    /// The traces that make the log, when they have to be merged first.
    pub fn merge(&self) -> Option<&Merge> {
        self.merge.as_ref()
    }

    /// The requests, in their order. A log that is read again and has changed since ends where
    /// it no longer makes sense.
    ///
    /// # Errors
    /// The log can no longer be opened.
    pub fn requests(&self) -> io::Result<Box<dyn Iterator<Item = Recorded> + Send>> {
        let most = match self.most {
            0 => usize::MAX,
            most => usize::try_from(most).unwrap_or(usize::MAX),
        };
        match &self.entries {
            Entries::Kept(all) => {
                let all = Arc::clone(all);
                let each = (0..all.len()).map(move |at| all[at]);
                Ok(Box::new(each.take(most)))
            }
            Entries::Again(origin) => {
                let reader = Reader::open(origin)?;
                Ok(Box::new(reader.map_while(Result::ok).take(most)))
            }
        }
    }
}

/// Reads the log that `clone` of the job replays; `None` if it replays none.
pub(crate) fn scan(
    job: &Job<'_>,
    clone: u32,
    readonly: bool,
    facts: &host::Facts,
) -> Result<Option<Scan>, Fault> {
    let options = &job.options.replay;
    let Some(names) = &options.read_iolog else {
        return Ok(None);
    };
    if options.replay_align > 0 && !options.replay_align.is_power_of_two() {
        let text = format!(
            "replay_align={}: needs a power of two",
            options.replay_align
        );
        return Err(Fault::option("replay_align", text));
    }
    let source = match &options.merge_blktrace_file {
        Some(_) => Source::Merged(merge(job, facts)?),
        None => source(&names.0[clone as usize % names.0.len().max(1)]),
    };
    let origin = Origin {
        source,
        rules: Rules {
            scale: u64::from(options.replay_scale.max(1)),
            align: u64::from(options.replay_align),
            time_percent: u64::from(options.replay_time_scale),
            redirect: options.replay_redirect.clone(),
            directory: job
                .options
                .target
                .directory
                .as_ref()
                .and_then(|names| names.0.first().cloned()),
            skip: options.replay_skip,
            readonly,
        },
        root: facts.root.clone(),
    };
    let again = options.read_iolog_chunked;
    if again && matches!(origin.source, Source::Stdin | Source::Socket(_)) {
        let text = "read_iolog_chunked=1 reads the log twice, which needs a file";
        return Err(Fault::option("read_iolog_chunked", text));
    }
    let name = origin.name();
    let bad = |text: String| Fault::option("read_iolog", format!("read_iolog={name}: {text}"));
    let mut reader = Reader::open(&origin).map_err(|error| bad(error.to_string()))?;
    let mut found = Found::default();
    let mut kept = Vec::new();
    for request in &mut reader {
        let request = request.map_err(bad)?;
        found.add(&request);
        if !again {
            kept.push(request);
        }
    }
    let merge = match &origin.source {
        Source::Merged(merge) => Some(merge.clone()),
        _ => None,
    };
    let mut files = reader.files.list;
    for (file, end) in files.iter_mut().zip(&found.files) {
        (file.end, file.modified) = *end;
    }
    if found.count == 0 {
        return Err(bad("holds no requests to replay".into()));
    }
    Ok(Some(Scan {
        depth: reader.parser.depth(),
        left_out: reader.left_out,
        files,
        replay: Replay {
            entries: if again {
                Entries::Again(Arc::new(origin))
            } else {
                Entries::Kept(kept.into())
            },
            timed: !options.replay_no_stall,
            uses: found.uses,
            longest: found.longest,
            shortest: found.shortest,
            bytes: found.bytes,
            most: job.options.extent.number_ios,
            merge,
        },
    }))
}

fn source(name: &str) -> Source {
    let path = PathBuf::from(name);
    let is_socket = std::fs::metadata(&path).is_ok_and(|meta| meta.file_type().is_socket());
    match name {
        "-" => Source::Stdin,
        _ if is_socket => Source::Socket(path),
        _ => Source::File(path),
    }
}

#[derive(Debug, Default)]
struct Found {
    count: u64,
    uses: PerDdir<bool>,
    longest: u64,
    shortest: u64,
    bytes: u64,
    /// Farthest end, and whether it is modified, of each file.
    files: Vec<(u64, bool)>,
}

impl Found {
    fn add(&mut self, request: &Recorded) {
        self.count += 1;
        let file = usize::from(request.file);
        if self.files.len() <= file {
            self.files.resize(file + 1, (0, false));
        }
        if request.ddir.is_data() {
            let len = u64::from(request.len);
            self.uses[request.ddir] = true;
            self.longest = self.longest.max(len);
            self.shortest = match self.shortest {
                0 => len,
                shortest => shortest.min(len),
            };
            self.bytes += len;
            let (end, modified) = &mut self.files[file];
            *end = (*end).max(request.offset.saturating_add(len));
            *modified |= request.ddir != Ddir::Read;
        }
    }
}

/// Files by name, numbered as they appear.
#[derive(Debug, Default)]
struct Files {
    list: Vec<LogFile>,
    numbers: HashMap<String, u16>,
}

impl Files {
    fn number(&mut self, name: &str, rules: &Rules) -> Result<u16, String> {
        let name = rules.redirect.as_deref().unwrap_or(name);
        if let Some(number) = self.numbers.get(name) {
            return Ok(*number);
        }
        let number =
            u16::try_from(self.list.len()).map_err(|_| "names too many files".to_owned())?;
        let path = match &rules.directory {
            Some(directory) if !Path::new(name).is_absolute() => format!("{directory}/{name}"),
            _ => name.to_owned(),
        };
        self.list.push(LogFile {
            name: path,
            modified: false,
            end: 0,
        });
        self.numbers.insert(name.to_owned(), number);
        Ok(number)
    }
}

/// What a parser finds in a log.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Item {
    /// A file is mentioned.
    File(String),
    /// A request, at a time that need not grow, nanoseconds.
    Request(Asked),
    /// Nothing happens until this long after the start of the job, nanoseconds.
    Wait(u64),
}

/// A request as a log has it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Asked {
    file: FileRef,
    ddir: Ddir,
    offset: u64,
    len: u32,
}

/// How a log names a file.
#[derive(Clone, Debug, PartialEq, Eq)]
enum FileRef {
    Name(String),
    Device(host::DevId),
}

/// One entry: its time stamp, if there are any, and what happened.
type Stamped = (Option<u64>, Item);

enum Parser {
    Text(text::Lines),
    Trace(trace::Records),
}

impl Parser {
    fn next(&mut self) -> Option<Result<Stamped, String>> {
        match self {
            Parser::Text(lines) => lines.next(),
            Parser::Trace(records) => records.next(),
        }
    }

    fn depth(&self) -> Option<u32> {
        match self {
            Parser::Text(_) => None,
            Parser::Trace(records) => Some(records.depth()),
        }
    }
}

/// Reads a log request by request.
struct Reader {
    parser: Parser,
    rules: Rules,
    files: Files,
    root: host::Root,
    known: HashMap<(u32, u32), u16>,
    last: Option<u64>,
    /// Replay time of the last entry, nanoseconds.
    now_ns: u64,
    left_out: u64,
}

impl Reader {
    fn open(origin: &Origin) -> io::Result<Reader> {
        let mut input: Box<dyn BufRead + Send> = match &origin.source {
            Source::Stdin => Box::new(BufReader::new(io::stdin())),
            Source::Socket(path) => Box::new(BufReader::new(UnixStream::connect(path)?)),
            Source::File(path) => Box::new(BufReader::new(File::open(path)?)),
            Source::Merged(merge) => Box::new(BufReader::new(merge.read()?)),
        };
        let head = input.fill_buf()?;
        let parser = match trace::swapped(head) {
            Some(swapped) => Parser::Trace(trace::Records::new(input, swapped)),
            None => Parser::Text(text::Lines::new(input)?),
        };
        Ok(Reader {
            parser,
            rules: origin.rules.clone(),
            files: Files::default(),
            root: origin.root.clone(),
            known: HashMap::new(),
            last: None,
            now_ns: 0,
            left_out: 0,
        })
    }

    /// Moves the time on by what has passed since the last stamp; fio begins to count at the
    /// first stamp that is not zero.
    fn pass_time(&mut self, stamp: Option<u64>) {
        let Some(stamp) = stamp else { return };
        if let Some(last) = self.last.filter(|last| *last > 0) {
            let passed = u128::from(stamp.saturating_sub(last)) * 100;
            let scaled = passed / u128::from(self.rules.time_percent);
            self.now_ns = self.now_ns.saturating_add(scaled as u64);
        }
        self.last = Some(stamp);
    }

    fn file(&mut self, file: &FileRef) -> Result<u16, String> {
        let device = match file {
            FileRef::Name(name) => return self.files.number(name, &self.rules),
            FileRef::Device(device) => device,
        };
        let key = (device.major, device.minor);
        if let Some(number) = self.known.get(&key) {
            return Ok(*number);
        }
        let name = match &self.rules.redirect {
            Some(_) => String::new(),
            None => {
                let found = host::BlockDevice::by_id(&self.root, *device).ok_or_else(|| {
                    format!("names device {device}, which is not here; see replay_redirect=")
                })?;
                format!("/dev/{}", found.name)
            }
        };
        let number = self.files.number(&name, &self.rules)?;
        self.known.insert(key, number);
        Ok(number)
    }

    /// Is the request left out? As in fio, `sync` does not stand for datasync.
    fn skips(&mut self, ddir: Ddir) -> bool {
        let skip = &self.rules.skip;
        let skipped = match ddir {
            Ddir::Read => skip.read,
            Ddir::Write => skip.write,
            Ddir::Trim => skip.trim,
            Ddir::Sync => skip.sync,
            Ddir::DataSync | Ddir::SyncFileRange => false,
        };
        let forbidden = self.rules.readonly && matches!(ddir, Ddir::Write | Ddir::Trim);
        self.left_out += u64::from(!skipped && forbidden);
        skipped || forbidden
    }
}

impl Iterator for Reader {
    type Item = Result<Recorded, String>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let (stamp, item) = match self.parser.next()? {
                Ok(entry) => entry,
                Err(error) => return Some(Err(error)),
            };
            self.pass_time(stamp);
            let asked = match item {
                Item::File(name) => {
                    if let Err(error) = self.files.number(&name, &self.rules) {
                        return Some(Err(error));
                    }
                    continue;
                }
                Item::Wait(until_ns) => {
                    self.now_ns = self.now_ns.max(until_ns);
                    continue;
                }
                Item::Request(asked) => asked,
            };
            let file = match self.file(&asked.file) {
                Ok(file) => file,
                Err(error) => return Some(Err(error)),
            };
            if self.skips(asked.ddir) {
                continue;
            }
            let mut offset = asked.offset / self.rules.scale;
            let mut len = asked.len;
            if self.rules.align > 0 {
                offset &= !(self.rules.align - 1);
                if let Parser::Trace(_) = self.parser {
                    // Traces count sectors; the device may want more.
                    len = u64::from(len).next_multiple_of(self.rules.align) as u32;
                }
            }
            return Some(Ok(Recorded {
                at_ns: self.now_ns,
                offset,
                len,
                file,
                ddir: asked.ddir,
            }));
        }
    }
}

impl Origin {
    fn name(&self) -> String {
        match &self.source {
            Source::Stdin => "-".into(),
            Source::File(path) | Source::Socket(path) => path.display().to_string(),
            Source::Merged(merge) => merge.output().display().to_string(),
        }
    }
}

/// Reads exactly one record into `into`; `false` at a clean end.
fn read_whole(input: &mut impl Read, into: &mut [u8]) -> io::Result<bool> {
    let mut filled = 0;
    while filled < into.len() {
        match input.read(&mut into[filled..])? {
            0 if filled == 0 => return Ok(false),
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            n => filled += n,
        }
    }
    Ok(true)
}

/// Passes over `bytes` bytes.
fn pass_over(input: &mut impl Read, bytes: u64) -> io::Result<()> {
    let passed = io::copy(&mut input.by_ref().take(bytes), &mut io::sink())?;
    if passed == bytes {
        Ok(())
    } else {
        Err(io::ErrorKind::UnexpectedEof.into())
    }
}

/// The start of a file that is read again.
fn rewind(file: &mut BufReader<File>) -> io::Result<()> {
    file.seek(io::SeekFrom::Start(0)).map(drop)
}

#[cfg(test)]
mod tests;
