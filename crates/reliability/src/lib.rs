//! Errors of flash cells, their correction, and the costs of programs and reads that follow from
//! both.
//!
//! Contains no geometry, FTL or clock: callers pass the wear of a block, its retention time and
//! reads, and the program mode of the page. The result is a raw bit error rate, a number of errors,
//! and the cost of correcting them.

pub mod binomial;
pub mod brackets;
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

pub use brackets::ErrorDraws;
pub use ecc::{Code, Ecc, Level};
pub use errors::{Age, Errors};
pub use failures::{Failing, Failures};
pub use fault::Fault;
pub use mode::ProgramMode;
pub use program_step::{Shift, SingleLevel};
pub use programming::{ModeCost, ModeCosts, Programming};
pub use reader::{Due, Found, Read, Reader};
pub use variation::Variation;
