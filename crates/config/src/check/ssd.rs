//! What holds of a device behind its interface.

use super::{Bound, as_toml, number, written};
use crate::plan::{Precondition, Settle};
use crate::{Config, ConfigError};
use serde_json::Value;
use wordline_buffer as buffer;
use wordline_device::compose::Compose;
use wordline_device::config::{Buffer, Host, Ssd};
use wordline_device::schedule::{Schedule, Scheduler, Scheduling};
use wordline_kernel::Time;

/// Requests the device holds, if the interface has room for as many.
pub(crate) fn queue_depth(host: &Host) -> Result<u32, ConfigError> {
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
pub(crate) fn buffer(
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
pub(crate) fn scheduler(ssd: &Ssd) -> Result<Scheduler, ConfigError> {
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

/// Whether collections move pages inside their planes; the part has to be able to.
pub(crate) fn internal_data_move(config: &Config) -> Result<bool, ConfigError> {
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
pub(crate) fn ftl(config: &Config, error: wordline_ftl::PlanError) -> ConfigError {
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

pub(crate) fn precondition(
    config: &crate::Precondition,
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
