//! The numbers that decide a worker's requests, pace and end.

use crate::job::Job;
use crate::model::{Flow, Limits, Pace, Search, Think};
use crate::regions::{Region, Regions};
use spec::kinds::{self, Mode, RateProcess, Sequencer, ThinkCount};
use units::PerDdir;
use workload::{
    Direction, Distribution, FileRegion, FileService, FileServiceKind, Generator, RwSequencer,
    Seed, Spec, Strided, ZoneShare, rng::Taus,
};

/// Requests of the worker with thread number `number` over `regions`, whose files are spelled
/// `names`.
pub(crate) fn requests(
    job: &Job<'_>,
    number: u32,
    seed: Seed,
    regions: &Regions,
    names: &[String],
) -> Spec {
    let (io, extent) = (&job.options.io, &job.options.extent);
    Spec {
        // What is no I/O counts as reading.
        direction: match job.caps.no_io {
            true => Direction::Read,
            false => direction(io.rw.mode),
        },
        rwmix_read: io.rwmixread,
        block: job.block.clone(),
        bs_unaligned: job.options.block.bs_unaligned,
        bs_is_seq_rand: job.options.block.bs_is_seq_rand,
        block_align: job.options.block.ba.map(|align| align.unwrap_or(0)),
        sequence_add: io.rw.step_bytes(),
        sequence_count: io.rw.requests_per_offset(),
        rw_sequencer: match io.rw_sequencer {
            Sequencer::Sequential => RwSequencer::Sequential,
            Sequencer::Identical => RwSequencer::Identical,
        },
        percentage_random: io.percentage_random,
        files: regions.regions.iter().zip(names).map(file_region).collect(),
        file_service: file_service(job.options.target.file_service_type),
        file_skew: file_skew(job.options.target.file_service_type),
        open_files: open_files(job, names.len()),
        size: regions.size_bytes,
        io_size: regions.io_size_bytes,
        number_ios: extent.number_ios,
        loops: extent.loops.max(1).into(),
        time_based: job.time_based,
        norandommap: job.norandommap,
        softrandommap: io.softrandommap,
        generator: match io.random_generator {
            _ if !job.options.was_set("random_generator") => Generator::Auto,
            kinds::Generator::Tausworthe => Generator::Tausworthe,
            kinds::Generator::Tausworthe64 => Generator::Tausworthe64,
            kinds::Generator::Lfsr => Generator::Lfsr,
        },
        distribution: distribution(&io.random_distribution),
        seed,
        randrepeat: io.randrepeat,
        randseed_given: job.options.was_set("randseed"),
        thread_number: number,
        verify: job.options.verify.verify != kinds::VerifyKind::None,
        fsync: io.fsync,
        fdatasync: io.fdatasync,
        sync_file_range: io.sync_file_range.map_or(0, |range| range.every),
        queued: !job.caps.inline_at(job.depth.iodepth) && !job.depth.offload,
        strided: strided(job),
        ..Spec::default()
    }
}

fn file_region((region, name): (&Region, &String)) -> FileRegion {
    FileRegion {
        offset: region.offset_bytes,
        length: region.length_bytes,
        file_size: region.file_bytes,
        name_hash: workload::name_hash(name.as_bytes()),
    }
}

fn open_files(job: &Job<'_>, files: usize) -> u32 {
    let most = u32::try_from(files).unwrap_or(u32::MAX);
    job.options
        .target
        .openfiles
        .filter(|open| *open > 0)
        .map_or(0, |open| open.min(most))
}

fn direction(mode: Mode) -> Direction {
    match mode {
        Mode::Read => Direction::Read,
        Mode::Write => Direction::Write,
        Mode::Trim => Direction::Trim,
        Mode::RandRead => Direction::RandRead,
        Mode::RandWrite => Direction::RandWrite,
        Mode::RandTrim => Direction::RandTrim,
        Mode::ReadWrite => Direction::ReadWrite,
        Mode::RandRw => Direction::RandReadWrite,
        Mode::TrimWrite => Direction::TrimWrite,
        Mode::RandTrimWrite => Direction::RandTrimWrite,
    }
}

fn file_service(service: kinds::FileService) -> FileService {
    let (kind, requests) = match service {
        kinds::FileService::Random(n) => (FileServiceKind::Random, n),
        kinds::FileService::Sequential(n) => (FileServiceKind::Sequential, n),
        kinds::FileService::RoundRobin(n) => (FileServiceKind::RoundRobin, n),
        _ => (FileServiceKind::Skewed, 1),
    };
    FileService {
        kind,
        requests: requests.max(1),
    }
}

fn file_skew(service: kinds::FileService) -> Option<Distribution> {
    match service {
        kinds::FileService::Zipf { theta, center } => Some(Distribution::Zipf { theta, center }),
        kinds::FileService::Pareto { h, center } => Some(Distribution::Pareto { h, center }),
        kinds::FileService::Normal { deviation, center } => {
            Some(Distribution::Normal { deviation, center })
        }
        _ => None,
    }
}

fn strided(job: &Job<'_>) -> Option<Strided> {
    let zone = &job.options.zone;
    (zone.zonemode == kinds::ZoneMode::Strided).then_some(Strided {
        size: zone.zonesize,
        range: match zone.zonerange {
            0 => zone.zonesize,
            range => range,
        },
        skip: crate::zoned::skip_bytes(job, zone.zonesize),
    })
}

