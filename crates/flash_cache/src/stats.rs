//! What a cache has done.

use serde::{Deserialize, Serialize};
use wordline_kernel::{Time, since};

/// Counts since measuring began, of pages of the cache if nothing else is said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheStats {
    /// Pages of reads that were resident.
    pub resident_hits: u64,
    /// Pages of reads that were suspected, and revived.
    pub suspected_hits: u64,
    /// Pages of reads that another request was fetching.
    pub joined: u64,
    /// Pages of reads that were fetched and taken in.
    pub misses: u64,
    /// Pages of reads that were fetched and not taken in.
    pub bypassed: u64,
    /// Pages of reads among the hits that the flash could not correct, and that were read from below.
    pub hits_uncorrectable: u64,
    /// Pages of which nothing holds the newest content any more: the flash could not read them, or the store below not take them, when they
    /// were destaged; or the rest of a page that was written in part could not be read below.
    pub pages_lost: u64,
    /// Pages of requests that ended with an error: reads of pages that are lost or that only the flash holds and cannot correct, writes in
    /// part of such pages, and what the store below could not do; and flushes while pages are lost.
    pub host_failures: u64,
    /// Reads that the flash alone has served. Requests.
    pub reads_hit: u64,
    /// Reads. Requests.
    pub reads: u64,
    /// Writes. Requests.
    pub writes: u64,
    /// Pages programmed because they were missed.
    pub fills: u64,
    /// Pages programmed because they were written (write-through).
    pub updates: u64,
    /// Pages forgotten because they were written or trimmed.
    pub invalidated: u64,
    /// Pages of records programmed: what is dead in flash, for the case that the power fails.
    pub records: u64,
    /// Pages of block summaries programmed.
    pub summaries: u64,
    /// Pages of reads that were newer than the store below. They are among the hits.
    pub written_hits: u64,
    /// Pages of writes that stay in flash and were held already.
    pub write_hits: u64,
    /// Of those, pages of the list of what was written; with one list, pages that were newer than the store below.
    pub write_hits_written: u64,
    /// Pages of writes that stay in flash and were not held.
    pub write_misses: u64,
    /// Pages of writes that passed by, where writes stay in flash.
    pub writes_bypassed: u64,
    /// Pages read from below because a write left a part of them.
    pub rests: u64,
    /// How often the space was divided anew.
    pub divisions: u64,
    /// What was destaged: because a page needed the room, because too many were dirty, because a list shrank.
    pub destages: [Destaged; 3],
}

/// What was destaged for a purpose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Destaged {
    /// Pages.
    pub pages: u64,
    /// Writes below.
    pub writes: u64,
    /// Groups.
    pub groups: u64,
    /// Time from the first read of a group to its last write, summed over the groups.
    pub time: Time,
}

since!(Destaged: pages, writes, groups, time);
since!(CacheStats: resident_hits, suspected_hits, joined, misses, bypassed, hits_uncorrectable, pages_lost, host_failures, reads_hit,
    reads, writes, fills, updates, invalidated, records, summaries, written_hits, write_hits, write_hits_written, write_misses,
    writes_bypassed, rests, divisions, destages);

impl CacheStats {
    /// Pages of reads.
    pub fn pages_read(&self) -> u64 {
        self.resident_hits + self.suspected_hits + self.joined + self.misses + self.bypassed
    }
    /// Pages of reads by what was found of them.
    pub(super) fn found(&self) -> [u64; 4] {
        let missed = self.misses + self.bypassed;
        [self.resident_hits, self.suspected_hits, self.joined, missed]
    }
    /// Pages of writes that stay in flash.
    pub fn pages_written(&self) -> u64 {
        self.write_hits + self.write_misses
    }
    /// Share of the pages of reads that nothing was read from below for; `None` before the first.
    pub fn hit_ratio(&self) -> Option<f64> {
        let pages = self.pages_read();
        let hits = self.resident_hits + self.suspected_hits + self.joined;
        let hits = hits - self.hits_uncorrectable;
        (pages > 0).then(|| hits as f64 / pages as f64)
    }
}
