//! What is built of block devices, in one event queue: arrays, flash in front of another store, and any of them in any other.

pub mod address_map;
pub mod array;
pub mod cached;
pub mod error;
pub mod observation;
pub mod store;

pub use address_map::{AddressMap, Extent};
pub use array::Array;
pub use error::{ArrayError, StoreError};
pub use observation::{Heard, Observation};
pub use store::{DeviceEvent, Leaf, OfDevice, Store};
