//! What a device schedules for itself.

pub use wordline_nand::Event;
