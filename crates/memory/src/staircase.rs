//! Latency over the size of the working set, and the levels of cache that show in it.
//!
//! One buffer, of which ever more is linked. The levels are found in the curve alone: it is made
//! monotone first, since noise only ever adds time; then each level is where the curve has least
//! slope, and ends where it has risen a share of the way to the next. The edges are measured
//! again in finer steps, and the sizes of the caches then told by [`capacity`](crate::capacity).

use crate::capacity::capacity;
use crate::chase::Chain;
use crate::error::Error;
use crate::latency::Sampling;
use crate::layout::Layout;
use crate::machine::Machine;
use crate::place::{Home, Pages, Wish, on_cpu};
use crate::sample::{Better, collect};
use result::memory::{CachePoint, Curve, Plateau};

/// Smallest working set, bytes.
pub const FIRST_BYTES: u64 = 4 << 10;
/// Largest working set, bytes.
pub const LAST_BYTES: u64 = 2 << 30;
/// Above this size points are fewer.
const SPARSE_BYTES: u64 = 64 << 20;
/// Two levels whose latencies are closer than this are one.
const APART: f64 = 1.35;
/// A level's points are within this of its lowest.
const LEVEL: f64 = 1.12;
/// How much of the way to the next level a working set may have gone and still count as held by
/// the cache: pages that collide in it cost some of it before it is full. A first guess, of
/// which [`capacity`] makes a size.
const HELD: f64 = 0.4;
/// Rings up to this many lines are followed once before they are timed.
const WARM_CELLS: u64 = 1 << 18;

/// What is measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Stairs {
    /// The buffer's pages.
    pub pages: Pages,
    /// Order of the loads. [`Layout::LOCAL`] leaves the page tables out of it, and
    /// [`Layout::Random`] shows them.
    pub layout: Layout,
    /// The largest working set, bytes; less where there is no room for it.
    pub last_bytes: u64,
    /// Points from a size to its double.
    pub per_octave: u32,
    /// Samples of each point.
    pub how: Sampling,
}

/// Measures the curve from one CPU.
///
/// # Errors
/// A buffer cannot be had, or the CPU may not be used.
pub fn curve(machine: &Machine, cpu: u32, stairs: &Stairs) -> Result<Curve, Error> {
    machine.check_cpu(cpu)?;
    let most = stairs.last_bytes.min(machine.room(None).bytes / 2);
    let sizes = sizes(FIRST_BYTES, most, stairs.per_octave);
    let &last = sizes
        .last()
        .ok_or_else(|| Error::refused("there is no room for a working set of 4 KiB"))?;
    on_cpu(cpu, || {
        let wish = Wish {
            bytes: last,
            pages: stairs.pages,
            home: Home::Here,
        };
        let mut chain = Chain::new(machine, &wish, Layout::Sequential { stride: 64 })?;
        let mut points = Vec::new();
        for bytes in sizes {
            points.push(point(&mut chain, stairs, bytes)?);
        }
        // Each edge again, in eighths of the step that holds it.
        for edge in edges(&points) {
            let (low, high) = (points[edge].bytes, points[edge + 1].bytes);
            for eighth in 1..8 {
                let bytes = (low + (high - low) * eighth / 8) & !1023;
                if points.iter().all(|point| point.bytes != bytes) {
                    points.push(point(&mut chain, stairs, bytes)?);
                }
            }
        }
        points.sort_by_key(|point| point.bytes);
        let mut plateaus = plateaus(&points);
        // Where pages are part of what shows, an edge is not the size of a cache.
        if stairs.layout != Layout::Random {
            for level in 0..plateaus.len().saturating_sub(1) {
                let next = (level + 2 < plateaus.len()).then(|| plateaus[level + 1].bytes);
                let size = capacity(&chain, plateaus[level].bytes, next)?;
                plateaus[level].bytes = size.unwrap_or(plateaus[level].bytes);
            }
        }
        for (level, plateau) in plateaus.iter_mut().enumerate() {
            plateau.told_bytes = machine.cache_bytes(level as u32 + 1);
        }
        Ok(Curve {
            pages: chain.placement().into(),
            points,
            plateaus,
        })
    })?
}

