//! Cost of a page access when flash is divided into a read cache, a write cache and
//! over-provisioning, and the division with the lowest cost (Oh, Choi, Lee and Noh, "Caching less
//! for better performance", FAST 2012).
//!
//! u is the share of the flash that holds cached data, and r is the read cache's share of these
//! data: S_C = u S_F, S_R = r S_C. The utilisation u in the formulas is the worst case; [`victims`]
//! is the mean that follows from it.

use serde::{Deserialize, Serialize};

use crate::space::{Costs, Sizes, Space};
use crate::utilisation::victims;

/// Parameters of the flash and the disk, with the cost formulas.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Model {
    /// Costs of operations.
    pub costs: Costs,
    /// Pages per block (N_P).
    pub pages_per_block: u32,
    /// Pages of the flash (S_F).
    pub total_pages: u32,
}

/// Request statistics of a period.
#[derive(Clone, Copy)]
pub struct Load<'a> {
    /// H_R: share of `reads` that hit in a read cache of the given number of pages.
    pub read_hit_ratio: &'a dyn Fn(f64) -> f64,
    /// H_W: share of `writes` that hit in a write cache of the given number of pages.
    pub write_hit_ratio: &'a dyn Fn(f64) -> f64,
    /// IO_R: share of all pages that are reads not served by the write cache.
    pub reads: f64,
    /// IO_W: share of all pages that are writes, or reads served by the write cache.
    pub writes: f64,
    /// h': share of reads in the hits of the write cache.
    pub reads_of_write_hits: f64,
}

/// Division of the flash, and its cost.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Division {
    /// Share of the flash that holds cached data (u).
    pub utilisation: f64,
    /// Share of the read cache in the cached data (r).
    pub read_ratio: f64,
    /// Mean cost of a page access (C_HY). Microseconds.
    pub cost_us: f64,
    /// Number of divisions compared.
    pub evaluations: u32,
}

impl Division {
    /// Returns the sizes of the read cache and the write cache, S_R and S_W, rounded to whole
    /// pages.
    pub fn sizes(&self, total_pages: u32) -> Sizes {
        let cached = (f64::from(total_pages) * self.utilisation).round() as u32;
        Sizes::split(cached, self.read_ratio)
    }
}

impl Model {
    /// Creates the model of a flash space.
    pub fn of(space: &Space) -> Self {
        Self {
            costs: space.costs,
            pages_per_block: space.pages_per_block,
            total_pages: space.total_pages,
        }
    }
    /// Returns the cost of a GC run, C_GC (equation 3). Microseconds.
    pub fn collection_us(&self, utilisation: f64) -> f64 {
        let valid = victims(utilisation) * f64::from(self.pages_per_block);
        valid * self.costs.copy_us + self.costs.erase_us
    }
    /// Returns the cost of a page write, C_PW (equation 4). Microseconds; infinite at a utilisation
    /// of 1.
    pub fn page_write_us(&self, utilisation: f64) -> f64 {
        let gained = (1.0 - victims(utilisation)) * f64::from(self.pages_per_block);
        self.collection_us(utilisation) / gained + self.costs.program_us
    }
    /// Returns the cost of a GC run, C_GC, if valid pages are spread evenly over the blocks
    /// (equation 1). Microseconds.
    pub fn worst_collection_us(&self, utilisation: f64) -> f64 {
        let valid = (utilisation * f64::from(self.pages_per_block)).ceil();
        valid * self.costs.copy_us + self.costs.erase_us
    }
    /// Returns the cost of a page write, C_PW, if valid pages are spread evenly over the blocks
    /// (equation 2). Microseconds; infinite if GC of a block frees no page.
    pub fn worst_page_write_us(&self, utilisation: f64) -> f64 {
        let gained = ((1.0 - utilisation) * f64::from(self.pages_per_block)).floor();
        self.worst_collection_us(utilisation) / gained + self.costs.program_us
    }
    /// Returns the cost of a page access to the read cache, C_HR (equation 5). Microseconds.
    pub fn read_us(&self, page_write_us: f64, hit_ratio: f64) -> f64 {
        let miss = self.costs.disk_read_us + page_write_us;
        hit_ratio * self.costs.read_us + (1.0 - hit_ratio) * miss
    }
    /// Returns the cost of a page access to the write cache, C_HW, if the share `reads_of_hits` of
    /// the hits are reads. Microseconds.
    pub fn write_us(&self, page_write_us: f64, hit_ratio: f64, reads_of_hits: f64) -> f64 {
        let destage = self.costs.read_us + self.costs.disk_write_us;
        let hit = (1.0 - reads_of_hits) * page_write_us + reads_of_hits * self.costs.read_us;
        (1.0 - hit_ratio) * (destage + page_write_us) + hit_ratio * hit
    }
    /// Returns the mean cost of a page access, C_HY (equation 6). Microseconds.
    pub fn cost_us(&self, utilisation: f64, read_ratio: f64, load: &Load) -> f64 {
        self.cost_at(
            self.page_write_us(utilisation),
            utilisation,
            read_ratio,
            load,
        )
    }
    fn cost_at(&self, page_write_us: f64, utilisation: f64, read_ratio: f64, load: &Load) -> f64 {
        let cached = f64::from(self.total_pages) * utilisation;
        let read_hits = (load.read_hit_ratio)(cached * read_ratio);
        let write_hits = (load.write_hit_ratio)(cached * (1.0 - read_ratio));
        let write_us = self.write_us(page_write_us, write_hits, load.reads_of_write_hits);
        self.read_us(page_write_us, read_hits) * load.reads + write_us * load.writes
    }
    /// Returns the first division with the lowest cost among all u and r that are multiples of 1 /
    /// `steps`, except u = 0 and u = 1 (algorithm 1). `steps` is at least 2.
    pub fn divide(&self, steps: u32, load: &Load) -> Division {
        let steps = steps.max(2);
        let utilisations = (1..steps).map(|step| share(step, steps));
        let found = utilisations.map(|utilisation| self.split(utilisation, steps, load));
        let mut evaluations = 0;
        let best = found
            .inspect(|split| evaluations += split.evaluations)
            .reduce(|best, split| {
                if split.cost_us < best.cost_us {
                    split
                } else {
                    best
                }
            });
        let best = best.unwrap_or_else(|| self.split(share(1, steps), steps, load));
        Division {
            evaluations,
            ..best
        }
    }
    /// Returns the division with the lowest cost for a given u, among the multiples of 1 / `steps`
    /// for r. If several have that cost, r is the smallest.
    pub fn split(&self, utilisation: f64, steps: u32, load: &Load) -> Division {
        let page_write_us = self.page_write_us(utilisation);
        let at = |read_ratio| Division {
            utilisation,
            read_ratio,
            cost_us: self.cost_at(page_write_us, utilisation, read_ratio, load),
            evaluations: steps + 1,
        };
        let others = (1..=steps).map(|step| at(share(step, steps)));
        others.fold(at(0.0), |best, other| {
            if other.cost_us < best.cost_us {
                other
            } else {
                best
            }
        })
    }
}

fn share(step: u32, steps: u32) -> f64 {
    f64::from(step) / f64::from(steps)
}
