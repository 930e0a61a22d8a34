//! Division of the flash in front of a disk between reads, writes and over-provisioning.
//!
//! Cached data and the free space for GC share one pool. A larger cache has more hits, but its GC
//! victims have more valid pages, so that each write costs more. [`cost`] and [`latency`] are two
//! published models of this trade-off. [`Partition`] names the policies, some of which choose sizes
//! with them during a run; [`Partitioning`] is a policy with its state.
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
