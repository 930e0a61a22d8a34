//! Division of the flash between reads, writes and over-provisioning by the cost of pages.

use std::num::NonZeroU32;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::memory::Table;
use wordline_kernel::slot::Cited;

use super::by_period::ByPeriod;
use super::{Divide, OP_FCL, SEGMENT_BYTES, segments};
use crate::period::{Counting, Period};
use crate::space::{Kind, Sizes, Space};

/// A read list and a write list, whose sizes the cost model chooses after every period (algorithm
/// 1). The rest is over-provisioning. Without any hits, the model chooses the smallest cache and
/// assigns all of it to writes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct OpFcl {
    /// Requests per period, after which the sizes are chosen from these requests only. The count is
    /// kept in memory: a power cut starts a new period at the initial sizes, so that the sizes
    /// never change if power fails more often than periods end. Count, 1 or more.
    #[schemars(range(min = 1, max = 1_000_000_000_000_u64))]
    pub period_requests: u64,
    /// Size of the segments of the lists for which hits are counted; also the step between the
    /// sizes that are compared. If this gives fewer than 16 or more than 1024 segments, 16 or 1024
    /// are used. Bytes.
    #[schemars(range(min = 1, max = 1_125_899_906_842_624_u64))]
    pub segment_bytes: u64,
    /// Number of segments into which the flash is divided; 0 uses the number that `segment_bytes`
    /// gives. Count, 0 to 1024.
    #[schemars(range(min = 0, max = 1024))]
    pub segments: u32,
    /// Share of the cached pages that the read list gets until the first period ends. By default,
    /// the lists share the pages until then, and each evicts its own pages; the source gives no
    /// initial sizes of the lists. Ratio, 0 to 1.
    #[schemars(range(min = 0, max = 1))]
    pub read_ratio: Option<f64>,
    /// Method of counting the hits that lists of every size would have. `ghosts`: in ghost lists as
    /// long as the whole flash. `shards`: with SHARDS, in LRU stacks of sampled pages that persist
    /// across periods.
    pub hits: Counting,
    /// For `shards`: maximum number of sampled pages per stack. A period should have several
    /// hundred requests for sampled pages. Count, 1 or more.
    #[schemars(range(min = 1, max = 16_777_216))]
    pub sample_pages: u32,
}

impl Default for OpFcl {
    fn default() -> Self {
        Self {
            period_requests: 1 << 16,
            segment_bytes: SEGMENT_BYTES,
            segments: 0,
            read_ratio: None,
            hits: Counting::default(),
            sample_pages: 2048,
        }
    }
}

impl Cited for OpFcl {
    const PAPER: &'static str = OP_FCL;
}

fn sample(policy: &OpFcl) -> NonZeroU32 {
    NonZeroU32::new(policy.sample_pages).unwrap_or(NonZeroU32::MIN)
}

/// State of the policy, which chooses the sizes of both lists after every period.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State(ByPeriod);

impl State {
    pub(super) fn new(policy: &OpFcl, space: &Space, seed: u64) -> Self {
        let segments = segments(space, policy.segments, policy.segment_bytes);
        let period = match policy.hits {
            Counting::Ghosts => Period::new(space, segments),
            Counting::Shards => Period::sampled(space, segments, sample(policy), seed),
        };
        let (length, read_ratio) = (policy.period_requests, policy.read_ratio);
        Self(ByPeriod::new(space, length, read_ratio, segments, period))
    }
    pub(super) fn memory(policy: &OpFcl, space: &Space) -> Vec<Table> {
        match policy.hits {
            Counting::Ghosts => Period::memory(space).to_vec(),
            Counting::Shards => Period::memory_of_sample(sample(policy)).to_vec(),
        }
    }
}

impl Divide for State {
    fn is_split(&self) -> bool {
        true
    }
    fn start(&self) -> Sizes {
        self.0.start()
    }
    fn starts_undivided(&self) -> bool {
        self.0.starts_undivided()
    }
    fn request(&mut self) {
        self.0.request();
    }
    fn page(&mut self, page: u64, kind: Kind, hit: bool) {
        self.0.page(page, kind, hit);
    }
    fn decide(&mut self) -> Option<Sizes> {
        self.0.decide(|state| {
            let (model, segments) = (&state.model, state.segments);
            let division = state.period.load(|load| model.divide(segments, load))?;
            Some(division.sizes(model.total_pages))
        })
    }
}
