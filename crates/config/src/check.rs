//! The rules that a configuration has to obey.

use std::fmt::Display;

use serde_json::Value;
use wordline_buffer as buffer;
use wordline_device::compose::Compose;
use wordline_device::config::{Buffer, Host, Ssd};
use wordline_device::schedule::{Schedule, Scheduler, Scheduling};
use wordline_kernel::{Stream, Time};
use wordline_nand::{Cell, Energy, Geometry, Layout, PageTypes, PerLevel, Suspend, Timing};
use wordline_workload::{Disk, generate};

use super::keys::{self, Kind};
use super::load::schema_error;
use super::plan::{self, Observe, Plan, Precondition, Replay, Series, Settle};
use super::replay::Mode;
use super::{Config, ConfigError, Nand, SCHEMA};

/// The longest array operation: far beyond any part, and far from the end of the clock.
const LONGEST_NS: u64 = 10_000_000_000;

/// Every number by itself.
pub(super) fn ranges(config: &Config) -> Result<(), ConfigError> {
    nand_tables(config)?;
    whole("ssd.channels", config.ssd.channels, 1, 1024)?;
    whole("ssd.ways", config.ssd.ways, 1, 1024)?;
    whole("host.queue_depth", config.host.queue_depth, 1, 1_000_000)?;
    from_schema(config, "")
}

/// Every number of the `[nand]` tables by itself.
pub(super) fn part(config: &Config) -> Result<(), ConfigError> {
    nand_tables(config)?;
    from_schema(config, "nand.")
}

/// Requests the device holds, if the interface has room for as many.
pub(super) fn queue_depth(host: &Host) -> Result<u32, ConfigError> {
    let depth = host.queue_depth;
    match host.interface.most_queue_depth() {
        Some(most) if depth > most => Err(ConfigError::rule(
            "host.queue_depth",
            depth,
            format!("{} holds at most {most} commands", host.interface.name()),
            format!("give a whole number from 1 to {most}, or another host.interface"),
        )
        .with(&["host.interface"])),
        _ => Ok(depth),
    }
}

/// The DRAM buffer; none if it holds nothing.
pub(super) fn buffer(
    config: &Buffer,
    page_bytes: u32,
) -> Result<Option<buffer::Plan>, ConfigError> {
    let pages = (u64::from(config.capacity_kib) * 1024 / u64::from(page_bytes)) as u32;
    if config.capacity_kib == 0 {
        return Ok(None);
    }
    if pages == 0 {
        return Err(ConfigError::rule(
            "buffer.capacity_kib",
            config.capacity_kib,
            format!("a page has {page_bytes} bytes, and the buffer holds whole pages"),
            "give room for one page at least, or 0 for no buffer",
        )
        .with(&["nand.geometry.page_bytes"]));
    }
    if !buffer::Plan::takes(&config.replacement) {
        return Err(ConfigError::rule(
            "buffer.replacement",
            config.replacement.name(),
            "it is a ceiling for comparison: it knows the future, or has no size",
            "take another; `wordline cache` runs it over a trace",
        ));
    }
    Ok(Some(buffer::Plan {
        pages,
        replacement: config.replacement.clone(),
        write_through: config.write_through,
        capacitors: config.capacitors,
        access: Time::from_ns(config.access_ns.into()),
        // A byte takes 1e6 / MB/s picoseconds; in thousandths, so that no rate is rounded much.
        port: ((config.mb_per_s * 1e3).round() as u64, 1_000_000_000),
    }))
}

/// The scheduler; one that builds commands of several planes needs a composition that lets them be.
pub(super) fn scheduler(ssd: &Ssd) -> Result<Scheduler, ConfigError> {
    let packs = Scheduling::new(&ssd.scheduler).packs();
    if !packs || ssd.composition.joins() {
        return Ok(ssd.scheduler.clone());
    }
    Err(ConfigError::rule(
        "ssd.composition",
        ssd.composition.name(),
        format!(
            "{} builds commands of several planes, and there are none",
            ssd.scheduler.name()
        ),
        "set it to \"greedy\" or \"in-order\"",
    )
    .with(&["ssd.scheduler"]))
}

