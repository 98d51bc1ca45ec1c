//! The history as one SQLite file.

use crate::{About, Entry, Filter, Metric, Saved, Store, StoreError, catalogue, document};
use result::Run;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, Row, TransactionBehavior};
use rusqlite::{Transaction, params, types::Value};
use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// `Assy`: what makes the file ours.
const APPLICATION: i32 = 0x4173_7379;
/// One step a version, each from the version before.
const MIGRATIONS: [&str; 1] = [include_str!("sqlite/v1.sql")];
/// How long to wait for another writer.
const PATIENCE: Duration = Duration::from_secs(30);
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// Version of the tables that this program writes.
pub const VERSION: u32 = MIGRATIONS.len() as u32;

/// A history in a file.
pub struct Sqlite {
    connection: Connection,
    path: PathBuf,
}

impl Sqlite {
    /// Opens a history, or makes one where there is no file or an empty one.
    ///
    /// # Errors
    /// When the file is something else, damaged or newer, or cannot be opened.
    pub fn open(path: &Path) -> Result<Sqlite, StoreError> {
        look_at(path)?;
        if let Some(directory) = path.parent().filter(|path| !path.as_os_str().is_empty()) {
            std::fs::create_dir_all(directory).map_err(|source| StoreError::Directory {
                path: directory.to_owned(),
                source,
            })?;
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let open = || -> rusqlite::Result<Connection> {
            let connection = Connection::open_with_flags(path, flags)?;
            connection.busy_timeout(PATIENCE)?;
            // In a write-ahead log this survives any kill; the power may take the last runs.
            connection.execute_batch("PRAGMA foreign_keys = ON; PRAGMA synchronous = NORMAL")?;
            Ok(connection)
        };
        let connection = open().map_err(|error| explained(path, error))?;
        let mut store = Sqlite {
            connection,
            path: path.to_owned(),
        };
        store.migrate()?;
        Ok(store)
    }

    fn migrate(&mut self) -> Result<(), StoreError> {
        let path = self.path.clone();
        let failed = |error| explained(&path, error);
        let number = |connection: &Connection, pragma: &str| -> rusqlite::Result<i64> {
            connection.pragma_query_value(None, pragma, |row| row.get(0))
        };
        let application = number(&self.connection, "application_id").map_err(failed)?;
        let tables: i64 = self
            .connection
            .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
            .map_err(failed)?;
        if application != i64::from(APPLICATION) && tables > 0 {
            return Err(StoreError::Foreign {
                path,
                what: "a database of another program".to_owned(),
            });
        }
        let known = VERSION;
        let found = number(&self.connection, "user_version").map_err(failed)? as u32;
        if found > known {
            return Err(StoreError::Newer { path, found, known });
        }
        if found == known {
            return Ok(());
        }
        let mut migrate = || -> rusqlite::Result<()> {
            // Readers go on while one writes, and a kill leaves whole transactions.
            wait(|| {
                let mode = |_: &Row<'_>| Ok(());
                self.connection
                    .pragma_update_and_check(None, "journal_mode", "WAL", mode)
            })?;
            let behavior = TransactionBehavior::Immediate;
            let transaction = self.connection.transaction_with_behavior(behavior)?;
            // Another process may have been faster.
            let found = number(&transaction, "user_version")? as usize;
            for step in MIGRATIONS.iter().skip(found) {
                transaction.execute_batch(step)?;
            }
            transaction.pragma_update(None, "application_id", APPLICATION)?;
            transaction.pragma_update(None, "user_version", known)?;
            transaction.commit()
        };
        migrate().map_err(|error| explained(&path, error))
    }

    fn failed(&self, error: rusqlite::Error) -> StoreError {
        explained(&self.path, error)
    }

    /// Runs a statement that must touch one run.
    fn change(&mut self, id: i64, sql: &str, value: &str) -> Result<(), StoreError> {
        let there = self
            .connection
            .query_row("SELECT 1 FROM run WHERE id = ?1", [id], |_| Ok(()))
            .optional()
            .map_err(|error| self.failed(error))?;
        there.ok_or(StoreError::NoRun(id))?;
        let done = self.connection.execute(sql, params![id, value]);
        done.map(drop).map_err(|error| self.failed(error))
    }

    /// True when every page of the file is sound.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn sound(&self) -> Result<bool, StoreError> {
        let check = "PRAGMA integrity_check";
        let said: String = self
            .connection
            .query_row(check, [], |row| row.get(0))
            .map_err(|error| self.failed(error))?;
        Ok(said == "ok")
    }
}

