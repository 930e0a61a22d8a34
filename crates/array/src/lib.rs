//! Stores made of block devices in one event queue: arrays, and SSDs, disks, flash caches and
//! arrays in any nesting.

pub mod address_map;
pub mod array;
pub mod device;
pub mod error;
pub mod kinds;
pub mod store;

pub use address_map::{AddressMap, Extent};
pub use array::Array;
pub use error::ArrayError;
pub use kinds::{DeviceEvent, Leaf, OfDevice, Store, StoreError, StoreStats};
pub use store::behind_cache;
