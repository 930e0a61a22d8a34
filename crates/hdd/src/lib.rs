//! Hard disk model: a queue, a controller with a buffer, and a mechanism.

pub mod buffer;
pub mod config;
pub mod disk;
pub mod error;
pub mod event;
pub mod extent;
pub mod geometry;
pub mod model;
pub mod overhead;
pub mod plan;
pub mod queue;
pub mod seek;
pub mod stats;

pub use config::Config;
pub use disk::Disk;
pub use error::DiskError;
pub use event::{Event, Observation, Purpose, Work};
pub use extent::SECTOR_BYTES;
pub use model::Model;
pub use plan::Plan;
pub use stats::DiskStats;
