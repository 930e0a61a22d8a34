//! No read-ahead.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::RunsAhead;

/// Only requested pages are read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct None {}

impl Cited for None {
    const PAPER: &'static str = "";
}

impl RunsAhead for None {}
