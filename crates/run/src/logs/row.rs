//! Rows of the log files as text, column for column as fio writes them.

use units::Ddir;

/// Columns beyond time, value, direction and block size.
#[derive(Clone, Copy, Debug, Default)]
pub struct Columns {
    /// The mean is followed by the maximum (`log_window_value=both`).
    pub both: bool,
    /// Offset of the request (`log_offset`).
    pub offset: bool,
    /// The I/O priority in hexadecimal (`log_prio`) instead of 1 for the real-time class.
    pub priority: bool,
    /// When the request was issued (`log_issue_time`).
    pub issue: bool,
}

/// One row; what a window cannot tell is 0.
#[derive(Clone, Copy, Debug, Default)]
pub struct Row {
    /// Milliseconds since the start of the job, or since the epoch.
    pub time_ms: u64,
    /// The value.
    pub value: u64,
    /// Largest value of the window.
    pub max: u64,
    /// Direction.
    pub ddir: u8,
    /// Length of the request, bytes.
    pub len: u32,
    /// Offset of the request, bytes.
    pub offset: u64,
    /// I/O priority as the kernel encodes it.
    pub priority: u16,
    /// Nanoseconds from the start of the job to the issue of the request.
    pub issue_ns: u64,
}

/// The real-time class in a priority.
const REAL_TIME: u16 = 1;

/// Appends a row to `text`.
pub fn push_row(text: &mut Vec<u8>, columns: Columns, row: &Row) {
    let mut line = Backwards::default();
    line.byte(b'\n');
    if columns.issue {
        line.column(row.issue_ns);
    }
    if columns.priority {
        for shift in [0, 4, 8, 12] {
            line.byte(b"0123456789abcdef"[usize::from(row.priority >> shift & 15)]);
        }
        line.pair(b"0x");
        line.pair(b", ");
    } else {
        line.column(u64::from(row.priority >> 13 == REAL_TIME));
    }
    if columns.offset {
        line.column(row.offset);
    }
    line.column(u64::from(row.len));
    line.column(u64::from(row.ddir));
    if columns.both {
        line.column(row.max);
    }
    line.column(row.value);
    line.number(row.time_ms);
    text.extend_from_slice(line.text());
}

/// Appends a row of a histogram log, `1 << coarseness` neighbouring bins added up.
pub fn push_bins(
    text: &mut Vec<u8>,
    (time_ms, ddir, len): (u64, Ddir, u32),
    bins: &[u64],
    coarseness: u32,
) {
    push_number(text, time_ms);
    push_column(text, ddir.index() as u64);
    push_column(text, u64::from(len));
    for group in bins.chunks_exact(1 << coarseness) {
        push_column(text, group.iter().sum());
    }
    text.push(b'\n');
}

fn push_column(text: &mut Vec<u8>, value: u64) {
    text.extend_from_slice(b", ");
    push_number(text, value);
}

/// Appends a number in decimal.
pub fn push_number(text: &mut Vec<u8>, value: u64) {
    let mut line = Backwards::default();
    line.number(value);
    text.extend_from_slice(line.text());
}

/// Longest row: eight numbers of 20 digits with their separators, and the end of the line.
const MOST: usize = 8 * 22 + 1;

/// A line made from its end to its start, because that is how digits come; one copy at the end
/// instead of one for each number.
struct Backwards {
    bytes: [u8; MOST],
    at: usize,
}

impl Default for Backwards {
    fn default() -> Self {
        Backwards {
            bytes: [0; MOST],
            at: MOST,
        }
    }
}

impl Backwards {
    #[inline(always)]
    fn byte(&mut self, byte: u8) {
        self.at -= 1;
        self.bytes[self.at] = byte;
    }

    #[inline(always)]
    fn pair(&mut self, pair: &[u8; 2]) {
        self.at -= 2;
        self.bytes[self.at..self.at + 2].copy_from_slice(pair);
    }

    #[inline(always)]
    fn number(&mut self, mut value: u64) {
        while value >= 10 {
            self.pair(&PAIRS[(value % 100) as usize]);
            value /= 100;
            if value == 0 {
                return;
            }
        }
        self.byte(b'0' + value as u8);
    }

    #[inline(always)]
    fn column(&mut self, value: u64) {
        self.number(value);
        self.pair(b", ");
    }

    fn text(&self) -> &[u8] {
        &self.bytes[self.at..]
    }
}

/// The numbers below 100 as two digits.
const PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[0; 2]; 100];
    let mut n = 0;
    while n < 100 {
        pairs[n] = [b'0' + (n / 10) as u8, b'0' + (n % 10) as u8];
        n += 1;
    }
    pairs
};

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ROW: Row = Row {
        time_ms: 12,
        value: 4497,
        max: 5000,
        ddir: 1,
        len: 4096,
        offset: 8192,
        priority: 0x2003,
        issue_ns: 777,
    };

    fn text(columns: Columns, row: &Row) -> String {
        let mut text = Vec::new();
        push_row(&mut text, columns, row);
        String::from_utf8(text).unwrap()
    }

    /// Rows of fio 3.33 (plain, offset, priority) and of fio 3.41 (both, issue time).
    #[test]
    fn columns_follow_fio() {
        let none = Columns::default();
        assert_eq!(text(none, &ROW), "12, 4497, 1, 4096, 1\n");
        assert_eq!(
            text(
                none,
                &Row {
                    priority: 0x4003,
                    ..ROW
                }
            ),
            "12, 4497, 1, 4096, 0\n"
        );
        let offset = Columns {
            offset: true,
            ..none
        };
        assert_eq!(text(offset, &ROW), "12, 4497, 1, 4096, 8192, 1\n");
        let priority = Columns {
            priority: true,
            ..offset
        };
        assert_eq!(text(priority, &ROW), "12, 4497, 1, 4096, 8192, 0x2003\n");
        let all = Columns {
            both: true,
            issue: true,
            ..priority
        };
        assert_eq!(
            text(all, &ROW),
            "12, 4497, 5000, 1, 4096, 8192, 0x2003, 777\n"
        );
    }

    #[test]
    fn coarse_bins_are_sums_of_neighbours() {
        let mut bins = [0u64; 1856];
        (bins[0], bins[1], bins[63], bins[64], bins[1855]) = (1, 2, 3, 4, 5);
        let row = |coarseness| {
            let mut text = Vec::new();
            push_bins(&mut text, (101, Ddir::Write, 4096), &bins, coarseness);
            String::from_utf8(text).unwrap()
        };
        assert!(row(0).starts_with("101, 1, 4096, 1, 2, 0, "));
        assert_eq!(row(0).split(',').count(), 1859);
        let coarse = row(6);
        let columns: Vec<&str> = coarse.trim_end().split(", ").collect();
        assert_eq!(
            (columns.len(), columns[3], columns[4], columns[31]),
            (32, "6", "4", "5")
        );
    }

    proptest! {
        #[test]
        fn numbers_print_as_the_standard_library_does(value: u64) {
            let mut text = Vec::new();
            push_number(&mut text, value);
            prop_assert_eq!(String::from_utf8(text).unwrap(), value.to_string());
        }
    }
}