fn nand_tables(config: &Config) -> Result<(), ConfigError> {
    complete(config)?;
    geometry(&config.nand.geometry)?;
    nand(&config.nand)
}

/// A configuration of this version with its base taken in.
fn complete(config: &Config) -> Result<(), ConfigError> {
    if config.schema != SCHEMA {
        return Err(schema_error(config.schema.into()));
    }
    if let Some(base) = &config.base {
        return Err(ConfigError::rule(
            "base",
            format!("\"{base}\""),
            "the base has not been taken in",
            "read the file with load",
        ));
    }
    Ok(())
}

fn geometry(geometry: &Geometry) -> Result<(), ConfigError> {
    let g = "nand.geometry";
    whole(
        &format!("{g}.dies_per_package"),
        geometry.dies_per_package,
        1,
        64,
    )?;
    whole(
        &format!("{g}.planes_per_die"),
        geometry.planes_per_die,
        1,
        64,
    )?;
    whole(
        &format!("{g}.blocks_per_plane"),
        geometry.blocks_per_plane,
        1,
        1 << 24,
    )?;
    whole(
        &format!("{g}.pages_per_block"),
        geometry.pages_per_block,
        1,
        65_535,
    )?;
    whole(&format!("{g}.page_bytes"), geometry.page_bytes, 512, 65_536)?;
    whole(&format!("{g}.spare_bytes"), geometry.spare_bytes, 0, 65_536)?;
    if geometry.page_bytes.is_multiple_of(512) {
        return Ok(());
    }
    let near = geometry.page_bytes / 512 * 512;
    Err(ConfigError::rule(
        &format!("{g}.page_bytes"),
        geometry.page_bytes,
        "a page holds whole sectors of 512 bytes",
        format!("give a multiple of 512, such as {near} or {}", near + 512),
    ))
}

fn nand(nand: &Nand) -> Result<(), ConfigError> {
    let key = "nand.endurance_cycles";
    whole(key, nand.endurance_cycles, 1, u32::MAX)?;
    whole("nand.partial_programs", nand.partial_programs, 1, 8)?;
    cell(&nand.cell)?;
    array_times(&nand.timing, &nand.cell)?;
    bus(&nand.timing)?;
    suspend(&nand.suspend)?;
    energy(&nand.energy)
}

fn cell(cell: &Cell) -> Result<(), ConfigError> {
    match cell.lambda() {
        None | Some(2 | 4) => Ok(()),
        Some(lambda) => Err(ConfigError::rule(
            &format!("nand.cell.{}.lambda", cell.name()),
            lambda,
            "groups of pages have a period of 2 or 4",
            "give 2 or 4",
        )),
    }
}

fn array_times(timing: &Timing, cell: &Cell) -> Result<(), ConfigError> {
    levels("nand.timing.read_ns", &timing.read_ns, cell)?;
    levels("nand.timing.program_ns", &timing.program_ns, cell)?;
    whole("nand.timing.erase_ns", timing.erase_ns, 1, LONGEST_NS)?;
    let typical = "nand.timing.typical";
    whole(
        &format!("{typical}_read_ns"),
        timing.typical_read_ns,
        0,
        LONGEST_NS,
    )?;
    whole(
        &format!("{typical}_program_ns"),
        timing.typical_program_ns,
        0,
        LONGEST_NS,
    )?;
    number(
        "nand.timing.jitter_ratio",
        timing.jitter_ratio,
        Bound::From(0.0),
        0.9,
    )?;
    whole(
        "nand.timing.cache_busy_ns",
        timing.cache_busy_ns,
        0,
        1_000_000,
    )?;
    whole(
        "nand.timing.plane_busy_ns",
        timing.plane_busy_ns,
        0,
        1_000_000,
    )
}

