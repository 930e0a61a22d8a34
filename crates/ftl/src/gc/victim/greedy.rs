//! Greedy victim selection.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::memory::{Fill, Table};
use wordline_kernel::slot::Cited;
use wordline_nand::{Block, Layout, Plane};

use super::VictimPolicy;
use crate::block::Blocks;
use crate::lists::Lists;

/// The block with the fewest valid pages; among equals the one that `ties` names. Least work now,
/// and the best choice under uniform load.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Greedy {
    /// Which of the blocks with equally few valid pages: the one that has had so many for the longest
    /// time, or for the shortest.
    pub ties: Ties,
}

/// Who is chosen among equals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ties {
    /// Who has been at its count for the longest time.
    #[default]
    Longest,
    /// Who has been at its count for the shortest time.
    Shortest,
}

impl Cited for Greedy {
    const PAPER: &'static str = "W. Bux and I. Iliadis, Performance of greedy garbage collection in flash-based solid-state drives, Performance Evaluation 67(11), 2010";
}

/// Per plane one list of blocks for each count of valid pages: every step is constant, but for
/// the search of the next non-empty list, which the pages that fill it have paid for.
///
/// The block of a plane that lost a page last stays in its list until that of another matters: one
/// that loses page after page, as under sequential writes, moves once.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    lists: Lists,
    counts: usize,
    planes: Vec<PlaneLists>,
    ties: Ties,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct PlaneLists {
    /// No list of fewer valid pages has a block.
    lowest: u32,
    /// The block that lost a page last, or [`NONE`], and what is valid of it.
    last: u32,
    valid: u32,
}

/// No block.
const NONE: u32 = u32::MAX;

impl State {
    pub(super) fn memory(layout: &Layout, fill: Fill) -> Table {
        let lists = u64::from(layout.planes()) * (u64::from(layout.pages_per_block) + 1);
        Lists::memory(
            "candidates for collection",
            lists,
            layout.blocks().into(),
            fill.physical,
        )
    }
    pub(super) fn new(policy: &Greedy, layout: &Layout, _seed: u64) -> Self {
        let counts = layout.pages_per_block as usize + 1;
        let planes = layout.planes() as usize;
        let plane = PlaneLists {
            lowest: 0,
            last: NONE,
            valid: 0,
        };
        Self {
            lists: Lists::new(planes * counts, layout.blocks() as usize),
            counts,
            planes: vec![plane; planes],
            ties: policy.ties,
        }
    }
    /// Who is chosen among the blocks of `plane` with `valid` valid pages.
    #[inline]
    fn first(&self, plane: Plane, valid: u32) -> Option<u32> {
        let list = self.list(plane, valid);
        match self.ties {
            Ties::Longest => self.lists.front(list),
            Ties::Shortest => self.lists.back(list),
        }
    }
    /// Lists of the same count are neighbours: blocks that are closed full, as those of a new device
    /// are, touch little memory.
    #[inline]
    fn list(&self, plane: Plane, valid: u32) -> usize {
        valid as usize * self.planes.len() + plane.index()
    }
    /// There is a block with `valid` valid pages.
    #[inline]
    fn lower(&mut self, plane: Plane, valid: u32) {
        let lowest = &mut self.planes[plane.index()].lowest;
        if valid < *lowest {
            *lowest = valid;
        }
    }
    /// A block that lost a page goes to the list of those with `valid` valid pages.
    #[inline]
    fn put(&mut self, plane: Plane, block: u32, valid: u32) {
        if self.lists.move_back(self.list(plane, valid), block) {
            self.lower(plane, valid);
        }
    }
    /// No block of a plane waits for its list any more.
    fn settle(&mut self, plane: Plane) {
        let state = &mut self.planes[plane.index()];
        let (block, valid) = (std::mem::replace(&mut state.last, NONE), state.valid);
        if block != NONE {
            self.put(plane, block, valid);
        }
    }
    /// A block, of which `valid` pages are valid, goes behind those of its list.
    #[inline]
    fn insert(&mut self, plane: Plane, block: Block, valid: u32) {
        self.lower(plane, valid);
        self.lists.push_back(self.list(plane, valid), block.0);
    }
    /// The same if a block of the plane waits for its list: that one lost its page before. A function
    /// by itself, so that the other saves no registers.
    #[cold]
    #[inline(never)]
    fn insert_behind(&mut self, plane: Plane, block: Block, valid: u32) {
        self.settle(plane);
        self.insert(plane, block, valid);
    }
}

