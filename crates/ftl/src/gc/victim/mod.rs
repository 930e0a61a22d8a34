//! Which block is collected.

pub mod d_choices;
pub mod fifo;
pub mod greedy;
#[cfg(test)]
mod newest;
pub mod random;
mod set;

use serde::{Deserialize, Serialize};
use wordline_kernel::memory::{Fill, Table};
use wordline_nand::{Block, Layout, Plane};

use crate::block::Blocks;

/// Chooses the victims of one device. Every step is constant or logarithmic in the blocks, but for
/// [`VictimPolicy::withdraw`].
pub trait VictimPolicy {
    /// `block` of `plane` is full now and may be chosen; it holds `valid` valid pages.
    fn closed(&mut self, plane: Plane, block: Block, valid: u32);
    /// A page of `block`, which may be chosen, has become invalid; `valid` pages are left.
    fn invalidated(&mut self, plane: Plane, block: Block, valid: u32);
    /// A page of `block`, which may be chosen, is valid again; `valid` pages are. Of no interest to a choice that
    /// does not count them.
    fn revived(&mut self, _plane: Plane, _block: Block, _valid: u32) {}
    /// A page of `block` may become invalid soon: brings the counts on the block into the caches of the
    /// processor.
    #[inline]
    fn prefetch(&self, _block: Block) {}
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
        #[derive(Clone, Debug, Serialize, Deserialize)]
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

        wordline_kernel::forward! {
            impl VictimPolicy for Chooser by [$($Variant),+] {
                #[inline]
                fn closed(&mut self, plane: Plane, block: Block, valid: u32);
                #[inline(always)]
                fn invalidated(&mut self, plane: Plane, block: Block, valid: u32);
                fn revived(&mut self, plane: Plane, block: Block, valid: u32);
                #[inline]
                fn prefetch(&self, block: Block);
                #[inline]
                fn choose(&mut self, plane: Plane, blocks: &Blocks) -> Option<Block>;
                fn withdraw(&mut self, plane: Plane, block: Block, valid: u32);
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

/// The policy that CONTRIBUTING.md adds is `newest.rs`, compiled with the tests.
#[cfg(test)]
mod tests {
    use wordline_nand::Geometry;

    use super::*;
    use newest::{Newest, State};

    /// The family with the example in it.
    #[allow(dead_code)]
    mod extended {
        use super::super::*;

        members! { "newest" => Newest(newest), "fifo" => Fifo(fifo) }
    }

    #[test]
    fn the_example_of_contributing_is_this_file() {
        let guide = include_str!("../../../../../CONTRIBUTING.md");
        let example = format!("```rust\n{}```", include_str!("newest.rs"));
        assert!(
            guide.contains(&example),
            "CONTRIBUTING.md shows another newest.rs"
        );
    }

    #[test]
    fn the_example_is_chosen_by_its_name() {
        let chosen: extended::Victim = serde_json::from_str("\"newest\"").unwrap();
        assert_eq!(chosen, extended::Victim::Newest(Newest::default()));
    }

    #[test]
    fn the_example_collects_what_filled_up_last_and_was_not_withdrawn() {
        let layout = Layout::new(&Geometry::default(), 1).unwrap();
        let (plane, blocks) = (Plane(0), Blocks::new(layout));
        let mut newest = State::new(&Newest::default(), &layout, 1);
        (0..4).for_each(|block| newest.closed(plane, Block(block), 0));
        newest.withdraw(plane, Block(3), 0);
        newest.withdraw(plane, Block(1), 0);
        let chosen: Vec<Block> = std::iter::from_fn(|| newest.choose(plane, &blocks)).collect();
        assert_eq!(chosen, [Block(2), Block(0)]);
    }
}
