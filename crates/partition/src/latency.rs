//! Latency of a page write in a write cache, as a function of the miss ratio of the cache and of
//! the valid pages in GC victims (Xia, "Towards Design and Analysis for High-Performance and
//! Reliable SSDs", dissertation, Virginia Commonwealth University 2017, chapter 4).

use serde::{Deserialize, Serialize};

use crate::space::{Costs, Space};

/// Returns the over-provisioning of a cache, (C_total - C_user) / C_total (equation 2.1).
pub fn over_provisioning(cached_pages: u32, total_pages: u32) -> f64 {
    1.0 - f64::from(cached_pages) / f64::from(total_pages.max(1))
}

/// Returns C_user, the number of pages that an over-provisioning leaves, rounded down as in the
/// FTL. A product that is below a whole number only by its rounding error counts as that number.
pub fn cached_pages(over_provisioning: f64, total_pages: u32) -> u32 {
    let pages = (1.0 - over_provisioning) * f64::from(total_pages);
    (pages * (1.0 + 1e-12)).floor() as u32
}

/// Parameters of the flash and the disk.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Model {
    /// Costs of operations.
    pub costs: Costs,
    /// Pages per block (N).
    pub pages_per_block: u32,
}

impl Model {
    /// Creates the model of a flash space.
    pub fn of(space: &Space) -> Self {
        Self {
            costs: space.costs,
            pages_per_block: space.pages_per_block,
        }
    }
    /// Returns Cost_gc, the GC cost of a block in which the share `valid` of the pages is valid
    /// (equation 4.2). Pages are read and programmed again. Microseconds.
    pub fn collection_us(&self, valid: f64) -> f64 {
        let move_us = self.costs.read_us + self.costs.program_us;
        valid * f64::from(self.pages_per_block) * move_us + self.costs.erase_us
    }
    /// Returns Cost'_fw, the cost of a page write including its share of GC (equation 4.3).
    /// Microseconds; infinite if all pages of victims are valid.
    pub fn page_write_us(&self, valid: f64) -> f64 {
        let gained = (1.0 - valid) * f64::from(self.pages_per_block);
        self.costs.program_us + self.collection_us(valid) / gained
    }
    /// Returns the latency of a page write (equation 4.5): a miss reads the evicted page and writes
    /// it to the disk. Microseconds.
    pub fn latency_us(&self, valid: f64, miss_ratio: f64) -> f64 {
        let destage = self.costs.read_us + self.costs.disk_write_us;
        self.page_write_us(valid) + miss_ratio * destage
    }
    /// Returns the first over-provisioning with the lowest latency, and that latency; `None`
    /// without candidates.
    pub fn best(
        &self,
        candidates: impl IntoIterator<Item = f64>,
        valid: impl Fn(f64) -> f64,
        miss_ratio: impl Fn(f64) -> f64,
    ) -> Option<(f64, f64)> {
        let at = |op| (op, self.latency_us(valid(op), miss_ratio(op)));
        let less =
            |best: (f64, f64), other: (f64, f64)| if other.1 < best.1 { other } else { best };
        candidates.into_iter().map(at).reduce(less)
    }
}
