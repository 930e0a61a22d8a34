//! Lists for reads and for writes whose sizes are chosen anew after every period, by the cost model.

use serde::{Deserialize, Serialize};

use super::bearable;
use crate::cost::Model;
use crate::period::Period;
use crate::space::{Kind, Sizes, Space};

/// The period, and the sizes that hold.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ByPeriod {
    /// What pages cost.
    pub model: Model,
    /// The requests since the sizes were chosen.
    pub period: Period,
    /// Segments of the flash: the step of the sizes that are compared.
    pub segments: u32,
    most_pages: u32,
    length: u64,
    sizes: Sizes,
    start: Sizes,
}

impl ByPeriod {
    /// Begins with a share of what is cached for reads; a period has so many requests.
    pub fn new(space: &Space, length: u64, read_ratio: f64, segments: u32, period: Period) -> Self {
        let sizes = Sizes::split(space.first_pages(), read_ratio);
        Self {
            model: Model::of(space),
            period,
            segments,
            most_pages: space.most_pages,
            length: length.max(1),
            sizes,
            start: sizes,
        }
    }
    /// The sizes at the start.
    pub fn start(&self) -> Sizes {
        self.start
    }
    /// A request of the host begins.
    pub fn request(&mut self) {
        self.period.request();
    }
    /// One page of it.
    pub fn page(&mut self, page: u64, kind: Kind, hit: bool) {
        self.period.page(page, kind, hit);
    }
    /// The sizes that are chosen if a period has ended and collections can bear them, and they are others than before.
    pub fn decide(&mut self, choose: impl FnOnce(&mut Self) -> Option<Sizes>) -> Option<Sizes> {
        if self.period.requests() < self.length {
            return None;
        }
        let sizes = choose(self);
        self.period.start();
        let sizes = bearable(sizes?, self.most_pages);
        let changed = sizes != self.sizes;
        self.sizes = sizes;
        changed.then_some(sizes)
    }
}
