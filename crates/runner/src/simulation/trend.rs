//! Trend of a stream's response times, from samples.

use serde::{Deserialize, Serialize};
use wordline_kernel::Time;

/// Maximum number of samples. When it is reached, every second sample is dropped and the sampling
/// rate is halved.
const MAX_SAMPLES: usize = 256;

/// Minimum number of samples for a trend.
const MIN_SAMPLES: usize = 64;

/// Response times of equally spaced completions.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Trend {
    /// Completions per sample. Count.
    stride: u64,
    /// Completions until the next sample. Count.
    left: u64,
    samples: Vec<Time>,
}

impl Default for Trend {
    fn default() -> Self {
        Self {
            stride: 1,
            left: 1,
            samples: Vec::new(),
        }
    }
}

impl Trend {
    /// Counts a completion. The response time is only evaluated for a sample.
    #[inline]
    pub(super) fn completed(&mut self, response: impl FnOnce() -> Time) {
        self.left -= 1;
        if self.left == 0 {
            self.sample(response());
        }
    }
    #[cold]
    fn sample(&mut self, response: Time) {
        self.samples.push(response);
        if self.samples.len() == MAX_SAMPLES {
            let every_second = self.samples.iter().copied().skip(1).step_by(2);
            self.samples = every_second.collect();
            self.stride *= 2;
        }
        self.left = self.stride;
    }
    /// Returns the 90th percentile of the response time in each quarter of the requests; `None` if
    /// there are too few requests. The median would be misleading: in front of an overloaded disk,
    /// a cache that is not overloaded may serve most requests.
    pub(super) fn quarters(&self) -> Option<[Time; 4]> {
        if self.samples.len() < MIN_SAMPLES {
            return None;
        }
        let bound = |quarter: usize| self.samples.len() * quarter / 4;
        Some(std::array::from_fn(|quarter| {
            let mut own = self.samples[bound(quarter)..bound(quarter + 1)].to_vec();
            own.sort_unstable();
            own[own.len() * 9 / 10]
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trend(responses: impl IntoIterator<Item = u64>) -> Trend {
        let mut trend = Trend::default();
        for response in responses {
            trend.completed(|| Time(response));
        }
        trend
    }

    #[test]
    fn samples_stay_equally_spaced_for_any_number_of_requests() {
        for requests in [100, 255, 256, 10_000, 123_456] {
            let samples = trend(1..=requests).samples;
            let stride = samples[0].0;
            assert!(stride.is_power_of_two());
            assert!(
                (1..)
                    .zip(&samples)
                    .all(|(place, at)| at.0 == place * stride)
            );
            assert_eq!(samples.len() as u64, requests / stride);
            assert!(
                samples.len() < MAX_SAMPLES && (stride == 1 || samples.len() >= MAX_SAMPLES / 2)
            );
        }
    }

    #[test]
    fn quarters_are_the_90th_percentiles_of_a_linear_trend() {
        let quarters = trend(1..=8_000).quarters().unwrap_or_default();
        for (quarter, percentile) in quarters.into_iter().zip([1_800, 3_800, 5_800, 7_800]) {
            assert!(quarter.0.abs_diff(percentile) <= 64, "{quarter:?}");
        }
        assert_eq!(trend(1..64).quarters(), None);
    }
}