/// One time for all pages, or as many as the cell has levels.
fn levels(key: &str, times: &PerLevel, cell: &Cell) -> Result<(), ConfigError> {
    for &time in times.values() {
        whole(key, time, 1, LONGEST_NS)?;
    }
    let (given, levels) = (times.values().len(), usize::from(cell.levels()));
    if given == 1 || given == levels {
        return Ok(());
    }
    let name = cell.name();
    let (rule, remedy) = if levels == 1 {
        (
            format!("{given} times are given, and the pages of cell {name} are all alike"),
            "give one number, or set nand.cell to the cell of the part".to_owned(),
        )
    } else {
        (
            format!("{given} times are given, and cell {name} has {levels} page types"),
            format!("give one number, or {levels} in a list, least significant bit first"),
        )
    };
    Err(ConfigError::rule(key, times, rule, remedy).with(&["nand.cell"]))
}

fn suspend(suspend: &Suspend) -> Result<(), ConfigError> {
    let s = "nand.suspend";
    let program = suspend.program_suspend_ns;
    whole(&format!("{s}.program_suspend_ns"), program, 0, LONGEST_NS)?;
    let erase = suspend.erase_suspend_ns;
    whole(&format!("{s}.erase_suspend_ns"), erase, 0, LONGEST_NS)?;
    whole(&format!("{s}.resume_ns"), suspend.resume_ns, 0, LONGEST_NS)?;
    let longest = suspend.longest_ns;
    whole(&format!("{s}.longest_ns"), longest, 0, LONGEST_NS)?;
    whole(&format!("{s}.most"), suspend.most, 1, 1_000_000)
}

fn energy(energy: &Energy) -> Result<(), ConfigError> {
    let values = [
        ("supply_v", energy.supply_v, 20.0),
        ("io_supply_v", energy.io_supply_v, 20.0),
        ("read_ma", energy.read_ma, 10_000.0),
        ("program_ma", energy.program_ma, 10_000.0),
        ("erase_ma", energy.erase_ma, 10_000.0),
        ("io_ma", energy.io_ma, 10_000.0),
        ("standby_ua", energy.standby_ua, 1e6),
    ];
    for (key, value, most) in values {
        number(&format!("nand.energy.{key}"), value, Bound::From(0.0), most)?;
    }
    Ok(())
}

fn bus(timing: &Timing) -> Result<(), ConfigError> {
    whole(
        "nand.timing.command_cycle_ns",
        timing.command_cycle_ns,
        0,
        1_000_000,
    )?;
    whole("nand.timing.address_cycles", timing.address_cycles, 0, 16)?;
    whole(
        "nand.timing.row_address_cycles",
        timing.row_address_cycles,
        0,
        16,
    )?;
    number(
        "nand.timing.bus_mt_per_s",
        timing.bus_mt_per_s,
        Bound::From(0.01),
        1e6,
    )?;
    if matches!(timing.bus_width_bits, 8 | 16) {
        return Ok(());
    }
    Err(ConfigError::rule(
        "nand.timing.bus_width_bits",
        timing.bus_width_bits,
        "flash buses have 8 or 16 data lines",
        "give 8 or 16",
    ))
}

