//! What a block device returns.

use serde::{Deserialize, Serialize};

use crate::part::Parts;

/// Names a request from its submission until it is complete; after that another may have the name.
pub type Ticket = u32;

/// A request is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Completion {
    /// As the submission returned it.
    pub ticket: Ticket,
    /// The stream of the request.
    pub stream: u32,
    /// Where its time went. Of a request that a power cut lost, nothing is known: all parts are zero.
    pub parts: Parts,
    /// Whether data of it could not be read: it is lost, and what was read is no data.
    pub failed: bool,
}
