//! Which free block is written next, and whose data moves for even wear.

pub mod dynamic;
pub mod last_freed;
pub mod none;
pub mod read_blind;
pub mod r#static;

use serde::{Deserialize, Serialize};
use wordline_kernel::memory::{Fill, Table};
use wordline_nand::{Block, Layout, Plane};

/// Keeps the free blocks of every plane and hands them out.
pub trait Spend {
    /// `block` of `plane` is erased, for the `erases`th time.
    fn erased(&mut self, plane: Plane, block: Block, erases: u32);
    /// The same of a block whose data was moved because of its reads or its age, and not for room.
    fn refreshed(&mut self, plane: Plane, block: Block, erases: u32) {
        self.erased(plane, block, erases);
    }
    /// `block` of `plane` has been erased in the same way, and its data returns to it.
    fn refreshed_in_place(&mut self, plane: Plane, block: Block, erases: u32) {
        self.in_use(plane, block, erases);
    }
    /// Takes a free block of `plane`. There is one: the caller counts.
    fn take(&mut self, plane: Plane) -> Option<Block>;
    /// Takes the free block of `plane` for data that seldom changes. There is one.
    fn take_worn(&mut self, plane: Plane) -> Option<Block> {
        self.take(plane)
    }
    /// `block` is not free; it has been erased `erases` times. For books that are built anew.
    fn in_use(&mut self, _plane: Plane, _block: Block, _erases: u32) {}
    /// The block of `plane` whose data is to go to [`Spend::take_worn`] for the sake of even wear,
    /// if there is one among those that `may_move`. It has to be moved then.
    fn rested(&mut self, _plane: Plane, _may_move: impl Fn(Block) -> bool) -> Option<Block> {
        None
    }
}

macro_rules! members {
    ($($tag:literal => $Variant:ident($file:ident)),+ $(,)?) => {
        wordline_kernel::family! {
            /// Which free block is written next?
            pub enum Wear at "ftl.wear" {
                $($tag => $Variant($file::$Variant)),+
            }
        }

        impl Wear {
            /// Whether data that stays where it is moves for the sake of even wear.
            pub(crate) fn moves_data(&self) -> bool {
                match self { $(Self::$Variant(_) => $file::State::MOVES_DATA),+ }
            }
        }

        /// The free blocks of a device under its wear-levelling policy.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        #[allow(missing_docs)]
        pub enum FreeBlocks { $($Variant($file::State)),+ }

        impl FreeBlocks {
            /// What the counts take of memory.
            pub fn memory(policy: &Wear, layout: &Layout, fill: Fill) -> Table {
                match policy { $(Wear::$Variant(_) => $file::State::memory(layout, fill)),+ }
            }
            /// All blocks of a pristine array.
            pub fn new(policy: &Wear, layout: &Layout) -> Self {
                match policy { $(Wear::$Variant(policy) => Self::$Variant($file::State::new(policy, layout))),+ }
            }
        }

        wordline_kernel::forward! {
            impl Spend for FreeBlocks by [$($Variant),+] {
                fn erased(&mut self, plane: Plane, block: Block, erases: u32);
                fn refreshed(&mut self, plane: Plane, block: Block, erases: u32);
                fn refreshed_in_place(&mut self, plane: Plane, block: Block, erases: u32);
                fn take(&mut self, plane: Plane) -> Option<Block>;
                fn take_worn(&mut self, plane: Plane) -> Option<Block>;
                fn in_use(&mut self, plane: Plane, block: Block, erases: u32);
                fn rested(&mut self, plane: Plane, may_move: impl Fn(Block) -> bool) -> Option<Block>;
            }
        }
    };
}

members! {
    "none" => None(none),
    "dynamic" => Dynamic(dynamic),
    "static" => Static(r#static),
    "read-blind" => ReadBlind(read_blind),
    "last-freed" => LastFreed(last_freed),
}

impl Default for Wear {
    fn default() -> Self {
        Self::Dynamic(dynamic::Dynamic::default())
    }
}

/// Blocks of a plane that were never used, in order; costs no memory a block.
#[derive(Clone, Debug, Serialize, Deserialize)]
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
