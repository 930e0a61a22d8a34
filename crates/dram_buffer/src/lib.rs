//! The DRAM buffer between the host interface and the translation layer.
//!
//! Pages are the unit of replacement. A read whose bytes are all here is served from here; any
//! other takes memory, and its page is read from the flash. A write takes memory and is done when its data
//! is in it; a page of which only a part was written is completed by the translation layer when it
//! leaves. A page that leaves and is newer than the flash is written to it first (destaged) and
//! keeps its memory until it is there; whoever needs that memory waits, and nobody else does.
//! Until then, a page that leaves is still found here. Where pages go in batches, the memory of all pages of a batch comes back together.
//!
//! All data goes through the memory's port, first come, first served. The parts of a request on one
//! page take effect in the order in which they came.

mod access;
mod ahead;
mod audit;
pub mod backing;
mod batch;
pub mod buffer;
mod complete;
pub mod error;
pub mod event;
pub mod flush;
mod frame;
mod gather;
mod idle;
mod idle_flush;
mod page_requests;
pub mod part;
pub mod plan;
mod power;
pub mod read_ahead;
mod sectors;
mod serve;
mod verification;
mod view;

pub use backing::{
    Backing, Chip, Observation, Outcome, Page, PageOp, PageRequest, Span, UNBALANCED,
};
pub use buffer::Buffer;
pub use error::Error;
pub use event::Event;
pub use flush::Flush;
pub use part::Served;
pub use plan::Plan;
pub use read_ahead::ReadAhead;
pub use verification::Versions;
