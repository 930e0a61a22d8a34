//! Garbage collection.

pub mod check;
pub mod reclaim;
pub mod schedule;
pub mod victim;
