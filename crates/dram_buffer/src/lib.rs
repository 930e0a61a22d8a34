//! DRAM buffer between the host interface and the translation layer.
//!
//! Replacement works on pages. A read is served from the buffer if all its bytes are there;
//! otherwise it allocates memory, and its page is read from flash. A write allocates memory and
//! completes when its data is there; the translation layer supplies the rest of a partially written
//! page when the page is destaged. A dirty page that is evicted is first written to flash
//! (destaged) and keeps its memory until the flash holds it. Only requests that need this memory
//! wait for it; until then the page can still be hit. If pages are destaged in batches, no memory
//! of a batch is freed before all its pages are on flash.
//!
//! All data passes through the memory's port, in order of arrival. The parts of different requests
//! for one page take effect in order of arrival.

mod access;
mod ahead;
mod audit;
pub mod backing;
mod batch;
pub mod buffer;
mod complete;
pub mod config;
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
