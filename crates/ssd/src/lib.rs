//! Solid-state drive: host interface, DRAM buffer, controller, flash back end, and verification.
//!
//! A device holds neither clock nor event queue. Its owner passes the time and the queue to the
//! calls that need them, so that several devices can share them.

pub mod backend;
mod buffered;
pub mod config;
mod controller;
pub mod error;
pub mod event;
pub mod observation;
pub mod plan;
pub mod ssd;

pub use backend::Usage;
pub use controller::{
    DieLoad, ErrorCounts, FailureCounts, GradeCounts, Graded, IdleCounts, Prepared, SlcCounts,
    SsdStats,
};
pub use error::DeviceError;
pub use event::Event;
pub use observation::{Observation, PageComponents};
pub use plan::{DieFeatures, Plan};
pub use ssd::Ssd;
