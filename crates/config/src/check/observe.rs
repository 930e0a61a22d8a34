//! The `[series]` and `[observe]` tables.

use wordline_kernel::Time;

use super::range::{Lower, number, whole};
use crate::plan::{Observe, Series};
use crate::{ConfigError, Observe as ObserveTable, Series as SeriesTable};

pub(super) fn series(config: &SeriesTable) -> Result<Series, ConfigError> {
    let day_ms = 86_400_000.0;
    number(
        "series.interval_ms",
        config.interval_ms,
        Lower::Inclusive(0.0),
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

pub(super) fn observe(config: &ObserveTable) -> Result<Observe, ConfigError> {
    let (hundred_days_s, day_ms) = (8_640_000.0, 86_400_000.0);
    let (interval_s, marginal_ms) = (config.worst_case_interval_s, config.marginal_response_ms);
    number(
        "observe.worst_case_interval_s",
        interval_s,
        Lower::Inclusive(0.0),
        hundred_days_s,
    )?;
    number(
        "observe.marginal_response_ms",
        marginal_ms,
        Lower::Inclusive(0.0),
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
        Lower::Inclusive(0.0),
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
