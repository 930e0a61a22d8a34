//! Which free block is written next.

pub mod dynamic;
pub mod none;

use wordline_nand::{Block, Layout, Plane};

/// Keeps the free blocks of every plane and hands them out.
pub trait Spend {
    /// `block` of `plane` is erased, for the `erases`th time.
    fn erased(&mut self, plane: Plane, block: Block, erases: u32);
    /// Takes a free block of `plane`. There is one: the caller counts.
    fn take(&mut self, plane: Plane) -> Option<Block>;
}

macro_rules! members {
    ($($tag:literal => $Variant:ident($file:ident)),+ $(,)?) => {
        wordline_kernel::family! {
            /// Which free block is written next?
            pub enum Wear at "ftl.wear" {
                $($tag => $Variant($file::$Variant)),+
            }
        }

        /// The free blocks of a device under its wear-levelling policy.
        #[derive(Clone, Debug)]
        #[allow(missing_docs)]
        pub enum FreeBlocks { $($Variant($file::State)),+ }

        impl FreeBlocks {
            /// All blocks of a pristine array.
            pub fn new(policy: &Wear, layout: &Layout) -> Self {
                match policy { $(Wear::$Variant(policy) => Self::$Variant($file::State::new(policy, layout))),+ }
            }
        }

        impl Spend for FreeBlocks {
            fn erased(&mut self, plane: Plane, block: Block, erases: u32) {
                match self { $(Self::$Variant(state) => state.erased(plane, block, erases)),+ }
            }
            fn take(&mut self, plane: Plane) -> Option<Block> {
                match self { $(Self::$Variant(state) => state.take(plane)),+ }
            }
        }
    };
}

members! {
    "none" => None(none),
    "dynamic" => Dynamic(dynamic),
}

impl Default for Wear {
    fn default() -> Self {
        Self::Dynamic(dynamic::Dynamic::default())
    }
}

/// Blocks of a plane that were never used, in order; costs no memory a block.
#[derive(Clone, Debug)]
struct Pristine {
    layout: Layout,
    used: Vec<u32>,
}

impl Pristine {
    fn new(layout: &Layout) -> Self {
        Self {
            layout: *layout,
            used: vec![0; layout.planes() as usize],
        }
    }
    fn take(&mut self, plane: Plane) -> Option<Block> {
        let used = &mut self.used[plane.index()];
        if *used == self.layout.blocks_per_plane {
            return None;
        }
        *used += 1;
        Some(self.layout.block(plane, *used - 1))
    }
}
