//! GC victim selection.

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

/// Selects the victims of one device. Every operation except [`VictimPolicy::withdraw`] takes at
/// most logarithmic time in the number of blocks.
pub trait VictimPolicy {
    /// Adds `block` of `plane`, which has become full with `valid` valid pages, to the candidates.
    fn closed(&mut self, plane: Plane, block: Block, valid: u32);
    /// Reports that a page of the candidate `block` has become invalid; the block has `valid` valid
    /// pages left.
    fn invalidated(&mut self, plane: Plane, block: Block, valid: u32);
    /// Reports that a page of the candidate `block` has become valid again; the block now has
    /// `valid` valid pages. Policies that do not count valid pages ignore the call.
    fn revived(&mut self, _plane: Plane, _block: Block, _valid: u32) {}
    /// Loads the state of `block` into the CPU cache, because one of its pages may soon become
    /// invalid.
    #[inline]
    fn prefetch(&self, _block: Block) {}
    /// Removes and returns the next victim of `plane`, or `None` if no block is eligible.
    fn choose(&mut self, plane: Plane, blocks: &Blocks) -> Option<Block>;
    /// Removes the candidate `block`, which has `valid` valid pages, because it is reclaimed for
    /// another reason. Takes at most linear time in the number of blocks of the plane.
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

        /// Victim policy of a device, with its state.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        #[allow(missing_docs)]
        pub enum Chooser { $($Variant($file::State)),+ }

        impl Chooser {
            /// Returns the memory estimate of the state on a device filled to `fill`.
            pub fn memory(policy: &Victim, layout: &Layout, fill: Fill) -> Table {
                match policy { $(Victim::$Variant(_) => $file::State::memory(layout, fill)),+ }
            }
            /// Creates the state of `policy` for an erased array.
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

/// Tests of `newest.rs`, the example policy of CONTRIBUTING.md, which is compiled only with the
/// tests.
#[cfg(test)]
mod tests {
    use wordline_nand::Geometry;

    use super::*;
    use newest::{Newest, State};

    /// Policy family that includes the example.
    #[allow(dead_code)]
    mod extended {
        use super::super::*;

        members! { "newest" => Newest(newest), "fifo" => Fifo(fifo) }
    }

    #[test]
    fn example_policy_in_contributing_md_equals_newest_rs() {
        let guide = include_str!("../../../../../CONTRIBUTING.md");
        let example = format!("```rust\n{}```", include_str!("newest.rs"));
        assert!(
            guide.contains(&example),
            "the example in CONTRIBUTING.md differs from newest.rs; copy the file there"
        );
    }

    #[test]
    fn example_policy_is_selected_by_its_name() {
        let chosen: extended::Victim = serde_json::from_str("\"newest\"").unwrap();
        assert_eq!(chosen, extended::Victim::Newest(Newest::default()));
    }

    #[test]
    fn example_policy_selects_the_block_filled_last_unless_withdrawn() {
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
