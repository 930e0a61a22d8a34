//! Plane addressing rules of multi-plane commands.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Plane addressing rule of a part. The blocks of a multi-plane command are always in different
/// planes of the same die; the rule states which offsets must also be equal (Jung 2013, section
/// 2.3; ONFI: multi-plane address restriction).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PlaneRule {
    /// Equal page offsets in the blocks.
    #[default]
    PageOffset,
    /// Equal page offsets in the blocks, and equal block offsets in the planes.
    PageAndBlockOffset,
}

impl PlaneRule {
    /// Returns `true` if one command may address both pages, each given as (block in plane, page in
    /// block). An erase has no page offset; pass the same value twice.
    pub const fn allows(
        self,
        (block, page): (u32, u32),
        (other_block, other_page): (u32, u32),
    ) -> bool {
        match self {
            Self::PageOffset => page == other_page,
            Self::PageAndBlockOffset => page == other_page && block == other_block,
        }
    }
    /// Returns the rule as text, for messages.
    pub const fn words(self) -> &'static str {
        match self {
            Self::PageOffset => "the pages of a command must have the same offset in their blocks",
            Self::PageAndBlockOffset => {
                "the pages of a command must have the same offset in their blocks, and the blocks in their planes"
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stricter_plane_rule_also_requires_equal_block_offsets() {
        let (a, b, c) = ((5, 3), (6, 3), (5, 4));
        assert!(PlaneRule::PageOffset.allows(a, b) && PlaneRule::PageAndBlockOffset.allows(a, a));
        assert!(!PlaneRule::PageAndBlockOffset.allows(a, b));
        assert!(!PlaneRule::PageOffset.allows(a, c) && !PlaneRule::PageAndBlockOffset.allows(a, c));
    }
}
