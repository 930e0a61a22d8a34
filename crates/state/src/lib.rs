//! Saved states: checkpoints of runs, and prepared devices that many runs start from.
//!
//! This crate compiles the code that writes and reads the structures of a store, once per kind of
//! store. It does so without optimisation, because the code is generated, long, and runs only once
//! per checkpoint.

mod kept;
pub mod prepared;

pub use kept::Kept;
pub use prepared::key as preparation_key;
pub use wordline_state_file::{
    BUILD, Header, Reader, StateError, Writer, header, kind, read, write,
};
