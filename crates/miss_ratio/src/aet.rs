//! AET: estimates curves from the times between requests (Hu et al., "Kinetic Modeling of Data
//! Eviction in Cache", USENIX ATC 2016; "Fast Miss Ratio Curve Modeling for Storage Cache", ACM TOS
//! 2018).
//!
//! Time is counted in requests. P(t) is the share of the requests whose key is not requested again
//! within t. An entry in an LRU cache moves down by one place exactly if the requested key is
//! further down or not cached. In the model, an entry of age t therefore moves P(t) places per
//! request. The average eviction time AET(c) is the age at which an entry has moved through a cache
//! of c entries: c is the sum of P(0) to P(AET(c) - 1), and the miss ratio is P(AET(c)).
//!
//! The model assumes that requests are stationary. If the load has phases, such as scans, the error
//! exceeds that of SHARDS.

use serde::{Deserialize, Serialize};

use super::buckets::{Bucket, Buckets};
use super::sample::{Numbers, Rate, Sample};
use super::{Corner, Curve};
use wordline_cache::Entry;
use wordline_cache::Requests;

/// AET over every request. Takes constant time per request and 8 bytes per key.
#[derive(Clone, Debug, Default)]
pub struct Aet {
    times: Times,
    requests: u64,
}

impl Aet {
    /// Returns the curve of a trace.
    pub fn of(requests: &Requests) -> Curve {
        let mut aet = Self::default();
        for &number in requests.numbers() {
            aet.request(Entry(number));
        }
        aet.curve()
    }
    /// Records a request.
    #[inline]
    pub fn request(&mut self, entry: Entry) {
        self.requests += 1;
        self.times.touch(entry, self.requests);
    }
    /// Returns the curve of the requests so far.
    pub fn curve(&self) -> Curve {
        curve(
            &self.times.between,
            self.requests,
            self.times.seen,
            1.0,
            0.0,
        )
    }
}

/// AET over a share of the keys, selected by their hash as in SHARDS. The result is adjusted as in
/// SHARDS: missing or surplus sampled requests count as requests for the key just requested. Times
/// are counted over all requests, so that they are not scaled.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AetRate {
    sample: Sample,
    numbers: Numbers,
    times: Times,
    /// Requests since the start, including those outside the sample. Count.
    now: u64,
    /// Requests since the last reset of the counter. Count.
    requests: u64,
    sampled: u64,
}

impl AetRate {
    /// Creates an empty sample. The seed determines which keys are sampled.
    pub fn new(rate: Rate, seed: u64) -> Self {
        Self {
            sample: Sample::new(rate, seed),
            numbers: Numbers::default(),
            times: Times::default(),
            now: 0,
            requests: 0,
            sampled: 0,
        }
    }
    /// Records requests for `keys`.
    #[inline]
    pub fn extend(&mut self, keys: impl IntoIterator<Item = u64>) {
        let sample = self.sample;
        for key in keys {
            self.now += 1;
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
        self.times.touch(entry, self.now);
    }
    /// Discards all counts, so that the curve covers only later requests. Keys and the times of
    /// their last requests persist.
    pub fn forget_requests(&mut self) {
        self.times.between = Buckets::default();
        (self.requests, self.sampled) = (0, 0);
    }
    /// Returns the number of sampled keys.
    pub fn keys(&self) -> usize {
        self.numbers.len()
    }
    /// Returns the memory currently allocated. Bytes.
    pub fn bytes(&self) -> u64 {
        let last = self.times.last.capacity() * size_of::<u64>();
        self.numbers.bytes() + self.times.between.bytes() + last as u64
    }
    /// Returns the curve of the requests so far.
    pub fn curve(&self) -> Curve {
        let weight = 1.0 / self.sample.rate();
        let more = self.requests as f64 - self.sampled as f64 * weight;
        let footprint = (self.numbers.len() as f64 * weight).round() as u64;
        curve(&self.times.between, self.requests, footprint, weight, more)
    }
}

/// Times between requests for the same entry.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Times {
    /// Time of each entry's last request, from 1; 0 if it was never requested.
    last: Vec<u64>,
    between: Buckets,
    /// Number of entries seen.
    seen: u64,
}

impl Times {
    #[inline]
    fn touch(&mut self, entry: Entry, now: u64) {
        let index = entry.index();
        if index >= self.last.len() {
            self.last.resize(index + 1, 0);
        }
        let before = std::mem::replace(&mut self.last[index], now);
        if before == 0 {
            self.seen += 1;
        } else {
            self.between.add(now - before, 1.0);
        }
    }
}

/// Returns the curve. `between` holds the times since the last request for the same key, each of
/// which represents `weight` requests. `more` is the number of additional requests for the key just
/// requested. Times are assumed to be uniform within a bucket.
fn curve(between: &Buckets, requests: u64, footprint: u64, weight: f64, more: f64) -> Curve {
    let all = requests.max(1) as f64;
    let survive = |hits: f64| (1.0 - hits / all).clamp(0.0, 1.0);
    // At time `time`, `hits` requests are for keys of at most this age, and `size` is the cache
    // size with this average eviction time.
    let (mut time, mut hits, mut size) = (0_u64, 0.0, 0.0);
    let mut corners = Vec::new();
    let first = Bucket {
        low: 1,
        high: 2,
        weight: 0.0,
    };
    let mut pass = |bucket: Bucket, counted: f64| {
        size += (bucket.low - 1 - time) as f64 * survive(hits);
        corners.push(Corner { size, hits });
        let width = (bucket.high - bucket.low) as f64;
        let old = survive(hits);
        hits += counted;
        size += width * old + (survive(hits) - old) * (width - 1.0) / 2.0;
        time = bucket.high - 1;
        corners.push(Corner { size, hits });
    };
    let mut buckets = between.iter().peekable();
    let once = buckets.next_if(|bucket| bucket.low == first.low);
    pass(
        first,
        more + once.map_or(0.0, |bucket| bucket.weight * weight),
    );
    for bucket in buckets {
        pass(bucket, bucket.weight * weight);
    }
    Curve::new(requests, footprint, corners)
}