/// Refuses a file that SQLite would not know either, before anything opens it for writing.
fn look_at(path: &Path) -> Result<(), StoreError> {
    let Ok(mut file) = File::open(path) else {
        // Not there, or not to be read: opening will say.
        return Ok(());
    };
    let foreign = |what: &str| StoreError::Foreign {
        path: path.to_owned(),
        what: what.to_owned(),
    };
    if file.metadata().is_ok_and(|meta| !meta.is_file()) {
        return Err(foreign("no file"));
    }
    let mut head = Vec::new();
    let read = file
        .by_ref()
        .take(MAGIC.len() as u64)
        .read_to_end(&mut head);
    match read {
        Ok(0) => Ok(()),
        Ok(_) if head == MAGIC => Ok(()),
        Ok(_) => Err(foreign("not a database")),
        Err(error) => Err(foreign(&error.to_string())),
    }
}

fn explained(path: &Path, error: rusqlite::Error) -> StoreError {
    let path = path.to_owned();
    let what = error.to_string();
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => StoreError::Foreign { path, what },
        Some(ErrorCode::DatabaseCorrupt) => StoreError::Corrupt { path, what },
        _ => StoreError::Database {
            path,
            source: error,
        },
    }
}

/// Tries again while somebody else has the file: not everything waits by itself.
fn wait(mut attempt: impl FnMut() -> rusqlite::Result<()>) -> rusqlite::Result<()> {
    const PAUSE: Duration = Duration::from_millis(10);
    let mut left = PATIENCE;
    loop {
        match attempt() {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {
                left = left.checked_sub(PAUSE).ok_or(error)?;
                std::thread::sleep(PAUSE);
            }
            done => return done,
        }
    }
}

fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |time| time.as_millis() as i64)
}

impl Store for Sqlite {
    fn save(&mut self, run: &Run, about: &About) -> Result<Saved, StoreError> {
        let (bytes, digest) = document::packed(run).map_err(|error| StoreError::Document {
            id: 0,
            what: error.to_string(),
        })?;
        let mut save = || -> rusqlite::Result<Saved> {
            let behavior = TransactionBehavior::Immediate;
            let transaction = self.connection.transaction_with_behavior(behavior)?;
            let known = transaction
                .prepare_cached("SELECT id FROM run WHERE digest = ?1")?
                .query_row([&digest], |row| row.get(0))
                .optional()?;
            let saved = match known {
                Some(id) => Saved::Known(id),
                None => Saved::New(insert(&transaction, run, about, &bytes, &digest)?),
            };
            for tag in &about.tags {
                let sql = "INSERT OR IGNORE INTO tag (run, name) VALUES (?1, ?2)";
                transaction
                    .prepare_cached(sql)?
                    .execute(params![saved.id(), tag])?;
            }
            if let Some(note) = &about.note {
                let sql = "UPDATE run SET note = nullif(?2, '') WHERE id = ?1";
                transaction.execute(sql, params![saved.id(), note])?;
            }
            transaction.commit()?;
            Ok(saved)
        };
        save().map_err(|error| explained(&self.path, error))
    }

    fn each(&self, filter: &Filter, see: &mut dyn FnMut(&Entry)) -> Result<(), StoreError> {
        self.read(filter, see).map_err(|error| self.failed(error))
    }

    fn document(&self, id: i64) -> Result<Run, StoreError> {
        let sql = "SELECT bytes FROM document WHERE run = ?1";
        let bytes: Option<Vec<u8>> = self
            .connection
            .query_row(sql, [id], |row| row.get(0))
            .optional()
            .map_err(|error| self.failed(error))?;
        let bytes = bytes.ok_or(StoreError::NoRun(id))?;
        document::unpacked(&bytes).map_err(|error| StoreError::Document {
            id,
            what: error.to_string(),
        })
    }

    fn tag(&mut self, id: i64, tag: &str, there: bool) -> Result<(), StoreError> {
        let sql = match there {
            true => "INSERT OR IGNORE INTO tag (run, name) VALUES (?1, ?2)",
            false => "DELETE FROM tag WHERE run = ?1 AND name = ?2",
        };
        self.change(id, sql, tag)
    }

    fn note(&mut self, id: i64, note: &str) -> Result<(), StoreError> {
        let sql = "UPDATE run SET note = nullif(?2, '') WHERE id = ?1";
        self.change(id, sql, note)
    }

    fn remove(&mut self, id: i64) -> Result<(), StoreError> {
        self.change(id, "DELETE FROM run WHERE id = ?1 AND ?2 = ''", "")
    }

