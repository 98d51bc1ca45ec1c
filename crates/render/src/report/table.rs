//! Tables: what is shown, and the bare number behind it for programs.

use crate::chart::{State, Unit};
use serde::Serialize;

/// A column.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Column {
    /// Heading.
    pub name: String,
    /// Unit of the bare numbers, or empty.
    pub unit: &'static str,
    /// Cells are numbers and stand at the right.
    pub numeric: bool,
}

impl Column {
    /// A column of words.
    pub fn words(name: &str) -> Column {
        Column {
            name: name.to_owned(),
            unit: "",
            numeric: false,
        }
    }

    /// A column of numbers in the words of their cells.
    pub fn number(name: &str) -> Column {
        Column {
            numeric: true,
            ..Column::words(name)
        }
    }

    /// A column of values.
    pub fn of(name: &str, unit: Unit) -> Column {
        Column {
            name: name.to_owned(),
            unit: unit.bare(),
            numeric: true,
        }
    }
}

/// A cell.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Cell {
    /// What people see.
    pub text: String,
    /// The number behind it, in the column's unit.
    pub value: Option<f64>,
}

impl Cell {
    /// Words.
    pub fn words(text: impl Into<String>) -> Cell {
        Cell {
            text: text.into(),
            value: None,
        }
    }

    /// A value, shown in its unit.
    pub fn of(unit: Unit, value: f64) -> Cell {
        Cell {
            text: unit.show(value),
            value: Some(value),
        }
    }

    /// A value that may be missing or doubtful.
    pub fn stated(unit: Unit, value: Option<f64>, state: State) -> Cell {
        match value {
            Some(value) => Cell {
                text: unit.show(value) + state.mark(),
                value: Some(value),
            },
            None => Cell::words("-"),
        }
    }
}

/// Columns and rows.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Table {
    /// Columns.
    pub columns: Vec<Column>,
    /// Rows, each as long as the columns.
    pub rows: Vec<Vec<Cell>>,
}
