//! Host CPU model in front of a store. Worker threads on shared cores submit requests directly,
//! through a bridge, or through flash software whose map is in host memory or partly in the store.
//!
//! [`Host`] wraps a block device and is a block device itself. It adds its own latency components
//! to the response time, so that all components still add up exactly.

pub mod architecture;
pub mod config;
pub mod cpu;
pub mod event;
pub mod host;
pub mod mapping;
mod paging;
mod ready;
pub mod stats;

pub use architecture::Architecture;
pub use config::Config;
pub use event::{Event, Observation};
pub use host::Host;
pub use mapping::Mapping;
pub use stats::{Cause, HostStats, Memory};
