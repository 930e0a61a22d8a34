//! Checks the `[series]` and `[observe]` tables.

use std::num::NonZeroU32;
use wordline_kernel::Time;

use crate::plan::{Observe, Series, WarmUp};
use crate::{ConfigError, Observe as ObserveTable, Series as SeriesTable};

/// Keys that set a warm-up. At most one may be set.
const WARM_UP: [&str; 3] = [
    "observe.warm_up_s",
    "observe.warm_up_requests",
    "observe.warm_up_files",
];

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
    let chip_load_ms = (config.chip_load_interval_ms, 1e9, "or 0 for no samples");
    Ok(Observe {
        chip_load_interval: interval("observe.chip_load_interval_ms", chip_load_ms)?,
        worst_case_interval,
        marginal_response: Time::from_ps((marginal_ms * 1e9).round() as u64),
        miss_ratio_pages: NonZeroU32::new(config.miss_ratio_pages),
        warm_up: warm_up(config)?,
    })
}

fn warm_up(config: &ObserveTable) -> Result<Option<WarmUp>, ConfigError> {
    let until = interval(WARM_UP[0], (config.warm_up_s, 1e12, "or 0 for no warm-up"))?;
    let (requests, files) = (config.warm_up_requests, config.warm_up_files);
    let given = [until.is_some(), requests > 0, files > 0];
    let mut given = WARM_UP.iter().zip(given).filter(|(_, is_given)| *is_given);
    if let (Some((first, _)), Some((second, _))) = (given.next(), given.next()) {
        let value = if *second == WARM_UP[1] {
            requests
        } else {
            files.into()
        };
        return Err(ConfigError::rule(
            second,
            value,
            format!("{first} is also set, and a run has only one warm-up"),
            "set only one of the two",
        ));
    }
    Ok(until
        .map(WarmUp::Until)
        .or((requests > 0).then_some(WarmUp::Requests(requests)))
        .or((files > 0).then_some(WarmUp::Files(files))))
}

/// Returns an interval of `units` times `unit_ps` picoseconds; `None` if `units` is 0. `zero`:
/// meaning of 0, for the remedy.
fn interval(
    key: &str,
    (units, unit_ps, zero): (f64, f64, &str),
) -> Result<Option<Time>, ConfigError> {
    let interval = Time::from_ps((units * unit_ps).round() as u64);
    if units > 0.0 && interval < Time::from_ns(1) {
        return Err(ConfigError::rule(
            key,
            units,
            "the interval is shorter than a nanosecond",
            format!("give at least {}, {zero}", 1e3 / unit_ps),
        ));
    }
    Ok((units > 0.0).then_some(interval))
}
