//! The DRAM buffer between the host interface and the translation layer.
//!
//! Pages are the unit of replacement. A read whose bytes are all here is served from here; any
//! other takes memory, and its page is read from the flash. A write takes memory and is done when its data
//! is in it; a page of which only a part was written is completed by the translation layer when it
//! leaves. A page that leaves and is newer than the flash is written to it first (destaged) and
//! keeps its memory until it is there; whoever needs that memory waits, and nobody else does.
//! Until then, a page that leaves is still found here.
//!
//! All data goes through the memory's port, first come, first served. The parts of a request on one
//! page take effect in the order in which they came.

mod access;
mod audit;
pub mod backing;
pub mod buffer;
mod complete;
pub mod error;
pub mod event;
mod frame;
mod page_requests;
pub mod part;
pub mod plan;
mod power;
mod sectors;
mod serve;
mod verification;
mod view;

pub use backing::{Backing, Chip, Observation, Page, PageOp, PageRequest, Span, UNBALANCED};
pub use buffer::Buffer;
pub use error::Error;
pub use event::Event;
pub use part::Served;
pub use plan::Plan;
pub use verification::Versions;
