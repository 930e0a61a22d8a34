//! Where the data of a block goes that moves for its own sake.

pub mod another_block;
pub mod in_place;

/// What becomes of a block whose data has moved for its own sake.
pub trait Return {
    /// Whether the data returns to it once it has been erased.
    fn returns(&self) -> bool;
}

macro_rules! members {
    ($($tag:literal => $Variant:ident($file:ident)),+ $(,)?) => {
        wordline_kernel::family! {
            /// Where does data go that moves for its own sake?
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
