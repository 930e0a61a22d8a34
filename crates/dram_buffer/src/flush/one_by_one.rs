//! Destaging page by page.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::Flushes;

/// A dirty page is destaged when it is evicted from the buffer, and its memory is freed when the
/// flash holds it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct OneByOne {}

impl Cited for OneByOne {
    const PAPER: &'static str = "";
}

impl Flushes for OneByOne {}
