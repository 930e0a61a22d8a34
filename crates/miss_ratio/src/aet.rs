//! AET: curves from the times between requests (Hu et al., "Kinetic Modeling of Data Eviction in
//! Cache", USENIX ATC 2016; "Fast Miss Ratio Curve Modeling for Storage Cache", ACM TOS 2018).
//!
//! Time is counted in requests. P(t) is the share of the requests whose key is not requested again
//! within t. An entry in an LRU cache moves down by one place exactly if the request is for a key
//! further down or not cached, so the model lets one of age t move P(t) places a request. The age
//! at which it has moved through a cache of c entries is the average eviction time: c is the sum of
//! P(0) to P(AET(c) - 1), and the miss ratio is P(AET(c)).
//!
//! The requests are taken for alike all the time: where phases differ, as with scans, the model is
//! off by more than a sample is.

use serde::{Deserialize, Serialize};

use super::buckets::{Bucket, Buckets};
use super::sample::{Numbers, Rate, Sample};
use super::{Corner, Curve};
use wordline_cache::Entry;
use wordline_cache::Requests;

/// AET over every request: constant time a request, 8 bytes by key.
#[derive(Clone, Debug, Default)]
pub struct Aet {
    times: Times,
    requests: u64,
}

impl Aet {
    /// The curve of a trace.
    pub fn of(requests: &Requests) -> Curve {
        let mut aet = Self::default();
        for &number in requests.numbers() {
            aet.request(Entry(number));
        }
        aet.curve()
    }
    /// One more request.
    #[inline]
    pub fn request(&mut self, entry: Entry) {
        self.requests += 1;
        self.times.touch(entry, self.requests);
    }
    /// What the model says of the requests until now.
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

/// AET over a share of the keys, chosen by their hash as in SHARDS, and adjusted as there: sampled
/// requests too few or too many count as requests for the key just requested. The times are those
/// of all requests, so none has to be scaled.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AetRate {
    sample: Sample,
    numbers: Numbers,
    times: Times,
    /// Requests since the beginning.
    now: u64,
    /// Requests that are counted.
    requests: u64,
    sampled: u64,
}

impl AetRate {
    /// A sample of the keys; which, depends on the seed alone.
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
    /// More requests.
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
    /// Counts requests from zero again. The keys and the times of their last requests stay known.
    pub fn forget_requests(&mut self) {
        self.times.between = Buckets::default();
        (self.requests, self.sampled) = (0, 0);
    }
    /// The keys that are looked at.
    pub fn keys(&self) -> usize {
        self.numbers.len()
    }
    /// Bytes that it takes now, as far as it has grown.
    pub fn bytes(&self) -> u64 {
        let last = self.times.last.capacity() * size_of::<u64>();
        self.numbers.bytes() + self.times.between.bytes() + last as u64
    }
    /// What the model says of the requests until now.
    pub fn curve(&self) -> Curve {
        let weight = 1.0 / self.sample.rate();
        let more = self.requests as f64 - self.sampled as f64 * weight;
        let footprint = (self.numbers.len() as f64 * weight).round() as u64;
        curve(&self.times.between, self.requests, footprint, weight, more)
    }
}

/// The times between requests for the same entry.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Times {
    /// By entry, from 1 on.
    last: Vec<u64>,
    between: Buckets,
    /// Entries seen.
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

/// The curve of requests by the time since the last for their key, each of which stands for
/// `weight` requests; `more` on top were for the key just requested. Within a bucket times are
/// taken to be spread evenly.
fn curve(between: &Buckets, requests: u64, footprint: u64, weight: f64, more: f64) -> Curve {
    let all = requests.max(1) as f64;
    let survive = |hits: f64| (1.0 - hits / all).clamp(0.0, 1.0);
    // The state at a time: requests for a key at most as old, and the size whose average eviction
    // time it is.
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
