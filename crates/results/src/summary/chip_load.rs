//! Section `chip_load` of the summary: load of the dies.

use schemars::JsonSchema;
use serde::Serialize;

use wordline_recorder::chip_load::{ChipLoads, Sample};

use super::figures::ratio;

/// Load of the dies, sampled at equal intervals.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "ChipLoad")]
pub struct ChipLoadSummary {
    /// Sampling interval: `observe.chip_load_interval_ms`, doubled until fewer than 2^20 samples
    /// have a die with work. The whole table is null if the key is 0.
    pub interval_ms: f64,
    /// Samples in which at least one die had work. The load and balance metrics cover only these
    /// samples.
    pub samples: u64,
    /// Samples in which no die had work.
    pub idle_samples: u64,
    /// Mean load level of a die, over the dies and then over the samples. The load level is the
    /// time that the host reads and programs of the die, waiting and executing, take without
    /// interference. The time of the die's longest GC run is added to it (Liu et al., LCR, eq. 2).
    pub mean_us: Option<f64>,
    /// Median load balance rate of the samples: highest load of a die over the mean load of the
    /// dies.
    pub balance_p50: Option<f64>,
    /// Load balance rate that 90 % of the samples do not exceed.
    pub balance_p90: Option<f64>,
    /// Highest load balance rate.
    pub balance_max: Option<f64>,
    /// Share of the samples with a load balance rate above 10.
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
