//! What is built of block devices: arrays, in one event queue.

pub mod array;
pub mod error;
pub mod layout;
pub mod observation;
pub mod store;

pub use array::Array;
pub use error::ArrayError;
pub use layout::{Extent, Layout};
pub use observation::{Heard, Observation};
pub use store::Store;
