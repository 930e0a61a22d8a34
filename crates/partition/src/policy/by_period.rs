//! Read list and write list whose sizes the cost model chooses after every period.

use serde::{Deserialize, Serialize};

use super::bearable;
use crate::cost::Model;
use crate::period::Period;
use crate::space::{Kind, Sizes, Space};

/// Current sizes of both lists, and the requests of the period from which the next sizes follow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ByPeriod {
    /// Cost model.
    pub model: Model,
    /// Requests since the sizes were last chosen.
    pub period: Period,
    /// Segments of the flash, which are the steps of the compared sizes. Count.
    pub segments: u32,
    most_pages: u32,
    length: u64,
    /// Sizes chosen last; `None` before the first choice if the lists start undivided.
    sizes: Option<Sizes>,
    start: Sizes,
}

impl ByPeriod {
    /// Creates the policy with the share `read_ratio` of the cached pages for reads; without it,
    /// the lists share the pages until the first period ends. A period has `length` requests.
    pub fn new(
        space: &Space,
        length: u64,
        read_ratio: Option<f64>,
        segments: u32,
        period: Period,
    ) -> Self {
        let pages = space.first_pages();
        let sizes = read_ratio.map(|read_ratio| Sizes::split(pages, read_ratio));
        Self {
            model: Model::of(space),
            period,
            segments,
            most_pages: space.most_pages,
            length: length.max(1),
            sizes,
            start: sizes.unwrap_or(Sizes::split(pages, 0.0)),
        }
    }
    /// Returns the initial sizes.
    pub fn start(&self) -> Sizes {
        self.start
    }
    /// Returns `true` if the lists share the initial pages.
    pub fn starts_undivided(&self) -> bool {
        self.sizes.is_none()
    }
    /// Records the start of a host request.
    pub fn request(&mut self) {
        self.period.request();
    }
    /// Records a page of the request.
    pub fn page(&mut self, page: u64, kind: Kind, hit: bool) {
        self.period.page(page, kind, hit);
    }
    /// Returns the sizes that `choose` returns at the end of a period, limited to those that GC can
    /// sustain; `None` during a period, or if the sizes are unchanged.
    pub fn decide(&mut self, choose: impl FnOnce(&mut Self) -> Option<Sizes>) -> Option<Sizes> {
        if self.period.requests() < self.length {
            return None;
        }
        let sizes = choose(self);
        self.period.start();
        let sizes = bearable(sizes?, self.most_pages);
        let changed = self.sizes != Some(sizes);
        self.sizes = Some(sizes);
        changed.then_some(sizes)
    }
}
