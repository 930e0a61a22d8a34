//! Simulation kernel: time, event queue, random number generators, probes and policy slots.
//! Contains no storage concepts.

pub mod busy_time;
pub mod context;
pub mod dense;
pub mod digest;
pub mod heap;
pub mod link;
pub mod memory;
pub mod plus;
pub mod probe;
pub mod queue;
pub mod random;
pub mod since;
pub mod slot;
pub mod time;

pub use busy_time::BusyTime;
pub use context::Context;
pub use digest::Digest;
pub use heap::EventHeap;
pub use plus::Plus;
pub use probe::{AnyProbe, Probe};
pub use queue::EventQueue;
pub use random::Rng;
pub use since::Since;
pub use time::Time;
