//! Hit curves of a period of requests, for read and write caches of every size (OP-FCL's workload
//! tracker).

use std::num::NonZeroU32;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_cache::{Ghosts, Index};
use wordline_kernel::memory::Table;
use wordline_miss_ratio::ShardsSize;

use crate::cost::Load;
use crate::space::{Kind, Space};

/// Memory of a sampled stack's counters by distance: 8,192 exact distances and 4,096 buckets per
/// further power of two, twice while the table grows. Bytes.
const DISTANCES_BYTES: u64 = 2 * 8 * (8_192 + 51 * 4_096);

/// Method of counting hits in lists of every size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Counting {
    /// Hits are counted in ghost lists as long as the whole flash, as in the source, where the
    /// lists take about 1 % of the flash.
    #[default]
    Ghosts,
    /// Hits are counted with SHARDS, in stacks of at most `sample_pages` pages that persist across
    /// periods.
    Shards,
}

/// Stack whose hits are counted by depth.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Stack {
    Ghosts(Ghosts),
    Shards(Box<ShardsSize>),
}

impl Stack {
    /// Records a request for a page, which is then the most recent. Ignores the page if no entry
    /// number is left.
    #[inline]
    fn touch(&mut self, page: u64) {
        match self {
            Self::Ghosts(ghosts) => {
                ghosts.touch(page).ok();
            }
            Self::Shards(shards) => shards.extend([page]),
        }
    }
    /// Removes a page that has left the list that the stack represents.
    fn forget(&mut self, page: u64) {
        match self {
            Self::Ghosts(ghosts) => ghosts.forget(page),
            Self::Shards(shards) => shards.forget(page),
        }
    }
    fn forget_hits(&mut self) {
        match self {
            Self::Ghosts(ghosts) => ghosts.forget_hits(),
            Self::Shards(shards) => shards.forget_requests(),
        }
    }
    fn bytes(&self) -> u64 {
        match self {
            Self::Ghosts(ghosts) => ghosts.bytes(),
            Self::Shards(shards) => shards.bytes(),
        }
    }
    /// Returns the number of hits in lists of every length, from 0 to all segments.
    fn hits(&self, segments: u32, segment_pages: u32) -> Vec<u64> {
        match self {
            Self::Ghosts(ghosts) => {
                let ends = ghosts.hits().scan(0, |sum, hits| {
                    *sum += hits;
                    Some(*sum)
                });
                std::iter::once(0).chain(ends).collect()
            }
            Self::Shards(shards) => {
                let curve = shards.curve();
                let at = |segment| curve.hits(u64::from(segment) * u64::from(segment_pages));
                std::iter::once(0).chain((1..=segments).map(at)).collect()
            }
        }
    }
}

/// Inputs of the cost model. They are counts of pages and two LRU stacks, one of reads and one of
/// writes. Each stack is as long as the whole flash and has hit counters for its segments, or holds
/// a sample of the pages.
///
/// A write removes its page from the stack of reads, as in the cache. A read that the write list
/// serves counts in the stack of writes, where its page becomes the most recent one.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Period {
    reads: Stack,
    writes: Stack,
    segments: u32,
    segment_pages: u32,
    total_pages: u32,
    requests: u64,
    counts: Counts,
}

/// Pages requested in a period.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Reads that the write list did not serve.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Writes that hit in the write list.
    pub write_hits: u64,
    /// Reads that the write list served.
    pub reads_of_written: u64,
}

impl Counts {
    /// Returns the number of pages of all kinds.
    pub fn pages(&self) -> u64 {
        self.reads + self.writes + self.reads_of_written
    }
}

/// Hit curve through the ends of equal segments, linear between them.
#[derive(Clone, Debug, PartialEq)]
pub struct HitCurve {
    /// Cumulative hits up to the end of each segment, starting with 0.
    hits: Vec<u64>,
    requests: u64,
    segment_pages: u32,
    total_pages: u32,
}

impl HitCurve {
    /// Returns the share of the requests that hit in a cache of `pages` pages; 0 without requests.
    pub fn hit_ratio(&self, pages: f64) -> f64 {
        if self.requests == 0 {
            return 0.0;
        }
        let last = self.hits.len() - 1;
        let before = ((pages / f64::from(self.segment_pages)) as usize).min(last);
        let end = |segment: usize| {
            let pages = segment as f64 * f64::from(self.segment_pages);
            pages.min(f64::from(self.total_pages))
        };
        let (low, high) = (self.hits[before], self.hits[(before + 1).min(last)]);
        let width = end(before + 1) - end(before);
        let part = if width > 0.0 {
            (pages - end(before)) / width
        } else {
            0.0
        };
        let hits = low as f64 + (high - low) as f64 * part.clamp(0.0, 1.0);
        hits / self.requests as f64
    }
}

fn segment_pages(space: &Space, segments: u32) -> u32 {
    space.total_pages.div_ceil(segments.max(1)).max(1)
}

