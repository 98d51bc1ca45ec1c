//! A document with every section, and what its text must say.

use super::*;
use result::memory::{
    AtShare, Bandwidth, BandwidthRow, CacheCurve, CachePoint, Conditions, CoreToCore, Curve,
    DataSheet, Knee, Latency, LatencyRow, LatencySplit, LineState, Loaded, LoadedPoint, Matrix,
    Mix, Pages, Plateau, Region, Scan, Transfer,
};

fn figure(median: f64) -> Figure {
    Figure {
        median,
        mad: median / 100.0,
        n: 21,
        low: median * 0.99,
        high: median * 1.01,
        best: median * 1.02,
        dropped: 3,
        disturbed: false,
        samples: vec![median],
    }
}

fn pages() -> Pages {
    Pages {
        bytes: 2 << 20,
        kind: "transparent".into(),
        share: 1.0,
        nodes: vec![(0, 1.0)],
        asked: Some(0),
    }
}

fn document() -> Memory {
    let copy = Mix {
        loads: 1,
        stores: 1,
        nt_stores: 0,
    };
    let read = Mix {
        loads: 1,
        ..Mix::default()
    };
    let row = |name: &str, cpus: &[u32], mix, rate| BandwidthRow {
        name: name.into(),
        cpus: cpus.to_vec(),
        kernel: "read-avx512-8s".into(),
        mix,
        rate: figure(rate),
        each: Vec::new(),
    };
    let pair = |writer, reader, ns| Transfer {
        writer,
        reader,
        state: LineState::Modified,
        home: None,
        ns: figure(ns),
        best_line_ns: ns * 0.9,
        lines: 64,
    };
    Memory {
        conditions: Conditions {
            processor: "Some CPU".into(),
            cpus: vec![0, 1],
            cores: 2,
            isa: "avx512".into(),
            pages: pages(),
            prefetch: "on".into(),
            hypervisor: Some("KVM".into()),
            memory_limit_bytes: Some(1 << 30),
            remarks: vec!["a shared host".into()],
            ..Conditions::default()
        },
        latency: Some(Latency {
            cpu: 0,
            rows: vec![LatencyRow {
                name: "full random".into(),
                buffer_bytes: 420 << 20,
                stride_bytes: 256,
                window_bytes: None,
                pages: pages(),
                ns: figure(126.0),
                cycles: Some(366.0),
            }],
            split: Some(LatencySplit {
                dram_ns: 100.0,
                row_ns: 26.0,
                tlb_ns: Some(31.0),
                prefetch_ns: 50.0,
            }),
        }),
        cache: Some(CacheCurve {
            cpu: 0,
            curves: vec![Curve {
                pages: pages(),
                points: vec![CachePoint {
                    bytes: 4096,
                    ns: figure(1.7),
                }],
                plateaus: vec![Plateau {
                    name: "L1".into(),
                    bytes: 48 << 10,
                    told_bytes: Some(48 << 10),
                    ns: 1.7,
                }],
            }],
        }),
        bandwidth: Some(Bandwidth {
            buffer_bytes: 210 << 20,
            pages: pages(),
            rows: vec![
                row("read", &[0], read, 16.6e9),
                row("copy", &[0, 1], copy, 20e9),
            ],
            search: Vec::new(),
        }),
        loaded: vec![Loaded {
            name: "read".into(),
            mix: read,
            cpu: Some(0),
            load_cpus: vec![1],
            kernel: "read-avx512-8s".into(),
            idle_ns: Some(figure(126.0)),
            points: vec![LoadedPoint {
                delay: 0,
                ns: Some(figure(300.0)),
                rate: figure(30e9),
            }],
            knee: Some(Knee {
                rate: 25e9,
                ns: 160.0,
            }),
            at: vec![AtShare {
                share: 0.5,
                ns: 130.0,
            }],
        }],
        c2c: Some(CoreToCore {
            cpus: vec![0, 1],
            definition: "one way".into(),
            pairs: vec![pair(0, 1, 70.0), pair(1, 0, 71.0)],
        }),
        matrix: Some(Matrix {
            from: vec![0, 1],
            to: vec![0, 1],
            latency_ns: vec![vec![figure(80.0), figure(140.0)]; 2],
            ..Matrix::default()
        }),
        scan: Some(Scan {
            region_bytes: 1 << 30,
            node: 0,
            threads: 2,
            physical: true,
            regions: vec![Region {
                address: 0x4000_0000,
                rate: figure(20e9),
            }],
        }),
        data_sheet: Some(DataSheet {
            source: "given".into(),
            modules: "8xDDR5-4800".into(),
            channels: 8,
            mt_per_s: 4800,
            transfer_bytes: 8,
            empty_slots: 0,
            peak: 307.2e9,
        }),
        elapsed_s: 55.0,
    }
}

#[test]
fn every_section_says_what_it_holds() {
    let text = text(&document());
    for part in [
        "Latency of one dependent load, ns (CPU 0, buffer 420 MiB)",
        "full random: stride 256 B, 2 MiB pages     366   126.0  124.7 - 127.3",
        "DRAM 100 + row 26 + TLB of small pages 31 ns; at a stride of one line the prefetchers hide 50 ns",
        "L1     1.7       48 KiB           48 KiB",
        "copy        2    30.0    10.0   20.00",
        "knee at 25.00 GB/s, 160 ns",
        "50 %: 130 ns",
        "CPU 0 -> 1",
        "node 0         80.0   140.0",
        "0x40000000",
        "8xDDR5-4800, 8 channels x 4800 MT/s x 8 B = 307.2 GB/s",
        "One core: 16.6 GB/s at 126 ns keeps 33 lines under way; 48 lines would be 24.4 GB/s",
        "a guest of KVM",
        "memory 1 GiB",
        "a shared host",
    ] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
    for line in text.lines() {
        assert_eq!(line, line.trim_end(), "blanks at the end");
    }
}

#[test]
fn an_unstable_or_disturbed_figure_says_so() {
    let mut wide = figure(100.0);
    (wide.low, wide.high) = (90.0, 104.0);
    assert_eq!(cells(&wide, 1.0, 1)[6], "unstable");
    wide.disturbed = true;
    assert_eq!(cells(&wide, 1.0, 1)[6], "disturbed");
    assert_eq!(cells(&figure(100.0), 1.0, 1)[5..], ["3", ""]);
}

#[test]
fn sizes_and_lists() {
    let sizes = [512, 4096, 1536 << 10, 420 << 20, 3 << 29].map(size);
    assert_eq!(sizes, ["512 B", "4 KiB", "1.5 MiB", "420 MiB", "1.5 GiB"]);
    assert_eq!(ranges(&[0, 1, 2, 5]), "0-2,5");
}