/// The ranges that the keys of policies declare in their schema, of keys that begin so.
fn from_schema(config: &Config, start: &str) -> Result<(), ConfigError> {
    let values = serde_json::to_value(config).unwrap_or_default();
    let bounded = |key: &&keys::Key| key.path.starts_with(start) && key.range != (None, None);
    for key in keys::all().iter().filter(bounded) {
        let pointer = format!("/{}", key.path.replace('.', "/"));
        let value = match values.pointer(&pointer) {
            // What JSON has no number for: infinite, or none at all.
            Some(Value::Null) if key.kind == Kind::Number => {
                as_toml(config, &key.path).parse().unwrap_or(f64::NAN)
            }
            Some(Value::Number(number)) => number.as_f64().unwrap_or(f64::NAN),
            _ => continue,
        };
        let least = key.range.0.unwrap_or(f64::NEG_INFINITY);
        let most = key.range.1.unwrap_or(f64::INFINITY);
        if !(least..=most).contains(&value) {
            let remedy = match key.range {
                (Some(least), Some(most)) => format!("give a number from {least} to {most}"),
                (Some(least), None) => format!("give a number not below {least}"),
                _ => format!("give a number not above {most}"),
            };
            return Err(ConfigError::rule(
                &key.path,
                written(value),
                "out of range",
                remedy,
            ));
        }
    }
    Ok(())
}

/// The array, if its pages can be counted in 32 bits.
pub(super) fn layout(geometry: &Geometry, ssd: &Ssd) -> Result<Layout, ConfigError> {
    let wires = [("channels", ssd.channels), ("ways", ssd.ways)];
    Layout::new(geometry, ssd.channels * ssd.ways).ok_or_else(|| {
        crowded("device", &wires, geometry).with(&[
            "nand.geometry.pages_per_block",
            "nand.geometry.planes_per_die",
            "nand.geometry.dies_per_package",
            "ssd.ways",
            "ssd.channels",
        ])
    })
}

/// One package, if its pages can be counted in 32 bits.
pub(super) fn package(geometry: &Geometry) -> Result<Layout, ConfigError> {
    Layout::new(geometry, 1).ok_or_else(|| {
        crowded("package", &[], geometry).with(&[
            "nand.geometry.pages_per_block",
            "nand.geometry.planes_per_die",
            "nand.geometry.dies_per_package",
        ])
    })
}

/// More pages than can be counted in `whole`, which has `wires` above its dies.
fn crowded(whole: &str, wires: &[(&str, u32)], geometry: &Geometry) -> ConfigError {
    let below = [
        ("dies", geometry.dies_per_package),
        ("planes", geometry.planes_per_die),
        ("blocks", geometry.blocks_per_plane),
        ("pages", geometry.pages_per_block),
    ];
    let counts = || wires.iter().chain(&below);
    let pages: u128 = counts().map(|&(_, count)| u128::from(count)).product();
    let product: Vec<String> = counts().map(|(_, count)| count.to_string()).collect();
    let names: Vec<&str> = counts().map(|&(name, _)| name).collect();
    ConfigError::rule(
        "nand.geometry.blocks_per_plane",
        geometry.blocks_per_plane,
        format!(
            "the {whole} has {pages} pages ({}: {}), at most {} can be addressed",
            product.join(" x "),
            names.join(", "),
            u32::MAX - 1
        ),
        "use fewer blocks or larger pages",
    )
}

/// Whether collections move pages inside their planes; the part has to be able to.
pub(super) fn internal_data_move(config: &Config) -> Result<bool, ConfigError> {
    let wanted = config.ftl.gc.internal_data_move;
    if !wanted || config.nand.internal_data_move {
        return Ok(wanted);
    }
    Err(ConfigError::rule(
        "ftl.gc.internal_data_move",
        wanted,
        "the part cannot move pages inside its planes",
        "set nand.internal_data_move to true, or this to false",
    )
    .with(&["nand.internal_data_move"]))
}

/// A fault of the translation layer, with the value of the key it names.
pub(super) fn ftl(config: &Config, error: wordline_ftl::PlanError) -> ConfigError {
    let values = serde_json::to_value(config).unwrap_or_default();
    let pointer = format!("/{}", error.key.replace('.', "/"));
    let value = match values.pointer(&pointer) {
        Some(Value::Number(number)) if number.is_f64() => {
            written(number.as_f64().unwrap_or(f64::NAN))
        }
        // What JSON has no number for.
        None | Some(Value::Null) => as_toml(config, error.key),
        Some(value) => value.to_string(),
    };
    ConfigError::rule(error.key, value, error.reason, error.remedy).with(&[
        "ftl.gc.start_free_ratio",
        "ftl.gc.hard_free_ratio",
        "nand.geometry.blocks_per_plane",
    ])
}

