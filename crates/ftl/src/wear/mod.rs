//! Wear levelling: selects the free block that is written next, and the data to move so that erase
//! counts become equal.

pub mod dynamic;
pub mod last_freed;
pub mod none;
pub mod read_blind;
pub mod r#static;

use serde::{Deserialize, Serialize};
use wordline_kernel::memory::{Fill, Table};
use wordline_nand::{Block, Layout, Plane};

/// Tracks the free blocks of every plane and selects among them.
pub trait Spend {
    /// Reports the erase of `block` of `plane`, which now has `erases` erases.
    fn erased(&mut self, plane: Plane, block: Block, erases: u32);
    /// Reports the erase of a block whose data was refreshed, as opposed to reclaimed for space.
    fn refreshed(&mut self, plane: Plane, block: Block, erases: u32) {
        self.erased(plane, block, erases);
    }
    /// Reports the erase of `block` of `plane` in an in-place refresh, after which the data returns
    /// to the block.
    fn refreshed_in_place(&mut self, plane: Plane, block: Block, erases: u32) {
        self.in_use(plane, block, erases);
    }
    /// Takes a free block of `plane`. Returns `None` if the plane has none.
    fn take(&mut self, plane: Plane) -> Option<Block>;
    /// Takes a free block of `plane` for data that seldom changes. Returns `None` if the plane has
    /// none.
    fn take_worn(&mut self, plane: Plane) -> Option<Block> {
        self.take(plane)
    }
    /// Reports that `block` of `plane` is in use and has `erases` erases: during recovery, or after
    /// its erase in an in-place refresh.
    fn in_use(&mut self, _plane: Plane, _block: Block, _erases: u32) {}
    /// Returns the block of `plane` whose data wear levelling moves to the block of
    /// [`Spend::take_worn`], if any. Only blocks for which `may_move` is `true` are eligible. The
    /// caller must move the data.
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
            /// Returns `true` if the policy moves cold data to equalise wear.
            pub(crate) fn moves_data(&self) -> bool {
                match self { $(Self::$Variant(_) => $file::State::MOVES_DATA),+ }
            }
        }

        /// Free blocks of a device, under its wear-levelling policy.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        #[allow(missing_docs)]
        pub enum FreeBlocks { $($Variant($file::State)),+ }

        impl FreeBlocks {
            /// Returns the memory estimate of the state on a device filled to `fill`.
            pub fn memory(policy: &Wear, layout: &Layout, fill: Fill) -> Table {
                match policy { $(Wear::$Variant(_) => $file::State::memory(layout, fill)),+ }
            }
            /// Creates the state for an erased array.
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

/// Never-used blocks of each plane, taken in order. Takes no memory per block.
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
