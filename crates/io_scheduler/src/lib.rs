//! Order of the flash operations in an SSD's controller: the issue queue, the schedulers that
//! choose from it (`ssd.scheduler`), and the composition of multi-plane commands
//! (`ssd.composition`).

pub mod compose;
pub mod schedule;

pub use compose::Composition;
pub use schedule::Scheduler;

/// Index of a transaction in the device's transaction table.
pub type Slot = u32;
