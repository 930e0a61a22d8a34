//! The NAND flash device: geometry, timing, command chains and the state of the memory array.
//!
//! Knows nothing of translation layers, hosts or disks, and has no clock: callers pass durations
//! on and say when things happen.

pub mod array;
pub mod chain;
pub mod geometry;
pub mod timing;

pub use array::{Array, Violation};
pub use chain::{Chain, Chains, Operation, Resource, Stage};
pub use geometry::{Block, Die, Geometry, Layout, Plane, Ppn};
pub use timing::Timing;
