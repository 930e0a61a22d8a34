//! How the flash in front of a disk is divided between reads, writes and over-provisioning.
//!
//! What is cached and what collections need are one pool. A larger cache hits more often, and leaves collections less
//! to gain from a block, so that each write costs more. [`cost`] and [`latency`] are the models of two sources that
//! weigh one against the other; [`Partition`] names the policies that choose sizes by them while requests come,
//! [`Partitioning`] is one with its state.
//!
//! ```
//! use wordline_partition::{Costs, Divide, Partition, Partitioning, Sizes, Space};
//!
//! let space = Space {
//!     total_pages: 1 << 16,
//!     pages_per_block: 64,
//!     threshold_pages: 640,
//!     page_bytes: 4096,
//!     start_pages: 60_000,
//!     most_pages: 64_000,
//!     costs: Costs::PUBLISHED,
//! };
//! let mut policy = Partitioning::new(&Partition::default(), &space, 1);
//! assert_eq!(policy.start(), Sizes { read: 0, write: 60_000 });
//! policy.request();
//! assert_eq!(policy.decide(), None); // a unified cache keeps its size
//! ```

pub mod cost;
pub mod latency;
pub mod period;
pub mod policy;
pub mod shadow;
pub mod space;
pub mod utilisation;
pub mod window;

pub use policy::{Divide, Learned, Partition, Partitioning};
pub use space::{Costs, Kind, Sizes, Space};