fn distribution(given: &kinds::Distribution) -> Distribution {
    match given {
        kinds::Distribution::Random => Distribution::Random,
        kinds::Distribution::Zipf { theta, center } => Distribution::Zipf {
            theta: *theta,
            center: *center,
        },
        kinds::Distribution::Pareto { h, center } => Distribution::Pareto {
            h: *h,
            center: *center,
        },
        kinds::Distribution::Normal { deviation, center } => Distribution::Normal {
            deviation: *deviation,
            center: *center,
        },
        kinds::Distribution::Zoned(zones) => Distribution::Zoned(zones.clone().map(|list| {
            let share = |zone: kinds::ZoneShare| zone_share(zone.access, zone.size.into());
            list.into_iter().map(share).collect()
        })),
        kinds::Distribution::ZonedAbs(zones) => Distribution::ZonedAbs(zones.clone().map(|list| {
            let share = |zone: kinds::ZoneSize| zone_share(zone.access, zone.bytes);
            list.into_iter().map(share).collect()
        })),
    }
}

fn zone_share(access: u32, size: u64) -> ZoneShare {
    // The accesses of a list add up to 100.
    ZoneShare {
        access_percent: access.min(100) as u8,
        size,
    }
}

/// When the worker stops. `seed` decides a start delay that is a range.
pub(crate) fn limits(job: &Job<'_>, regions: &Regions, seed: u64) -> Limits {
    let extent = &job.options.extent;
    let (first, last) = (extent.startdelay.lo.ns(), extent.startdelay.hi.ns());
    let delay = match last - first {
        0 => 0,
        span => Taus::new(seed, true).draw() % (span + 1),
    };
    Limits {
        runtime_ns: extent.runtime.ns(),
        time_based: job.time_based,
        ramp_ns: extent.ramp_time.ns(),
        ramp_bytes: extent.ramp_size,
        start_delay_ns: first + delay,
        loops: extent.loops.max(1).into(),
        io_bytes: match regions.io_size_bytes {
            0 => regions.size_bytes,
            bytes => bytes,
        },
        number_ios: extent.number_ios,
        fill_device: job.options.target.fill_device,
    }
}

/// How fast the worker may go.
pub(crate) fn pace(job: &Job<'_>) -> Pace {
    let pace = &job.options.pace;
    let wide = |rates: PerDdir<u32>| rates.map(|rate| some(rate.into()));
    let stall_ns = pace.thinktime.ns();
    Pace {
        rate: pace.rate.map(some),
        rate_min: pace.rate_min.map(some),
        rate_iops: wide(pace.rate_iops),
        rate_iops_min: wide(pace.rate_iops_min),
        poisson: pace.rate_process == RateProcess::Poisson,
        cycle_ns: pace.rate_cycle.ns(),
        ignore_thinktime: pace.rate_ignore_thinktime,
        think: (stall_ns > 0).then(|| {
            let io_time_ns = some(pace.thinktime_iotime.ns());
            // A time replaces the default number of blocks, not one that was asked for.
            let counts = io_time_ns.is_none() || job.options.was_set("thinktime_blocks");
            Think {
                stall_ns,
                spin_ns: pace.thinktime_spin.ns().min(stall_ns),
                blocks: counts.then_some(pace.thinktime_blocks.max(1)),
                at_issue: pace.thinktime_blocks_type == ThinkCount::Issue,
                io_time_ns,
            }
        }),
        spin_ticks: pace.thinkcycles,
        max_latency_ns: pace.max_latency.map(|span| some(span.ns())),
        search: some(pace.latency_target.ns()).map(|target_ns| Search {
            target_ns,
            window_ns: pace.latency_window.ns(),
            percentile: pace.latency_percentile,
            endless: pace.latency_run,
        }),
        flow: u32::try_from(pace.flow)
            .ok()
            .filter(|weight| *weight > 0)
            .map(|weight| Flow {
                id: pace.flow_id,
                weight,
                sleep_ns: pace.flow_sleep.ns(),
            }),
    }
}

fn some(value: u64) -> Option<u64> {
    (value > 0).then_some(value)
}

/// fio's stream of file sizes drawn from `filesize=lo-hi`, for the worker `number`: the seventh
/// of the streams that `randseed` starts, as numbers below the argument.
pub(crate) fn file_sizes(job: &Job<'_>, seed: Seed, number: u32) -> impl FnMut(u64) -> u64 {
    const STREAM: u64 = 7;
    const SPREAD: u64 = 0x9e37_0001;
    let wide = job.options.io.random_generator == kinds::Generator::Tausworthe64;
    let start = match seed {
        Seed::Fixed(seed) => (0..4 + STREAM).fold(seed, |seed, _| seed.wrapping_mul(SPREAD)),
        Seed::Entropy(entropy) => entropy,
    };
    let mut stream = Taus::new(start.wrapping_mul(number.into()).wrapping_add(STREAM), wide);
    let values = 2f64.powi(if wide { 64 } else { 32 });
    move |span| (span as f64 * (stream.draw() as f64 / values)) as u64
}