fn point(chain: &mut Chain, stairs: &Stairs, bytes: u64) -> Result<CachePoint, Error> {
    chain.relink(stairs.layout, bytes as usize)?;
    let cells = chain.ring().cells();
    if cells <= WARM_CELLS {
        chain.block(cells);
    }
    let ns = collect(&stairs.how.rule, Better::Lower, || {
        Ok::<_, Error>(chain.reading(stairs.how.sample))
    })?;
    Ok(CachePoint { bytes, ns })
}

/// Sizes in equal ratios, each a multiple of 1 KiB, from `first` to at most `last`. From 64 MiB on
/// there are two from a size to its double: linking takes longer than measuring there.
fn sizes(first: u64, last: u64, per_octave: u32) -> Vec<u64> {
    let ratio = 2f64.powf(1.0 / f64::from(per_octave.max(1)));
    let mut sizes = Vec::new();
    for step in 0.. {
        let bytes = (first as f64 * ratio.powi(step)) as u64;
        // Roots of two are not exact; a multiple of 1 KiB may come out a byte short.
        let bytes = (bytes + 512) & !1023;
        if bytes > last {
            break;
        }
        let coarse = per_octave > 2 && bytes > SPARSE_BYTES;
        if coarse && step % (per_octave as i32 / 2) != 0 {
            continue;
        }
        if sizes.last() != Some(&bytes) {
            sizes.push(bytes);
        }
    }
    sizes
}

/// The curve without what noise has added: no point above a later one.
fn monotone(points: &[CachePoint]) -> Vec<f64> {
    let mut ns: Vec<f64> = points.iter().map(|point| point.ns.best).collect();
    for at in (1..ns.len()).rev() {
        ns[at - 1] = ns[at - 1].min(ns[at]);
    }
    ns
}

/// First and last point of each level, in rising order.
fn levels(points: &[CachePoint]) -> Vec<(usize, usize)> {
    let ns = monotone(points);
    // The stretch of points from `first` on that are about alike.
    let stretch = |first: usize| {
        let alike = ns[first..].iter().take_while(|&&x| x <= ns[first] * LEVEL);
        first + alike.count() - 1
    };
    let octaves = |(first, last): (usize, usize)| {
        (points[last].bytes as f64 / points[first].bytes as f64).log2()
    };
    let mut found: Vec<(usize, usize)> = Vec::new();
    let mut first = 0;
    while first < ns.len() {
        // A stretch may begin on the slope below its level: take the longest that overlaps it.
        let mut best = (first, stretch(first));
        for begin in first + 1..=best.1 {
            let other = (begin, stretch(begin));
            if octaves(other) > octaves(best) {
                best = other;
            }
        }
        first = best.1 + 1;
        // A level lasts for a factor of 1.5 at least; what is shorter is slope.
        if octaves(best) < 0.58 {
            continue;
        }
        match found.last_mut() {
            Some(before) if ns[best.0] < ns[before.0] * APART => before.1 = best.1,
            _ => found.push(best),
        }
    }
    found
}

/// For each level but the last, the last point that it holds.
fn edges(points: &[CachePoint]) -> Vec<usize> {
    let ns = monotone(points);
    levels(points)
        .windows(2)
        .map(|pair| {
            let (low, high) = (ns[pair[0].0], ns[pair[1].0]);
            let bound = low + (high - low) * HELD;
            let held = ns.iter().rposition(|&x| x <= bound);
            held.unwrap_or(pair[0].1)
        })
        .collect()
}

