//! BCH codes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::{Code, Correct, Level};
use crate::fault::{Fault, us};

/// Binary BCH code: corrects up to t errors per codeword, from one read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Bch {
    /// Data in a codeword. Bits.
    #[schemars(range(min = 8, max = 1_048_576))]
    pub data_bits: u32,
    /// Correctable errors per codeword (t). Bits.
    #[schemars(range(min = 1, max = 4096))]
    pub correctable: u32,
    /// Decoding time of a page without errors. Microseconds. The default is assumed.
    #[schemars(range(min = 0.0, max = 1e6))]
    pub decode_us: f64,
    /// Additional decoding time per error, in the codeword with the most errors. Microseconds. The
    /// default is assumed.
    #[schemars(range(min = 0.0, max = 1e6))]
    pub decode_per_error_us: f64,
}

impl Default for Bch {
    fn default() -> Self {
        Self {
            data_bits: 8192,
            correctable: 40,
            decode_us: 2.0,
            decode_per_error_us: 0.1,
        }
    }
}

impl Cited for Bch {
    const PAPER: &'static str = "R. C. Bose, D. K. Ray-Chaudhuri, On a class of error correcting binary group codes, Information and Control 3, 1960";
}

impl Bch {
    /// Returns the number of bits per codeword, with `t m` parity bits over a field of 2^m
    /// elements: the smallest field with codewords of that length.
    pub fn bits(&self) -> u64 {
        let length =
            |m: u32| u64::from(self.data_bits) + u64::from(self.correctable) * u64::from(m);
        let fits = |m: &u32| length(*m) < 1 << m;
        (1..63).find(fits).map_or(u64::MAX, length)
    }
}

impl Correct for Bch {
    fn code(&self) -> Result<Code, Fault> {
        let Ok(bits) = u32::try_from(self.bits()) else {
            return Err(Fault {
                key: "correctable",
                reason: "the codeword would have 2^32 bits or more".into(),
                remedy: "lower correctable or data_bits",
            });
        };
        Ok(Code {
            bits,
            data_bits: self.data_bits,
            ladder: vec![Level {
                correctable: self.correctable,
                sense: None,
                bits: 1,
                decode: us(self.decode_us),
                decode_per_error: us(self.decode_per_error_us),
            }],
        })
    }
}
