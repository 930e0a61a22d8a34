//! Checks a single SSD: the `[ssd]`, `[host]` and `[ftl]` tables.

use serde_json::Value;
use wordline_dram_buffer::read_ahead::Physical;
use wordline_ftl::allocate::Dimensions;
use wordline_ftl::mapping::{Build, Family};
use wordline_ftl::program_mode::Regulation;
use wordline_ftl::slc_cache::Caches;
use wordline_host_link::config::Host;
use wordline_io_scheduler::compose::Compose;
use wordline_io_scheduler::schedule::{Schedule, Scheduler, Scheduling};
use wordline_kernel::Time;
use wordline_nand::bad_blocks::{BadBlocks, TooManyBad};
use wordline_nand::{Geometry, Layout, Operation, PageTypes, Part};
use wordline_reliability::ecc::Correct;
use wordline_reliability::errors::{Err as _, acceleration};
use wordline_reliability::failures::Fail as _;
use wordline_reliability::programming::Price;
use wordline_reliability::{
    Ecc, Failing, Fault, Programming, Reader, Shift, SingleLevel, Variation,
};
use wordline_ssd::config::Ssd as Wiring;

use super::buffer::buffer;
use super::nand::{crowded, nand_tables, part_of};
use super::precondition::precondition;
use super::range::written;
use crate::plan::{Precondition, Settle, Ssd};
use crate::{Config, ConfigError, FillLayout, Nand, Reliability};

impl Ssd {
    /// Returns the plan of the SSD of a configuration. An array is ignored.
    pub(crate) fn new(config: &Config, seed: u64) -> Result<Self, ConfigError> {
        let Config { nand, ssd, .. } = config;
        nand_tables(nand)?;
        regulation(config)?;
        slc_cache(config)?;
        let mut part = part_of(nand, layout(&nand.geometry, ssd)?, seed);
        part.reader = reader(config, seed)?;
        part.failing = failing(config)?;
        part.factory_bad_ratio = bad_blocks(config, &part.layout, seed)?;
        let layout = layout(&nand.geometry, ssd)?;
        let dimensions = Dimensions {
            channels: ssd.channels,
            ways: ssd.ways,
            dies: nand.geometry.dies_per_package,
            planes: nand.geometry.planes_per_die,
        };
        let page_bytes = nand.geometry.page_bytes;
        let ftl = wordline_ftl::Plan::of_pages(&config.ftl, layout, page_bytes, dimensions, seed)
            .map_err(|error| ftl_fault(config, error))?
            .of_cells(nand.cell.levels().into());
        if config.ftl.slc_cache.size().is_some() {
            let [read, program] =
                [nand.slc_mode.read_ns, nand.slc_mode.program_ns].map(Time::from_ns);
            part.chains = part.chains.with_single_level(read, program);
        }
        let precondition = precondition(&config.precondition, ftl.user_pages)?;
        on_issue(config)?;
        let first_read_pages = first_read_pages(config, &precondition)?;
        scattered(config)?;
        let read_ahead = read_ahead(config, &part)?;
        Ok(Self {
            name: config.name.clone(),
            geometry: nand.geometry.clone(),
            dimensions,
            energy: nand.energy.clone(),
            device: wordline_ssd::Plan {
                part,
                dies_per_channel: ssd.ways * nand.geometry.dies_per_package,
                dies_per_package: nand.geometry.dies_per_package,
                composition: ssd.composition.clone(),
                scheduler: scheduler(ssd)?,
                page_bytes,
                internal_data_move: internal_data_move(config)?,
                queue_depth: queue_depth(&config.host)?,
                interface: config.host.interface.clone(),
                streams: Vec::new(),
                buffer: buffer(
                    &config.buffer,
                    page_bytes,
                    config.observe.balance_at_evictions,
                )?,
                read_ahead,
                ftl,
                first_read_pages,
            },
            precondition,
            seed,
        })
    }
}

