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

        impl Return for Target {
            fn returns(&self) -> bool {
                match self { $(Self::$Variant(policy) => policy.returns()),+ }
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
