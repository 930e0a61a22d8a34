//! Single-plane commands only.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::{Compose, Waiting};

/// A command has one operation. Planes add capacity, not speed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Off {}

impl Cited for Off {
    const PAPER: &'static str = "";
}

impl Compose for Off {
    fn joins(&self) -> bool {
        false
    }
    fn pick(&self, _line: &[Waiting], _most: usize, _picked: &mut Vec<usize>) {}
}