/// Most streams: a bound on memory, of which each takes up to a megabyte for its response times.
const MOST_STREAMS: usize = 256;

/// The streams, each by itself and beside the others.
pub(super) fn streams(
    config: &Config,
    plan: &Plan,
    seed: u64,
) -> Result<Vec<plan::Stream>, ConfigError> {
    let streams = &config.streams;
    if config.workload.is_some() && !streams.is_empty() {
        return Err(ConfigError::conflict(
            "workload",
            "both [workload] and streams are given",
            "make the load that of a stream (a workload table of its own), or leave one out",
        )
        .with(&["streams"]));
    }
    if streams.len() > MOST_STREAMS {
        return Err(ConfigError::conflict(
            "streams",
            format!("there are {} streams", streams.len()),
            format!("give at most {MOST_STREAMS}"),
        ));
    }
    let names: Vec<&str> = streams.iter().map(|stream| stream.name.as_str()).collect();
    let all = streams.iter().enumerate();
    all.map(|(place, stream)| {
        name(
            "stream",
            &format!("streams[{place}].name"),
            names[place],
            &names[..place],
        )?;
        Ok(plan::Stream {
            name: stream.name.clone(),
            class: stream.class,
            workload: stream.workload.clone(),
            replay: replay_of(config, place)?,
            disk: disk_of(stream, plan, place)?,
            seed: Stream::new(seed, &format!("stream.{}", stream.name)).bits(),
        })
    })
    .collect()
}

/// The disk that a stream asks.
fn disk_of(stream: &super::Stream, plan: &Plan, place: usize) -> Result<Option<Disk>, ConfigError> {
    let Some(number) = stream.disk else {
        return Ok(None);
    };
    let disks = plan.array().into_iter().flat_map(|array| &array.disks);
    let known: Vec<Disk> = disks.copied().collect();
    let disk = known.iter().find(|disk| disk.number == number);
    if disk.is_some() {
        return Ok(disk.copied());
    }
    let numbers: Vec<String> = known.iter().map(|disk| disk.number.to_string()).collect();
    let remedy = if numbers.is_empty() {
        "give an [array] with layout = \"by-disk\", or leave this out".to_owned()
    } else {
        format!(
            "name it in array.members.disks, or take one of {}",
            numbers.join(", ")
        )
    };
    let key = format!("streams[{place}].disk");
    Err(ConfigError::rule(
        &key,
        number,
        "no member of an array holds it",
        remedy,
    ))
}

/// The name of a stream or a member behind those of others.
pub(super) fn name(what: &str, key: &str, name: &str, others: &[&str]) -> Result<(), ConfigError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    if name.is_empty() || name.len() > 64 || !name.chars().all(plain) {
        return Err(ConfigError::rule(
            key,
            format!("\"{name}\""),
            "not a name",
            format!("give every {what} one, of 1 to 64 letters, digits, - and _"),
        ));
    }
    if others.contains(&name) {
        return Err(ConfigError::rule(
            key,
            format!("\"{name}\""),
            format!("another {what} has this name"),
            "give each a name of its own",
        ));
    }
    Ok(())
}

/// When the requests of a stream are issued.
fn replay_of(config: &Config, place: usize) -> Result<Replay, ConfigError> {
    let stream = &config.streams[place];
    let Some(own) = &stream.replay else {
        return replay(&config.replay.mode);
    };
    let key = format!("streams[{place}].replay");
    if stream.workload.is_some() {
        return Err(ConfigError::conflict(
            &key,
            format!("{key}: is for traces, and this stream has a workload"),
            "leave it out; the workload's arrival says when its requests are issued",
        ));
    }
    replay(&own.mode).map_err(|error| error.inside(&format!("streams[{place}].")))
}

