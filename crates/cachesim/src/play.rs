//! Runs a policy over the requests of a trace.

use serde::{Deserialize, Serialize};
use wordline_cache::{Counts, Entry, Owner, Replace, Replacing};

use super::source::{Pages, Trim};
use super::{CacheError, Chosen, Size};

/// Results of one policy and size, simulated on a flash cache in front of a disk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct FlashSide {
    /// Size of the cache in whole blocks. Pages.
    pub capacity_pages: u64,
    pub hit_ratio: Option<f64>,
    /// Read hits of pages that had been evicted and could still be read. Count.
    pub revived: u64,
    pub page_programs: u64,
    pub write_amplification: Option<f64>,
    pub erases: u64,
    pub mean_us: Option<f64>,
    pub lifetime_years: Option<f64>,
    pub disk_utilisation: Option<f64>,
}

/// Results of one policy and size. Miss ratios are per page request; those of reads and of writes
/// are `None` without such requests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Run {
    /// Policy with its parameters.
    pub policy: String,
    pub size_pages: u64,
    pub size_bytes: u64,
    /// Size relative to the distinct pages of the trace.
    pub footprint_ratio: f64,
    pub requests: u64,
    pub hits: u64,
    pub misses: u64,
    pub miss_ratio: f64,
    pub reads: u64,
    pub read_hits: u64,
    pub read_miss_ratio: Option<f64>,
    pub writes: u64,
    pub write_hits: u64,
    pub write_miss_ratio: Option<f64>,
    pub evictions: u64,
    /// Evicted pages that had been written since their insertion.
    pub write_backs: u64,
    /// Results on flash; `None` if flash was not simulated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flash: Option<FlashSide>,
}

impl Run {
    /// Creates the results of a policy over a trace. `policy` is the label of the policy.
    pub fn new(policy: String, size_pages: u64, counts: &Counts, pages: &Pages) -> Self {
        let misses = |hits: u64, of: u64| (of > 0).then(|| (of - hits) as f64 / of as f64);
        let reads = counts.requests - counts.writes;
        let read_hits = counts.hits - counts.write_hits;
        Self {
            policy,
            size_pages,
            size_bytes: size_pages.saturating_mul(pages.input.page_bytes),
            footprint_ratio: size_pages as f64 / pages.footprint().max(1) as f64,
            requests: counts.requests,
            hits: counts.hits,
            misses: counts.misses(),
            miss_ratio: misses(counts.hits, counts.requests).unwrap_or(1.0),
            reads,
            read_hits,
            read_miss_ratio: misses(read_hits, reads),
            writes: counts.writes,
            write_hits: counts.write_hits,
            write_miss_ratio: misses(counts.write_hits, counts.writes),
            evictions: counts.evictions,
            write_backs: counts.write_backs,
            flash: None,
        }
    }
}

impl Pages {
    /// Returns the number of pages of a cache of this size. Fails as [`Size::pages`] does.
    pub fn size(&self, size: Size) -> Result<u64, CacheError> {
        size.pages(self.input.page_bytes, self.footprint())
    }
    /// Runs a policy with `size` pages over the whole trace, from an empty cache.
    pub fn run(&self, chosen: &Chosen, size: u64) -> Run {
        let policy = Replacing::new(&chosen.policy, size as usize);
        Run::new(chosen.label.clone(), size, &play(policy, self), self)
    }
}

/// Runs a policy over a trace, from an empty cache.
pub fn play(mut policy: impl Replace, pages: &Pages) -> Counts {
    if pages.trims.is_empty() {
        return policy.replay(&pages.requests);
    }
    one_by_one(&mut policy, pages, |_, _| true)
}

/// Runs a policy request by request. `goes_on` receives the index of each request; the run stops
/// when it returns `false`.
pub(super) fn one_by_one<P: Replace>(
    policy: &mut P,
    pages: &Pages,
    mut goes_on: impl FnMut(&P, usize) -> bool,
) -> Counts {
    let requests = &pages.requests;
    let next = if policy.needs_next_use() {
        upcoming(pages)
    } else {
        Vec::new()
    };
    let mut owner = Leaving {
        keys: &pages.keys,
        dirty: vec![false; requests.footprint() as usize],
        evictions: 0,
        write_backs: 0,
    };
    let mut counts = Counts::default();
    let mut trims = pages.trims.iter().peekable();
    for (place, &number) in requests.numbers().iter().enumerate() {
        while let Some(trim) = trims.next_if(|trim| trim.place as usize <= place) {
            owner.dirty[trim.entry.index()] = false;
            policy.remove(trim.entry, &mut owner);
        }
        if let Some(&next) = next.get(place) {
            policy.set_next_use(next);
        }
        let (entry, write) = (Entry(number), requests.is_write(place));
        let hit = u64::from(policy.access(entry, write, &mut owner));
        counts.requests += 1;
        counts.hits += hit;
        if write {
            counts.writes += 1;
            counts.write_hits += hit;
            owner.dirty[entry.index()] = true;
        }
        if !goes_on(policy, place) {
            break;
        }
    }
    Counts {
        evictions: owner.evictions,
        write_backs: owner.write_backs,
        ..counts
    }
}

/// Returns for each request the index of the next request for its page; `u32::MAX` if there is none
/// or if the page is trimmed before.
fn upcoming(pages: &Pages) -> Vec<u32> {
    let requests = &pages.requests;
    let mut coming = vec![u32::MAX; requests.footprint() as usize];
    let mut next = vec![u32::MAX; requests.len()];
    let mut trims = pages.trims.iter().rev().peekable();
    for (place, &number) in requests.numbers().iter().enumerate().rev() {
        // The TRIMs taken from the iterator are between this request and the next one.
        while let Some(Trim { entry, .. }) = trims.next_if(|trim| trim.place as usize > place) {
            coming[entry.index()] = u32::MAX;
        }
        next[place] = std::mem::replace(&mut coming[number as usize], place as u32);
    }
    next
}

/// Owner that tracks the dirty bits of a run and counts evictions.
struct Leaving<'a> {
    /// Page number of each entry; empty unless page numbers are kept.
    keys: &'a [u64],
    dirty: Vec<bool>,
    evictions: u64,
    write_backs: u64,
}

impl Owner for Leaving<'_> {
    fn key(&self, entry: Entry) -> u64 {
        let key = self.keys.get(entry.index());
        key.copied().unwrap_or(entry.0.into())
    }
    fn is_dirty(&self, entry: Entry) -> bool {
        self.dirty[entry.index()]
    }
    fn evicted(&mut self, entry: Entry) {
        self.evictions += 1;
        self.write_backs += u64::from(std::mem::take(&mut self.dirty[entry.index()]));
    }
}
