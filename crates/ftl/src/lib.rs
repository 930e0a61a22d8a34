//! Flash translation layer: mapping, allocation, garbage collection and wear levelling.
//!
//! The crate has no clock. A mapping makes the decisions and maintains the block tables; the device
//! executes the decisions, in simulated time ([`Mapping`]) or untimed ([`untimed`]).

pub mod allocate;
pub mod block;
pub mod carried;
pub mod config;
pub mod first_reads;
pub mod gc;
pub mod job;
pub mod lists;
pub mod lpn;
pub mod mapping;
pub mod owner;
pub mod plan;
pub mod precondition;
pub mod program_mode;
pub mod programmed;
pub mod recovery;
pub mod refresh;
mod rounding;
pub mod slc_cache;
pub mod summary;
pub mod trim;
pub mod untimed;
pub mod wear;

pub use config::Config;
pub use job::{Collection, Cost, GcKind, JobId, LogicalBlock, SpaceRequest, Step};
pub use lpn::Lpn;
pub use mapping::{Bulk, Map, MapCache, Mapping, OwnedMap, PageMap, Placed, WriteOutcome};
pub use plan::{Plan, PlanError};
pub use precondition::Precondition;
pub use programmed::Programmed;
pub use summary::{Summaries, SummaryPage};
