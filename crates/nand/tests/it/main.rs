//! Integration tests of the crate, in one binary.

mod any_cycles;
mod chains_reference;
mod commands;
mod commands_reference;
mod host;
mod package;
mod reference;
mod scenario;
mod scenarios;
mod timing;
