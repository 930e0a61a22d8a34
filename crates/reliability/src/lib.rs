//! How flash cells err, what corrects their errors, and what programs and reads cost for it.
//!
//! Knows nothing of geometry, translation or time's passing: who asks says how worn a block is, how long its data has
//! lain, how often it was read and how the page was programmed, and gets a raw bit error rate, a number of errors, and
//! what it takes to correct them.

pub mod binomial;
pub mod ecc;
pub mod errors;
pub mod failures;
pub mod fault;
pub mod mode;
pub mod normal;
mod points;
pub mod program_step;
pub mod programming;
pub mod reader;
pub mod variation;

pub use ecc::{Code, Ecc, Level};
pub use errors::{Age, Errors};
pub use failures::{Failing, Failures};
pub use fault::Fault;
pub use mode::ProgramMode;
pub use program_step::{Shift, SingleLevel};
pub use programming::{ModeCost, ModeCosts, Programming};
pub use reader::{Due, Found, Read, Reader};
pub use variation::Variation;
