//! The host side of a store: the worker threads that submit requests, on the cores of a CPU; a bridge in front of the store; flash
//! software with its map in the memory of the host, or pages of it in the store.
//!
//! [`Host`] wraps whatever serves blocks and serves blocks itself. What it adds to a response time is two parts of it,
//! so that sums stay exact.

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
