//! What the loop of a run hands over to be summed up.

use std::time::Duration;

use wordline_device::precondition::Preconditioned;
use wordline_kernel::Time;

use crate::config::Plan;
use crate::config::plan::Replay;
use crate::record::Record;

/// What the loop hands over.
#[derive(Debug)]
pub struct Outcome {
    /// What was simulated.
    pub plan: Plan,
    /// How it was driven.
    pub replay: Replay,
    /// What was recorded.
    pub record: Record,
    /// Requests by kind.
    pub counts: InputCounts,
    /// What happened before the run.
    pub preconditioned: Preconditioned,
    /// Digest of all events.
    pub digest: u64,
    /// When the first request was issued.
    pub first_arrival: Time,
    /// When the last event happened.
    pub end: Time,
    /// Why the run ended early, if it did.
    pub error: Option<String>,
    /// Whether the user ended it.
    pub interrupted: bool,
    /// What it cost.
    pub speed: Speed,
}

/// What simulating cost.
#[derive(Clone, Copy, Debug)]
pub struct Speed {
    /// Wall-clock time.
    pub wall: Duration,
    /// Processor time.
    pub cpu: Duration,
    /// Events.
    pub events: u64,
    /// Growth of the process's resident memory from the empty device on.
    pub resident_bytes: u64,
}

/// Requests of a source by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InputCounts {
    /// Read requests admitted.
    pub reads: u64,
    /// Write requests admitted.
    pub writes: u64,
    /// Trims left out.
    pub trims_ignored: u64,
    /// Flushes left out.
    pub flushes_ignored: u64,
}
