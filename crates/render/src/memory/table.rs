//! Columns that are as wide as what stands in them: numbers to the right, words to the left.

/// Rows of text.
#[derive(Debug, Default)]
pub struct Table {
    rows: Vec<Vec<String>>,
}

/// Heads of columns besides the first that hold words.
const WORDS: [&str; 2] = ["", "kernel"];

impl Table {
    /// A table whose first row is `head`.
    pub fn new<S: Into<String>>(head: impl IntoIterator<Item = S>) -> Table {
        let head = head.into_iter().map(Into::into).collect();
        Table { rows: vec![head] }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// The lines.
    pub fn text(&self) -> String {
        let head = &self.rows[0];
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(String::len).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..head.len()).map(width).collect();
        let mut text = String::new();
        for row in &self.rows {
            let mut line = String::new();
            for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
                let words = column == 0 || WORDS.contains(&head[column].as_str());
                line += &match words {
                    true => format!("  {cell:width$}"),
                    false => format!("  {cell:>width$}"),
                };
            }
            text += line.trim_end();
            text.push('\n');
        }
        text
    }
}
