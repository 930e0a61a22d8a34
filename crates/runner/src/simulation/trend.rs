//! Response times of a stream over its run, sampled.

use serde::{Deserialize, Serialize};
use wordline_kernel::Time;

/// Samples kept at most; then every second one is dropped, and half as many are taken from there on.
const MAX_SAMPLES: usize = 256;

/// Samples below which nothing is said of a trend.
const MIN_SAMPLES: usize = 64;

/// Response times at equal distances in the order of completion.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Trend {
    /// Completions from one sample to the next.
    stride: u64,
    /// Completions until the next sample.
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
    /// Counts a completion. The response time is needed for a sample only.
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
    /// 90th percentile of the response time in each quarter of the requests; `None` with too few requests. Not the median: in front of
    /// an overloaded disk, most requests may be served by a cache that is not.
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
    fn samples_stay_at_equal_distances_however_many_requests_there_are() {
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
    fn quarters_of_a_line_have_its_percentiles() {
        let quarters = trend(1..=8_000).quarters().unwrap_or_default();
        for (quarter, percentile) in quarters.into_iter().zip([1_800, 3_800, 5_800, 7_800]) {
            assert!(quarter.0.abs_diff(percentile) <= 64, "{quarter:?}");
        }
        assert_eq!(trend(1..64).quarters(), None);
    }
}
