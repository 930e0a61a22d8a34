//! One list of fixed size.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::memory::Table;
use wordline_kernel::slot::Cited;

use super::{Divide, OP_FCL};
use crate::space::{Sizes, Space};

/// One list of fixed size for reads and writes: all pages except the over-provisioning of the
/// device (FP-FCL of the source).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Unified {}

impl Cited for Unified {
    const PAPER: &'static str = OP_FCL;
}

/// State of the policy: the initial size.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    pages: u32,
}

impl State {
    pub(super) fn new(_policy: &Unified, space: &Space, _seed: u64) -> Self {
        Self {
            pages: space.first_pages(),
        }
    }
    pub(super) fn memory(_policy: &Unified, _space: &Space) -> Vec<Table> {
        Vec::new()
    }
}

impl Divide for State {
    fn is_split(&self) -> bool {
        false
    }
    fn start(&self) -> Sizes {
        Sizes {
            read: 0,
            write: self.pages,
        }
    }
}
