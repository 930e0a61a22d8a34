//! Integration tests of the crate, in one binary.

mod closed_forms;
mod failures;
mod programming;
