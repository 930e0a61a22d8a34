//! Error-correcting codes.

pub mod bch;
pub mod ldpc;
pub mod none;

use serde::{Deserialize, Serialize};
use wordline_kernel::Time;

use crate::fault::Fault;

/// A way to read: how finely cells are sensed, and what the decoder makes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Level {
    /// Errors of a codeword that it corrects.
    pub correctable: u32,
    /// Sensing; none if the part's own time holds.
    pub sense: Option<Time>,
    /// Pages that are transferred: bits of every cell read.
    pub bits: u32,
    /// Decoding, up to the result or to the failure.
    pub decode: Time,
    /// Decoding for each error that is corrected.
    pub decode_per_error: Time,
}

/// A code, as the device uses it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Code {
    /// Bits of a codeword, data and parity.
    pub bits: u32,
    /// Of them data.
    pub data_bits: u32,
    /// What is tried, one after the other: the first by a read as such, the others by read retries.
    pub ladder: Vec<Level>,
}

impl Code {
    /// Codewords of a page of so many bytes.
    pub fn words(&self, page_bytes: u32) -> u32 {
        (page_bytes * 8).div_ceil(self.data_bits.max(1)).max(1)
    }
    /// What the decoding of a level takes: of so many errors that it corrects, or of more than it can.
    pub fn last_decoding(&self, level: usize, corrected: Option<u32>) -> Time {
        self.ladder.get(level).map_or(Time::ZERO, |level| {
            level.decode + level.decode_per_error * u64::from(corrected.unwrap_or_default())
        })
    }
    /// The first level, from `first` on, that corrects a codeword with this many errors.
    pub fn corrects(&self, first: usize, errors: u32) -> Option<usize> {
        let levels = self.ladder.iter().enumerate().skip(first);
        let mut able = levels.filter(|(_, level)| errors <= level.correctable);
        able.next().map(|(place, _)| place)
    }
}

/// A code that a user names.
pub trait Correct {
    /// What it is; a fault if its parameters contradict each other.
    fn code(&self) -> Result<Code, Fault>;
}

macro_rules! members {
    ($($tag:literal => $Variant:ident($file:ident)),+ $(,)?) => {
        wordline_kernel::family! {
            /// What corrects the errors of a page?
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
