//! The `[cache]` table.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_cache::Replacement;
use wordline_partition::Partition;

use super::admission::Admission;

/// What becomes of reads and writes. The modes of bcache, dm-cache and Open CAS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Reads are taken in. Writes go below, and the cache forgets the pages. A crash loses nothing.
    #[default]
    WriteAround,
    /// Reads are taken in. Writes go below, and whole pages that the cache holds are written there, too; of others it forgets
    /// what it holds. A crash loses nothing.
    WriteThrough,
    /// Reads and writes are taken in. What is written lies in flash only, until it is destaged. A crash loses nothing that was
    /// acknowledged as long as the flash survives and there is a journal: dirty pages come back, and the cache is cold but for them. With the
    /// flash, all dirty pages are lost.
    WriteBack,
    /// As write-back, but reads that miss are not taken in.
    WriteOnly,
    /// Nothing is taken in: all requests go below.
    PassThrough,
}

impl Mode {
    /// Whether written pages stay in flash only.
    pub const fn keeps_writes(self) -> bool {
        matches!(self, Self::WriteBack | Self::WriteOnly)
    }
    /// Whether reads that miss are taken in.
    pub const fn takes_reads(self) -> bool {
        !matches!(self, Self::WriteOnly | Self::PassThrough)
    }
}

/// When the host hears of a request that was not served from flash alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reply {
    /// Of a read when the store below has answered; the pages are programmed behind its back. Of a write when its pages are programmed.
    #[default]
    Data,
    /// When the pages are programmed.
    Fill,
    /// When the pages are programmed and no block is being collected: the response time of Xia 2017, chapters 2 to 4.
    Collection,
}

/// What a cache that keeps writes does for the case that the power fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Records {
    /// It programs pages of records that say which dirty pages in flash are dead: what was acknowledged comes back, and nothing that is
    /// older. It holds fewer pages by those of the records, below 1 % with pages of 4 KiB.
    #[default]
    Records,
    /// Nothing: with the power, all dirty pages are lost.
    None,
}

/// How dirty pages get to the store below (`[cache.destage]`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Destage {
    /// Pages that leave together when a write needs room, those next to each other in one write below, in ascending order. Count, 1 to 4096.
    #[schemars(range(min = 1, max = 4096))]
    pub group_pages: u32,
    /// Share of the pages that may be written and be dirty above which pages are cleaned in the idle time of the store below; 1 leaves that to
    /// evictions. Ratio, above 0 up to 1.
    #[schemars(range(min = 0.000_001, max = 1))]
    pub high_ratio: f64,
    /// Share at which cleaning stops. Ratio, 0 to 1, at most `high_ratio`.
    #[schemars(range(min = 0, max = 1))]
    pub low_ratio: f64,
}

impl Default for Destage {
    fn default() -> Self {
        Self {
            group_pages: 1,
            high_ratio: 1.0,
            low_ratio: 0.9,
        }
    }
}

/// Flash in front of another store (`[cache]`): a cache merged with the translation layer of its flash.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// What becomes of reads and writes: `write-around`, `write-through`, `write-back`, `write-only` or `pass-through`.
    pub mode: Mode,
    /// How the flash is divided between reads, writes and over-provisioning.
    pub partition: Partition,
    /// Which page leaves, of each list.
    pub replacement: Replacement,
    /// Whether clean pages that left can be revived until their blocks are erased (FLRU, FARC).
    pub suspected_queue: bool,
    /// Whether a page that a collection drops is remembered as one that the policy has evicted, where the policy remembers any.
    pub ghosts_of_dropped: bool,
    /// Which pages that were missed are taken in.
    pub admission: Admission,
    /// When the host hears of a request: with the `data`, after the `fill`, or after the `collection` that it has caused.
    pub reply: Reply,
    /// How dirty pages get to the store below.
    pub destage: Destage,
    /// What is done for the case that the power fails, where writes stay in flash: `records` or `none`.
    pub journal: Records,
    /// Whether the last page of each block of the flash says what its other pages are: a page of the store below, which write of it, and whether it is
    /// newer there. Each block costs a program more and takes fewer pages; a recovery reads that page of full blocks, and spare
    /// areas of others only.
    pub block_summaries: bool,
}

impl Config {
    /// Whether dead pages are recorded in flash.
    pub fn keeps_records(&self) -> bool {
        self.mode.keeps_writes() && self.journal == Records::Records
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            mode: Mode::default(),
            partition: Partition::default(),
            replacement: Replacement::default(),
            suspected_queue: false,
            ghosts_of_dropped: true,
            admission: Admission::default(),
            reply: Reply::default(),
            destage: Destage::default(),
            journal: Records::default(),
            block_summaries: false,
        }
    }
}
