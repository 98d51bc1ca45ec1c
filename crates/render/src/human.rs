//! Figures for people: three or four digits and a unit. The summary in the terminal and the page
//! use these same functions, so that a figure is the same to the last digit wherever it stands.

/// Bytes per second in binary units.
pub fn rate(bytes_per_s: f64) -> String {
    let mut value = bytes_per_s;
    for unit in ["B/s", "KiB/s", "MiB/s"] {
        if value < 1024.0 {
            return format!("{value:.1} {unit}");
        }
        value /= 1024.0;
    }
    format!("{value:.2} GiB/s")
}

/// Bytes per second in GB of 10^9, as bandwidth of memory is given.
pub fn decimal_rate(bytes_per_s: f64) -> String {
    format!("{:.2} GB/s", bytes_per_s / 1e9)
}

/// Bytes in binary units; whole numbers of them without decimals.
pub fn bytes(bytes: f64) -> String {
    const UNITS: [&str; 6] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let mut value = bytes;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let digits = usize::from(value.fract() > 0.05 && value < 100.0);
    format!("{value:.digits$} {}", UNITS[unit])
}

/// A number with thousands as k and millions as M.
pub fn count(value: f64) -> String {
    match value {
        v if v >= 1e9 => format!("{:.2} G", v / 1e9),
        v if v >= 1e6 => format!("{:.2} M", v / 1e6),
        v if v >= 1e4 => format!("{:.1} k", v / 1e3),
        v if v > 0.0 && v < 10.0 && v.fract() > 0.0 => format!("{v:.2}"),
        v => format!("{v:.0}"),
    }
}

/// A time given in nanoseconds.
pub fn time(ns: f64) -> String {
    match ns {
        v if v >= 1e9 => format!("{:.2} s", v / 1e9),
        v if v >= 1e6 => format!("{:.2} ms", v / 1e6),
        v if v >= 1e3 => format!("{:.1} us", v / 1e3),
        v if v > 0.0 && v < 100.0 && v.fract() > 0.0 => format!("{v:.1} ns"),
        v => format!("{v:.0} ns"),
    }
}

/// A percentile without needless zeros: `p50`, `p99.9`.
pub fn percentile(percent: f64) -> String {
    format!("p{percent}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_keep_three_or_four_digits() {
        assert_eq!(rate(512.0), "512.0 B/s");
        assert_eq!(rate(1536.0 * 1024.0 * 1024.0), "1.50 GiB/s");
        assert_eq!(decimal_rate(12_345e6), "12.35 GB/s");
        assert_eq!(
            (bytes(32768.0), bytes(1.5 * 1048576.0)),
            ("32 KiB".into(), "1.5 MiB".into())
        );
        assert_eq!(
            (count(9_999.0), count(12_345.0), count(2.5), count(3.0)),
            ("9999".into(), "12.3 k".into(), "2.50".into(), "3".into())
        );
        assert_eq!(
            (time(999.0), time(1_500_000.0), time(3.25)),
            ("999 ns".into(), "1.50 ms".into(), "3.2 ns".into())
        );
        assert_eq!(percentile(99.95), "p99.95");
    }
}