impl Period {
    /// Creates an empty period for a flash of `segments` segments.
    pub fn new(space: &Space, segments: u32) -> Self {
        let segment_pages = segment_pages(space, segments);
        let stack = || Stack::Ghosts(Ghosts::new(segments as usize, segment_pages as usize));
        Self::of(space, segments, [stack(), stack()])
    }
    /// Creates an empty period with stacks of a sample of at most `pages` pages each; the seed
    /// determines the sample.
    pub fn sampled(space: &Space, segments: u32, pages: NonZeroU32, seed: u64) -> Self {
        let stack = || Stack::Shards(Box::new(ShardsSize::new(pages, seed)));
        Self::of(space, segments, [stack(), stack()])
    }
    fn of(space: &Space, segments: u32, [reads, writes]: [Stack; 2]) -> Self {
        Self {
            reads,
            writes,
            segments: segments.max(1),
            segment_pages: segment_pages(space, segments),
            total_pages: space.total_pages,
            requests: 0,
            counts: Counts::default(),
        }
    }
    /// Returns the maximum memory, which is that of two stacks of all pages.
    pub fn memory(space: &Space) -> [Table; 2] {
        let stack = |name| Ghosts::memory(name, space.total_pages.into());
        [stack("ghosts of reads"), stack("ghosts of writes")]
    }
    /// Returns the maximum memory if each stack is a sample of `pages` pages: hash, number and
    /// stack position per page, and distances in buckets.
    pub fn memory_of_sample(pages: NonZeroU32) -> [Table; 2] {
        let pages = u64::from(pages.get());
        let stack = |name| {
            let numbers = Index::memory(name, pages).most;
            let by_page = 6 * size_of::<u64>() as u64;
            Table::grown::<u8>(name, numbers + pages * by_page + DISTANCES_BYTES)
        };
        [stack("sample of reads"), stack("sample of writes")]
    }
    /// Returns the memory currently allocated. Bytes.
    pub fn bytes(&self) -> u64 {
        self.reads.bytes() + self.writes.bytes()
    }
    /// Records the start of a request.
    pub fn request(&mut self) {
        self.requests += 1;
    }
    /// Returns the number of requests since the period began.
    pub fn requests(&self) -> u64 {
        self.requests
    }
    /// Returns the counts of pages since the period began.
    pub fn counts(&self) -> Counts {
        self.counts
    }
    /// Records a page of a request. If no entry number is left, the page is counted, but enters no
    /// stack.
    pub fn page(&mut self, page: u64, kind: Kind, hit: bool) {
        match kind {
            Kind::Read => {
                self.counts.reads += 1;
                self.reads.touch(page);
            }
            Kind::ReadOfWritten => {
                self.counts.reads_of_written += 1;
                self.writes.touch(page);
            }
            Kind::Write => {
                self.counts.writes += 1;
                self.counts.write_hits += u64::from(hit);
                self.reads.forget(page);
                self.writes.touch(page);
            }
        }
    }
    /// Removes a trimmed page.
    pub fn trim(&mut self, page: u64) {
        self.reads.forget(page);
        self.writes.forget(page);
    }
    /// Returns the segment of the stack of writes that contains a page; `None` if none does, or if
    /// the stack holds a sample.
    pub fn written(&self, page: u64) -> Option<usize> {
        match &self.writes {
            Stack::Ghosts(writes) => writes.segment(page),
            Stack::Shards(_) => None,
        }
    }
    /// Returns the number of pages of the flash.
    pub fn total_pages(&self) -> u32 {
        self.total_pages
    }
    /// Returns the hit curve of reads that the write list did not serve.
    pub fn reads(&self) -> HitCurve {
        self.curve(&self.reads, self.counts.reads)
    }
    /// Returns the hit curve of writes and of reads that the write list served.
    pub fn writes(&self) -> HitCurve {
        let requests = self.counts.writes + self.counts.reads_of_written;
        self.curve(&self.writes, requests)
    }
    fn curve(&self, stack: &Stack, requests: u64) -> HitCurve {
        HitCurve {
            hits: stack.hits(self.segments, self.segment_pages),
            requests,
            segment_pages: self.segment_pages,
            total_pages: self.total_pages,
        }
    }
    /// Returns the result of `choose` for the request statistics of the period; `None` without
    /// requests.
    pub fn load<T>(&self, choose: impl FnOnce(&Load) -> T) -> Option<T> {
        let Counts {
            reads,
            write_hits,
            reads_of_written,
            ..
        } = self.counts;
        let pages = self.counts.pages();
        if pages == 0 {
            return None;
        }
        let (read_curve, write_curve) = (self.reads(), self.writes());
        let reads_ratio = reads as f64 / pages as f64;
        let hits = (write_hits + reads_of_written).max(1);
        Some(choose(&Load {
            read_hit_ratio: &|pages| read_curve.hit_ratio(pages),
            write_hit_ratio: &|pages| write_curve.hit_ratio(pages),
            reads: reads_ratio,
            writes: 1.0 - reads_ratio,
            reads_of_write_hits: reads_of_written as f64 / hits as f64,
        }))
    }
    /// Begins a new period: counters are reset, the stacks persist.
    pub fn start(&mut self) {
        self.reads.forget_hits();
        self.writes.forget_hits();
        self.requests = 0;
        self.counts = Counts::default();
    }
}
