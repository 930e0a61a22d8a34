//! Division of the host's pages into logical blocks, and of logical blocks among the planes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_nand::Plane;

use crate::Plan;
use crate::allocate::{Allocator, PlanePolicy};
use crate::lpn::Lpn;
use crate::mapping::LogicalBlock;

/// Striping of the pages of a device over logical blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Stripe {
    /// Consecutive pages share a logical block, and consecutive logical blocks go to the planes in
    /// turn.
    #[default]
    Block,
    /// Consecutive pages, or runs of `stripe_pages` pages, go to the planes in turn. A logical
    /// block contains pages of one plane only.
    Page,
}

/// Division of the host's pages into logical blocks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Shape {
    pub user_pages: u32,
    /// Number of pages per logical block.
    pub pages: u32,
    planes: u32,
    stripe: Stripe,
    /// Number of consecutive pages that go to the same plane.
    row: u32,
    /// Planes of the logical blocks, in a repeating cycle.
    homes: Vec<Plane>,
}

impl Shape {
    /// Creates the division into logical blocks of `data_blocks` blocks each.
    pub fn new(plan: &Plan, data_blocks: u32, stripe: Stripe, row: u32) -> Self {
        let allocator = Allocator::new(&plan.config.allocate, plan.dimensions);
        let planes = plan.layout.planes();
        let homes = (0..planes).map(|page| allocator.home(Lpn(page)).unwrap_or(Plane(page)));
        Self {
            user_pages: plan.user_pages,
            pages: data_blocks * plan.layout.pages_per_block,
            planes,
            stripe,
            row: row.max(1),
            homes: homes.collect(),
        }
    }
    /// Returns the number of consecutive logical blocks that consecutive pages fill together, one
    /// block of `pages` pages each. Returns `None` if runs of pages do not end at block boundaries.
    pub fn filled_together(&self, pages: u32) -> Option<u32> {
        match self.stripe {
            Stripe::Block => Some(1),
            Stripe::Page => pages.is_multiple_of(self.row).then_some(self.planes),
        }
    }
    /// Returns `true` if the fill of a device stores no entries until the run writes its pages.
    pub fn keeps_fill(&self, plan: &Plan) -> bool {
        let together = self.filled_together(plan.layout.pages_per_block);
        plan.keeps_fill && together.is_some()
    }
    /// Returns the number of logical blocks of the device.
    pub fn blocks(&self) -> u32 {
        match self.stripe {
            Stripe::Block => self.user_pages.div_ceil(self.pages),
            Stripe::Page => {
                let each = self.user_pages.div_ceil(self.planes * self.row) * self.row;
                each.div_ceil(self.pages) * self.planes
            }
        }
    }
    /// Returns the maximum number of logical blocks of a plane.
    pub fn blocks_of_a_plane(&self) -> u32 {
        self.blocks().div_ceil(self.planes)
    }
    /// Returns the logical block of a page, and the page's offset in it.
    #[inline]
    pub fn of(&self, page: Lpn) -> (LogicalBlock, u32) {
        match self.stripe {
            Stripe::Block => (LogicalBlock(page.0 / self.pages), page.0 % self.pages),
            Stripe::Page => {
                let (row, place) = (page.0 / self.row, page.0 % self.row);
                let turn = row % self.planes;
                let within = row / self.planes * self.row + place;
                let block = within / self.pages * self.planes + turn;
                (LogicalBlock(block), within % self.pages)
            }
        }
    }
    /// Returns the page at an offset of a logical block, or `None` if the host cannot address it.
    #[inline]
    pub fn page(&self, block: LogicalBlock, offset: u32) -> Option<Lpn> {
        let page = match self.stripe {
            Stripe::Block => u64::from(block.0) * u64::from(self.pages) + u64::from(offset),
            Stripe::Page => {
                let (row, turn) = (block.0 / self.planes, block.0 % self.planes);
                let within = u64::from(row) * u64::from(self.pages) + u64::from(offset);
                let length = u64::from(self.row);
                let row = within / length * u64::from(self.planes) + u64::from(turn);
                row * length + within % length
            }
        };
        (page < u64::from(self.user_pages)).then_some(Lpn(page as u32))
    }
    /// Returns the plane of a logical block.
    #[inline]
    pub fn home(&self, block: LogicalBlock) -> Plane {
        self.homes[(block.0 % self.planes) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs of three pages on four planes, with blocks of eight pages: pages 0 to 2 are on the
    /// first plane, pages 3 to 5 on the next. The fifth run is on the first plane again, after the
    /// first run. Every page has its own offset and is found there.
    #[test]
    fn runs_of_pages_go_to_the_planes_in_turn() {
        let shape = Shape {
            user_pages: 200,
            pages: 8,
            planes: 4,
            stripe: Stripe::Page,
            row: 3,
            homes: (0..4).map(Plane).collect(),
        };
        let of = |page| {
            let (block, offset) = shape.of(Lpn(page));
            (block.0, shape.home(block).0, offset)
        };
        assert_eq!([of(0), of(2)], [(0, 0, 0), (0, 0, 2)]);
        assert_eq!([of(3), of(5), of(11)], [(1, 1, 0), (1, 1, 2), (3, 3, 2)]);
        assert_eq!([of(12), of(24), of(26)], [(0, 0, 3), (0, 0, 6), (4, 0, 0)]);
        for page in 0..200 {
            let (block, offset) = shape.of(Lpn(page));
            assert!(block.0 < shape.blocks() && offset < 8);
            assert_eq!(shape.page(block, offset), Some(Lpn(page)));
        }
    }
}
