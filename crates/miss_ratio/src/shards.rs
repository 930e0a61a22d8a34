//! SHARDS: curves from a sample of the keys (Waldspurger, Park, Garthwaite and Ahmad, "Efficient
//! MRC Construction with SHARDS", FAST 2015).
//!
//! A share R of the keys is sampled by their hash, so that a key is sampled always or never. The
//! number of sampled keys between two requests for a sampled key is R times the number of all keys
//! between them. Its stack distance in the sample, divided by R, estimates the true one, and each
//! sampled request represents 1/R requests.
//!
//! Both variants are adjusted (SHARDS-adj, in the paper's evaluation). Popular keys make the share
//! of sampled requests differ from R. The difference from the expected number is counted as
//! requests of distance zero, as if hot keys had been omitted from or added to the sample.
//!
//! Sizes below 1/R are not resolved: the curve is linear there.

use std::collections::BinaryHeap;
use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use super::buckets::{Bucket, Buckets};
use super::exact::{count, steps};
use super::sample::{Numbers, Rate, Sample};
use super::stack::Stack;
use super::{Corner, Curve};
use wordline_cache::Entry;

/// SHARDS at a fixed rate. Memory is proportional to the number of sampled keys. At rate 1, the
/// curve is exact.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ShardsRate {
    sample: Sample,
    numbers: Numbers,
    stack: Stack,
    distances: Vec<u64>,
    requests: u64,
    sampled: u64,
}

impl ShardsRate {
    /// Creates an empty sample. The seed determines which keys are sampled.
    pub fn new(rate: Rate, seed: u64) -> Self {
        Self {
            sample: Sample::new(rate, seed),
            numbers: Numbers::default(),
            stack: Stack::default(),
            distances: Vec::new(),
            requests: 0,
            sampled: 0,
        }
    }
    /// Records requests for `keys`.
    #[inline]
    pub fn extend(&mut self, keys: impl IntoIterator<Item = u64>) {
        let sample = self.sample;
        for key in keys {
            self.requests += 1;
            if let Some(hash) = sample.take(key) {
                self.look_at(hash);
            }
        }
    }
    #[cold]
    fn look_at(&mut self, hash: u64) {
        self.sampled += 1;
        let entry = self.numbers.of(hash);
        if let Some(distance) = self.stack.touch(entry) {
            count(&mut self.distances, distance);
        }
    }
    /// Discards all counts, so that the curve covers only later requests. Keys persist, so that a
    /// later request for a known key is not counted as its first request.
    pub fn forget_requests(&mut self) {
        self.distances.clear();
        (self.requests, self.sampled) = (0, 0);
    }
    /// Returns the number of sampled keys.
    pub fn keys(&self) -> usize {
        self.numbers.len()
    }
    /// Returns the memory currently allocated. Bytes.
    pub fn bytes(&self) -> u64 {
        let distances = self.distances.capacity() * size_of::<u64>();
        self.numbers.bytes() + self.stack.bytes() + distances as u64
    }
    /// Returns the number of sampled requests.
    pub fn sampled(&self) -> u64 {
        self.sampled
    }
    /// Returns the estimated curve of the requests so far.
    pub fn curve(&self) -> Curve {
        let weight = 1.0 / self.sample.rate();
        let more = self.requests as f64 - self.sampled as f64 * weight;
        let footprint = (self.stack.len() as f64 * weight).round() as u64;
        Curve::new(
            self.requests,
            footprint,
            steps(&self.distances, weight, more),
        )
    }
}

/// SHARDS at a fixed size. The sample starts with every key. When it has too many keys, it drops
/// the key with the largest hash, which lowers the rate.
///
/// In the paper, counts from a higher rate lose weight when the rate falls. Here each request has
/// the weight 1/R, where R is the rate at its time. Both weights are equal except for a common
/// factor. Distances are exact below 8,192 and accurate to one part in 4,096 above, so that memory
/// grows with the logarithm of the footprint.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ShardsSize {
    sample: Sample,
    room: usize,
    /// Sampled keys, the largest hash first.
    largest: BinaryHeap<(u64, Entry)>,
    numbers: Numbers,
    stack: Stack,
    distances: Buckets,
    requests: u64,
    weighed: f64,
}

