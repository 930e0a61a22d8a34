//! Integration tests of the crate, in one binary.

mod laws;
mod maps;
