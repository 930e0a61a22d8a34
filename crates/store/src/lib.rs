//! What is built of block devices: arrays, in one event queue.

pub mod address_map;
pub mod array;
pub mod cached;
pub mod error;
pub mod observation;
pub mod store;

pub use address_map::{AddressMap, Extent};
pub use array::Array;
pub use error::ArrayError;
pub use observation::{Heard, Observation};
pub use store::Store;
