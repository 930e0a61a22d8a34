//! Files with a state: of a run that is resumed later, or of prepared devices that many runs start from.
//!
//! The code that writes and reads the structures of a store is compiled here, once for each shape of
//! store, and without the optimisation that the loop of a run needs: it is a third of what the loop
//! would compile to, and runs once a checkpoint.

mod file;
mod kept;
pub mod prepared;

pub use file::{BUILD, Header, Reader, StateError, Writer, header, kind, read, write};
pub use kept::Kept;
pub use prepared::key as preparation_key;
