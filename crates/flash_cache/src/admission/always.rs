//! Admission of every miss.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::Admit;

/// Admits every missed page.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Always {}

impl Cited for Always {
    const PAPER: &'static str = "";
}

/// Admission policy without state.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State;

impl State {
    pub(super) fn new(_policy: &Always, _capacity: usize) -> Self {
        Self
    }
}

impl Admit for State {
    fn admits(&mut self, _page: u64) -> bool {
        true
    }
}
