//! Requests of a cached store by what served them.

use serde::{Deserialize, Serialize};
use wordline_block::{Op, Request};
use wordline_config::Plan;
use wordline_kernel::Time;
use wordline_miss_ratio::{Curve, Rate, ShardsSize};
use wordline_observe::Histogram;

/// Response times of requests that the flash has served alone, and of the others.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ByTier {
    /// From flash alone.
    pub flash: Histogram,
    /// With the store below.
    pub disk: Histogram,
}

impl ByTier {
    /// Of both.
    pub fn all(&self) -> Histogram {
        let mut all = self.flash.clone();
        all.merge(&self.disk);
        all
    }
}

/// Requests by what served them, and the curve of the pages of reads.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Hits {
    /// Reads.
    pub reads: ByTier,
    /// Writes.
    pub writes: ByTier,
    sampled: Option<Sampled>,
}

/// A sample of the pages of reads, in the order in which the reads were complete.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Sampled {
    page_bytes: u64,
    pages: ShardsSize,
}

/// The share of the pages that are looked at, at most: a page that is not costs a hash.
const MAX_LOOKED_AT: f64 = 1.0 / 16.0;

impl Hits {
    /// Before the first request to a cache of pages so long.
    pub fn new(plan: &Plan, page_bytes: u32) -> Self {
        let sampled = || {
            let room = plan.observe.miss_ratio_pages?;
            let rate = Rate::new(MAX_LOOKED_AT).unwrap_or(Rate::ALL);
            Some(Sampled {
                page_bytes: page_bytes.into(),
                pages: ShardsSize::beginning_at(rate, room, plan.seed),
            })
        };
        Self {
            reads: ByTier::default(),
            writes: ByTier::default(),
            sampled: sampled(),
        }
    }
    /// Requests are counted from now on. What the cache holds stays known to the curve.
    pub fn begin_measuring(&mut self) {
        self.reads = ByTier::default();
        self.writes = ByTier::default();
        if let Some(sampled) = &mut self.sampled {
            sampled.pages.forget_requests();
        }
    }
    /// A request is complete.
    #[inline]
    pub fn request(&mut self, request: &Request, hit: bool, time: Time) {
        let tiers = match request.op {
            Op::Read => &mut self.reads,
            Op::Write => &mut self.writes,
            _ => return,
        };
        let tier = if hit {
            &mut tiers.flash
        } else {
            &mut tiers.disk
        };
        tier.record(time);
        if let (Op::Read, Some(sampled)) = (request.op, &mut self.sampled) {
            let end = request.offset + request.bytes;
            let pages = request.offset / sampled.page_bytes..end.div_ceil(sampled.page_bytes);
            sampled.pages.extend(pages);
        }
    }
    /// Which share of the pages of reads an LRU cache of any size would miss, estimated; none if it was not
    /// asked for.
    pub fn curve(&self) -> Option<Curve> {
        self.sampled.as_ref().map(|sampled| sampled.pages.curve())
    }
}