/// The generated workloads, by the rules of their generator.
pub(super) fn workloads(plan: &Plan) -> Result<(), ConfigError> {
    let all = plan.user_bytes();
    let single = plan.workload.iter();
    let single = single.map(|load| (String::new(), load, all));
    let several = plan.streams.iter().enumerate();
    let several = several.filter_map(|(place, stream)| {
        let bytes = stream.disk.map_or(all, |disk| disk.bytes);
        Some((
            format!("streams[{place}]."),
            stream.workload.as_ref()?,
            bytes,
        ))
    });
    for (table, load, bytes) in single.chain(several) {
        let Err(fault) = generate::Generator::new(load, bytes, plan.seed) else {
            continue;
        };
        let key = fault.path().to_string_lossy().into_owned();
        let error =
            ConfigError::conflict(&key, format!("{key}: {}", fault.reason()), fault.remedy());
        return Err(error.inside(&table));
    }
    Ok(())
}

pub(super) fn replay(mode: &Mode) -> Result<Replay, ConfigError> {
    match mode {
        Mode::OpenLoop(open) => {
            number(
                "replay.mode.open-loop.time_scale",
                open.time_scale,
                Bound::Above(0.0),
                1e6,
            )?;
            Ok(Replay::OpenLoop {
                time_scale: open.time_scale,
            })
        }
        Mode::ClosedLoop(closed) => {
            let depth = closed.queue_depth;
            whole("replay.mode.closed-loop.queue_depth", depth, 1, 1_000_000)?;
            Ok(Replay::ClosedLoop { queue_depth: depth })
        }
    }
}

pub(super) fn precondition(
    config: &super::Precondition,
    user_pages: u32,
) -> Result<Precondition, ConfigError> {
    let most = 1000.0;
    number(
        "precondition.fill_ratio",
        config.fill_ratio,
        Bound::From(0.0),
        1.0,
    )?;
    number(
        "precondition.overwrite_ratio",
        config.overwrite_ratio,
        Bound::From(0.0),
        most,
    )?;
    let tolerance = config.settle_tolerance_ratio;
    number(
        "precondition.settle_tolerance_ratio",
        tolerance,
        Bound::Above(0.0),
        1.0,
    )?;
    number(
        "precondition.settle_limit_ratio",
        config.settle_limit_ratio,
        Bound::Above(0.0),
        most,
    )?;
    let pages = |ratio: f64| (f64::from(user_pages) * ratio).floor() as u64;
    let fill_pages = (pages(config.fill_ratio) as u32).min(user_pages);
    let overwrites = config.settle || config.overwrite_ratio > 0.0;
    if overwrites && fill_pages == 0 {
        return Err(ConfigError::rule(
            "precondition.fill_ratio",
            config.fill_ratio,
            "no page is filled that could be overwritten",
            "raise it, or set precondition.overwrite_ratio to 0 and precondition.settle to false",
        ));
    }
    let settle = if config.settle {
        Settle::Until {
            tolerance_ratio: tolerance,
            limit_pages: pages(config.settle_limit_ratio),
        }
    } else {
        Settle::No
    };
    Ok(Precondition {
        fill_pages,
        overwrite_pages: pages(config.overwrite_ratio),
        settle,
    })
}

pub(super) fn series(config: &super::Series) -> Result<Series, ConfigError> {
    let day_ms = 86_400_000.0;
    number(
        "series.interval_ms",
        config.interval_ms,
        Bound::From(0.0),
        day_ms,
    )?;
    whole("series.intervals", config.intervals, 2, 1 << 20)?;
    let interval = Time::from_ps((config.interval_ms * 1e9).round() as u64);
    if config.interval_ms == 0.0 {
        return Ok(Series::Automatic {
            intervals: config.intervals,
        });
    }
    if interval < Time::from_ns(1) {
        return Err(ConfigError::rule(
            "series.interval_ms",
            config.interval_ms,
            "an interval is shorter than a nanosecond",
            "give at least 0.000001, or 0 for an automatic width",
        ));
    }
    Ok(Series::Fixed { interval })
}

