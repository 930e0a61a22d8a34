//! Garbage collection.

pub mod reclaim;
pub mod schedule;
pub mod victim;
