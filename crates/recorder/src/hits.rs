//! Requests of a flash cache by the tier that served them.

use serde::{Deserialize, Serialize};
use wordline_block::{Op, Request};
use wordline_config::Plan;
use wordline_kernel::Time;
use wordline_miss_ratio::{Curve, Rate, ShardsSize};
use wordline_observe::Histogram;

/// Response times of requests that the flash served alone, and of all other requests.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ByTier {
    /// Requests that the flash served alone.
    pub flash: Histogram,
    /// Requests that the backing store served, alone or in part.
    pub disk: Histogram,
}

impl ByTier {
    /// Returns the response times of all requests.
    pub fn all(&self) -> Histogram {
        let mut all = self.flash.clone();
        all.merge(&self.disk);
        all
    }
}

/// Requests by the tier that served them, and the miss-ratio curve of page reads.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Hits {
    /// Response times of reads.
    pub reads: ByTier,
    /// Response times of writes.
    pub writes: ByTier,
    sampled: Option<Sampled>,
}

/// Sample of the pages requested by reads, in order of completion.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Sampled {
    page_bytes: u64,
    pages: ShardsSize,
}

/// Maximum share of the pages that is sampled: a page outside the sample costs only a hash.
const MAX_LOOKED_AT: f64 = 1.0 / 16.0;

impl Hits {
    /// Creates the record of a cache with pages of `page_bytes` bytes, before its first request.
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
    /// Discards the requests recorded so far. The pages that they requested remain known, so that a
    /// later request for one of them does not count as its first.
    pub fn begin_measuring(&mut self) {
        self.reads = ByTier::default();
        self.writes = ByTier::default();
        if let Some(sampled) = &mut self.sampled {
            sampled.pages.forget_requests();
        }
    }
    /// Records a completed request.
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
    /// Returns the estimated miss ratio of page reads in an LRU cache of any size; `None` without
    /// `observe.miss_ratio_pages`.
    pub fn curve(&self) -> Option<Curve> {
        self.sampled.as_ref().map(|sampled| sampled.pages.curve())
    }
}
