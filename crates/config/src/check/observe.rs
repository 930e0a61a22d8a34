//! The `[series]` and `[observe]` tables.

use wordline_kernel::Time;

use crate::plan::{Observe, Series};
use crate::{ConfigError, Observe as ObserveTable, Series as SeriesTable};

pub(super) fn series(config: &SeriesTable) -> Result<Series, ConfigError> {
    let interval_ms = (config.interval_ms, 1e9, "or 0 for an automatic width");
    let fixed = interval("series.interval_ms", interval_ms)?;
    Ok(match fixed {
        Some(interval) => Series::Fixed { interval },
        None => Series::Automatic {
            intervals: config.intervals,
        },
    })
}

pub(super) fn observe(config: &ObserveTable) -> Result<Observe, ConfigError> {
    let worst_s = (
        config.worst_case_interval_s,
        1e12,
        "or 0 for an automatic width",
    );
    let worst_case_interval = interval("observe.worst_case_interval_s", worst_s)?;
    let marginal_ms = config.marginal_response_ms;
    let chip_load_ms = (config.chip_load_interval_ms, 1e9, "or 0 for never");
    Ok(Observe {
        chip_load_interval: interval("observe.chip_load_interval_ms", chip_load_ms)?,
        worst_case_interval,
        marginal_response: Time::from_ps((marginal_ms * 1e9).round() as u64),
    })
}

/// An interval of so many units, of so many picoseconds each; none if it is 0, which means what is said
/// of it.
fn interval(
    key: &str,
    (units, unit_ps, zero): (f64, f64, &str),
) -> Result<Option<Time>, ConfigError> {
    let interval = Time::from_ps((units * unit_ps).round() as u64);
    if units > 0.0 && interval < Time::from_ns(1) {
        return Err(ConfigError::rule(
            key,
            units,
            "an interval is shorter than a nanosecond",
            format!("give at least {}, {zero}", 1e3 / unit_ps),
        ));
    }
    Ok((units > 0.0).then_some(interval))
}
