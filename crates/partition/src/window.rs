//! Miss-ratio curves of windows of requests.

use std::num::NonZeroU32;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_cache::Index;
use wordline_kernel::memory::Table;
use wordline_miss_ratio::{AetRate, Curve, Rate, ShardsRate, ShardsSize};

/// How the curve of a window is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// SHARDS: stack distances in a fixed share of the pages.
    #[default]
    ShardsRate,
    /// SHARDS: stack distances in a fixed number of pages.
    ShardsSize,
    /// AET: a model from the times between writes of a fixed share of the pages.
    Aet,
    /// Stack distances of all pages.
    Exact,
}

/// What a window knows of the writes before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Tracker {
    /// Nothing: the first write of a page in a window is a miss at any size. As printed in the source; makes short
    /// windows pessimistic.
    #[default]
    Clear,
    /// All pages that were ever written.
    Keep,
    /// Nothing, but the first half of a window is not counted.
    Half,
}

/// How requests are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sampling {
    /// How the curve is found.
    pub method: Method,
    /// The share of the pages that SHARDS of a fixed rate and AET look at.
    pub rate: Rate,
    /// The pages that SHARDS of a fixed size looks at.
    pub pages: NonZeroU32,
    /// Which pages, depends on it.
    pub seed: u64,
}

/// The counts of a method.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Counter {
    Rate(ShardsRate),
    Size(ShardsSize),
    Aet(AetRate),
}

impl Counter {
    fn new(sampling: &Sampling) -> Self {
        let &Sampling {
            method,
            rate,
            pages,
            seed,
        } = sampling;
        match method {
            Method::ShardsRate => Self::Rate(ShardsRate::new(rate, seed)),
            Method::ShardsSize => Self::Size(ShardsSize::new(pages, seed)),
            Method::Aet => Self::Aet(AetRate::new(rate, seed)),
            Method::Exact => Self::Rate(ShardsRate::new(Rate::ALL, seed)),
        }
    }
    #[inline]
    fn request(&mut self, page: u64) {
        match self {
            Self::Rate(counter) => counter.extend([page]),
            Self::Size(counter) => counter.extend([page]),
            Self::Aet(counter) => counter.extend([page]),
        }
    }
    fn forget_requests(&mut self) {
        match self {
            Self::Rate(counter) => counter.forget_requests(),
            Self::Size(counter) => counter.forget_requests(),
            Self::Aet(counter) => counter.forget_requests(),
        }
    }
}

/// The requests of a window.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Window {
    sampling: Sampling,
    tracker: Tracker,
    length: u64,
    seen: u64,
    counter: Counter,
}

impl Window {
    /// An empty window of `length` requests.
    pub fn new(sampling: Sampling, tracker: Tracker, length: u64) -> Self {
        Self {
            counter: Counter::new(&sampling),
            sampling,
            tracker,
            length: length.max(1),
            seen: 0,
        }
    }
    /// What a window that looks at `pages` pages takes: a hash and a number by page, its place on the stack or the
    /// time of its last request, and a distance.
    pub fn memory(pages: u64) -> Table {
        let numbers = Index::memory("miss-ratio curve", pages).most;
        let by_page = 3 * size_of::<u64>() as u64;
        Table::grown::<u8>("miss-ratio curve", numbers + pages.saturating_mul(by_page))
    }
    /// An empty window of the same length that knows nothing of what was before it.
    #[must_use]
    pub fn cleared(&self) -> Self {
        Self::new(self.sampling, Tracker::Clear, self.length)
    }
    /// One more request for a page.
    #[inline]
    pub fn request(&mut self, page: u64) {
        self.counter.request(page);
        self.seen += 1;
        if self.seen == self.length / 2 && self.tracker == Tracker::Half {
            self.counter.forget_requests();
        }
    }
    /// Whether it has as many requests as it is long, or more.
    pub fn is_over(&self) -> bool {
        self.seen >= self.length
    }
    /// The curve of the requests that count.
    pub fn curve(&self) -> Curve {
        match &self.counter {
            Counter::Rate(counter) => counter.curve(),
            Counter::Size(counter) => counter.curve(),
            Counter::Aet(counter) => counter.curve(),
        }
    }
    /// The next window begins.
    pub fn start(&mut self) {
        self.seen = 0;
        match self.tracker {
            Tracker::Keep => self.counter.forget_requests(),
            Tracker::Clear | Tracker::Half => self.counter = Counter::new(&self.sampling),
        }
    }
    /// The pages that it looks at.
    pub fn pages(&self) -> usize {
        match &self.counter {
            Counter::Rate(counter) => counter.keys(),
            Counter::Size(counter) => counter.keys(),
            Counter::Aet(counter) => counter.keys(),
        }
    }
    /// Bytes that it takes now.
    pub fn bytes(&self) -> u64 {
        match &self.counter {
            Counter::Rate(counter) => counter.bytes(),
            Counter::Size(counter) => counter.bytes(),
            Counter::Aet(counter) => counter.bytes(),
        }
    }
}
