//! Integration tests of the crate, in one binary.

mod address_map;
mod array;
mod flash_cache;
mod nested;