    fn collect(&mut self, before_ms: i64) -> Result<usize, StoreError> {
        // A run whose time nobody knows is not older than others.
        let sql = "DELETE FROM run WHERE finished_ms < ?1 AND finished_ms > 0
                   AND id NOT IN (SELECT run FROM tag)";
        let unused = "DELETE FROM device WHERE id NOT IN (SELECT device FROM run_device);
             DELETE FROM host WHERE id NOT IN (SELECT host FROM run WHERE host IS NOT NULL)";
        let mut collect = || -> rusqlite::Result<usize> {
            let behavior = TransactionBehavior::Immediate;
            let transaction = self.connection.transaction_with_behavior(behavior)?;
            let gone = transaction.execute(sql, [before_ms])?;
            transaction.execute_batch(unused)?;
            transaction.commit()?;
            self.connection.execute_batch("VACUUM")?;
            Ok(gone)
        };
        collect().map_err(|error| explained(&self.path, error))
    }
}

/// A run with everything that belongs to it; returns its number.
fn insert(
    transaction: &Transaction<'_>,
    run: &Run,
    about: &About,
    bytes: &[u8],
    digest: &str,
) -> rusqlite::Result<i64> {
    let picture = run.host.as_ref();
    let name = about.host.as_deref();
    let name = name.or_else(|| picture.map(|host| host.hostname.as_str()));
    let host = name.map(|name| host(transaction, name, run)).transpose()?;
    let devices = catalogue::devices(run, name.unwrap_or_default());
    let names: Vec<&str> = devices.iter().map(|device| device.name.as_str()).collect();
    let metrics = catalogue::metrics(run);
    let first = |name: &str| {
        let mut all = metrics.iter();
        all.find(|metric| metric.name == name)
            .map(|metric| metric.value)
    };
    let format = run.source.as_ref().map_or("assay", |source| &source.format);
    transaction
        .prepare_cached(
            "INSERT INTO run (digest, finished_ms, saved_ms, tool, format, command, host, suite,
             partial, title, configuration, devices, iops, bandwidth, latency)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
        )?
        .execute(params![
            digest,
            i64::try_from(run.finished_ms).unwrap_or(i64::MAX),
            now_ms(),
            run.tool_version,
            format,
            run.command,
            host,
            about.suite,
            run.partial,
            catalogue::title(run),
            catalogue::configuration(run),
            names.join(" "),
            first("iops"),
            first("bandwidth"),
            first("latency"),
        ])?;
    let id = transaction.last_insert_rowid();
    transaction
        .prepare_cached("INSERT INTO document (run, bytes) VALUES (?1, ?2)")?
        .execute(params![id, bytes])?;
    for device in devices {
        let insert = "INSERT OR IGNORE INTO device
                      (identity, configuration, name, model, size_bytes)
                      VALUES (?1, ?2, ?3, ?4, ?5)";
        transaction.prepare_cached(insert)?.execute(params![
            device.identity,
            device.configuration,
            device.name,
            device.model,
            device.size_bytes,
        ])?;
        let link = "INSERT OR IGNORE INTO run_device (device, run) SELECT id, ?1 FROM device
                    WHERE identity = ?2 AND configuration = ?3 AND name = ?4";
        transaction.prepare_cached(link)?.execute(params![
            id,
            device.identity,
            device.configuration,
            device.name,
        ])?;
    }
    for metric in &metrics {
        let sql = "INSERT INTO metric VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        transaction.prepare_cached(sql)?.execute(params![
            id,
            metric.job,
            metric.direction,
            metric.name,
            metric.value,
            metric.higher_is_better
        ])?;
    }
    Ok(id)
}

/// The number of a host, as it is set up now.
fn host(transaction: &Transaction<'_>, name: &str, run: &Run) -> rusqlite::Result<i64> {
    let picture = run.host.as_ref();
    let configuration = picture.map_or_else(String::new, catalogue::machine);
    transaction
        .prepare_cached(
            "INSERT OR IGNORE INTO host (name, configuration, kernel, cpu)
             VALUES (?1, ?2, ?3, ?4)",
        )?
        .execute(params![
            name,
            configuration,
            picture.map(|host| &host.kernel),
            picture.and_then(|host| host.cpu.model.as_ref()),
        ])?;
    transaction
        .prepare_cached("SELECT id FROM host WHERE name = ?1 AND configuration = ?2")?
        .query_row(params![name, configuration], |row| row.get(0))
}

