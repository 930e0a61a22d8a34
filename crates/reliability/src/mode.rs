//! How a page is programmed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a page is programmed: how finely, and so how long that takes, how long its reads take, and how much it wears
/// the cells (Li et al., table 1). The names are those of the cost of the write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum ProgramMode {
    /// Medium cost: the part's usual program step.
    #[default]
    Medium,
    /// Low cost: larger steps, so that reads take longer.
    Low,
    /// High cost: smaller steps, so that reads take less.
    High,
    /// Medium cost with a lower threshold voltage: less wear, and reads take as long as after a low-cost write.
    Reduced,
}

impl ProgramMode {
    /// All of them, by number.
    pub const ALL: [Self; 4] = [Self::Medium, Self::Low, Self::High, Self::Reduced];

    /// As an index, and as two bits of a tag.
    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }
    /// The mode of the two lowest bits.
    #[inline]
    pub const fn of_bits(bits: u8) -> Self {
        match bits & 3 {
            0 => Self::Medium,
            1 => Self::Low,
            2 => Self::High,
            _ => Self::Reduced,
        }
    }
    /// In a word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Medium => "medium",
            Self::Low => "low",
            Self::High => "high",
            Self::Reduced => "reduced",
        }
    }
}
