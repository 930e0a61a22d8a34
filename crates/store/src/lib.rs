//! What is built of devices: arrays of disks in one event queue.
//!
//! A [`Store`] is what a host talks to: a single disk, or an [`Array`] of them.

pub mod array;
pub mod error;
pub mod event;
pub mod layout;
pub mod observation;
mod store;

pub use array::Array;
pub use error::{ArrayError, Failure};
pub use event::Event;
pub use layout::{Extent, Layout};
pub use observation::Observation;
pub use store::Store;
