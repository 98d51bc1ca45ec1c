//! From core to core and from node to node.

use super::table::Table;
use super::{GB, SPREAD, cells};
use result::memory::{CoreToCore, Figure, LineState, Matrix};

/// More CPUs than this are shown as a summary only.
const WIDEST: usize = 16;

/// The matrix of medians, and each pair's spread where they are few.
pub fn c2c(c2c: &CoreToCore) -> String {
    let mut text = format!(
        "Transfer of a line from core to core, ns\n  {}\n",
        c2c.definition
    );
    for (state, name) in [
        (LineState::Modified, "modified by its owner (HITM)"),
        (LineState::Clean, "clean (HIT)"),
    ] {
        let pairs: Vec<_> = c2c
            .pairs
            .iter()
            .filter(|pair| pair.state == state)
            .collect();
        if pairs.is_empty() {
            continue;
        }
        text += &format!(" {name}\n");
        if c2c.cpus.len() <= 4 {
            let head = ["owner -> reader", "best line"].into_iter();
            let mut table = Table::new(head.chain(SPREAD));
            for pair in pairs {
                let home = pair
                    .home
                    .map_or(String::new(), |node| format!(", home {node}"));
                let name = format!("CPU {} -> {}{home}", pair.writer, pair.reader);
                let mut line = vec![name, format!("{:.1}", pair.best_line_ns)];
                line.extend(cells(&pair.ns, 1.0, 1));
                table.row(line);
            }
            text += &table.text();
            continue;
        }
        let mut all: Vec<f64> = pairs.iter().map(|pair| pair.ns.median).collect();
        all.sort_by(f64::total_cmp);
        text += &format!(
            "  {} pairs: fastest {:.1}, middle {:.1}, slowest {:.1}\n",
            all.len(),
            all[0],
            all[all.len() / 2],
            all[all.len() - 1]
        );
        if c2c.cpus.len() > WIDEST {
            continue;
        }
        let head = std::iter::once("owner\\reader".to_owned());
        let mut table = Table::new(head.chain(c2c.cpus.iter().map(u32::to_string)));
        for writer in &c2c.cpus {
            let cell = |reader: &u32| {
                let pair = pairs
                    .iter()
                    .find(|p| (p.writer, p.reader) == (*writer, *reader));
                pair.map_or_else(|| "-".to_owned(), |pair| format!("{:.0}", pair.ns.median))
            };
            let row = std::iter::once(writer.to_string()).chain(c2c.cpus.iter().map(cell));
            table.row(row.collect());
        }
        text += &table.text();
    }
    text
}

/// The three matrices.
pub fn matrix(matrix: &Matrix) -> String {
    let mut text = String::from("From the CPUs of a node (row) to the memory of a node (column)\n");
    text += &block(matrix, "latency, ns", &matrix.latency_ns, 1.0, 1);
    text += &block(matrix, "reads, GB/s", &matrix.read, GB, 1);
    text += &block(matrix, "writes past the cache, GB/s", &matrix.write, GB, 1);
    for line in &matrix.misplaced {
        text += &format!("  NOT IN PLACE: {line}\n");
    }
    text
}

fn block(matrix: &Matrix, title: &str, rows: &[Vec<Figure>], unit: f64, digits: usize) -> String {
    if rows.is_empty() {
        return String::new();
    }
    if matrix.from.len() == 1 && matrix.to.len() == 1 {
        let mut table = Table::new([title].into_iter().chain(SPREAD));
        let name = format!("node {} -> {}", matrix.from[0], matrix.to[0]);
        let mut line = vec![name];
        line.extend(
            rows[0]
                .iter()
                .flat_map(|figure| cells(figure, unit, digits)),
        );
        table.row(line);
        return table.text();
    }
    let head = std::iter::once(title.to_owned());
    let mut table = Table::new(head.chain(matrix.to.iter().map(|node| format!("node {node}"))));
    for (from, row) in matrix.from.iter().zip(rows) {
        let cell = |figure: &Figure| format!("{:.digits$}", figure.median / unit);
        let line = std::iter::once(format!("node {from}")).chain(row.iter().map(cell));
        table.row(line.collect());
    }
    table.text()
}
