//! Greedy victim selection.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::memory::{Fill, Table};
use wordline_kernel::slot::Cited;
use wordline_nand::{Block, Layout, Plane};

use super::VictimPolicy;
use crate::block::Blocks;
use crate::lists::Lists;

/// The block with the fewest valid pages; `ties` selects among equals. This policy minimises the
/// work of the current GC run, and is optimal under uniform load.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Greedy {
    /// Tie-breaking rule among blocks with equally few valid pages: the block that has had its
    /// current number of valid pages for the `longest` or the `shortest` time.
    pub ties: Ties,
}

/// Tie-breaking rule among blocks with equally few valid pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ties {
    /// The block that has had its current number of valid pages for the longest time.
    #[default]
    Longest,
    /// The block that has had its current number of valid pages for the shortest time.
    Shortest,
}

impl Cited for Greedy {
    const PAPER: &'static str = "W. Bux and I. Iliadis, Performance of greedy garbage collection in flash-based solid-state drives, Performance Evaluation 67(11), 2010";
}

/// Lists of blocks, one for each plane and number of valid pages. Every operation takes constant
/// time, except for the search for the next non-empty list, whose cost is amortised over the pages
/// that filled it.
///
/// The block of a plane whose number of valid pages changed last stays in its list until the number
/// of another block of the plane or the candidates change. A block that loses page after page, as
/// under sequential writes, is therefore moved only once.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    lists: Lists,
    counts: usize,
    planes: Vec<PlaneLists>,
    ties: Ties,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct PlaneLists {
    /// Lower bound of valid pages: the lists for fewer valid pages are empty.
    lowest: u32,
    /// Block whose number of valid pages changed last, or [`NONE`]. `valid` is that number.
    last: u32,
    valid: u32,
}

/// Value that marks the absence of a block.
const NONE: u32 = u32::MAX;

impl State {
    pub(super) fn memory(layout: &Layout, fill: Fill) -> Table {
        let lists = u64::from(layout.planes()) * (u64::from(layout.pages_per_block) + 1);
        Lists::memory(
            "GC candidates",
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
    /// Returns the next victim among the blocks of `plane` with `valid` valid pages; `None` if
    /// there are no such blocks.
    #[inline]
    fn first(&self, plane: Plane, valid: u32) -> Option<u32> {
        let list = self.list(plane, valid);
        match self.ties {
            Ties::Longest => self.lists.front(list),
            Ties::Shortest => self.lists.back(list),
        }
    }
    /// Returns the index of a list. Lists for the same number of valid pages are adjacent, so that
    /// blocks closed with all pages valid, as on a new device, touch little memory.
    #[inline]
    fn list(&self, plane: Plane, valid: u32) -> usize {
        valid as usize * self.planes.len() + plane.index()
    }
    /// Lowers the bound `lowest` of the plane to `valid`, if that is less.
    #[inline]
    fn lower(&mut self, plane: Plane, valid: u32) {
        let lowest = &mut self.planes[plane.index()].lowest;
        if valid < *lowest {
            *lowest = valid;
        }
    }
    /// Moves a block to the end of the list for `valid` valid pages, and lowers the bound `lowest`
    /// of the plane if necessary.
    #[inline]
    fn put(&mut self, plane: Plane, block: u32, valid: u32) {
        if self.lists.move_back(self.list(plane, valid), block) {
            self.lower(plane, valid);
        }
    }
    /// Moves the block whose number of valid pages changed last into the list for this number.
    fn settle(&mut self, plane: Plane) {
        let state = &mut self.planes[plane.index()];
        let (block, valid) = (std::mem::replace(&mut state.last, NONE), state.valid);
        if block != NONE {
            self.put(plane, block, valid);
        }
    }
    /// Appends a block with `valid` valid pages to its list.
    #[inline]
    fn insert(&mut self, plane: Plane, block: Block, valid: u32) {
        self.lower(plane, valid);
        self.lists.push_back(self.list(plane, valid), block.0);
    }
    /// Moves the block whose number of valid pages changed last into its list, then inserts another
    /// block. Kept out of line so that the common path need not save registers.
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

    /// Number of valid pages of a candidate, and the step since which it has had that number.
    type Held = Option<(u32, u32)>;

    /// Returns the block of `plane` with the fewest valid pages and, among equals, the one with the
    /// longest or shortest time at its number of valid pages. Reference implementation.
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
    fn ties_go_to_the_block_longest_at_its_number_of_valid_pages_by_default() {
        check_that_choices_equal_those_of_the_naive_list(Ties::Longest);
    }

    #[test]
    fn ties_go_to_the_block_shortest_at_its_number_of_valid_pages_if_configured() {
        check_that_choices_equal_those_of_the_naive_list(Ties::Shortest);
    }

    fn check_that_choices_equal_those_of_the_naive_list(ties: Ties) {
        let mut random = Rng::new(5, "greedy");
        let mut state = State::new(&Greedy { ties }, &LAYOUT, 1);
        let blocks = Blocks::new(LAYOUT);
        let mut held: Vec<Held> = vec![None; 24];
        let (mut last, mut chosen) = (0, 0);
        for step in 0..50_000 {
            // Half of the steps use the same block as the step before, as under sequential writes.
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
