//! Written states: of a run that goes on later, of a device that is prepared once.

mod file;
pub(crate) mod prepared;

pub use file::{BUILD, Header, StateError, header, kind};
pub(crate) use file::{read, write};
pub use prepared::key as preparation_key;
