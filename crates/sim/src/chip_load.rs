//! The load of the chips, looked at from time to time.

use schemars::JsonSchema;
use serde::Serialize;
use wordline_kernel::Time;

use crate::summary::ratio;

/// How much the dies had to do at an instant (Liu et al., LCR, eq. 2), reads, programs and
/// collections together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// When.
    pub at: Time,
    /// The mean of the dies.
    pub mean: Time,
    /// Of the die that had most to do.
    pub max: Time,
}

impl Sample {
    /// The load balance rate: the most loaded die against the mean (Liu et al., LCR, section II-A).
    pub fn balance(&self) -> f64 {
        self.max.0 as f64 / self.mean.0.max(1) as f64
    }
}

/// Most samples that are kept; a longer run keeps every second, and so on.
const MOST: usize = 1 << 20;

/// Samples at equal distances. Instants at which no die had anything to do are counted only.
#[derive(Clone, Debug, PartialEq)]
pub struct ChipLoads {
    interval: Time,
    next: Time,
    samples: Vec<Sample>,
    idle: u64,
    times: Vec<Time>,
}

impl ChipLoads {
    /// Looks at the end of every `interval`, which is not zero.
    pub fn every(interval: Time) -> Self {
        Self {
            interval,
            next: interval,
            samples: Vec::new(),
            idle: 0,
            times: Vec::new(),
        }
    }
    /// When it looks next.
    pub fn next(&self) -> Time {
        self.next
    }
    /// Nothing has happened since the last event, and nothing will before `until`: looks at all
    /// instants up to then, which are alike. `look` appends what each die has to do.
    pub fn look(&mut self, until: Time, look: impl FnOnce(&mut Vec<Time>)) {
        self.times.clear();
        look(&mut self.times);
        let all: u64 = self.times.iter().map(|time| time.0).sum();
        let max = self.times.iter().copied().max().unwrap_or_default();
        let mean = Time(all / self.times.len().max(1) as u64);
        if all == 0 {
            let skipped = (until.0 - 1 - self.next.0) / self.interval.0 + 1;
            self.idle += skipped;
            self.next += Time(skipped * self.interval.0);
            return;
        }
        while self.next < until {
            let at = self.next;
            self.samples.push(Sample { at, mean, max });
            self.next += self.interval;
            if self.samples.len() == MOST {
                self.thin_out();
            }
        }
    }
    /// Keeps every second sample, and looks half as often.
    fn thin_out(&mut self) {
        let twice = Time(2 * self.interval.0);
        self.samples.retain(|sample| sample.at.0 % twice.0 == 0);
        self.idle /= 2;
        self.next = Time(self.next.0.next_multiple_of(twice.0));
        self.interval = twice;
    }
    /// The samples, in order.
    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }
}

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
    /// How long what a die has to do takes without anything else (Liu et al., LCR, eq. 2): reads and programs of the host that wait for it or that it is at, and collections that have begun; mean of the dies, then of the instants.
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
        let samples = loads.samples.len();
        let mut balances: Vec<f64> = loads.samples.iter().map(Sample::balance).collect();
        balances.sort_by(f64::total_cmp);
        let rank = |share: f64| ((share * samples as f64).ceil() as usize).max(1) - 1;
        let means = loads.samples.iter().map(|sample| sample.mean.as_us());
        let above = balances.iter().filter(|balance| **balance > 10.0).count();
        Self {
            interval_ms: loads.interval.as_us() / 1e3,
            samples: samples as u64,
            idle_samples: loads.idle,
            mean_us: (samples > 0).then(|| means.sum::<f64>() / samples as f64),
            balance_p50: balances.get(rank(0.5)).copied(),
            balance_p90: balances.get(rank(0.9)).copied(),
            balance_max: balances.last().copied(),
            balance_above_10_ratio: ratio(above as u64, samples as u64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_between_events_are_alike_and_idle_ones_are_counted() {
        let mut loads = ChipLoads::every(Time(10));
        let busy = |times: &mut Vec<Time>| times.extend([Time(30), Time(10)]);
        loads.look(Time(35), busy);
        assert_eq!(loads.next(), Time(40), "looked at 10, 20 and 30");
        loads.look(Time(70), |times| times.extend([Time(0), Time(0)]));
        assert_eq!(loads.next(), Time(70), "idle at 40, 50 and 60");
        let at: Vec<u64> = loads.samples().iter().map(|sample| sample.at.0).collect();
        assert_eq!(at, [10, 20, 30]);
        assert_eq!(loads.samples()[0].balance(), 1.5);
        let summary = ChipLoadSummary::new(&loads);
        assert_eq!((summary.samples, summary.idle_samples), (3, 3));
        assert_eq!(summary.balance_above_10_ratio, Some(0.0));
    }

    #[test]
    fn a_long_run_looks_half_as_often() {
        let mut loads = ChipLoads::every(Time(10));
        loads.look(Time(10 * (MOST as u64 + 4)), |times| times.push(Time(1)));
        assert!(loads.samples().len() < MOST);
        let at = loads.samples().windows(2);
        assert!(at.clone().count() > MOST / 2 - 2);
        assert!(at.into_iter().all(|pair| pair[1].at.0 - pair[0].at.0 == 20));
    }
}
