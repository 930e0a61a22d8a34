//! Reuse distances: numbers of distinct pages accessed between two accesses to the same page. They
//! are estimated by spatially hashed sampling (SHARDS with a fixed number of samples; Waldspurger
//! et al., FAST 2015).
//!
//! Pages whose hash is below a threshold are sampled. The threshold is lowered when too many pages
//! are sampled, so that memory is bounded. A distance among the sampled pages, divided by the
//! sampling rate, estimates the distance among all pages.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use serde::Serialize;
use wordline_kernel::random::splitmix;

use super::{MIB, PAGE};

const MAX_SAMPLES: usize = 8192;
/// Number of positions of accesses. When all are used, the last accesses are renumbered.
const POSITIONS: usize = 4 * MAX_SAMPLES;
const HASH_BITS: u32 = 24;
/// Number of bins of distances. The upper end of each bin is a power of two. Pages.
const BINS: usize = 64;

/// Estimated distribution of reuse distances, in MiB of distinct pages.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ReuseStat {
    /// Share of page accesses that are the first access to their page.
    pub first_use_percent: Option<f64>,
    /// 10th percentile of the reuse distances. In an LRU cache of this size, a tenth of the reuses
    /// hit.
    pub p10_mib: Option<f64>,
    /// 50th percentile of the reuse distances.
    pub p50_mib: Option<f64>,
    /// 90th percentile of the reuse distances.
    pub p90_mib: Option<f64>,
    /// Share of the pages that is sampled at the end. If it is 1, the other values are exact to a
    /// factor of two.
    pub sampling_rate: f64,
}

/// Estimator of reuse distances on a sample of the pages.
pub(super) struct Reuse {
    threshold: u64, // of 2^HASH_BITS
    followed: FxHashMap<(u32, u64), Use>,
    by_hash: BTreeSet<(u64, u32, u64)>,
    marks: Fenwick,
    next: usize,
    /// Weighted number of reuses, by the binary logarithm of their distance, rounded up.
    bins: [f64; BINS],
    reuses: f64,
    first_uses: f64,
}

#[derive(Clone, Copy)]
struct Use {
    position: usize,
}

impl Default for Reuse {
    fn default() -> Self {
        Self {
            threshold: 1 << HASH_BITS,
            followed: FxHashMap::default(),
            by_hash: BTreeSet::new(),
            marks: Fenwick::new(POSITIONS),
            next: 0,
            bins: [0.0; BINS],
            reuses: 0.0,
            first_uses: 0.0,
        }
    }
}

impl Reuse {
    fn rate(&self) -> f64 {
        self.threshold as f64 / f64::from(1 << HASH_BITS)
    }

    /// Records accesses to `count` pages starting at `first`.
    pub(super) fn touch(&mut self, volume: u32, first: u64, count: u64) {
        for page in first..first + count {
            let hash = splitmix(page ^ splitmix(u64::from(volume))) >> (u64::BITS - HASH_BITS);
            if hash < self.threshold {
                self.sampled(volume, page, hash);
            }
        }
    }

    fn sampled(&mut self, volume: u32, page: u64, hash: u64) {
        if self.next == POSITIONS {
            self.renumber();
        }
        let position = self.next;
        self.next += 1;
        let weight = 1.0 / self.rate();
        if let Some(before) = self.followed.insert((volume, page), Use { position }) {
            let between = self.marks.sum(before.position + 1, position);
            self.marks.add(before.position, false);
            // The page itself also takes a place in the cache.
            let distance = (between as f64 * weight).max(0.0) + 1.0;
            self.bins[(distance.log2().ceil() as usize).min(BINS - 1)] += weight;
            self.reuses += weight;
        } else {
            self.by_hash.insert((hash, volume, page));
            self.first_uses += weight;
        }
        self.marks.add(position, true);
        if self.followed.len() > MAX_SAMPLES {
            self.lower();
        }
    }

    /// Lowers the threshold to the greatest sampled hash, and drops the pages with that hash.
    fn lower(&mut self) {
        let Some(&(greatest, _, _)) = self.by_hash.last() else {
            return;
        };
        self.threshold = greatest;
        let gone = self.by_hash.split_off(&(greatest, 0, 0));
        for (_, volume, page) in gone {
            if let Some(last) = self.followed.remove(&(volume, page)) {
                self.marks.add(last.position, false);
            }
        }
    }

    /// Renumbers the last accesses to the sampled pages from 0, in their order.
    fn renumber(&mut self) {
        let mut uses: Vec<_> = self.followed.iter_mut().map(|(_, last)| last).collect();
        uses.sort_unstable_by_key(|last| last.position);
        self.marks = Fenwick::new(POSITIONS);
        self.next = uses.len();
        for (position, last) in uses.into_iter().enumerate() {
            last.position = position;
            self.marks.add(position, true);
        }
    }

    pub(super) fn stat(&self) -> ReuseStat {
        let all = self.reuses + self.first_uses;
        ReuseStat {
            first_use_percent: (all > 0.0).then(|| 100.0 * self.first_uses / all),
            p10_mib: self.quantile(0.1),
            p50_mib: self.quantile(0.5),
            p90_mib: self.quantile(0.9),
            sampling_rate: self.rate(),
        }
    }

    /// Returns the upper end of the bin that contains the quantile; `None` without reuses.
    fn quantile(&self, quantile: f64) -> Option<f64> {
        if self.reuses == 0.0 {
            return None;
        }
        let mut sum = 0.0;
        let within = |count: &f64| {
            sum += count;
            sum >= quantile * self.reuses
        };
        let bin = self.bins.iter().position(within).unwrap_or(BINS - 1);
        Some((1_u64 << bin) as f64 * PAGE as f64 / MIB)
    }
}

/// Marked positions, counted over any range in logarithmic time (Fenwick 1994).
struct Fenwick(Vec<i32>);

impl Fenwick {
    fn new(length: usize) -> Self {
        Self(vec![0; length + 1])
    }
    fn add(&mut self, position: usize, marked: bool) {
        let step = if marked { 1 } else { -1 };
        let mut at = position + 1;
        while at < self.0.len() {
            self.0[at] += step;
            at += at & at.wrapping_neg();
        }
    }
    /// Returns the number of marks before `position`.
    fn before(&self, position: usize) -> i32 {
        let (mut at, mut sum) = (position, 0);
        while at > 0 {
            sum += self.0[at];
            at &= at - 1;
        }
        sum
    }
    /// Returns the number of marks in `from..until`.
    fn sum(&self, from: usize, until: usize) -> i32 {
        self.before(until) - self.before(from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cyclic_accesses_to_n_pages_have_distance_n() {
        let mut reuse = Reuse::default();
        for _ in 0..100 {
            reuse.touch(0, 0, 1000);
        }
        let stat = reuse.stat();
        assert_eq!(stat.sampling_rate, 1.0);
        assert_eq!(stat.first_use_percent, Some(1.0));
        // The bin up to 1,024 pages contains a distance of 1,000 pages.
        assert_eq!(stat.p10_mib, Some(4.0));
        assert_eq!(stat.p90_mib, Some(4.0));
    }

    #[test]
    fn distances_of_more_pages_than_samples_are_estimated() {
        let mut reuse = Reuse::default();
        for _ in 0..5 {
            reuse.touch(0, 0, 1_500_000);
        }
        let stat = reuse.stat();
        assert!(stat.sampling_rate < 0.01);
        // The weights of the samples taken before the threshold was lowered add up to about all
        // pages.
        assert!((stat.first_use_percent.unwrap() - 20.0).abs() < 1.0);
        assert_eq!(stat.p50_mib, Some(8192.0));
    }
}
