//! Targets of refreshed data.

pub mod another_block;
pub mod in_place;

/// Target of refreshed data.
pub trait Return {
    /// Returns `true` if the data returns to its block once the block has been erased.
    fn returns(&self) -> bool;
}

macro_rules! members {
    ($($tag:literal => $Variant:ident($file:ident)),+ $(,)?) => {
        wordline_kernel::family! {
            /// Where does refreshed data go?
            pub enum Target at "ftl.refresh.target" {
                $($tag => $Variant($file::$Variant)),+
            }
        }

        wordline_kernel::forward! {
            impl Return for Target by [$($Variant),+] {
                fn returns(&self) -> bool;
            }
        }
    };
}

members! {
    "another-block" => AnotherBlock(another_block),
    "in-place" => InPlace(in_place),
}

impl Default for Target {
    fn default() -> Self {
        Self::AnotherBlock(another_block::AnotherBlock::default())
    }
}
