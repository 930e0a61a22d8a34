//! On-demand garbage collection.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::Schedule;

/// GC of a plane runs when its free blocks fall below the threshold (such as
/// `ftl.gc.start_free_ratio`), and GC of a logical block runs when a write finds no page in its
/// update blocks. A GC run queues all reads of its victim at once, each copy when its page has been
/// read, and the erase when all copies are complete. A host operation waits only for operations
/// that were queued for its die before it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct OnDemand {}

impl Cited for OnDemand {
    const PAPER: &'static str = "";
}

impl Schedule for OnDemand {}