impl VictimPolicy for State {
    #[inline]
    fn closed(&mut self, plane: Plane, block: Block, valid: u32) {
        if self.planes[plane.index()].last == NONE {
            self.insert(plane, block, valid);
        } else {
            self.insert_behind(plane, block, valid);
        }
    }
    #[inline(always)]
    fn invalidated(&mut self, plane: Plane, block: Block, valid: u32) {
        let state = &mut self.planes[plane.index()];
        let before = (state.last, state.valid);
        (state.last, state.valid) = (block.0, valid);
        if before.0 != block.0 && before.0 != NONE {
            self.put(plane, before.0, before.1);
        }
    }
    fn revived(&mut self, plane: Plane, block: Block, valid: u32) {
        self.invalidated(plane, block, valid);
    }
    #[inline]
    fn prefetch(&self, block: Block) {
        self.lists.prefetch(block.0);
    }
    fn choose(&mut self, plane: Plane, _blocks: &Blocks) -> Option<Block> {
        self.settle(plane);
        for valid in self.planes[plane.index()].lowest..self.counts as u32 {
            if let Some(block) = self.first(plane, valid) {
                self.planes[plane.index()].lowest = valid;
                self.lists.remove(block);
                return Some(Block(block));
            }
        }
        self.planes[plane.index()].lowest = 0;
        None
    }
    fn withdraw(&mut self, plane: Plane, block: Block, _valid: u32) {
        self.settle(plane);
        self.lists.remove(block.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wordline_kernel::Rng;

    const LAYOUT: Layout = Layout {
        dies: 1,
        planes_per_die: 2,
        blocks_per_plane: 12,
        pages_per_block: 5,
    };

    /// A block that may be chosen: what is valid of it, and since when.
    type Held = Option<(u32, u32)>;

    /// Among the blocks of `plane`: fewest valid pages, then longest or shortest so.
    fn naive(held: &[Held], plane: u32, ties: Ties) -> Option<Block> {
        let since = |(valid, step): (u32, u32)| match ties {
            Ties::Longest => (valid, step),
            Ties::Shortest => (valid, u32::MAX - step),
        };
        let of_plane = plane * 12..(plane + 1) * 12;
        let held = of_plane.filter_map(|block| held[block as usize].map(|key| (since(key), block)));
        held.min().map(|(_, block)| Block(block))
    }

    #[test]
    fn the_emptiest_block_is_chosen_and_of_equals_the_one_that_was_so_first() {
        choices_are_those_of_the_naive_list(Ties::Longest);
    }

    #[test]
    fn of_equals_the_one_that_became_so_last_if_ties_are_so() {
        choices_are_those_of_the_naive_list(Ties::Shortest);
    }

    fn choices_are_those_of_the_naive_list(ties: Ties) {
        let mut random = Rng::new(5, "greedy");
        let mut state = State::new(&Greedy { ties }, &LAYOUT, 1);
        let blocks = Blocks::new(LAYOUT);
        let mut held: Vec<Held> = vec![None; 24];
        let (mut last, mut chosen) = (0, 0);
        for step in 0..50_000 {
            // Every other time the block of the time before, as a row of pages would.
            if random.below(2) == 0 {
                last = random.below(24) as u32;
            }
            let (plane, block) = (Plane(last / 12), Block(last));
            let is = &mut held[last as usize];
            match *is {
                None => {
                    *is = Some((5, step));
                    state.closed(plane, block, 5);
                }
                Some((valid @ ..5, _)) if random.below(4) == 0 => {
                    *is = Some((valid + 1, step));
                    state.revived(plane, block, valid + 1);
                }
                Some((valid @ 1.., _)) if random.below(8) > 0 => {
                    *is = Some((valid - 1, step));
                    state.invalidated(plane, block, valid - 1);
                }
                Some((valid, _)) if random.below(3) == 0 => {
                    *is = None;
                    state.withdraw(plane, block, valid);
                }
                Some(_) => {
                    let expected = naive(&held, plane.0, ties);
                    assert_eq!(state.choose(plane, &blocks), expected, "step {step}");
                    chosen += 1;
                    if let Some(block) = expected {
                        held[block.index()] = None;
                    }
                }
            }
        }
        assert!(chosen > 1_000, "{chosen} choices");
    }
}
