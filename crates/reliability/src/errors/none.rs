//! No read errors.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::{Age, Err, Rate};

/// Reads have no bit errors.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct None {}

impl Cited for None {
    const PAPER: &'static str = "";
}

impl Err for None {
    fn rate(&self, _age: &Age) -> Rate {
        Rate::default()
    }
    fn is_none(&self) -> bool {
        true
    }
}
