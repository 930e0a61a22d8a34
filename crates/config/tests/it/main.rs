//! Integration tests of the crate, in one binary.

mod config;
mod config_mutations;
mod config_words;
mod limits;
mod ranges;
