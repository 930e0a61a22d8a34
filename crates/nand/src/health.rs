//! Inputs of data ageing per block: reads since the erase, and retention time.

use serde::{Deserialize, Serialize};
use wordline_kernel::Time;
use wordline_kernel::memory::{Fill, Table};
use wordline_reliability::Read;

use crate::{Block, Layout};

/// Reads of each block since its erase, and the time at which its first page was programmed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Health {
    pages_per_block: u32,
    #[serde(with = "wordline_kernel::dense")]
    reads: Vec<u32>,
    /// Per block, 1 + the time in picoseconds at which its first page was programmed since the
    /// erase; 0 if the block is erased or its data are older than the run.
    #[serde(with = "wordline_kernel::dense")]
    since: Vec<u64>,
}

impl Health {
    /// Creates the state of blocks that were never read.
    pub fn new(layout: &Layout) -> Self {
        let blocks = layout.blocks() as usize;
        Self {
            pages_per_block: layout.pages_per_block,
            reads: vec![0; blocks],
            since: vec![0; blocks],
        }
    }
    /// Returns the tables of the state, with the memory of each.
    pub fn memory(layout: &Layout, fill: Fill) -> [Table; 2] {
        let blocks = u64::from(layout.blocks());
        [
            Table::zeroed::<u32>("reads of blocks", blocks, fill.physical),
            Table::zeroed::<u64>("ages of blocks", blocks, fill.physical),
        ]
    }
    /// Counts a read of a page of the block.
    #[inline]
    pub fn read(&mut self, block: Block) {
        let reads = &mut self.reads[block.index()];
        *reads = reads.saturating_add(1);
    }
    /// Records the program of the first page of a block.
    #[inline]
    pub fn begun(&mut self, now: Time, block: Block) {
        self.since[block.index()] = now.0 + 1;
    }
    /// Records the erase of a block.
    #[inline]
    pub fn erased(&mut self, block: Block) {
        self.reads[block.index()] = 0;
        self.since[block.index()] = 0;
    }
    /// Returns the number of reads of each block since its erase, in block order.
    pub fn reads(&self) -> &[u32] {
        &self.reads
    }
    /// Returns the conditions of a read at `now` of the first page of a block with `erases` erases.
    #[inline]
    pub fn of(&self, now: Time, block: Block, erases: u32) -> Read {
        let since = self.since[block.index()].checked_sub(1).map(Time);
        Read {
            erases,
            reads: self.reads[block.index()],
            lain: since.map(|since| now.since(since)),
            now,
            pages: self.pages_per_block,
            block: block.0,
            page: 0,
            is_single_level: false,
        }
    }
}
