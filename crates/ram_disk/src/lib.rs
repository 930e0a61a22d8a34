//! RAM disks: block devices in DRAM, with parallel channels and a histogram of their response times.

pub mod config;
pub mod error;
pub mod event;
pub mod plan;
pub mod ram_disk;
pub mod stats;
pub mod summary;

pub use config::Config;
pub use error::RamDiskError;
pub use event::{Event, Observation};
pub use plan::Plan;
pub use ram_disk::RamDisk;
pub use stats::RamDiskStats;
pub use summary::RamDiskSummary;
