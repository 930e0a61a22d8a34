//! Configuration of the `[cache]` table.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_cache::Replacement;
use wordline_partition::Partition;

use super::admission::Admission;

/// Handling of reads and writes, with the modes of bcache, dm-cache and Open CAS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Reads are admitted. Writes go to the backing store and invalidate the pages in the cache. A
    /// crash loses no data.
    #[default]
    WriteAround,
    /// Reads are admitted. Writes go to the backing store. Whole pages that the cache holds are
    /// also updated in flash; partially written pages are invalidated. A crash loses no data.
    WriteThrough,
    /// Reads and writes are admitted. Written data is in flash only until it is destaged. With a
    /// journal, a crash loses no acknowledged data as long as the flash survives: dirty pages are
    /// restored, and the cache is otherwise empty. If the flash is lost, so are all dirty pages.
    WriteBack,
    /// As write-back, but read misses are not admitted.
    WriteOnly,
    /// Nothing is admitted: all requests go to the backing store.
    PassThrough,
}

impl Mode {
    /// Returns `true` if written pages stay in flash until they are destaged.
    pub const fn keeps_writes(self) -> bool {
        matches!(self, Self::WriteBack | Self::WriteOnly)
    }
    /// Returns `true` if read misses can be admitted.
    pub const fn takes_reads(self) -> bool {
        !matches!(self, Self::WriteOnly | Self::PassThrough)
    }
}

/// Completion rule for requests that are not served from flash alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reply {
    /// A read completes when the backing store has returned the data; the pages are programmed
    /// later. A write completes when its pages are programmed.
    #[default]
    Data,
    /// A request completes when its pages are programmed.
    Fill,
    /// A request completes when its pages are programmed and no GC is in progress, as in the
    /// response times of Xia 2017, chapters 2 to 4.
    Collection,
}

/// Protection of dirty pages against power failure, for modes that keep writes in flash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Records {
    /// Record pages in flash list the dead dirty pages, so that recovery restores acknowledged data
    /// and no older data. The record pages reduce the capacity of the cache, by less than 1 % with
    /// pages of 4 KiB.
    #[default]
    Records,
    /// No records are programmed: a power failure loses all dirty pages.
    None,
}

/// Destaging of dirty pages to the backing store (`[cache.destage]`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Destage {
    /// Number of pages evicted together when a page needs space, and maximum number of dirty pages
    /// cleaned together. The dirty pages of a group are destaged in ascending order, with adjacent
    /// pages in one write. Count, 1 to 4096.
    #[schemars(range(min = 1, max = 4096))]
    pub group_pages: u32,
    /// Share of dirty pages in the capacity for written pages, above which pages are cleaned while
    /// the backing store is idle. 1 leaves cleaning to evictions. Ratio, above 0 up to 1.
    #[schemars(range(min = 0.000_001, max = 1))]
    pub high_ratio: f64,
    /// Share of dirty pages at which cleaning stops. Ratio, 0 to 1, at most `high_ratio`.
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

/// Flash cache in front of a backing store (`[cache]`), merged with the translation layer of its
/// flash.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Handling of reads and writes. `write-around`: reads are admitted; writes go to the backing
    /// store and invalidate the pages in the cache. `write-through`: like `write-around`, but whole
    /// pages that the cache holds are also updated in flash. `write-back`: reads and writes are
    /// admitted; written data is in flash only until it is destaged. `write-only`: like
    /// `write-back`, but read misses are not admitted. `pass-through`: nothing is admitted.
    pub mode: Mode,
    /// Division of the flash between reads, writes and over-provisioning.
    pub partition: Partition,
    /// Replacement policy of the cache, or of each list if `cache.partition` divides the cache into
    /// two lists.
    pub replacement: Replacement,
    /// Whether evicted clean pages can be revived until their blocks are erased (FLRU, FARC).
    pub suspected_queue: bool,
    /// Whether a page that GC drops becomes a ghost, if the replacement policy has ghosts.
    pub ghosts_of_dropped: bool,
    /// Admission policy for missed pages.
    pub admission: Admission,
    /// Completion rule for requests that are not served from flash alone. `data`: a read completes
    /// when its data arrives. `fill`: a request completes when its pages are programmed.
    /// `collection`: it completes when its pages are programmed and no GC run is in progress.
    pub reply: Reply,
    /// Destaging of dirty pages to the backing store.
    pub destage: Destage,
    /// Protection of dirty pages against power failure, if writes stay in flash. `records`: record
    /// pages in flash list the dirty pages that are obsolete, so that a recovery restores
    /// acknowledged data and no older data. `none`: a power failure loses all dirty pages.
    pub journal: Records,
    /// Whether the last page of each block is a summary of its other pages: their page in the
    /// backing store, their write number, and whether they are dirty. Each block takes one more
    /// program and holds one data page fewer. Recovery reads only the summaries of full blocks; it
    /// reads spare areas only in other blocks.
    pub block_summaries: bool,
}

impl Config {
    /// Returns `true` if the configuration records dead pages in flash.
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
