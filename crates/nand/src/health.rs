//! What ages the data of blocks: how often they were read, and how long their data has lain.

use serde::{Deserialize, Serialize};
use wordline_kernel::Time;
use wordline_kernel::memory::{Fill, Table};
use wordline_reliability::Read;

use crate::{Block, Layout};

/// Reads of every block since its erase, and when its first page was programmed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Health {
    pages_per_block: u32,
    #[serde(with = "wordline_kernel::dense")]
    reads: Vec<u32>,
    /// By block: 1 + the picosecond in which its first page was programmed since the erase; 0 of data that was there before
    /// the run.
    #[serde(with = "wordline_kernel::dense")]
    since: Vec<u64>,
}

impl Health {
    /// Of blocks that were never read.
    pub fn new(layout: &Layout) -> Self {
        let blocks = layout.blocks() as usize;
        Self {
            pages_per_block: layout.pages_per_block,
            reads: vec![0; blocks],
            since: vec![0; blocks],
        }
    }
    /// What it takes of memory.
    pub fn memory(layout: &Layout, fill: Fill) -> [Table; 2] {
        let blocks = u64::from(layout.blocks());
        [
            Table::zeroed::<u32>("reads of blocks", blocks, fill.physical),
            Table::zeroed::<u64>("ages of blocks", blocks, fill.physical),
        ]
    }
    /// A page of a block has been sensed.
    #[inline]
    pub fn read(&mut self, block: Block) {
        let reads = &mut self.reads[block.index()];
        *reads = reads.saturating_add(1);
    }
    /// The first page of a block has been programmed.
    #[inline]
    pub fn begun(&mut self, now: Time, block: Block) {
        self.since[block.index()] = now.0 + 1;
    }
    /// A block has been erased.
    #[inline]
    pub fn erased(&mut self, block: Block) {
        self.reads[block.index()] = 0;
        self.since[block.index()] = 0;
    }
    /// Reads of every block since its erase.
    pub fn reads(&self) -> &[u32] {
        &self.reads
    }
    /// What a read of the first page of a block meets that was erased so often.
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
