//! Saved states: checkpoints of runs, and prepared devices that many runs start from.
//!
//! This crate compiles the code that writes and reads the structures of a store, once per shape of
//! store and without the optimisation that the event loop needs. The code is a third of what the
//! loop would compile to, and runs only once per checkpoint.

mod file;
mod kept;
pub mod prepared;

pub use file::{BUILD, Header, Reader, StateError, Writer, header, kind, read, write};
pub use kept::Kept;
pub use prepared::key as preparation_key;
