//! NAND flash device: geometry, timing, command chains and the state of the memory array.
//!
//! Contains no FTL, host or disk, and has no clock: callers pass the current time and schedule the
//! events.

pub mod arbitrate;
pub mod array;
pub mod bad_blocks;
pub mod cell;
pub mod chain;
pub mod channel;
pub mod command;
pub mod die;
pub mod energy;
pub mod features;
pub mod geometry;
pub mod health;
pub mod latency;
pub mod package;
pub mod page_modes;
pub mod part;
pub mod registers;
pub mod rule;
pub mod schedule;
pub mod slc_mode;
mod slowness;
pub mod suspend;
pub mod target;
pub mod timing;
pub mod transaction;

pub use arbitrate::Arbitration;
pub use array::{Array, Violation};
pub use bad_blocks::{BadBlock, BadBlocks, Cause};
pub use cell::{Cell, PageTypes};
pub use chain::{Chains, Hold, Resource, Stage, Step};
pub use channel::{Channels, Event};
pub use command::{Command, CommandError, Cycle, Status};
pub use energy::Energy;
pub use features::{Basic, Features, Full, Scheduled, Uninterrupted};
pub use geometry::{Block, Die, Geometry, Layout, Plane, Ppn};
pub use health::Health;
pub use latency::Latencies;
pub use package::{Completion, Package, SubmitError};
pub use page_modes::PageModes;
pub use part::Part;
pub use registers::{ArrayBusy, Busy, Confirm, Registers};
pub use rule::PlaneRule;
pub use schedule::{Schedule, Scheduler};
pub use slc_mode::SlcMode;
pub use suspend::Suspend;
pub use target::{DataSheet, DataSheetError, Output, Target};
pub use timing::{Model, PerLevel, Timing};
pub use transaction::{Mode, Operation, Transaction, TransactionError};
