//! Completions of a block device.

use serde::{Deserialize, Serialize};

use crate::latency::LatencyComponents;

/// Number that identifies a request from its submission to its completion. It may be reused for
/// another request afterwards.
pub type Ticket = u32;

/// Completed request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Completion {
    /// Ticket that the submission returned.
    pub ticket: Ticket,
    /// Stream of the request.
    pub stream: u32,
    /// Latency components. All are zero for a request lost in a power cut.
    pub parts: LatencyComponents,
    /// Whether the request ended with an error: some of its data could not be read, written,
    /// discarded or made durable. The data that a failed read returns is invalid.
    pub failed: bool,
}
