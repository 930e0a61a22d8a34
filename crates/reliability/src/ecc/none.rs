//! No error correction.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::Time;
use wordline_kernel::slot::Cited;

use super::{Code, Correct, Level};
use crate::fault::Fault;

/// No error is corrected, so a page with a single error is unreadable. This is sufficient with
/// `nand.reliability.errors = "none"`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct None {}

impl Cited for None {
    const PAPER: &'static str = "";
}

impl Correct for None {
    fn code(&self) -> Result<Code, Fault> {
        Ok(Code {
            bits: 8192,
            data_bits: 8192,
            ladder: vec![Level {
                correctable: 0,
                sense: None,
                bits: 1,
                decode: Time::ZERO,
                decode_per_error: Time::ZERO,
            }],
        })
    }
}
