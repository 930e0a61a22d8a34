//! Garbage collection.

pub mod schedule;
pub mod victim;
