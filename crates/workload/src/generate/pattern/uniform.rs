//! Uniformly random accesses.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::Rng;
use wordline_kernel::slot::Cited;

use super::{Places, Space};
use crate::WorkloadError;

/// Every aligned offset of the working set with space for the largest request is equally likely.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Uniform {}

impl Cited for Uniform {
    const PAPER: &'static str = "";
}

#[derive(Clone, Debug)]
pub(crate) struct State;

impl State {
    #[allow(clippy::unnecessary_wraps)] // as the list of patterns demands
    pub(super) fn new(_: &Uniform, _: &Space) -> Result<Self, WorkloadError> {
        Ok(Self)
    }
}

impl Places for State {
    fn next(&mut self, _: u64, space: &Space, random: &mut Rng) -> u64 {
        space.byte(random.below(space.places))
    }
}
