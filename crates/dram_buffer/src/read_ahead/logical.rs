//! Read-ahead by logical address.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::RunsAhead;

/// If a read begins at the page where the previous read ended, or at the next page, the pages that
/// follow it are read into the buffer, wherever flash stores them. They are replaced like requested
/// pages, and wait in the same queues.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Logical {
    /// Number of pages read ahead after a read.
    #[schemars(range(min = 1, max = 4096))]
    pub pages: u32,
}

impl Default for Logical {
    fn default() -> Self {
        Self { pages: 8 }
    }
}

impl Cited for Logical {
    const PAPER: &'static str = "";
}

impl RunsAhead for Logical {
    fn pages(&self) -> u32 {
        self.pages
    }
}