/// The levels that show in the points, which are in rising order of size.
pub fn plateaus(points: &[CachePoint]) -> Vec<Plateau> {
    let levels = levels(points);
    let edges = edges(points);
    let last = levels.len().saturating_sub(1);
    levels
        .iter()
        .enumerate()
        .map(|(number, &(first, end))| {
            let inside = points[first..=end].iter().map(|point| point.ns.median);
            let held = edges.get(number).copied().unwrap_or(end);
            Plateau {
                name: match number == last {
                    true => "memory".to_owned(),
                    false => format!("L{}", number + 1),
                },
                bytes: points[held].bytes,
                told_bytes: None,
                ns: crate::sample::median(&mut inside.collect::<Vec<_>>()),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{Random, Rule, figure};
    use host::Root;
    use std::time::Duration;

    /// A machine with caches of these sizes and latencies: a random order over more than a cache
    /// holds misses most of the time a little above it, and nearly always at twice its size.
    fn model(bytes: u64, caches: &[(u64, f64)], memory: f64) -> f64 {
        let mut ns = memory;
        for &(size, latency) in caches.iter().rev() {
            let over = (bytes as f64 / size as f64 - 1.0).clamp(0.0, 1.0);
            ns = latency + (ns - latency) * over.powf(0.35);
        }
        ns
    }

    fn measured(caches: &[(u64, f64)], memory: f64, noise: u64, sizes: &[u64]) -> Vec<CachePoint> {
        let mut random = Random(noise);
        let points = sizes.iter().map(|&bytes| {
            let exact = model(bytes, caches, memory);
            let samples = (0..5)
                .map(|_| exact * (1.0 + random.below(200) as f64 / 10_000.0 * noise.min(3) as f64))
                .collect();
            CachePoint {
                bytes,
                ns: figure(samples, Better::Lower, 0),
            }
        });
        points.collect()
    }

    const KIB: u64 = 1 << 10;

    #[test]
    fn sizes_rise_to_the_end_without_repeating() {
        let all = sizes(4 * KIB, 2 << 30, 4);
        assert_eq!((all[0], *all.last().unwrap()), (4 * KIB, 2 << 30));
        assert!(all.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(all.len(), 67);
        assert!(sizes(4 * KIB, 0, 4).is_empty());
    }

    #[test]
    fn levels_are_found_within_a_tenth_of_their_size() {
        let machines: [&[(u64, f64)]; 3] = [
            &[(48 * KIB, 1.6), (2048 * KIB, 5.0), (105 << 20, 35.0)],
            &[(32 * KIB, 1.0), (1024 * KIB, 3.5), (32 << 20, 12.0)],
            &[(64 * KIB, 1.3), (512 * KIB, 4.0)],
        ];
        for caches in machines {
            for noise in 0..4 {
                let mut sizes = sizes(FIRST_BYTES, LAST_BYTES, 4);
                let coarse = measured(caches, 110.0, noise, &sizes);
                for edge in edges(&coarse) {
                    let (low, high) = (coarse[edge].bytes, coarse[edge + 1].bytes);
                    sizes.extend((1..8).map(|k| (low + (high - low) * k / 8) & !1023));
                }
                sizes.sort_unstable();
                sizes.dedup();
                let found = plateaus(&measured(caches, 110.0, noise, &sizes));
                assert_eq!(found.len(), caches.len() + 1, "{found:?}");
                for (plateau, &(bytes, ns)) in found.iter().zip(caches) {
                    let off = plateau.bytes as f64 / bytes as f64;
                    assert!((0.9..=1.1).contains(&off), "{plateau:?} against {bytes}");
                    assert!(
                        (plateau.ns / ns - 1.0).abs() < 0.15,
                        "{plateau:?} against {ns}"
                    );
                }
                assert_eq!(found.last().unwrap().name, "memory");
            }
        }
    }

    #[test]
    fn a_flat_curve_is_memory_alone() {
        let flat = measured(&[], 100.0, 3, &sizes(FIRST_BYTES, 1 << 20, 4));
        let found = plateaus(&flat);
        assert_eq!((found.len(), found[0].name.as_str()), (1, "memory"));
        assert!(plateaus(&[]).is_empty());
    }

    #[test]
    fn a_short_curve_of_this_machine_has_all_its_points() {
        let machine = Machine::read(&Root::default()).unwrap();
        let stairs = Stairs {
            pages: Pages::Small,
            layout: Layout::LOCAL,
            last_bytes: 1 << 20,
            per_octave: 1,
            how: Sampling {
                rule: Rule {
                    samples: 2,
                    warm_up: 0,
                    cap: Duration::from_millis(20),
                    ..Rule::default()
                },
                sample: Duration::from_micros(200),
            },
        };
        let curve = curve(&machine, machine.cpus[0].id, &stairs).unwrap();
        let bytes: Vec<u64> = curve.points.iter().map(|point| point.bytes).collect();
        for power in 12..=20 {
            assert!(bytes.contains(&(1 << power)), "{bytes:?}");
        }
        assert!(curve.points.iter().all(|point| point.ns.median > 0.0));
        assert_eq!(curve.pages.kind, "small");
    }
}
