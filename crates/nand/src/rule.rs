//! Which pages a multi-plane command may name.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The plane addressing rule of a part. Blocks of one multi-plane command always lie in different
/// planes of the same die; what else has to be equal, the rule says (Jung 2013, section 2.3; ONFI
/// calls it the multi-plane address restriction).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PlaneRule {
    /// The place of the page in its block.
    #[default]
    PageOffset,
    /// The place of the page in its block, and the place of the block in its plane.
    PageAndBlockOffset,
}

impl PlaneRule {
    /// Whether one command may name two pages, given as (block in plane, page in block). Erases have
    /// no page offset; give the same one twice.
    pub const fn allows(self, (block, page): (u32, u32), (other, beside): (u32, u32)) -> bool {
        match self {
            Self::PageOffset => page == beside,
            Self::PageAndBlockOffset => page == beside && block == other,
        }
    }
    /// What has to be equal, in words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::PageOffset => "the pages of a command have the same place in their blocks",
            Self::PageAndBlockOffset => {
                "the pages of a command have the same place in their blocks, and the blocks in their planes"
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stricter_rule_asks_for_the_block_too() {
        let (a, b, c) = ((5, 3), (6, 3), (5, 4));
        assert!(PlaneRule::PageOffset.allows(a, b) && PlaneRule::PageAndBlockOffset.allows(a, a));
        assert!(!PlaneRule::PageAndBlockOffset.allows(a, b));
        assert!(!PlaneRule::PageOffset.allows(a, c) && !PlaneRule::PageAndBlockOffset.allows(a, c));
    }
}
