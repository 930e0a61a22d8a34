//! Caches: replacement policies, ghost lists, runs over traces.
//!
//! A policy identifies the keys of a cache by small dense numbers ([`Entry`]). The owner of the
//! entries assigns the numbers, answers the policy's queries and is notified of evictions
//! ([`Owner`]).
//!
//! ```
//! use wordline_cache::{Entry, Replace, Replacement, Replacing};
//!
//! let mut lru = Replacing::new(&Replacement::default(), 2);
//! let hits = [0, 1, 0, 2, 1].map(|number| lru.access(Entry(number), false, &mut ()));
//! assert_eq!(hits, [false, false, true, false, false]);
//! ```

mod compact;
pub mod entry;
pub mod ghost;
pub mod halves;
pub mod heap;
pub mod index;
pub mod keyed;
pub mod list;
pub mod replacement;
pub mod suspected;
pub mod trace;

pub use entry::Entry;
pub use ghost::Ghosts;
pub use index::{Cache, Evicted, Full, Index};
pub use replacement::{Owner, Replace, Replacement, Replacing, Visit};
pub use suspected::{Copies, Found, Suspecting};
pub use trace::{Counts, Intake, Requests, TraceError, Width};