/// Returns the physical read-ahead of the dies; `None` if it is off. It uses the page times of the
/// part, so all pages must have the same program mode.
fn read_ahead(config: &Config, part: &Part) -> Result<Option<Physical>, ConfigError> {
    let physical = config.buffer.read_ahead.policy().in_dies();
    if physical.is_some() && part.chains.costs().is_some() {
        return Err(ConfigError::rule(
            "buffer.read_ahead",
            "physical",
            "with several program modes, the pages of a block differ in their read and program times",
            "set buffer.read_ahead to \"logical\", or nand.programming to \"uniform\"",
        )
        .with(&["nand.programming"]));
    }
    Ok(physical.cloned())
}

/// Checks that pages can be allocated when writes are issued. The scheduler must queue writes, and
/// the mapping must be able to place any page anywhere.
fn on_issue(config: &Config) -> Result<(), ConfigError> {
    if !config.ftl.allocate.is_on_issue() {
        return Ok(());
    }
    let rule = |reason: &str, remedy: &str, others| {
        Err(ConfigError::rule("ftl.allocate.static.on_issue", true, reason, remedy).with(others))
    };
    if !Scheduling::new(&config.ssd.scheduler).holds(Operation::Program) {
        let reason = format!(
            "ssd.scheduler = \"{}\" does not queue writes",
            config.ssd.scheduler.name()
        );
        return rule(
            &reason,
            "set ssd.scheduler to \"vaq\" or \"ncq\", or `on_issue` to false",
            &["ssd.scheduler"],
        );
    }
    if !config.ftl.mapping.abilities().any_place {
        return rule(
            "allocation on issue requires a mapping that can place a page anywhere",
            &format!(
                "set ftl.mapping to {}, or `on_issue` to false",
                Family::able(|can| can.any_place)
            ),
            &["ftl.mapping"],
        );
    }
    Ok(())
}

/// Returns the number of filled pages that are placed in the order of their first read; 0 without
/// first-read placement.
fn first_read_pages(config: &Config, precondition: &Precondition) -> Result<u32, ConfigError> {
    if config.precondition.layout != FillLayout::FirstRead {
        return Ok(0);
    }
    let rule = |reason: &str, remedy: &str, others| {
        Err(ConfigError::rule("precondition.layout", "first-read", reason, remedy).with(others))
    };
    if !config.ftl.mapping.abilities().any_place {
        return rule(
            "first-read layout requires a mapping that can place a page anywhere",
            &format!(
                "set ftl.mapping to {}, or precondition.layout to \"address\"",
                Family::able(|can| can.any_place)
            ),
            &["ftl.mapping"],
        );
    }
    if config.cache.is_some() {
        return rule(
            "a flash cache is empty before the run, so no page is filled",
            "set precondition.layout to \"address\"",
            &["cache"],
        );
    }
    if precondition.overwrite_pages > 0 || precondition.settle != Settle::No {
        return rule(
            "pages that are overwritten after the fill lose the order of the fill",
            "set precondition.overwrite_ratio to 0 and precondition.settle to false, or precondition.layout to \"address\"",
            &["precondition.overwrite_ratio", "precondition.settle"],
        );
    }
    Ok(precondition.fill_pages)
}

/// Checks that a random order of the fill has an effect, which requires that the address does not
/// determine the plane.
fn scattered(config: &Config) -> Result<(), ConfigError> {
    if config.precondition.layout != FillLayout::Scattered {
        return Ok(());
    }
    let rule = |reason: &str, remedy: &str, others| {
        Err(ConfigError::rule("precondition.layout", "scattered", reason, remedy).with(others))
    };
    if config.ftl.allocate.is_by_address() {
        return rule(
            "static allocation derives the plane from the address, whatever the order of writes",
            "set ftl.allocate to \"dynamic\" or \"least-busy\", or precondition.layout to \"address\"",
            &["ftl.allocate"],
        );
    }
    if config.cache.is_some() {
        return rule(
            "a flash cache is empty before the run, so no page is filled",
            "set precondition.layout to \"address\"",
            &["cache"],
        );
    }
    Ok(())
}

