//! Samples of the load of the dies.

use serde::{Deserialize, Serialize};
use wordline_kernel::Time;

/// Load levels of the dies at an instant (Liu et al., LCR, eq. 2): host reads and programs plus GC.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Simulated time of the sample.
    pub at: Time,
    /// Mean load of the dies.
    pub mean: Time,
    /// Highest load of a die.
    pub max: Time,
}

impl Sample {
    /// Returns the load balance rate: highest load over mean load (Liu et al., LCR, section II-A).
    pub fn balance(&self) -> f64 {
        self.max.0 as f64 / self.mean.0.max(1) as f64
    }
}

/// Maximum number of samples; a longer run doubles the interval, repeatedly if needed.
const MAX_SAMPLES: usize = 1 << 20;

/// Samples at equal intervals. Instants at which no die had work are only counted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChipLoads {
    interval: Time,
    next: Time,
    samples: Vec<Sample>,
    idle: u64,
    times: Vec<Time>,
}

impl ChipLoads {
    /// Creates an empty record that is sampled at the end of every `interval`, which must not be
    /// zero.
    pub fn every(interval: Time) -> Self {
        Self {
            interval,
            next: interval,
            samples: Vec::new(),
            idle: 0,
            times: Vec::new(),
        }
    }
    /// Discards the samples taken so far.
    pub fn begin_measuring(&mut self) {
        self.samples.clear();
        self.idle = 0;
    }
    /// Returns the time of the next sample.
    pub fn next(&self) -> Time {
        self.next
    }
    /// Takes all samples before `until`, which must be later than the next sample. They are equal,
    /// because nothing has happened since the last event and nothing will before `until`. `look`
    /// appends the load of each die.
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
            if self.samples.len() == MAX_SAMPLES {
                self.thin_out();
            }
        }
    }
    /// Drops every second sample, halves the count of idle instants and doubles the interval.
    fn thin_out(&mut self) {
        let twice = Time(2 * self.interval.0);
        self.samples.retain(|sample| sample.at.0 % twice.0 == 0);
        self.idle /= 2;
        self.next = Time(self.next.0.next_multiple_of(twice.0));
        self.interval = twice;
    }
    /// Returns the samples in order.
    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }
    /// Returns the number of instants at which no die had work.
    pub fn idle(&self) -> u64 {
        self.idle
    }
    /// Returns the sampling interval.
    pub fn interval(&self) -> Time {
        self.interval
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_between_events_are_equal_and_idle_ones_are_counted() {
        let mut loads = ChipLoads::every(Time(10));
        let busy = |times: &mut Vec<Time>| times.extend([Time(30), Time(10)]);
        loads.look(Time(35), busy);
        assert_eq!(loads.next(), Time(40), "sampled at 10, 20 and 30");
        loads.look(Time(70), |times| times.extend([Time(0), Time(0)]));
        assert_eq!(loads.next(), Time(70), "idle at 40, 50 and 60");
        let at: Vec<u64> = loads.samples().iter().map(|sample| sample.at.0).collect();
        assert_eq!(at, [10, 20, 30]);
        assert_eq!(loads.samples()[0].balance(), 1.5);
        assert_eq!(loads.idle(), 3);
    }

    #[test]
    fn long_run_doubles_the_interval() {
        let mut loads = ChipLoads::every(Time(10));
        loads.look(Time(10 * (MAX_SAMPLES as u64 + 4)), |times| {
            times.push(Time(1));
        });
        assert!(loads.samples().len() < MAX_SAMPLES);
        let at = loads.samples().windows(2);
        assert!(at.clone().count() > MAX_SAMPLES / 2 - 2);
        assert!(at.into_iter().all(|pair| pair[1].at.0 - pair[0].at.0 == 20));
    }
}
