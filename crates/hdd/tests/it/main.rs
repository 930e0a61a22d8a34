//! Integration tests of the crate, in one binary.

mod models;
mod positioned;
