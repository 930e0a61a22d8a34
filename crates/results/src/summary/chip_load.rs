//! What the dies had to do.

use schemars::JsonSchema;
use serde::Serialize;

use wordline_recorder::chip_load::{ChipLoads, Sample};

use super::figures::ratio;

/// What the dies had to do at instants at equal distances.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "ChipLoad")]
pub struct ChipLoadSummary {
    /// Distance of the instants at which the load of the dies was looked at: `observe.chip_load_interval_ms`, doubled until no more than a million lie in the run. Null, as all of these, if that is 0.
    pub interval_ms: f64,
    /// Instants at which a die had something to do; the numbers that follow are of these.
    pub samples: u64,
    /// Instants at which none had.
    pub idle_samples: u64,
    /// Load level of a die (Liu et al., LCR, eq. 2): the time that the reads and programs of the host that wait for it or are in progress take without anything else, and that of its collection, of several the longest; mean of the dies, then of the instants.
    pub mean_us: Option<f64>,
    /// Load balance rate: the most of any die against the mean of the dies; the median of the instants.
    pub balance_p50: Option<f64>,
    /// The rate that 90 % of the instants do not exceed.
    pub balance_p90: Option<f64>,
    /// The highest.
    pub balance_max: Option<f64>,
    /// Share of the instants with a rate above 10.
    pub balance_above_10_ratio: Option<f64>,
}

impl ChipLoadSummary {
    pub(crate) fn new(loads: &ChipLoads) -> Self {
        let samples = loads.samples().len();
        let mut balances: Vec<f64> = loads.samples().iter().map(Sample::balance).collect();
        balances.sort_by(f64::total_cmp);
        let rank = |share: f64| ((share * samples as f64).ceil() as usize).max(1) - 1;
        let means = loads.samples().iter().map(|sample| sample.mean.as_us());
        let above = balances.iter().filter(|balance| **balance > 10.0).count();
        Self {
            interval_ms: loads.interval().as_us() / 1e3,
            samples: samples as u64,
            idle_samples: loads.idle(),
            mean_us: (samples > 0).then(|| means.sum::<f64>() / samples as f64),
            balance_p50: balances.get(rank(0.5)).copied(),
            balance_p90: balances.get(rank(0.9)).copied(),
            balance_max: balances.last().copied(),
            balance_above_10_ratio: ratio(above as u64, samples as u64),
        }
    }
}
