//! Latency classes, percentiles, sampling and logs.

use crate::kinds::{ClockSource, LogValue};
use option::{Floats, IdList};
use units::Span;

option::options! {
    /// Measurement, percentiles and logs
    pub struct Measure {
        /// Report completion latency percentiles.
        clat_percentiles: bool = "1";
        /// Report total latency percentiles.
        lat_percentiles: bool = "0";
        /// Report submission latency percentiles.
        slat_percentiles: bool = "0";
        /// Percentiles to report, up to twenty, separated by `:`.
        ///
        /// Reports print as many decimals as the longest has.
        percentile_list: Floats = "1:5:10:20:30:40:50:60:70:80:90:95:99:99.5:99.9:99.95:99.99",
            within(0.0, 100.0);
        /// Measure no total latency.
        disable_lat: bool = "0", parent("gtod_reduce");
        /// Measure no completion latency.
        disable_clat: bool = "0", parent("gtod_reduce");
        /// Measure no submission latency.
        disable_slat: bool = "0", parent("gtod_reduce");
        /// Sample no bandwidth.
        disable_bw_measurement: bool = "0", aliases(&["disable_bw"]), parent("gtod_reduce");
        /// Read the clock as little as possible: no latencies, no bandwidth samples.
        gtod_reduce: bool = "0";
        /// CPU for a thread that does nothing but read the clock; all jobs take the time from it
        /// and stay off its CPU.
        ///
        /// Of use where reading the clock is a system call, and a CPU can be spared for it alone:
        /// while the thread waits for its CPU, the time stands still.
        gtod_cpu: Option<u32>;
        /// The clock for latencies; the CPU's counter where it is reliable.
        clocksource: Option<ClockSource>;
        /// Clock of the start time in JSON reports.
        job_start_clock_id: u32 = "0";
        /// Show the job in reports.
        stats: bool = "1";
        /// Report statistics of the disks below the files.
        disk_util: bool = "1";
        /// Window of the bandwidth samples.
        bwavgtime: Span = "500", millis();
        /// Window of the IOPS samples.
        iopsavgtime: Span = "500", millis();
        /// Log bandwidth to `<prefix>_bw.N.log`; the job name is the default prefix.
        write_bw_log: Option<String>, bare_text();
        /// Log latencies to `<prefix>_{lat,slat,clat}.N.log`.
        write_lat_log: Option<String>, bare_text();
        /// Log IOPS to `<prefix>_iops.N.log`.
        write_iops_log: Option<String>, bare_text();
        /// Log completion latency histograms to `<prefix>_clat_hist.N.log`.
        write_hist_log: Option<String>, bare_text();
        /// Log one row per window of this length; 0 logs every request.
        log_avg_msec: Span = "0", millis();
        /// Window of the histogram log.
        log_hist_msec: Span = "0", millis();
        /// Sum 2^N neighbouring bins of the histogram log.
        log_hist_coarseness: u32 = "0", range(0, 6);
        /// What a row tells of its window.
        log_window_value: LogValue = "avg", aliases(&["log_max_value"]);
        /// Add the offset to each row.
        log_offset: bool = "0";
        /// Add the I/O priority to each row.
        log_prio: bool = "0";
        /// Add the issue time to each row.
        log_issue_time: bool = "0";
        /// Rows to reserve memory for.
        log_entries: u32 = "1024", range(1024, 1_048_576);
        /// Compress logs in pieces of this size.
        ///
        /// Unlike fio, which keeps logs in memory, this needs no compression to keep memory
        /// small; it matters where `log_store_compressed` keeps the pieces.
        log_compression: Option<u32>, range(1024, 536_870_912), bytes();
        /// CPUs that compress.
        log_compression_cpus: Option<IdList>, parent("log_compression");
        /// Keep the logs compressed.
        log_store_compressed: bool = "0", parent("log_compression");
        /// Absolute times in logs, by `log_alternate_epoch_clock_id`.
        log_alternate_epoch: bool = "0";
        /// Wall clock times in logs.
        log_unix_epoch: bool = "0";
        /// Clock of absolute times in logs.
        log_alternate_epoch_clock_id: u32 = "0";
        /// One log per clone, numbered; 0 puts all clones into one file.
        per_job_logs: bool = "1";
        /// Histogram of trims until failure.
        block_error_percentiles: bool = "0", refused("trim failure histograms");
    }
}
