//! Checks the `[nand]` tables: a standalone package, and the packages of a device.

use wordline_nand::{Cell, Geometry, Layout, PageTypes, Part, PerLevel};

use wordline_reliability::Fault;
use wordline_reliability::programming::Price;

use super::complete;
use super::range::ranges;
use crate::{Config, ConfigError, Nand};

/// Returns a standalone package. Only the `[nand]` tables are checked.
pub(crate) fn part(config: &Config, seed: u64) -> Result<Part, ConfigError> {
    complete(config)?;
    ranges(config, Some("nand"))?;
    nand_tables(&config.nand)?;
    let layout = package(&config.nand.geometry)?;
    Ok(part_of(&config.nand, layout, seed))
}

pub(super) fn part_of(nand: &Nand, layout: Layout, seed: u64) -> Part {
    let mut plain = Part::new(layout, &nand.geometry, &nand.timing, &nand.cell);
    if let Ok(Some(costs)) = nand.programming.costs() {
        plain.chains = plain.chains.with_costs(costs);
    }
    Part {
        endurance_cycles: nand.endurance_cycles,
        partial_programs: nand.partial_programs,
        plane_rule: nand.plane_rule,
        arbitration: nand.arbitration.clone(),
        scheduler: nand.scheduler.clone(),
        suspend: nand.suspend.clone(),
        seed,
        ..plain
    }
}

/// Checks the rules of the `[nand]` tables that ranges of numbers cannot express.
pub(super) fn nand_tables(nand: &Nand) -> Result<(), ConfigError> {
    geometry(&nand.geometry)?;
    levels("nand.timing.read_ns", &nand.timing.read_ns, &nand.cell)?;
    levels(
        "nand.timing.program_ns",
        &nand.timing.program_ns,
        &nand.cell,
    )?;
    programming(nand)
}

/// Checks the program modes: a write must take longer than the transfer of its data on the bus.
fn programming(nand: &Nand) -> Result<(), ConfigError> {
    let key = format!("nand.programming.{}", nand.programming.name());
    let costs = nand.programming.costs().map_err(
        |Fault {
             key: parameter,
             reason,
             remedy,
         }| {
            let value = nand.programming.name();
            ConfigError::rule(&format!("{key}.{parameter}"), value, reason, remedy)
        },
    )?;
    let Some(costs) = costs else {
        return Ok(());
    };
    let mut bytes = u64::from(nand.geometry.page_bytes);
    if nand.timing.transfer_spare {
        bytes += u64::from(nand.geometry.spare_bytes);
    }
    let data = nand.timing.transfer(bytes);
    let least = costs.0.iter().map(|cost| cost.write).min();
    match least {
        Some(least) if least <= data => Err(ConfigError::rule(
            "nand.timing.bus_mt_per_s",
            nand.timing.bus_mt_per_s,
            format!(
                "a page takes {} us on the bus, and a write of {key} takes only {} us in total",
                data.as_us(),
                least.as_us()
            ),
            "raise nand.timing.bus_mt_per_s, or the time of the write",
        )
        .with(&["nand.programming"])),
        _ => Ok(()),
    }
}

fn geometry(geometry: &Geometry) -> Result<(), ConfigError> {
    if geometry.page_bytes.is_multiple_of(512) {
        return Ok(());
    }
    let near = geometry.page_bytes / 512 * 512;
    Err(ConfigError::rule(
        "nand.geometry.page_bytes",
        geometry.page_bytes,
        "a page must hold whole sectors of 512 bytes",
        format!("give a multiple of 512, such as {near} or {}", near + 512),
    ))
}

/// Checks that there is one time for all pages, or one time for each page type.
fn levels(key: &str, times: &PerLevel, cell: &Cell) -> Result<(), ConfigError> {
    let (given, levels) = (times.values().len(), usize::from(cell.levels()));
    if given == 1 || given == levels {
        return Ok(());
    }
    let name = cell.name();
    let (rule, remedy) = if levels == 1 {
        (
            format!("{given} times are given, and cell {name} has one page type"),
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

/// Returns the layout of a package. Fails if 32 bits cannot number its pages.
fn package(geometry: &Geometry) -> Result<Layout, ConfigError> {
    Layout::new(geometry, 1).ok_or_else(|| {
        crowded("package", &[], geometry).with(&[
            "nand.geometry.pages_per_block",
            "nand.geometry.planes_per_die",
            "nand.geometry.dies_per_package",
        ])
    })
}

/// Returns the error that `whole` has more pages than 32 bits can number. `wires`: levels above the
/// dies of `whole`, with their sizes.
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
            "the {whole} has {pages} pages ({}: {}), and at most {} can be addressed",
            product.join(" x "),
            names.join(", "),
            u32::MAX - 1
        ),
        "use fewer blocks or larger pages",
    )
}
