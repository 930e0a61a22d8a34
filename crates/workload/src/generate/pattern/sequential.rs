//! Sequential access pattern.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::Rng;
use wordline_kernel::slot::Cited;

use super::{Places, Space};
use crate::WorkloadError;

/// Each request starts where the previous one ended, rounded up to the alignment. The first starts
/// at the start of the working set. A request that would cross the end of the working set starts at
/// the start of the working set instead.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Sequential {}

impl Cited for Sequential {
    const PAPER: &'static str = "";
}

#[derive(Clone, Debug, Default)]
pub(crate) struct State {
    next: u64,
}

impl State {
    #[allow(clippy::unnecessary_wraps)] // signature shared by all patterns
    pub(super) fn new(_: &Sequential, _: &Space) -> Result<Self, WorkloadError> {
        Ok(Self::default())
    }
}

impl Places for State {
    fn next(&mut self, bytes: u64, space: &Space, _: &mut Rng) -> u64 {
        let offset = if self.next > space.length - bytes {
            0
        } else {
            self.next
        };
        self.next = (offset + bytes).next_multiple_of(space.align);
        offset
    }
}
