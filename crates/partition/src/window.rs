//! Miss-ratio curves of windows of requests.

use std::num::NonZeroU32;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_cache::Index;
use wordline_kernel::memory::Table;
use wordline_miss_ratio::{AetRate, Curve, Rate, ShardsRate, ShardsSize};

/// Method of computing the miss-ratio curve of a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// SHARDS with a fixed rate: stack distances in a fixed share of the pages.
    #[default]
    ShardsRate,
    /// SHARDS with a fixed size: stack distances in a fixed number of pages.
    ShardsSize,
    /// AET: a model from the times between writes of a fixed share of the pages.
    Aet,
    /// Stack distances of all pages.
    Exact,
}

/// Treatment of the writes before a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Tracker {
    /// No earlier writes count: the first write of a page in a window is a miss at any size. The
    /// source does this, which is pessimistic for short windows.
    #[default]
    Clear,
    /// All earlier writes count.
    Keep,
    /// No earlier writes count, and the first half of a window is not measured.
    Half,
}

/// Sampling of requests.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sampling {
    /// Method of computing the curve.
    pub method: Method,
    /// Share of the pages that fixed-rate SHARDS and AET sample.
    pub rate: Rate,
    /// Maximum number of pages that fixed-size SHARDS samples.
    pub pages: NonZeroU32,
    /// Seed that determines which pages are sampled.
    pub seed: u64,
}

/// State of the method that computes the curve.
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

/// Requests of a window, from which its miss-ratio curve is computed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Window {
    sampling: Sampling,
    tracker: Tracker,
    length: u64,
    seen: u64,
    counter: Counter,
}

impl Window {
    /// Creates an empty window of `length` requests.
    pub fn new(sampling: Sampling, tracker: Tracker, length: u64) -> Self {
        Self {
            counter: Counter::new(&sampling),
            sampling,
            tracker,
            length: length.max(1),
            seen: 0,
        }
    }
    /// Returns the memory of a window that samples `pages` pages. Per page it holds hash and
    /// number, stack position or time of the last request, and a distance.
    pub fn memory(pages: u64) -> Table {
        let numbers = Index::memory("miss-ratio curve", pages).most;
        let by_page = 3 * size_of::<u64>() as u64;
        Table::grown::<u8>("miss-ratio curve", numbers + pages.saturating_mul(by_page))
    }
    /// Returns an empty window of the same length without earlier requests.
    #[must_use]
    pub fn cleared(&self) -> Self {
        Self::new(self.sampling, Tracker::Clear, self.length)
    }
    /// Records a request for a page.
    #[inline]
    pub fn request(&mut self, page: u64) {
        self.counter.request(page);
        self.seen += 1;
        if self.seen == self.length / 2 && self.tracker == Tracker::Half {
            self.counter.forget_requests();
        }
    }
    /// Returns `true` if the window has reached its length.
    pub fn is_over(&self) -> bool {
        self.seen >= self.length
    }
    /// Returns the curve of the counted requests.
    pub fn curve(&self) -> Curve {
        match &self.counter {
            Counter::Rate(counter) => counter.curve(),
            Counter::Size(counter) => counter.curve(),
            Counter::Aet(counter) => counter.curve(),
        }
    }
    /// Begins the next window.
    pub fn start(&mut self) {
        self.seen = 0;
        match self.tracker {
            Tracker::Keep => self.counter.forget_requests(),
            Tracker::Clear | Tracker::Half => self.counter = Counter::new(&self.sampling),
        }
    }
    /// Returns the number of sampled pages.
    pub fn pages(&self) -> usize {
        match &self.counter {
            Counter::Rate(counter) => counter.keys(),
            Counter::Size(counter) => counter.keys(),
            Counter::Aet(counter) => counter.keys(),
        }
    }
    /// Returns the memory currently allocated. Bytes.
    pub fn bytes(&self) -> u64 {
        match &self.counter {
            Counter::Rate(counter) => counter.bytes(),
            Counter::Size(counter) => counter.bytes(),
            Counter::Aet(counter) => counter.bytes(),
        }
    }
}
