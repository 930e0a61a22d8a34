//! LRU stacks of a trace: behaviour of LRU lists of every size, from a few passes over the trace.

use wordline_cache::Ghosts;
use wordline_kernel::random::splitmix;
use wordline_partition::Kind;
use wordline_partition::period::Period;

use crate::source::Pages;

/// Number of requests between two progress reports.
const BEAT: usize = 1 << 16;

/// Error: the user stopped a pass.
pub(super) struct Stopped;

/// Requests for a sampled share of a trace's pages, which are selected by their hash. The stacks
/// represent the same share of the flash.
pub(super) struct Sampled<'a> {
    pages: &'a Pages,
    rate: f64,
    seed: u64,
}

/// Access to a page.
enum Event {
    Read,
    Write,
    Trim,
}

impl<'a> Sampled<'a> {
    pub(super) fn new(pages: &'a Pages, rate: f64, seed: u64) -> Self {
        Self { pages, rate, seed }
    }
    /// Returns the number of sampled pages that represent `pages` pages.
    pub(super) fn scaled(&self, pages: u32) -> u32 {
        ((f64::from(pages) * self.rate).round() as u32).max(1)
    }
    fn takes(&self, number: u32) -> bool {
        let limit = (self.rate * 2.0_f64.powi(64)) as u64;
        self.rate >= 1.0 || splitmix(u64::from(number) ^ splitmix(self.seed)) < limit
    }
    /// Calls `act` for each read and write of a sampled page, and for each TRIM. Stops if
    /// `goes_on`, which receives the share of the pass that is done, returns `false`.
    fn pass(
        &self,
        goes_on: &mut dyn FnMut(f64) -> bool,
        mut act: impl FnMut(u64, Event),
    ) -> Result<(), Stopped> {
        let requests = &self.pages.requests;
        let mut trims = self.pages.trims.iter().peekable();
        for (place, &number) in requests.numbers().iter().enumerate() {
            while let Some(trim) = trims.next_if(|trim| trim.place as usize <= place) {
                act(trim.entry.0.into(), Event::Trim);
            }
            if self.takes(number) {
                let write = requests.is_write(place);
                act(
                    number.into(),
                    if write { Event::Write } else { Event::Read },
                );
            }
            if place % BEAT == 0 && !goes_on(place as f64 / requests.len() as f64) {
                return Err(Stopped);
            }
        }
        Ok(())
    }
}

/// Counts of accesses by the stack segment of their page, and in total.
#[derive(Clone, Debug)]
pub(super) struct Depths {
    by_segment: Vec<u64>,
    total: u64,
}

impl Depths {
    fn new(segments: u32) -> Self {
        Self {
            by_segment: vec![0; segments as usize],
            total: 0,
        }
    }
    fn count(&mut self, segment: Option<usize>) {
        self.total += 1;
        if let Some(segment) = segment {
            self.by_segment[segment] += 1;
        }
    }
    pub(super) fn total(&self) -> u64 {
        self.total
    }
    /// Returns the accesses to the first `segments` segments; interpolates linearly within a
    /// segment. Count.
    pub(super) fn within(&self, segments: f64) -> f64 {
        let whole = (segments.floor() as usize).min(self.by_segment.len());
        let below: u64 = self.by_segment[..whole].iter().sum();
        let next = self.by_segment.get(whole).copied().unwrap_or(0);
        below as f64 + next as f64 * (segments - whole as f64).clamp(0.0, 1.0)
    }
}

/// Accesses by LRU stack depth, for a single list of reads and writes.
pub(super) struct Unified {
    pub(super) reads: Depths,
    pub(super) writes: Depths,
    /// Writes by the maximum depth of their page until the page was written again or the trace
    /// ended. A cache smaller than this depth writes the page back.
    pub(super) written: Depths,
}

impl Unified {
    pub(super) fn of(
        sampled: &Sampled,
        pages: u32,
        segments: u32,
        goes_on: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Self, Stopped> {
        let mut stack = stack(sampled, pages, segments);
        let mut found = Self {
            reads: Depths::new(segments),
            writes: Depths::new(segments),
            written: Depths::new(segments),
        };
        // Maximum segment of each page since it was written. Pages deeper than all segments have
        // the number of segments.
        let footprint = sampled.pages.footprint() as usize;
        let mut deepest: Vec<Option<usize>> = vec![None; footprint];
        sampled.pass(goes_on, |page, event| {
            let (Event::Read | Event::Write) = event else {
                stack.forget(page);
                deepest[page as usize] = None;
                return;
            };
            let segment = stack.touch(page).ok().flatten();
            let deep = &mut deepest[page as usize];
            let now = segment.unwrap_or(segments as usize);
            *deep = deep.map(|before| before.max(now));
            if matches!(event, Event::Read) {
                found.reads.count(segment);
                return;
            }
            found.writes.count(segment);
            if let Some(depth) = deep.replace(0) {
                found
                    .written
                    .count(Some(depth).filter(|&depth| depth < segments as usize));
            }
        })?;
        // At the end of the trace, a cache has written a dirty page back if the page was ever
        // deeper than the cache, or is so at the end.
        for (page, deep) in deepest.iter().enumerate() {
            if let Some(before) = deep {
                let now = stack.segment(page as u64).unwrap_or(segments as usize);
                let depth = *before.max(&now);
                found
                    .written
                    .count(Some(depth).filter(|&depth| depth < segments as usize));
            }
        }
        Ok(found)
    }
    /// Returns the pages that a cache of the first `segments` segments writes back. Count.
    pub(super) fn written_back(&self, segments: f64) -> f64 {
        self.written.total() as f64 - self.written.within(segments)
    }
}

/// Stack of a write list. Reads neither enter it nor change its order.
pub(super) struct Writes {
    pub(super) writes: Depths,
    /// Reads by the segment of their page in the write list.
    pub(super) reads: Depths,
}

impl Writes {
    pub(super) fn of(
        sampled: &Sampled,
        pages: u32,
        segments: u32,
        goes_on: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Self, Stopped> {
        let mut stack = stack(sampled, pages, segments);
        let mut found = Self {
            writes: Depths::new(segments),
            reads: Depths::new(segments),
        };
        sampled.pass(goes_on, |page, event| match event {
            Event::Read => found.reads.count(stack.segment(page)),
            Event::Write => found.writes.count(stack.touch(page).ok().flatten()),
            Event::Trim => stack.forget(page),
        })?;
        Ok(found)
    }
}

/// Returns the statistics of two lists over the whole trace. The write list is the first `held`
/// segments of its stack and serves reads of its pages.
pub(super) fn split(
    sampled: &Sampled,
    space: &wordline_partition::Space,
    segments: u32,
    held: u32,
    goes_on: &mut dyn FnMut(f64) -> bool,
) -> Result<Period, Stopped> {
    let scaled = wordline_partition::Space {
        total_pages: sampled.scaled(space.total_pages),
        ..*space
    };
    let mut period = Period::new(&scaled, segments);
    sampled.pass(goes_on, |page, event| {
        let written = period
            .written(page)
            .is_some_and(|segment| segment < held as usize);
        match event {
            Event::Write => period.page(page, Kind::Write, written),
            Event::Read if written => period.page(page, Kind::ReadOfWritten, true),
            Event::Read => period.page(page, Kind::Read, false),
            Event::Trim => period.trim(page),
        }
    })?;
    Ok(period)
}

fn stack(sampled: &Sampled, pages: u32, segments: u32) -> Ghosts {
    let size = sampled.scaled(pages).div_ceil(segments);
    Ghosts::new(segments as usize, size as usize)
}