pub(super) fn observe(config: &super::Observe) -> Result<Observe, ConfigError> {
    let (hundred_days_s, day_ms) = (8_640_000.0, 86_400_000.0);
    let (interval_s, marginal_ms) = (config.worst_case_interval_s, config.marginal_response_ms);
    number(
        "observe.worst_case_interval_s",
        interval_s,
        Bound::From(0.0),
        hundred_days_s,
    )?;
    number(
        "observe.marginal_response_ms",
        marginal_ms,
        Bound::From(0.0),
        day_ms,
    )?;
    let interval = Time::from_ps((interval_s * 1e12).round() as u64);
    if interval_s > 0.0 && interval < Time::from_ns(1) {
        return Err(ConfigError::rule(
            "observe.worst_case_interval_s",
            interval_s,
            "an interval is shorter than a nanosecond",
            "give at least 0.000000001, or 0 for an automatic width",
        ));
    }
    let chip_load_ms = config.chip_load_interval_ms;
    number(
        "observe.chip_load_interval_ms",
        chip_load_ms,
        Bound::From(0.0),
        day_ms,
    )?;
    let chip_load_interval = Time::from_ps((chip_load_ms * 1e9).round() as u64);
    if chip_load_ms > 0.0 && chip_load_interval < Time::from_ns(1) {
        return Err(ConfigError::rule(
            "observe.chip_load_interval_ms",
            chip_load_ms,
            "an interval is shorter than a nanosecond",
            "give at least 0.000001, or 0 for never",
        ));
    }
    Ok(Observe {
        chip_load_interval: (chip_load_ms > 0.0).then_some(chip_load_interval),
        worst_case_interval: (interval_s > 0.0).then_some(interval),
        marginal_response: Time::from_ps((marginal_ms * 1e9).round() as u64),
    })
}

fn whole<N: Copy + PartialOrd + Display>(
    key: &str,
    value: N,
    least: N,
    most: N,
) -> Result<(), ConfigError> {
    if value >= least && value <= most {
        return Ok(());
    }
    let rule = if value < least {
        "too small"
    } else {
        "too large"
    };
    Err(ConfigError::rule(
        key,
        value,
        rule,
        format!("give a whole number from {least} to {most}"),
    ))
}

/// The least value of a range.
#[derive(Clone, Copy)]
enum Bound {
    /// This value and all above.
    From(f64),
    /// All above this value.
    Above(f64),
}

fn number(key: &str, value: f64, least: Bound, most: f64) -> Result<(), ConfigError> {
    let (enough, words) = match least {
        Bound::From(least) => (value >= least, format!("from {least}")),
        Bound::Above(least) => (value > least, format!("above {least} and up")),
    };
    if enough && value <= most {
        return Ok(());
    }
    Err(ConfigError::rule(
        key,
        written(value),
        "out of range",
        format!("give a number {words} to {most}"),
    ))
}

/// A number as it would be written in TOML, in few digits.
pub(super) fn written(value: f64) -> String {
    if value.is_nan() {
        "nan".to_owned()
    } else if value != 0.0 && value.is_finite() && !(1e-5..1e16).contains(&value.abs()) {
        format!("{value:e}")
    } else {
        value.to_string()
    }
}

/// The value of a key as TOML has it, which knows numbers that are infinite or none.
fn as_toml(config: &Config, key: &str) -> String {
    let table = toml::Table::try_from(config).map(toml::Value::Table);
    let value = table.map(|table| {
        let found = key
            .split('.')
            .try_fold(&table, |table, part| table.get(part));
        found.map_or_else(String::new, ToString::to_string)
    });
    value.unwrap_or_default()
}
