//! Error-correcting codes.

pub mod bch;
pub mod ldpc;
pub mod none;

use serde::{Deserialize, Serialize};
use wordline_kernel::Time;

use crate::fault::Fault;

/// Sense level: the precision of sensing, and the errors that the decoder corrects at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Level {
    /// Correctable errors per codeword. Count.
    pub correctable: u32,
    /// Sensing time; `None` uses the part's tR.
    pub sense: Option<Time>,
    /// Transfers per page, equal to the number of bits read per cell. Count.
    pub bits: u32,
    /// Decoding time, up to the result or to the failure.
    pub decode: Time,
    /// Additional decoding time per corrected error.
    pub decode_per_error: Time,
}

/// Error-correcting code, as the device uses it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Code {
    /// Bits per codeword, data and parity.
    pub bits: u32,
    /// Data bits per codeword.
    pub data_bits: u32,
    /// Sense levels in order of use: the first for a normal read, the others for read retries.
    pub ladder: Vec<Level>,
}

impl Code {
    /// Returns the number of codewords per page of `page_bytes` bytes.
    pub fn words(&self, page_bytes: u32) -> u32 {
        (page_bytes * 8).div_ceil(self.data_bits.max(1)).max(1)
    }
    /// Returns the decoding time at a level: for `corrected` errors, or for an uncorrectable page
    /// if `corrected` is `None`.
    #[inline]
    pub fn last_decoding(&self, level: usize, corrected: Option<u32>) -> Time {
        self.ladder.get(level).map_or(Time::ZERO, |level| {
            level.decode + level.decode_per_error * u64::from(corrected.unwrap_or_default())
        })
    }
    /// Returns the first level, from `first` on, that corrects a codeword with this number of
    /// errors; `None` if no level does.
    #[inline]
    pub fn corrects(&self, first: usize, errors: u32) -> Option<usize> {
        let levels = self.ladder.iter().enumerate().skip(first);
        let mut able = levels.filter(|(_, level)| errors <= level.correctable);
        able.next().map(|(place, _)| place)
    }
}

/// Code that can be configured.
pub trait Correct {
    /// Returns the code, or an error if its parameters are invalid.
    fn code(&self) -> Result<Code, Fault>;
}

macro_rules! members {
    ($($tag:literal => $Variant:ident($file:ident)),+ $(,)?) => {
        wordline_kernel::family! {
            /// Which code corrects the bit errors of a page?
            pub enum Ecc at "ssd.ecc" {
                $($tag => $Variant($file::$Variant)),+
            }
        }

        wordline_kernel::forward! {
            impl Correct for Ecc by [$($Variant),+] {
                fn code(&self) -> Result<Code, Fault>;
            }
        }
    };
}

members! {
    "none" => None(none),
    "bch" => Bch(bch),
    "ldpc" => Ldpc(ldpc),
}

impl Default for Ecc {
    fn default() -> Self {
        Self::None(none::None::default())
    }
}