impl ShardsSize {
    /// Creates an empty sample of at most `keys` keys. The seed and the requests determine which
    /// keys are sampled.
    pub fn new(keys: NonZeroU32, seed: u64) -> Self {
        Self::beginning_at(Rate::ALL, keys, seed)
    }
    /// Creates a sample that starts at `rate` instead of with all keys. A request for a key outside
    /// the sample costs only a hash.
    pub fn beginning_at(rate: Rate, keys: NonZeroU32, seed: u64) -> Self {
        Self {
            sample: Sample::new(rate, seed),
            room: keys.get() as usize,
            largest: BinaryHeap::new(),
            numbers: Numbers::default(),
            stack: Stack::default(),
            distances: Buckets::default(),
            requests: 0,
            weighed: 0.0,
        }
    }
    /// Records requests for `keys`.
    #[inline]
    pub fn extend(&mut self, keys: impl IntoIterator<Item = u64>) {
        for key in keys {
            self.requests += 1;
            if let Some(hash) = self.sample.take(key) {
                self.look_at(hash);
            }
        }
    }
    fn look_at(&mut self, hash: u64) {
        let weight = 1.0 / self.sample.rate();
        self.weighed += weight;
        if let Some(entry) = self.numbers.get(hash) {
            if let Some(distance) = self.stack.touch(entry) {
                let scaled = (f64::from(distance) * weight) as u64;
                self.distances.add(scaled, weight);
            }
            return;
        }
        let Some(entry) = self.drop_largest(hash) else {
            return;
        };
        self.numbers.insert(hash, entry);
        self.largest.push((hash, entry));
        self.stack.touch(entry);
    }
    /// Makes room for the key with hash `hash` and returns its number. If the sample is full, the
    /// key with the largest hash is dropped, and its number is reused. Its stack position is reused
    /// when the new key is touched. Returns `None` if the new key has the largest hash.
    fn drop_largest(&mut self, hash: u64) -> Option<Entry> {
        if self.largest.len() < self.room {
            return Some(Entry(self.largest.len() as u32));
        }
        let &(largest, entry) = self.largest.peek()?;
        self.sample.end_below(largest.max(hash));
        if hash > largest {
            return None;
        }
        self.largest.pop();
        self.numbers.remove(largest);
        Some(entry)
    }
    /// Removes a key from the stack, so that its next request counts as its first. A sampled key
    /// keeps its place in the sample until a key with a smaller hash needs it.
    pub fn forget(&mut self, key: u64) {
        let entry = self
            .sample
            .take(key)
            .and_then(|hash| self.numbers.get(hash));
        if let Some(entry) = entry {
            self.stack.forget(entry);
        }
    }
    /// Discards all counts, so that the curve covers only later requests. Keys persist, so that a
    /// later request for a known key is not counted as its first request.
    pub fn forget_requests(&mut self) {
        self.distances = Buckets::default();
        (self.requests, self.weighed) = (0, 0.0);
    }
    /// Returns the memory currently allocated. Bytes.
    pub fn bytes(&self) -> u64 {
        let largest = self.largest.capacity() * size_of::<(u64, Entry)>();
        self.numbers.bytes() + self.stack.bytes() + self.distances.bytes() + largest as u64
    }
    /// Returns the number of sampled keys.
    pub fn keys(&self) -> usize {
        self.numbers.len()
    }
    /// Returns the current sampling rate, which is approximately the sampled share of the keys seen
    /// so far.
    pub fn rate(&self) -> f64 {
        self.sample.rate()
    }
    /// Returns the estimated curve of the requests so far.
    pub fn curve(&self) -> Curve {
        let resolved = 1.0 / self.sample.rate();
        let mut hits = self.requests as f64 - self.weighed;
        let mut corners = Vec::new();
        for Bucket { low, high, weight } in self.distances.iter() {
            let size = (low as f64).max(resolved);
            corners.push(Corner { size, hits });
            hits += weight;
            let size = (high as f64).max(resolved);
            corners.push(Corner { size, hits });
        }
        if corners.is_empty() {
            corners.push(Corner {
                size: resolved,
                hits,
            });
        }
        let footprint = (self.stack.len() as f64 / self.sample.rate()).round() as u64;
        Curve::new(self.requests, footprint, corners)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    /// The algorithm as printed in the paper: a list as the stack, counts by scaled distance, and
    /// the adjustment at the end. All counts are rescaled when the rate falls.
    struct Paper {
        sample: Sample,
        room: usize,
        known: BTreeSet<u64>,
        list: Vec<u64>,
        counts: BTreeMap<u64, f64>,
        sampled: f64,
        requests: f64,
    }

    impl Paper {
        fn new(sample: Sample, room: usize) -> Self {
            Self {
                sample,
                room,
                known: BTreeSet::new(),
                list: Vec::new(),
                counts: BTreeMap::new(),
                sampled: 0.0,
                requests: 0.0,
            }
        }
        fn request(&mut self, key: u64) {
            self.requests += 1.0;
            let Some(hash) = self.sample.take(key) else {
                return;
            };
            self.sampled += 1.0;
            if let Some(place) = self.list.iter().position(|&other| other == hash) {
                self.list.remove(place);
                let distance = (self.list.len() - place) as f64;
                let scaled = (distance / self.sample.rate()) as u64;
                *self.counts.entry(scaled).or_default() += 1.0;
            }
            self.list.push(hash);
            self.known.insert(hash);
            if self.known.len() > self.room {
                self.lower();
            }
        }
        fn forget(&mut self, key: u64) {
            let hash = self.sample.take(key);
            self.list.retain(|&other| Some(other) != hash);
        }
        fn lower(&mut self) {
            let largest = self.known.pop_last().unwrap();
            self.list.retain(|&hash| hash < largest);
            let before = self.sample.rate();
            self.sample.end_below(largest);
            let factor = self.sample.rate() / before;
            self.sampled *= factor;
            self.counts.values_mut().for_each(|count| *count *= factor);
        }
        fn miss_ratio(&self, size: u64) -> f64 {
            let expected = self.requests * self.sample.rate();
            let hits: f64 = self.counts.range(..size).map(|(_, count)| count).sum();
            let adjusted = hits + expected - self.sampled;
            1.0 - (adjusted / expected).clamp(0.0, 1.0)
        }
    }

    fn keys() -> Vec<u64> {
        let mut stream = wordline_kernel::Rng::new(1, "shards");
        let skewed = |_| (stream.unit().powi(3) * 5_000.0) as u64;
        (0..30_000).map(skewed).chain(0..2_000).collect()
    }

    #[test]
    fn fixed_size_shards_matches_the_algorithm_of_the_paper() {
        for (room, seed) in [(1, 1), (10, 2), (100, 3), (1_000, 4), (100, 5)] {
            assert_matches_the_paper(Rate::ALL, room, seed, NEVER);
        }
    }

    #[test]
    fn fixed_size_shards_from_a_lower_rate_matches_the_algorithm_of_the_paper() {
        for (room, seed) in [(1, 6), (100, 7), (5_000, 8)] {
            assert_matches_the_paper(Rate::new(1.0 / 16.0).unwrap(), room, seed, NEVER);
        }
    }

    /// The result must be as if the key had not been requested before.
    #[test]
    fn request_for_a_forgotten_key_counts_as_its_first() {
        for (room, seed) in [(1, 1), (10, 2), (100, 3), (1_000, 4), (10_000, 5)] {
            assert_matches_the_paper(Rate::ALL, room, seed, 2);
        }
    }

    const NEVER: usize = 5;

    /// Compares the estimates over a trace. Each request whose number modulo 5 is `forgotten` is
    /// replaced by a call that forgets the key.
    fn assert_matches_the_paper(rate: Rate, room: u32, seed: u64, forgotten: usize) {
        let mut paper = Paper::new(Sample::new(rate, seed), room as usize);
        let mut shards = ShardsSize::beginning_at(rate, NonZeroU32::new(room).unwrap(), seed);
        for (at, key) in keys().into_iter().enumerate() {
            if at % 5 == forgotten {
                paper.forget(key);
                shards.forget(key);
                continue;
            }
            paper.request(key);
            shards.extend([key]);
            assert_eq!(shards.rate(), paper.sample.rate());
            assert_eq!(shards.keys(), paper.known.len());
        }
        let curve = shards.curve();
        let resolved = (1.0 / shards.rate()).ceil() as u64;
        for size in (resolved..8_000).step_by(7) {
            let apart = curve.miss_ratio(size) - paper.miss_ratio(size);
            assert!(apart.abs() < 1e-9, "{room} keys, size {size}: {apart}");
        }
    }

    /// The paper defines the curve only at multiples of 1/R.
    #[test]
    fn fixed_rate_shards_matches_the_algorithm_of_the_paper() {
        for (step, seed) in [(1_u32, 1), (2, 2), (16, 3), (64, 4)] {
            let rate = Rate::new(1.0 / f64::from(step)).unwrap();
            let mut paper = Paper::new(Sample::new(rate, seed), usize::MAX);
            let mut shards = ShardsRate::new(rate, seed);
            shards.extend(keys());
            for key in keys() {
                paper.request(key);
            }
            let curve = shards.curve();
            for size in (1..100).map(|times| times * u64::from(step)) {
                let apart = curve.miss_ratio(size) - paper.miss_ratio(size);
                assert!(apart.abs() < 1e-9, "1 in {step}, size {size}: {apart}");
            }
        }
    }
}