/// Returns the scheduler. A scheduler that builds multi-plane commands needs a composition that
/// sends them.
fn scheduler(ssd: &Wiring) -> Result<Scheduler, ConfigError> {
    let packs = Scheduling::new(&ssd.scheduler).packs();
    if !packs || ssd.composition.joins() {
        return Ok(ssd.scheduler.clone());
    }
    Err(ConfigError::rule(
        "ssd.composition",
        ssd.composition.name(),
        format!(
            "ssd.scheduler = \"{}\" builds multi-plane commands, which this composition does not send",
            ssd.scheduler.name()
        ),
        "set ssd.composition to \"greedy\" or \"in-order\"",
    )
    .with(&["ssd.scheduler"]))
}

/// Returns the layout of the device. Fails if 32 bits cannot number its pages.
fn layout(geometry: &Geometry, ssd: &Wiring) -> Result<Layout, ConfigError> {
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

/// Returns `true` if GC moves pages by copyback. Fails if the part does not support copyback.
fn internal_data_move(config: &Config) -> Result<bool, ConfigError> {
    let wanted = config.ftl.gc.internal_data_move;
    if !wanted || config.nand.internal_data_move {
        return Ok(wanted);
    }
    Err(ConfigError::rule(
        "ftl.gc.internal_data_move",
        wanted,
        "the part cannot move pages inside its planes",
        "set nand.internal_data_move to true, or ftl.gc.internal_data_move to false",
    )
    .with(&["nand.internal_data_move"]))
}

/// Returns the model of read errors and their correction; `None` if reads have no errors and blocks
/// are neither reclaimed nor refreshed.
fn reader(config: &Config, seed: u64) -> Result<Option<Box<Reader>>, ConfigError> {
    let Config { nand, ssd, .. } = config;
    let Reliability {
        errors,
        cycles,
        retention_days,
        temperature_c,
        reference_c,
        activation_ev,
        expected,
        read_limit,
        refresh_days,
        block_variation,
        ..
    } = &nand.reliability;
    let code = ssd
        .ecc
        .code()
        .map_err(|fault| parameter("ssd.ecc", ssd.ecc.name(), fault))?;
    let none = Ecc::default()
        .code()
        .map_err(|fault| parameter("ssd.ecc", "none", fault))?;
    let moves = *read_limit > 0 || *refresh_days > 0.0;
    if moves && !config.ftl.mapping.abilities().whole_blocks {
        let key = if *read_limit > 0 {
            "nand.reliability.read_limit"
        } else {
            "nand.reliability.refresh_days"
        };
        let value = written(f64::from(*read_limit).max(*refresh_days));
        return Err(ConfigError::rule(
            key,
            value,
            format!(
                "ftl.mapping = \"{}\" supports neither read reclaim nor refresh",
                config.ftl.mapping.name()
            ),
            format!(
                "set {key} to 0, or ftl.mapping to {}",
                Family::able(|can| can.whole_blocks)
            ),
        )
        .with(&["ftl.mapping"]));
    }
    if errors.is_none() && !moves {
        return Ok(None);
    }
    if let Some(fault) = errors.fault() {
        return Err(parameter("nand.reliability.errors", errors.name(), fault));
    }
    let programming = &nand.programming;
    let graded = !errors.is_none() && matches!(programming.costs(), Ok(Some(_)));
    let in_both_modes = !errors.is_none() && config.ftl.slc_cache.size().is_some();
    // Reads without errors need no decoder.
    let code = if errors.is_none() { none } else { code };
    Ok(Some(Box::new(Reader {
        errors: errors.clone(),
        page_factors: page_factors(nand)?,
        variation: Variation::new(*block_variation, seed),
        shift: graded.then(|| Shift::new(programming.distance(), &programming.steps())),
        single_level: in_both_modes.then(|| SingleLevel::new(nand.cell.levels().into())),
        words: code.words(nand.geometry.page_bytes),
        code,
        cycles: *cycles,
        retention_days: *retention_days,
        acceleration: acceleration(*activation_ev, *temperature_c, *reference_c),
        expected: *expected,
        read_limit: *read_limit,
        refresh_days: *refresh_days,
    })))
}

/// Returns, for each page of a block, the factor of its raw bit error rate relative to the model.
/// Empty if all pages have the same rate.
fn page_factors(nand: &Nand) -> Result<Vec<f64>, ConfigError> {
    let factors = &nand.reliability.level_factors;
    let levels = nand.cell.levels();
    if !factors.is_empty() && factors.len() != usize::from(levels) {
        let name = nand.cell.name();
        return Err(ConfigError::rule(
            "nand.reliability.level_factors",
            format!("{factors:?}"),
            format!(
                "{} numbers are given, but cell {name} has {levels} page types",
                factors.len()
            ),
            format!("give {levels} numbers, least significant bit first, or an empty list"),
        )
        .with(&["nand.cell"]));
    }
    let pages = nand.geometry.pages_per_block;
    let of_page = |page| {
        factors
            .get(usize::from(nand.cell.level(page, pages)))
            .copied()
    };
    Ok((0..pages).filter_map(of_page).collect())
}

/// Returns the failure model of programs and erases; `None` if they never fail.
fn failing(config: &Config) -> Result<Option<Box<Failing>>, ConfigError> {
    let Reliability {
        failures, cycles, ..
    } = &config.nand.reliability;
    if let Some(fault) = failures.fault() {
        let family = "nand.reliability.failures";
        return Err(parameter(family, failures.name(), fault));
    }
    if failures.is_none() {
        return Ok(None);
    }
    Ok(Some(Box::new(Failing {
        failures: failures.clone(),
        cycles: *cycles,
    })))
}

/// Returns the share of factory-bad blocks. Fails if a plane has too few spare blocks.
fn bad_blocks(config: &Config, layout: &Layout, seed: u64) -> Result<f64, ConfigError> {
    let ratio = config.nand.reliability.factory_bad_ratio;
    let spare_blocks = config.ftl.spare_blocks;
    match BadBlocks::new(layout, spare_blocks, ratio, seed) {
        Ok(_) => Ok(ratio),
        Err(TooManyBad { plane, bad }) => Err(ConfigError::rule(
            "ftl.spare_blocks",
            spare_blocks,
            format!(
                "plane {} has {bad} factory-bad blocks, including bad spare blocks",
                plane.0
            ),
            format!("raise ftl.spare_blocks to {bad} or more, or lower nand.reliability.factory_bad_ratio"),
        )
        .with(&["nand.reliability.factory_bad_ratio"])),
    }
}

/// Returns the error for a fault of a policy parameter.
fn parameter(family: &str, member: &str, fault: Fault) -> ConfigError {
    let Fault {
        key,
        reason,
        remedy,
    } = fault;
    ConfigError::rule(&format!("{family}.{member}.{key}"), member, reason, remedy)
}

/// Checks the regulation of program modes, which needs several modes. In a cache the mode must be
/// fixed, because its pages are not rewritten.
fn regulation(config: &Config) -> Result<(), ConfigError> {
    let regulation = &config.ftl.regulation;
    if regulation.is_plain() {
        return Ok(());
    }
    let rule = |reason, remedy| {
        let name = regulation.name();
        let rule = ConfigError::rule("ftl.regulation", name, reason, remedy);
        Err(rule.with(&["nand.programming", "ftl.regulation"]))
    };
    if config.nand.programming == Programming::default() {
        return rule(
            "nand.programming = \"uniform\" has only one program mode",
            "set nand.programming to \"table\" or \"step-size\"",
        );
    }
    if config.cache.is_some() && !matches!(regulation, Regulation::Fixed(_)) {
        return rule(
            "this regulation may rewrite pages in another program mode, and a flash cache does not rewrite its pages",
            "set ftl.regulation to \"fixed\"",
        );
    }
    Ok(())
}

/// Checks an SLC cache. It needs multi-bit cells, and excludes program modes, bad blocks, read
/// reclaim, refresh and a flash cache.
fn slc_cache(config: &Config) -> Result<(), ConfigError> {
    let cache = &config.ftl.slc_cache;
    if cache.size().is_none() {
        return Ok(());
    }
    let rule = |reason: &str, remedy: &str, other: &'static [&'static str]| {
        let rule = ConfigError::rule("ftl.slc_cache", cache.name(), reason, remedy);
        Err(rule.with(other))
    };
    if config.nand.cell.levels() < 2 {
        return rule(
            "single-bit cells have no faster single-level mode",
            "set nand.cell to \"tlc\" or \"qlc\", or ftl.slc_cache to \"off\"",
            &["nand.cell", "ftl.slc_cache"],
        );
    }
    if config.nand.programming != Programming::default() {
        return rule(
            "nand.programming gives costs for multi-level mode only",
            "set nand.programming to \"uniform\", or ftl.slc_cache to \"off\"",
            &["nand.programming", "ftl.slc_cache"],
        );
    }
    let Reliability {
        failures,
        factory_bad_ratio,
        read_limit,
        refresh_days,
        ..
    } = &config.nand.reliability;
    if !failures.is_none() || *factory_bad_ratio > 0.0 || *read_limit > 0 || *refresh_days > 0.0 {
        return rule(
            "bad blocks, failures, read reclaim and refresh are not modelled in single-level mode",
            "omit `failures`, `factory_bad_ratio`, `read_limit` and `refresh_days` of [nand.reliability], or set ftl.slc_cache to \"off\"",
            &["nand.reliability", "ftl.slc_cache"],
        );
    }
    if config.cache.is_some() {
        return rule(
            "an SLC cache in the flash of a cache is not modelled",
            "set ftl.slc_cache to \"off\"",
            &["cache", "ftl.slc_cache"],
        );
    }
    Ok(())
}

