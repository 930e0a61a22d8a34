//! Checks the `[precondition]` table.

use crate::plan::{Precondition, Settle};
use crate::{ConfigError, FillLayout, Precondition as Table};

pub(super) fn precondition(config: &Table, user_pages: u32) -> Result<Precondition, ConfigError> {
    let pages = |ratio: f64| (f64::from(user_pages) * ratio).floor() as u64;
    let fill_pages = (pages(config.fill_ratio) as u32).min(user_pages);
    let overwrites = config.settle || config.overwrite_ratio > 0.0;
    if overwrites && fill_pages == 0 {
        return Err(ConfigError::rule(
            "precondition.fill_ratio",
            config.fill_ratio,
            "no page is filled, so none can be overwritten",
            "raise precondition.fill_ratio, or set precondition.overwrite_ratio to 0 and precondition.settle to false",
        ));
    }
    let settle = if config.settle {
        Settle::Until {
            tolerance_ratio: config.settle_tolerance_ratio,
            limit_pages: pages(config.settle_limit_ratio),
        }
    } else {
        Settle::No
    };
    Ok(Precondition {
        fill_pages,
        scattered: config.layout == FillLayout::Scattered,
        overwrite_pages: pages(config.overwrite_ratio),
        settle,
    })
}
