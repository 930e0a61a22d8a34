//! Counters of a flash cache.

use serde::{Deserialize, Serialize};
use wordline_kernel::{Time, since};

/// Counters since the start of the measurement, in pages of the cache unless stated otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheStats {
    /// Pages of reads that hit in a list.
    pub resident_hits: u64,
    /// Pages of reads that hit in the suspected queue and were revived.
    pub suspected_hits: u64,
    /// Pages of reads that another request was already fetching.
    pub joined: u64,
    /// Pages of reads that were fetched and admitted.
    pub misses: u64,
    /// Pages of reads that were fetched and not admitted.
    pub bypassed: u64,
    /// Pages of read hits that the flash could not correct and that were then read from the backing
    /// store.
    pub hits_uncorrectable: u64,
    /// Pages whose latest content was lost. The flash could not read the page when it was destaged,
    /// the backing store could not write it, or the rest of a partially written page could not be
    /// read.
    pub pages_lost: u64,
    /// Pages of requests that ended with an error. These are reads of lost pages or of
    /// uncorrectable pages that are only in flash, partial writes of such pages, and failures of
    /// the backing store. Also counts flushes while pages are lost.
    pub host_failures: u64,
    /// Read requests without a lost page that caused no read of the backing store. Requests.
    pub reads_hit: u64,
    /// Reads started. Requests.
    pub reads: u64,
    /// Writes started. Requests.
    pub writes: u64,
    /// Pages programmed after a miss.
    pub fills: u64,
    /// Cached pages programmed with the data of a write (write-through).
    pub updates: u64,
    /// Pages removed from the cache because they were written or trimmed, or because an operation
    /// on their copies failed.
    pub invalidated: u64,
    /// Record pages programmed, which list dead pages in flash for recovery after a power failure.
    pub records: u64,
    /// Block summaries programmed.
    pub summaries: u64,
    /// Pages of read hits in the write list; with one list, dirty pages.
    pub written_hits: u64,
    /// Write hits: pages that are written to flash only and were in the cache.
    pub write_hits: u64,
    /// Pages of write hits in the write list, or evicted from it and still in flash; with one list,
    /// dirty pages.
    pub write_hits_written: u64,
    /// Write misses: pages that are written to flash only and were not in the cache.
    pub write_misses: u64,
    /// Pages of writes that bypassed a cache that keeps writes in flash.
    pub writes_bypassed: u64,
    /// Pages read from the backing store because a write covered only part of them.
    pub rests: u64,
    /// Changes of the target sizes. Count.
    pub divisions: u64,
    /// Pages destaged, by purpose: another page needed the space, too many pages were dirty, or a
    /// list shrank.
    pub destages: [Destaged; 3],
}

/// Destages for one purpose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Destaged {
    /// Pages destaged.
    pub pages: u64,
    /// Writes to the backing store. Count.
    pub writes: u64,
    /// Groups of pages. Count.
    pub groups: u64,
    /// Time from the start of a destage until the space of its last page is released, summed over
    /// the groups. Includes the flush and the records of the group, if any.
    pub time: Time,
}

since!(Destaged: pages, writes, groups, time);
since!(CacheStats: resident_hits, suspected_hits, joined, misses, bypassed, hits_uncorrectable, pages_lost, host_failures, reads_hit,
    reads, writes, fills, updates, invalidated, records, summaries, written_hits, write_hits, write_hits_written, write_misses,
    writes_bypassed, rests, divisions, destages);

impl CacheStats {
    /// Returns the number of pages that reads requested.
    pub fn pages_read(&self) -> u64 {
        self.resident_hits + self.suspected_hits + self.joined + self.misses + self.bypassed
    }
    /// Returns the number of pages that reads requested, by look-up result.
    pub(super) fn found(&self) -> [u64; 4] {
        let missed = self.misses + self.bypassed;
        [self.resident_hits, self.suspected_hits, self.joined, missed]
    }
    /// Returns the number of pages of host writes that stay in flash.
    pub fn pages_written(&self) -> u64 {
        self.write_hits + self.write_misses
    }
    /// Returns the read hit ratio by page: the share of pages read that caused no read of the
    /// backing store. A page that another request was already fetching is a hit; an uncorrectable
    /// page is not. `None` before the first page.
    pub fn hit_ratio(&self) -> Option<f64> {
        let pages = self.pages_read();
        let hits = self.resident_hits + self.suspected_hits + self.joined;
        let hits = hits - self.hits_uncorrectable;
        (pages > 0).then(|| hits as f64 / pages as f64)
    }
}