/// Converts an error of the translation layer to a configuration error, and adds the value of the
/// key.
pub(super) fn ftl_fault(config: &Config, error: wordline_ftl::PlanError) -> ConfigError {
    let values = serde_json::to_value(config).unwrap_or_default();
    let pointer = format!("/{}", error.key.replace('.', "/"));
    let value = match values.pointer(&pointer) {
        Some(Value::Number(number)) if number.is_f64() => {
            written(number.as_f64().unwrap_or(f64::NAN))
        }
        value => value.unwrap_or(&Value::Null).to_string(),
    };
    ConfigError::rule(error.key, value, error.reason, error.remedy).with(&[
        "ftl.gc.start_free_ratio",
        "ftl.gc.start_free_blocks",
        "ftl.gc.start_free_pages",
        "ftl.gc.hard_free_ratio",
        "ftl.gc.hard_free_blocks",
        "nand.geometry.blocks_per_plane",
    ])
}

/// Returns the queue depth of the device. Fails if the interface does not support it.
fn queue_depth(host: &Host) -> Result<u32, ConfigError> {
    let depth = host.queue_depth;
    match host.interface.most_queue_depth() {
        Some(most) if depth > most => Err(ConfigError::rule(
            "host.queue_depth",
            depth,
            format!(
                "host.interface = \"{}\" supports at most {most} outstanding commands",
                host.interface.name()
            ),
            format!("give a whole number from 1 to {most}, or choose another host.interface"),
        )
        .with(&["host.interface"])),
        _ => Ok(depth),
    }
}
