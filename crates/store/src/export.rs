//! Figures for other programs: a row a figure, what pandas and DuckDB like best.

use crate::{Entry, Metric};
use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::sync::Arc;

/// Columns: integers, then numbers, then words, in the order of the file.
const SCHEMA: &str = "message figure {
    required int64 run;
    required int64 finished_ms (TIMESTAMP(MILLIS, true));
    required binary tool (UTF8);
    required binary host (UTF8);
    required binary suite (UTF8);
    required binary devices (UTF8);
    required binary tags (UTF8);
    required binary title (UTF8);
    required binary configuration (UTF8);
    required int64 partial;
    required binary job (UTF8);
    required binary direction (UTF8);
    required binary metric (UTF8);
    required double value;
}";

/// Names of the columns.
const HEADS: [&str; 14] = [
    "run",
    "finished_ms",
    "tool",
    "host",
    "suite",
    "devices",
    "tags",
    "title",
    "configuration",
    "partial",
    "job",
    "direction",
    "metric",
    "value",
];

/// One cell.
enum Cell {
    Integer(i64),
    Text(String),
    Number(f64),
}

impl Cell {
    fn text(text: &str) -> Cell {
        Cell::Text(text.to_owned())
    }
}

fn row(entry: &Entry, metric: &Metric) -> [Cell; 14] {
    [
        Cell::Integer(entry.id),
        Cell::Integer(entry.finished_ms),
        Cell::text(&entry.tool),
        Cell::text(entry.host.as_deref().unwrap_or_default()),
        Cell::text(entry.suite.as_deref().unwrap_or_default()),
        Cell::Text(entry.devices.join(" ")),
        Cell::Text(entry.tags.join(" ")),
        Cell::text(&entry.title),
        Cell::text(&entry.configuration),
        Cell::Integer(entry.partial.into()),
        Cell::text(&metric.job),
        Cell::text(&metric.direction),
        Cell::text(&metric.name),
        Cell::Number(metric.value),
    ]
}

fn rows(entries: &[Entry]) -> impl Iterator<Item = [Cell; 14]> {
    let of = |entry| move |metric| row(entry, metric);
    entries
        .iter()
        .flat_map(move |entry| entry.metrics.iter().map(of(entry)))
}

/// Comma-separated values as RFC 4180 has them, with a head.
pub fn csv(entries: &[Entry]) -> String {
    let mut out = HEADS.join(",") + "\n";
    for row in rows(entries) {
        let cells = row.map(|cell| match cell {
            Cell::Integer(value) => value.to_string(),
            Cell::Number(value) => value.to_string(),
            Cell::Text(text) => quoted(text),
        });
        out.push_str(&cells.join(","));
        out.push('\n');
    }
    out
}

fn quoted(cell: String) -> String {
    match cell.contains(['"', ',', '\n', '\r']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell,
    }
}

/// A Parquet file of the same columns.
///
/// # Errors
/// What the library refuses; nothing here does.
pub fn parquet(entries: &[Entry]) -> Result<Vec<u8>, ParquetError> {
    let schema = Arc::new(parse_message_type(SCHEMA)?);
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY);
    let mut bytes = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut bytes, schema, Arc::new(properties.build()))?;
    let all: Vec<[Cell; 14]> = rows(entries).collect();
    // A column after the other; a group holds so many rows that files stay seekable.
    const GROUP: usize = 1 << 20;
    for rows in all.chunks(GROUP) {
        let mut group = writer.next_row_group()?;
        let mut at = 0;
        while let Some(mut column) = group.next_column()? {
            let cells = rows.iter().map(|row| &row[at]);
            match &rows[0][at] {
                Cell::Integer(_) => {
                    let values: Vec<i64> = cells.filter_map(Cell::integer).collect();
                    column
                        .typed::<Int64Type>()
                        .write_batch(&values, None, None)?;
                }
                Cell::Number(_) => {
                    let values: Vec<f64> = cells.filter_map(Cell::number).collect();
                    column
                        .typed::<DoubleType>()
                        .write_batch(&values, None, None)?;
                }
                Cell::Text(_) => {
                    let values: Vec<ByteArray> = cells.filter_map(Cell::bytes).collect();
                    column
                        .typed::<ByteArrayType>()
                        .write_batch(&values, None, None)?;
                }
            }
            column.close()?;
            at += 1;
        }
        group.close()?;
    }
    writer.close()?;
    Ok(bytes)
}

impl Cell {
    fn integer(&self) -> Option<i64> {
        match self {
            Cell::Integer(value) => Some(*value),
            _ => None,
        }
    }

    fn number(&self) -> Option<f64> {
        match self {
            Cell::Number(value) => Some(*value),
            _ => None,
        }
    }

    fn bytes(&self) -> Option<ByteArray> {
        match self {
            Cell::Text(text) => Some(text.as_str().into()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::RowAccessor;

    fn entries() -> Vec<Entry> {
        let metric = |name: &str, value| Metric {
            job: "a, \"b\"".to_owned(),
            direction: "read".to_owned(),
            name: name.to_owned(),
            value,
            higher_is_better: true,
        };
        let entry = |id, metrics| Entry {
            id,
            finished_ms: 1_700_000_000_000 + id,
            tool: "fio-3.33".to_owned(),
            host: Some("h".to_owned()),
            devices: vec!["md0".to_owned(), "sda".to_owned()],
            metrics,
            ..Entry::default()
        };
        vec![
            entry(1, vec![metric("iops", 1000.5), metric("p99", 3.0)]),
            entry(2, Vec::new()),
            entry(7, vec![metric("iops", 2000.0)]),
        ]
    }

    #[test]
    fn csv_quotes_what_would_be_two_cells() {
        let text = csv(&entries());
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], HEADS.join(","));
        assert_eq!(
            lines[1],
            "1,1700000000001,fio-3.33,h,,md0 sda,,,,0,\"a, \"\"b\"\"\",read,iops,1000.5"
        );
        assert_eq!(lines.len(), 4);
    }

    #[test]
    fn parquet_holds_the_same_rows() {
        let bytes = parquet(&entries()).expect("a file");
        let reader = SerializedFileReader::new(bytes::Bytes::from(bytes)).expect("parquet");
        let schema = reader.metadata().file_metadata().schema_descr();
        let names: Vec<&str> = schema
            .columns()
            .iter()
            .map(|column| column.name())
            .collect();
        assert_eq!(names, HEADS);
        let rows: Vec<_> = reader
            .get_row_iter(None)
            .expect("rows")
            .map(|row| row.expect("a row"))
            .collect();
        assert_eq!(rows.len(), 3);
        assert_eq!(rows[2].get_long(0).expect("run"), 7);
        assert_eq!(rows[0].get_string(10).expect("job"), "a, \"b\"");
        assert_eq!(rows[0].get_double(13).expect("value"), 1000.5);
        // No rows at all are a file too.
        let empty = parquet(&[]).expect("a file");
        let reader = SerializedFileReader::new(bytes::Bytes::from(empty)).expect("parquet");
        assert_eq!(reader.metadata().file_metadata().num_rows(), 0);
    }
}
