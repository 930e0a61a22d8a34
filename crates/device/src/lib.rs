//! The solid-state disk: host queue, flash back end, bus arbitration, verification.

pub mod config;
