//! Operations that wait until records are in flash: see [`super::journal`].

use serde::{Deserialize, Serialize};
use wordline_block::{BlockDevice, LatencyComponents, Op, Request};
use wordline_ftl::Lpn;
use wordline_kernel::{Probe, Time};

use super::event::Observation;
use super::tier::{Sub, Task};
use super::{Cached, Instant, Result};

/// Action to take once the records of an operation are programmed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Next {
    /// Completion of a write or TRIM on the backing store.
    Below(Sub),
    /// Release of the pages of a group that were written to the backing store: number of the
    /// destage, index of the first page, and number of pages.
    Destage(u32, (u32, u32)),
}

/// Operation that waits until its records are programmed.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Demand {
    records: Vec<(u64, u64)>,
    /// Number of these records that have been put into a record page.
    begun: usize,
    next: Next,
    since: Time,
    parts: LatencyComponents,
}

/// Operations that wait for records, in order of arrival. If no more records can be programmed,
/// they wait for the retirement of the cache.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Demands {
    all: std::collections::VecDeque<Demand>,
    /// Whether a record page is being programmed.
    is_programming: bool,
}

impl<B: BlockDevice> Cached<B> {
    /// Returns the records that are due because a request writes pages to the backing store.
    /// Partially written dirty pages stay current, so they need no record.
    pub(super) fn due_of(&self, request: &Request) -> Vec<(u64, u64)> {
        let residents = self.residents();
        let Some(journal) = &residents.journal else {
            return Vec::new();
        };
        if request.op == Op::Flush {
            return Vec::new();
        }
        let pages = self.pages_of(request);
        let gone = pages.filter(|page| self.covers(request, *page) || !residents.is_dirty(*page));
        gone.filter_map(|page| journal.due(page)).collect()
    }
    /// Makes an operation wait for its records, if it has any. Returns `true` if it waits.
    pub(super) fn waits_for_records(
        &mut self,
        cx: Instant<'_, '_, B, impl Probe<Observation<B::Observation>>>,
        records: Vec<(u64, u64)>,
        next: Next,
        parts: &LatencyComponents,
    ) -> Result<bool, B> {
        if records.is_empty() {
            return Ok(false);
        }
        let demand = Demand {
            records,
            begun: 0,
            next,
            since: cx.now,
            parts: *parts,
        };
        if !self.takes_programs() {
            return self.waits_for_retirement(cx, demand);
        }
        self.demands.all.push_back(demand);
        self.program_records(cx)?;
        Ok(true)
    }
    /// Handles an operation that needs records when the flash accepts no more programs: makes it
    /// wait for the retirement of the cache if necessary. Returns `true` if it waits.
    ///
    /// Destages need not wait, because a restored copy is destaged again. Writes to the backing
    /// store must wait, because a restored copy would be older.
    fn waits_for_retirement(
        &mut self,
        cx: Instant<'_, '_, B, impl Probe<Observation<B::Observation>>>,
        demand: Demand,
    ) -> Result<bool, B> {
        let Next::Below(mut sub) = demand.next else {
            return Ok(false);
        };
        sub.request = self.without_dirty_ends(cx, sub.request)?;
        for page in self.pages_of(&sub.request) {
            if self.residents().is_dirty(page) {
                self.keep(cx, page)?;
                let (residents, pages) = self.flash.mapping_mut().parts();
                self.figures.invalidated += u64::from(residents.remove(page, pages));
            }
        }
        let next = Next::Below(sub);
        self.demands.all.push_back(Demand { next, ..demand });
        self.unblock(cx)?;
        Ok(true)
    }
    /// Removes the first and the last page from a TRIM if it covers them only partially and they
    /// are dirty. The TRIM then no longer delays the destaging of these pages.
    fn without_dirty_ends(
        &mut self,
        cx: Instant<'_, '_, B, impl Probe<Observation<B::Observation>>>,
        request: Request,
    ) -> Result<Request, B> {
        let bytes = u64::from(self.plan.page_bytes);
        let pages = self.pages_of(&request);
        let mut rest = request;
        for page in [pages.start, pages.end - 1] {
            let is_left = self.pages_of(&rest).contains(&page);
            if !is_left || self.covers(&request, page) || !self.residents().is_dirty(page) {
                continue;
            }
            let end = rest.offset + rest.bytes;
            if page == pages.start {
                rest.offset = end.min((page + 1) * bytes);
                rest.bytes = end - rest.offset;
            } else {
                rest.bytes = page * bytes - rest.offset;
            }
            self.write_over(cx, page)?;
        }
        Ok(rest)
    }
    /// Handles a record page that could not be programmed: no record can be programmed from then
    /// on.
    pub(super) fn not_recorded(
        &mut self,
        cx: Instant<'_, '_, B, impl Probe<Observation<B::Observation>>>,
    ) -> Result<(), B> {
        self.demands.is_programming = false;
        for demand in std::mem::take(&mut self.demands.all) {
            let mut parts = demand.parts;
            parts.disk_queue += cx.now - demand.since;
            if let Next::Destage(destage, pages) = demand.next {
                self.destaged(cx, destage, pages, &parts)?;
            } else {
                self.waits_for_retirement(cx, demand)?;
            }
        }
        Ok(())
    }
    /// Retires the cache if the flash accepts no more programs and none of its pages is dirty. The
    /// backing store then has the latest content of every page. A power cut does not change these
    /// pages in the backing store if they have copies in flash. The controller marks the cache as
    /// retired next to its table of bad blocks, so that nothing is restored after a power cut.
    /// Waiting operations continue.
    pub(super) fn retire(
        &mut self,
        cx: Instant<'_, '_, B, impl Probe<Observation<B::Observation>>>,
    ) -> Result<(), B> {
        let (residents, pages) = self.flash.mapping_mut().parts();
        if residents.dirty() > 0 {
            return Ok(());
        }
        let Some(journal) = residents.journal.take() else {
            return Ok(());
        };
        journal.held().for_each(|page| pages.discard(page));
        self.figures.records = journal.programs();
        for demand in std::mem::take(&mut self.demands.all) {
            if let Next::Below(sub) = demand.next {
                let mut parts = demand.parts;
                parts.disk_queue += cx.now - demand.since;
                self.below_done(cx, &sub, &parts)?;
            }
        }
        Ok(())
    }
    fn program_records(
        &mut self,
        cx: Instant<'_, '_, B, impl Probe<Observation<B::Observation>>>,
    ) -> Result<(), B> {
        if self.demands.is_programming || self.demands.all.is_empty() {
            return Ok(());
        }
        if !self.takes_programs() {
            return self.not_recorded(cx);
        }
        let (residents, pages) = self.flash.mapping_mut().parts();
        let Some(journal) = &mut residents.journal else {
            return Ok(());
        };
        let mut records = Vec::new();
        for demand in &mut self.demands.all {
            let left = &demand.records[demand.begun..];
            let taken = left.len().min(journal.per_page() - records.len());
            records.extend_from_slice(&left[..taken]);
            demand.begun += taken;
        }
        let copy = journal.begin(records);
        pages.reserve(copy);
        self.demands.is_programming = true;
        let sub = Sub {
            request: self.at_copy(Op::Write, copy, 0, cx.now),
            task: Task::Record { copy },
        };
        self.ask_flash(cx, sub)
    }
    /// Handles a programmed record page. The operations whose records are all programmed continue.
    pub(super) fn recorded(
        &mut self,
        cx: Instant<'_, '_, B, impl Probe<Observation<B::Observation>>>,
        copy: Lpn,
        asked: Time,
        parts: &LatencyComponents,
    ) -> Result<(), B> {
        let (residents, pages) = self.flash.mapping_mut().parts();
        if let Some(journal) = &mut residents.journal {
            for unneeded in journal.recorded(copy) {
                pages.discard(unneeded);
            }
        }
        let demands = &mut self.demands.all;
        let over = demands
            .iter()
            .position(|demand| demand.begun < demand.records.len());
        let over = over.unwrap_or(demands.len());
        let behind = demands.split_off(over);
        let over = std::mem::replace(demands, behind);
        // Operations that continue may need more records. These are appended to the remaining ones.
        for demand in over {
            let mut all = demand.parts;
            all.disk_queue += asked - demand.since;
            all.add(parts);
            match demand.next {
                Next::Below(sub) => self.below_done(cx, &sub, &all)?,
                Next::Destage(destage, pages) => self.destaged(cx, destage, pages, &all)?,
            }
        }
        self.demands.is_programming = false;
        self.program_records(cx)
    }
}
