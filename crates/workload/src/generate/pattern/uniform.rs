//! Uniformly random access pattern.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::Rng;
use wordline_kernel::slot::Cited;

use super::{Places, Space};
use crate::WorkloadError;

/// All aligned offsets of the working set that leave space for the largest request are equally
/// likely.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Uniform {}

impl Cited for Uniform {
    const PAPER: &'static str = "";
}

#[derive(Clone, Debug)]
pub(crate) struct State;

impl State {
    #[allow(clippy::unnecessary_wraps)] // signature shared by all patterns
    pub(super) fn new(_: &Uniform, _: &Space) -> Result<Self, WorkloadError> {
        Ok(Self)
    }
}

impl Places for State {
    fn next(&mut self, _: u64, space: &Space, random: &mut Rng) -> u64 {
        space.byte(random.below(space.places))
    }
}
