//! Block summaries: the last pages of a block, which list the records of its other pages.
//!
//! OP-FCL stores its map in this way (Oh et al. 2012, section 5: "at the last page of each block"),
//! like the segment summaries of a log-structured file system (Rosenblum and Ousterhout 1992).
//! Recovery then reads the summary of a full block instead of the spare areas of all its pages.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use wordline_nand::{Block, Layout, Ppn};

/// Size of a summary per listed page: owner with a flag for dirty data, version, and placement
/// number, eight bytes each. Bytes.
const ENTRY_BYTES: u32 = 24;

/// Page of a block summary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SummaryPage {
    /// Location of the summary page.
    pub place: Ppn,
    /// Pages that the summary page lists, by their numbers in the array.
    pub of: Range<u32>,
}

/// Size of the summary of each block. No summaries by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summaries {
    /// Number of summary pages per block, which are the last pages of the block.
    pub pages: u32,
    /// Maximum number of pages listed per summary page.
    pub per_page: u32,
}

impl Summaries {
    /// Returns the smallest summary that lists all other pages of a block.
    pub fn of(pages_per_block: u32, page_bytes: u32) -> Self {
        let per_page = (page_bytes / ENTRY_BYTES).max(1);
        Self {
            pages: pages_per_block.div_ceil(per_page + 1),
            per_page,
        }
    }
    /// Returns `true` if blocks have summaries.
    #[inline]
    pub fn exist(self) -> bool {
        self.pages > 0
    }
    /// Iterates over the summary pages of a block, in order.
    pub fn of_block(self, layout: &Layout, block: Block) -> impl Iterator<Item = SummaryPage> {
        let data = layout.pages_per_block - self.pages;
        let first = layout.page(block, 0).0;
        (0..self.pages).map(move |page| {
            let from = (page * self.per_page).min(data);
            let to = (from + self.per_page).min(data);
            SummaryPage {
                place: Ppn(first + data + page),
                of: first + from..first + to,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wordline_nand::Geometry;

    #[test]
    fn summary_lists_every_other_page_once_in_as_few_pages_as_possible() {
        for (pages_per_block, page_bytes) in
            [(8, 4096), (64, 4096), (256, 4096), (768, 16384), (100, 512)]
        {
            let geometry = Geometry {
                planes_per_die: 1,
                blocks_per_plane: 3,
                pages_per_block,
                page_bytes,
                ..Geometry::default()
            };
            let layout = Layout::new(&geometry, 1).unwrap();
            let summaries = Summaries::of(pages_per_block, page_bytes);
            let pages: Vec<SummaryPage> = summaries.of_block(&layout, Block(1)).collect();
            let places: Vec<u32> = pages.iter().map(|page| page.place.0).collect();
            let told: Vec<u32> = pages.iter().flat_map(|page| page.of.clone()).collect();
            let all = [told, places].concat();
            assert_eq!(
                all,
                (pages_per_block..2 * pages_per_block).collect::<Vec<u32>>()
            );
            assert!(
                pages
                    .iter()
                    .all(|page| page.of.len() as u32 * 24 <= page_bytes && !page.of.is_empty())
            );
            let fewer = summaries.pages - 1;
            assert!(fewer * (page_bytes / 24) < pages_per_block - fewer);
        }
        assert_eq!(Summaries::of(64, 4096).pages, 1);
    }
}
