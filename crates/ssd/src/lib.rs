//! The solid-state disk: host interface, controller, flash back end, verification.
//!
//! A device holds no clock and no event queue of its own: its owner passes `now` and the queue in,
//! so that several devices can share one.

pub mod backend;
mod buffered;
pub mod config;
mod controller;
pub mod error;
pub mod event;
pub mod observation;
pub mod plan;
pub mod precondition;
mod programmed;
pub mod shadow;
pub mod ssd;

pub use backend::Usage;
pub use controller::{
    DieLoad, ErrorCounts, FailureCounts, GradeCounts, Graded, Prepared, SlcCounts, SsdStats,
};
pub use error::DeviceError;
pub use event::Event;
pub use observation::{Observation, PageParts};
pub use plan::Plan;
pub use precondition::Precondition;
pub use programmed::Programmed;
pub use ssd::Ssd;
