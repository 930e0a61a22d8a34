//! The `[nand]` tables: a part, and the packages of a device.

use wordline_nand::{Cell, Energy, Geometry, Layout, PageTypes, Part, PerLevel, Suspend, Timing};

use super::range::{from_schema, number, whole};
use crate::{Config, ConfigError, Nand, SCHEMA};

/// The longest array operation: far beyond any part, and far from the end of the clock.
const LONGEST_NS: u64 = 10_000_000_000;

/// One package by itself; of the configuration, only the `[nand]` tables are looked at.
pub(crate) fn part(config: &Config, seed: u64) -> Result<Part, ConfigError> {
    nand_tables(config)?;
    from_schema(config, "nand.")?;
    let layout = package(&config.nand.geometry)?;
    Ok(part_of(&config.nand, layout, seed))
}

pub(super) fn part_of(nand: &Nand, layout: Layout, seed: u64) -> Part {
    Part {
        endurance_cycles: nand.endurance_cycles,
        partial_programs: nand.partial_programs,
        plane_rule: nand.plane_rule,
        arbitration: nand.arbitration.clone(),
        scheduler: nand.scheduler.clone(),
        suspend: nand.suspend.clone(),
        seed,
        ..Part::new(layout, &nand.geometry, &nand.timing, &nand.cell)
    }
}

pub(super) fn nand_tables(config: &Config) -> Result<(), ConfigError> {
    complete(config)?;
    geometry(&config.nand.geometry)?;
    nand(&config.nand)
}

/// A configuration of this version with its base taken in.
fn complete(config: &Config) -> Result<(), ConfigError> {
    if config.schema != SCHEMA {
        return Err(ConfigError::schema(config.schema.into()));
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
    for (key, value, range) in [
        ("dies_per_package", geometry.dies_per_package, 1..=64),
        ("planes_per_die", geometry.planes_per_die, 1..=64),
        ("blocks_per_plane", geometry.blocks_per_plane, 1..=1 << 24),
        ("pages_per_block", geometry.pages_per_block, 1..=65_535),
        ("page_bytes", geometry.page_bytes, 512..=65_536),
        ("spare_bytes", geometry.spare_bytes, 0..=65_536),
    ] {
        whole(&format!("nand.geometry.{key}"), value, range)?;
    }
    if geometry.page_bytes.is_multiple_of(512) {
        return Ok(());
    }
    let near = geometry.page_bytes / 512 * 512;
    Err(ConfigError::rule(
        "nand.geometry.page_bytes",
        geometry.page_bytes,
        "a page holds whole sectors of 512 bytes",
        format!("give a multiple of 512, such as {near} or {}", near + 512),
    ))
}

fn nand(nand: &Nand) -> Result<(), ConfigError> {
    let key = "nand.endurance_cycles";
    whole(key, nand.endurance_cycles, 1..=u32::MAX)?;
    whole("nand.partial_programs", nand.partial_programs, 1..=8)?;
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
    for (key, value, range) in [
        ("erase_ns", timing.erase_ns, 1..=LONGEST_NS),
        ("typical_read_ns", timing.typical_read_ns, 0..=LONGEST_NS),
        (
            "typical_program_ns",
            timing.typical_program_ns,
            0..=LONGEST_NS,
        ),
        ("cache_busy_ns", timing.cache_busy_ns, 0..=1_000_000),
        ("plane_busy_ns", timing.plane_busy_ns, 0..=1_000_000),
    ] {
        whole(&format!("nand.timing.{key}"), value, range)?;
    }
    number("nand.timing.jitter_ratio", timing.jitter_ratio, 0.0..=0.9)
}

/// One time for all pages, or as many as the cell has levels.
fn levels(key: &str, times: &PerLevel, cell: &Cell) -> Result<(), ConfigError> {
    for &time in times.values() {
        whole(key, time, 1..=LONGEST_NS)?;
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
    for (key, value) in [
        ("program_suspend_ns", suspend.program_suspend_ns),
        ("erase_suspend_ns", suspend.erase_suspend_ns),
        ("resume_ns", suspend.resume_ns),
        ("longest_ns", suspend.longest_ns),
    ] {
        whole(&format!("nand.suspend.{key}"), value, 0..=LONGEST_NS)?;
    }
    whole("nand.suspend.most", suspend.most, 1..=1_000_000)
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
        number(&format!("nand.energy.{key}"), value, 0.0..=most)?;
    }
    Ok(())
}

fn bus(timing: &Timing) -> Result<(), ConfigError> {
    let (command_ns, row) = (timing.command_cycle_ns, timing.row_address_cycles);
    whole("nand.timing.command_cycle_ns", command_ns, 0..=1_000_000)?;
    whole("nand.timing.address_cycles", timing.address_cycles, 0..=16)?;
    whole("nand.timing.row_address_cycles", row, 0..=16)?;
    number("nand.timing.bus_mt_per_s", timing.bus_mt_per_s, 0.01..=1e6)?;
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

/// One package, if its pages can be counted in 32 bits.
fn package(geometry: &Geometry) -> Result<Layout, ConfigError> {
    Layout::new(geometry, 1).ok_or_else(|| {
        crowded("package", &[], geometry).with(&[
            "nand.geometry.pages_per_block",
            "nand.geometry.planes_per_die",
            "nand.geometry.dies_per_package",
        ])
    })
}

/// More pages than can be counted in `whole`, which has `wires` above its dies.
pub(super) fn crowded(whole: &str, wires: &[(&str, u32)], geometry: &Geometry) -> ConfigError {
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
