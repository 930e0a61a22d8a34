//! Division of a cache of fixed size between reads and writes by the cost of pages.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::memory::Table;
use wordline_kernel::slot::Cited;

use super::by_period::ByPeriod;
use super::{Divide, OP_FCL, SEGMENT_BYTES, segments};
use crate::period::Period;
use crate::space::{Kind, Sizes, Space};

/// A read list and a write list with a constant total size. After every period, the sizes become
/// those that the cost model finds best for that period (RW-FCL of the source).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RwFcl {
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
}

impl Default for RwFcl {
    fn default() -> Self {
        Self {
            period_requests: 1 << 16,
            segment_bytes: SEGMENT_BYTES,
            segments: 0,
            read_ratio: None,
        }
    }
}

impl Cited for RwFcl {
    const PAPER: &'static str = OP_FCL;
}

/// State of the policy, which chooses the border between the lists after every period.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State(ByPeriod);

impl State {
    pub(super) fn new(policy: &RwFcl, space: &Space, _seed: u64) -> Self {
        let segments = segments(space, policy.segments, policy.segment_bytes);
        let period = Period::new(space, segments);
        let (length, read_ratio) = (policy.period_requests, policy.read_ratio);
        Self(ByPeriod::new(space, length, read_ratio, segments, period))
    }
    pub(super) fn memory(_policy: &RwFcl, space: &Space) -> Vec<Table> {
        Period::memory(space).to_vec()
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
            let cached = state.start().pages();
            let utilisation = f64::from(cached) / f64::from(model.total_pages.max(1));
            let split = state
                .period
                .load(|load| model.split(utilisation, segments, load))?;
            Some(Sizes::split(cached, split.read_ratio))
        })
    }
}
