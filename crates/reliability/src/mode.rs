//! Program modes of a page.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Program mode of a page: its precision, which determines the program time, the read time and the
/// wear of the cells (Li et al., table 1). Modes are named after the cost of the write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum ProgramMode {
    /// Medium cost: the normal program step of the part.
    #[default]
    Medium,
    /// Low cost: larger program steps, so that reads take longer.
    Low,
    /// High cost: smaller program steps, so that reads are faster.
    High,
    /// Medium cost with a lower threshold voltage: less wear, and reads as slow as after a low-cost
    /// write.
    Reduced,
}

impl ProgramMode {
    /// All modes, in order of their numbers.
    pub const ALL: [Self; 4] = [Self::Medium, Self::Low, Self::High, Self::Reduced];

    /// Returns the number of the mode, which serves as an index and as two bits of a tag.
    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }
    /// Returns the mode that has the number in the two lowest bits of `bits`.
    #[inline]
    pub const fn of_bits(bits: u8) -> Self {
        match bits & 3 {
            0 => Self::Medium,
            1 => Self::Low,
            2 => Self::High,
            _ => Self::Reduced,
        }
    }
    /// Returns the name of the mode.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Medium => "medium",
            Self::Low => "low",
            Self::High => "high",
            Self::Reduced => "reduced",
        }
    }
}
