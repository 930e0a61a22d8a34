//! Which block is collected.

pub mod d_choices;
pub mod fifo;
pub mod greedy;
pub mod random;
mod set;

use wordline_kernel::memory::{Fill, Table};
use wordline_nand::{Block, Layout, Plane};

use crate::block::Blocks;

/// Chooses the victims of one device. Every step is constant or logarithmic in the blocks, but for
/// [`Choose::withdraw`].
pub trait Choose {
    /// `block` of `plane` is full now and may be chosen; it holds `valid` valid pages.
    fn closed(&mut self, plane: Plane, block: Block, valid: u32);
    /// A page of `block`, which may be chosen, has become invalid; `valid` pages are left.
    fn invalidated(&mut self, plane: Plane, block: Block, valid: u32);
    /// A page of `block` may become invalid soon: brings the books on the block into the caches of the
    /// processor.
    #[inline]
    fn foresee(&self, _block: Block) {}
    /// Takes the next victim of `plane` out of the blocks that may be chosen.
    fn choose(&mut self, plane: Plane, blocks: &Blocks) -> Option<Block>;
    /// `block`, which may be chosen and holds `valid` valid pages, is collected for another reason:
    /// it is taken out. At most linear in the blocks of the plane.
    fn withdraw(&mut self, plane: Plane, block: Block, valid: u32);
}

macro_rules! members {
    ($($tag:literal => $Variant:ident($file:ident)),+ $(,)?) => {
        wordline_kernel::family! {
            /// Which block does garbage collection erase next?
            pub enum Victim at "ftl.gc.victim" {
                $($tag => $Variant($file::$Variant)),+
            }
        }

        /// The chooser of a device, with its state.
        #[derive(Clone, Debug)]
        #[allow(missing_docs)]
        pub enum Chooser { $($Variant($file::State)),+ }

        impl Chooser {
            /// What the state takes of memory.
            pub fn memory(policy: &Victim, layout: &Layout, fill: Fill) -> Table {
                match policy { $(Victim::$Variant(_) => $file::State::memory(layout, fill)),+ }
            }
            /// The state of `policy` on a pristine array.
            pub fn new(policy: &Victim, layout: &Layout, seed: u64) -> Self {
                match policy { $(Victim::$Variant(policy) => Self::$Variant($file::State::new(policy, layout, seed))),+ }
            }
        }

        impl Choose for Chooser {
            #[inline]
            fn closed(&mut self, plane: Plane, block: Block, valid: u32) {
                match self { $(Self::$Variant(state) => state.closed(plane, block, valid)),+ }
            }
            #[inline(always)]
            fn invalidated(&mut self, plane: Plane, block: Block, valid: u32) {
                match self { $(Self::$Variant(state) => state.invalidated(plane, block, valid)),+ }
            }
            #[inline]
            fn foresee(&self, block: Block) {
                match self { $(Self::$Variant(state) => state.foresee(block)),+ }
            }
            #[inline]
            fn choose(&mut self, plane: Plane, blocks: &Blocks) -> Option<Block> {
                match self { $(Self::$Variant(state) => state.choose(plane, blocks)),+ }
            }
            fn withdraw(&mut self, plane: Plane, block: Block, valid: u32) {
                match self { $(Self::$Variant(state) => state.withdraw(plane, block, valid)),+ }
            }
        }
    };
}

members! {
    "greedy" => Greedy(greedy),
    "fifo" => Fifo(fifo),
    "random" => Random(random),
    "d-choices" => DChoices(d_choices),
}

impl Default for Victim {
    fn default() -> Self {
        Self::Greedy(greedy::Greedy::default())
    }
}