impl Sqlite {
    fn read(&self, filter: &Filter, see: &mut dyn FnMut(&Entry)) -> rusqlite::Result<()> {
        let (clause, values) = conditions(filter);
        // One picture of everything, whatever another process writes meanwhile.
        let transaction = self.connection.unchecked_transaction()?;
        let from = match filter.brief {
            true => format!("SELECT {BRIEF} FROM run {clause}"),
            false => format!(
                "SELECT {BRIEF}, {REST} FROM run LEFT JOIN host ON host.id = run.host {clause}"
            ),
        };
        let sql = match filter.last {
            Some(last) => format!(
                "SELECT * FROM ({from} ORDER BY finished_ms DESC, run.id DESC LIMIT {last})
                 ORDER BY finished_ms, id"
            ),
            None => format!("{from} ORDER BY finished_ms, run.id"),
        };
        // Few runs have tags, so that all of them are read at once.
        let mut tags: HashMap<i64, Vec<String>> = HashMap::new();
        let mut statement = transaction.prepare("SELECT run, name FROM tag ORDER BY name")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            tags.entry(row.get(0)?).or_default().push(row.get(1)?);
        }
        let figures = "SELECT job, direction, name, value, higher_is_better FROM metric
                       WHERE run = ?1 ORDER BY rowid";
        let mut figures = match filter.figures {
            true => Some(transaction.prepare(figures)?),
            false => None,
        };
        let mut statement = transaction.prepare(&sql)?;
        let mut rows = statement.query(rusqlite::params_from_iter(values))?;
        // One for all rows: a history may have a hundred thousand.
        let mut entry = Entry::default();
        while let Some(row) = rows.next()? {
            fill(&mut entry, row, filter.brief)?;
            entry.tags.clear();
            if let Some(tags) = tags.get(&entry.id) {
                entry.tags.extend_from_slice(tags);
            }
            if let Some(figures) = &mut figures {
                let rows = figures.query_map([entry.id], metric)?;
                entry.metrics = rows.collect::<rusqlite::Result<_>>()?;
            }
            see(&entry);
        }
        Ok(())
    }
}

fn metric(row: &Row<'_>) -> rusqlite::Result<Metric> {
    Ok(Metric {
        job: row.get(0)?,
        direction: row.get(1)?,
        name: row.get(2)?,
        value: row.get(3)?,
        higher_is_better: row.get(4)?,
    })
}

/// What a line of a list shows, in the order of [`fill`].
const BRIEF: &str = "run.id AS id, finished_ms, tool, format, title, iops, bandwidth";
/// Everything else.
const REST: &str = "saved_ms, command, host.name, suite, partial, run.configuration, devices, note,
     latency";

/// Replaces what `entry` says by a row.
fn fill(entry: &mut Entry, row: &Row<'_>, brief: bool) -> rusqlite::Result<()> {
    let text = |into: &mut String, at: usize| -> rusqlite::Result<()> {
        into.clear();
        into.push_str(row.get_ref(at)?.as_str()?);
        Ok(())
    };
    entry.id = row.get(0)?;
    entry.finished_ms = row.get(1)?;
    text(&mut entry.tool, 2)?;
    text(&mut entry.format, 3)?;
    text(&mut entry.title, 4)?;
    entry.iops = row.get(5)?;
    entry.bandwidth = row.get(6)?;
    if brief {
        return Ok(());
    }
    entry.saved_ms = row.get(7)?;
    entry.command = row.get(8)?;
    entry.host = row.get(9)?;
    entry.suite = row.get(10)?;
    entry.partial = row.get(11)?;
    text(&mut entry.configuration, 12)?;
    let devices = row.get_ref(13)?.as_str()?.split_whitespace();
    entry.devices.clear();
    entry.devices.extend(devices.map(str::to_owned));
    entry.note = row.get(14)?;
    entry.latency = row.get(15)?;
    Ok(())
}

/// The `WHERE` clause of a filter and its values in order.
fn conditions(filter: &Filter) -> (String, Vec<Value>) {
    let mut clauses = Vec::new();
    let mut values = Vec::new();
    let mut put = |clause: &str, value: Option<Value>| {
        if let Some(value) = value {
            values.push(value);
            clauses.push(clause.replace('?', &format!("?{}", values.len())));
        }
    };
    let text = |value: &Option<String>| value.clone().map(Value::Text);
    let number = |value: Option<i64>| value.map(Value::Integer);
    put("run.id = ?", number(filter.id));
    let device = filter
        .device
        .as_ref()
        .map(|name| Value::Text(name.strip_prefix("/dev/").unwrap_or(name).to_owned()));
    put(
        "run.id IN (SELECT run FROM run_device WHERE device IN (
         SELECT id FROM device WHERE name = ? OR identity = ? OR model = ?))",
        device,
    );
    put(
        "host IN (SELECT id FROM host WHERE name = ?)",
        text(&filter.host),
    );
    put("suite = ?", text(&filter.suite));
    put(
        "run.id IN (SELECT run FROM tag WHERE name = ?)",
        text(&filter.tag),
    );
    put("finished_ms >= ?", number(filter.since_ms));
    put("finished_ms < ?", number(filter.until_ms));
    put("run.configuration = ?", text(&filter.configuration));
    match clauses.is_empty() {
        true => (String::new(), values),
        false => (format!("WHERE {}", clauses.join(" AND ")), values),
    }
}
