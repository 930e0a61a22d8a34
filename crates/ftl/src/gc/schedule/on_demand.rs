//! Collection on demand.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::Schedule;

/// A plane is collected when its free blocks fall below `ftl.gc.start_free_ratio`, and a logical
/// block when a write finds no page in its update blocks. A collection queues all reads of its victim at once, each copy when its page
/// has been read, and the erase when all copies are done; an operation of the host waits behind those that are queued for its die when
/// it comes, and no others.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct OnDemand {}

impl Cited for OnDemand {
    const PAPER: &'static str = "";
}

impl Schedule for OnDemand {}
