//! Destaging: reads dirty pages from flash and writes them to the backing store in ascending order,
//! with adjacent pages in one write.

use std::ops::Range;

use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};
use wordline_block::{BlockDevice, LatencyComponents, Op, Request};
use wordline_ftl::Lpn;
use wordline_kernel::{Probe, Time};

use super::event::Observation;
use super::records::Next;
use super::tier::{Sub, Task};
use super::versions::Durability;
use super::{Cached, Instant, Result};

/// Reason for destaging pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Purpose {
    /// Another page needs the space.
    Demand,
    /// Too many pages are dirty, or the flash accepts no more programs.
    Clean,
    /// The list that holds the pages shrinks.
    Resize,
}

/// Group of pages that are destaged together.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Destage {
    purpose: Purpose,
    /// Pages in ascending order, with their copies in flash.
    pages: Vec<(u64, Lpn)>,
    stream: u32,
    /// Number of outstanding operations: reads, then writes, then the flush.
    left: u32,
    /// Whether a flush makes the writes durable, instead of FUA on each write.
    is_flushed: bool,
    begun: Time,
    /// Sum of the latency components of the last read, the last write and the flush, as far as they
    /// have completed.
    parts: LatencyComponents,
    /// Programs that wait for the space of the group, with the start of their wait.
    waiting: Vec<(u32, Time)>,
}

impl<B: BlockDevice> Cached<B> {
    /// Evicts a group of pages if eviction works in groups and the list that `page` is about to
    /// enter is full.
    pub(super) fn evict_group(&mut self, page: u64, write: bool) {
        self.give_way(page, write);
        let group = self.plan.group_pages as usize;
        if group < 2 {
            return;
        }
        let (residents, pages) = self.flash.mapping_mut().parts();
        let list = residents.list(write);
        if residents.find(page).is_none() && residents.is_full(list) {
            residents.evict(list, group, pages);
        }
    }
    /// Makes room for a page that has entered a list. Its program `sub` starts when the pages
    /// evicted for it are destaged and the other events of `waiting` have occurred. A program that
    /// `replaces` a copy needs no additional space, so it waits only for pages evicted for it.
    pub(super) fn make_room(
        &mut self,
        cx: Instant<'_, '_, B, impl Probe<Observation<B::Observation>>>,
        sub: Sub,
        waiting: Option<u32>,
        replaces: bool,
    ) -> Result<(), B> {
        let Some(destage) = self.room_from(cx, sub.request.stream, replaces)? else {
            return match waiting {
                Some(_) => Ok(()),
                None => self.ask_flash(cx, sub),
            };
        };
        let waiting = waiting.unwrap_or_else(|| self.hold(sub));
        self.delay(waiting);
        if let Some(destage) = self.destages.get_mut(destage) {
            destage.waiting.push((waiting, cx.now));
        }
        Ok(())
    }
    /// Destages evicted pages on behalf of a page that needs no program, such as a revived page.
    pub(super) fn let_go(
        &mut self,
        cx: Instant<'_, '_, B, impl Probe<Observation<B::Observation>>>,
        stream: u32,
    ) -> Result<(), B> {
        self.destage_victims(cx, stream)?;
        Ok(())
    }
    /// Destages the evicted dirty pages whose destaging has not started. Returns the number of the
    /// destage, or `None` if there are no such pages.
    fn destage_victims(
        &mut self,
        cx: Instant<'_, '_, B, impl Probe<Observation<B::Observation>>>,
        stream: u32,
    ) -> Result<Option<u32>, B> {
        let (residents, _) = self.flash.mapping_mut().parts();
        let mut victims = Vec::new();
        residents.victims(&mut victims);
        if victims.is_empty() {
            return Ok(None);
        }
        let destage = self.destage(cx, Purpose::Demand, stream, victims)?;
        Ok(Some(destage))
    }
    /// Returns the destage that a program must wait for, or `None` if space is free. If pages were
    /// evicted for the program, it waits for their destage. Otherwise, if the cache is full, it
    /// waits for the latest destage, unless it replaces a copy.
    fn room_from(
        &mut self,
        cx: Instant<'_, '_, B, impl Probe<Observation<B::Observation>>>,
        stream: u32,
        replaces: bool,
    ) -> Result<Option<u32>, B> {
        let leaving = self.residents().leaving() as usize;
        if leaving == 0 {
            return Ok(None);
        }
        if let Some(destage) = self.destage_victims(cx, stream)? {
            return Ok(Some(destage));
        }
        let is_full = self.residents().len() + leaving > self.division.room();
        Ok(self.latest_destage.filter(|_| is_full && !replaces))
    }
    /// Starts a destage: reads the pages from flash. Returns the number of the destage.
    pub(super) fn destage(
        &mut self,
        cx: Instant<'_, '_, B, impl Probe<Observation<B::Observation>>>,
        purpose: Purpose,
        stream: u32,
        mut pages: Vec<(u64, Lpn)>,
    ) -> Result<u32, B> {
        pages.sort_unstable_by_key(|(page, _)| *page);
        let number = self.destages.add(Destage {
            purpose,
            pages: pages.clone(),
            stream,
            left: pages.len() as u32,
            is_flushed: false,
            begun: cx.now,
            parts: LatencyComponents::default(),
            waiting: Vec::new(),
        });
        self.latest_destage = Some(number);
        self.in_background += u32::from(purpose != Purpose::Demand);
        for (page, copy) in pages {
            if self.writing.contains_key(&page) {
                self.stalled.insert(page, (number, copy));
            } else {
                self.read_victim(cx, number, (page, copy))?;
            }
        }
        Ok(number)
    }
    /// Removes a page from the destage that waits for its write, if there is one. The page is
    /// resident again, or is about to be removed from the cache.
    pub(super) fn keep(
        &mut self,
        cx: Instant<'_, '_, B, impl Probe<Observation<B::Observation>>>,
        page: u64,
    ) -> Result<(), B> {
        let Some((number, _)) = self.stalled.remove(&page) else {
            return Ok(());
        };
        if let Some(destage) = self.destages.get_mut(number) {
            destage.pages.retain(|(other, _)| *other != page);
        }
        self.victim_read(cx, number, &LatencyComponents::default())
    }
    pub(super) fn read_victim(
        &mut self,
        cx: Instant<'_, '_, B, impl Probe<Observation<B::Observation>>>,
        destage: u32,
        (page, copy): (u64, Lpn),
    ) -> Result<(), B> {
        self.check_flash(page, copy)?;
        let stream = self
            .destages
            .get_mut(destage)
            .map_or(0, |destage| destage.stream);
        let sub = Sub {
            request: self.at_copy(Op::Read, copy, stream, cx.now),
            task: Task::Victim { destage, page },
        };
        self.ask_flash(cx, sub)
    }
    /// Counts a page of a group as read. After the last page, writes the group to the backing
    /// store.
    pub(super) fn victim_read(
        &mut self,
        cx: Instant<'_, '_, B, impl Probe<Observation<B::Observation>>>,
        number: u32,
        parts: &LatencyComponents,
    ) -> Result<(), B> {
        let Some(destage) = self.destages.get_mut(number) else {
            return Ok(());
        };
        destage.left -= 1;
        if destage.left > 0 {
            return Ok(());
        }
        destage.parts = *parts;
        let stream = destage.stream;
        if destage.pages.is_empty() {
            return self.end_destage(cx, number);
        }
        let runs = runs(&destage.pages, &self.lost);
        let pages = (0..).zip(&destage.pages);
        let lost = pages.filter(|(_, (page, _))| self.lost.contains(page));
        let mut lost: Vec<u32> = lost.map(|(place, _)| place).collect();
        let bytes = u64::from(self.plan.page_bytes);
        // Pages recorded as dead must be on the disk, not in its write cache. A single write has
        // FUA. Several writes are followed by a flush, so that the disk can choose their order.
        let is_recorded = self.plan.journal.is_some();
        destage.is_flushed = is_recorded && self.plan.is_backing_volatile && runs.len() > 1;
        let fua = is_recorded && !destage.is_flushed;
        if destage.is_flushed {
            // Lost pages are released after the flush, together with the others.
            lost.clear();
        }
        destage.left = (runs.len() + lost.len()) as u32;
        for (first, page, pages) in runs {
            let end = ((page + u64::from(pages)) * bytes).min(self.backing.user_bytes());
            let sub = Sub {
                request: Request {
                    stream,
                    op: Op::Write,
                    fua,
                    offset: page * bytes,
                    bytes: end - page * bytes,
                    arrival: cx.now,
                },
                task: Task::Destage {
                    destage: number,
                    first,
                    pages,
                },
            };
            self.ask_below(cx, sub)?;
        }
        for place in lost {
            let parts = &LatencyComponents::default();
            self.written_out(cx, Durability::Durable, number, (place, 1), parts)?;
        }
        Ok(())
    }
    /// Handles a completed write of a group on the backing store, or the completed flush after its
    /// last write.
    pub(super) fn destage_done(
        &mut self,
        cx: Instant<'_, '_, B, impl Probe<Observation<B::Observation>>>,
        request: &Request,
        number: u32,
        pages: (u32, u32),
        parts: &LatencyComponents,
    ) -> Result<(), B> {
        let Some(destage) = self.destages.get_mut(number) else {
            return Ok(());
        };
        if request.op == Op::Write {
            self.figures.destages[destage.purpose as usize].writes += 1;
            if destage.is_flushed {
                destage.left -= 1;
                return match destage.left {
                    0 => self.flush_destage(cx, number, parts),
                    _ => Ok(()),
                };
            }
        }
        let held = self.durability(cx.now, request);
        self.written_out(cx, held, number, pages, parts)
    }
    fn flush_destage(
        &mut self,
        cx: Instant<'_, '_, B, impl Probe<Observation<B::Observation>>>,
        number: u32,
        parts: &LatencyComponents,
    ) -> Result<(), B> {
        let Some(destage) = self.destages.get_mut(number) else {
            return Ok(());
        };
        destage.parts.add(parts);
        destage.left = 1;
        let request = Request {
            stream: destage.stream,
            op: Op::Flush,
            fua: false,
            offset: 0,
            bytes: 0,
            arrival: cx.now,
        };
        let task = Task::Destage {
            destage: number,
            first: 0,
            pages: destage.pages.len() as u32,
        };
        self.ask_below(cx, Sub { request, task })
    }
    /// Handles pages of a group that are on the backing store, or are lost. Their space is released
    /// at once if the number of unrecorded dead pages permits it, otherwise after they are
    /// recorded.
    fn written_out(
        &mut self,
        cx: Instant<'_, '_, B, impl Probe<Observation<B::Observation>>>,
        held: Durability,
        number: u32,
        (first, count): (u32, u32),
        parts: &LatencyComponents,
    ) -> Result<(), B> {
        let mut due = Vec::new();
        let Some(destage) = self.destages.get_mut(number) else {
            return Ok(());
        };
        let pages = &destage.pages[first as usize..(first + count) as usize];
        if let Some(versions) = &mut self.versions {
            let kept = pages.iter().filter(|(page, _)| !self.lost.contains(page));
            for (page, copy) in kept {
                versions.destaged(*page, *copy, held);
            }
        }
        if let Some(journal) = &self.flash.mapping().owner().journal
            && !journal.bears(count as usize)
        {
            due.extend(pages.iter().filter_map(|(page, _)| journal.due(*page)));
        }
        if !self.waits_for_records(cx, due, Next::Destage(number, (first, count)), parts)? {
            self.destaged(cx, number, (first, count), parts)?;
        }
        Ok(())
    }
    /// Releases the space of pages of a group. After the last page, the destage ends.
    pub(super) fn destaged(
        &mut self,
        cx: Instant<'_, '_, B, impl Probe<Observation<B::Observation>>>,
        number: u32,
        (first, count): (u32, u32),
        parts: &LatencyComponents,
    ) -> Result<(), B> {
        let Some(destage) = self.destages.get_mut(number) else {
            return Ok(());
        };
        let (residents, pages) = self.flash.mapping_mut().parts();
        let of_purpose = &mut self.figures.destages[destage.purpose as usize];
        for &(page, copy) in &destage.pages[first as usize..(first + count) as usize] {
            residents.destaged(copy, pages);
            if self.lost.contains(&page) {
                residents.remove(page, pages);
            } else {
                of_purpose.pages += 1;
            }
        }
        destage.left -= 1;
        if destage.left > 0 {
            return Ok(());
        }
        destage.parts.add(parts);
        self.end_destage(cx, number)
    }
    fn end_destage(
        &mut self,
        cx: Instant<'_, '_, B, impl Probe<Observation<B::Observation>>>,
        number: u32,
    ) -> Result<(), B> {
        let Some(destage) = self.destages.remove(number) else {
            return Ok(());
        };
        let of_purpose = &mut self.figures.destages[destage.purpose as usize];
        of_purpose.groups += 1;
        of_purpose.time += cx.now - destage.begun;
        self.in_background -= u32::from(destage.purpose != Purpose::Demand);
        self.latest_destage = self.latest_destage.filter(|latest| *latest != number);
        cx.observe_fragment(|| Observation::Held(self.holding()));
        for (waiting, since) in destage.waiting {
            let behind = LatencyComponents {
                disk_queue: cx.now - since,
                ..LatencyComponents::default()
            };
            let is_first = since == destage.begun;
            self.hasten(cx, waiting, if is_first { &destage.parts } else { &behind })?;
        }
        self.unblock(cx)
    }
    /// Returns the number of pages in a byte range that a power cut would remove from the backing
    /// store, but that are still in flash because the flush of their group has not completed. Pages
    /// of the backing store.
    pub(super) fn volatile_in_flash(&self, range: Range<u64>) -> u32 {
        let bytes = u64::from(self.plan.page_bytes);
        let flushed = self.destages.values().filter(|destage| destage.is_flushed);
        let runs = flushed.flat_map(|destage| runs(&destage.pages, &self.lost));
        runs.map(|(_, page, pages)| {
            let begin = range.start.max(page * bytes);
            let end = range.end.min((page + u64::from(pages)) * bytes);
            let has_some = begin < end;
            if has_some {
                self.backing.volatile_pages(begin, end - begin)
            } else {
                0
            }
        })
        .sum()
    }
    /// Returns the number of dirty pages in a byte range that a power cut would lose because there
    /// is no journal.
    pub(super) fn unjournaled(&self, offset: u64, bytes: u64) -> u32 {
        let residents = self.residents();
        if self.plan.journal.is_some() || residents.dirty() == 0 {
            return 0;
        }
        let page_bytes = u64::from(self.plan.page_bytes);
        let pages = offset / page_bytes..(offset + bytes).div_ceil(page_bytes);
        pages.filter(|page| residents.is_dirty(*page)).count() as u32
    }
    /// Destages dirty pages while the backing store is idle and too many pages are dirty. At the
    /// end of the flash's life, destages all dirty pages, one group at a time, even if the backing
    /// store is busy.
    pub(super) fn clean(
        &mut self,
        cx: Instant<'_, '_, B, impl Probe<Observation<B::Observation>>>,
    ) -> Result<(), B> {
        let goes_on = self.takes_programs();
        let (high, low) = if goes_on { self.plan.marks } else { (0.0, 0.0) };
        if high >= 1.0 || self.in_background > 0 || goes_on && !self.below.is_idle() {
            return Ok(());
        }
        let writing = &self.writing;
        let (residents, _) = self.flash.mapping_mut().parts();
        let most = residents.limits().last().unwrap_or_default() as f64;
        let dirty = f64::from(residents.dirty());
        self.is_cleaning = dirty > if self.is_cleaning { low } else { high } * most;
        if !self.is_cleaning {
            return Ok(());
        }
        let mut pages = Vec::new();
        let count = self.plan.group_pages as usize;
        residents.dirty_residents(count, |page| !writing.contains_key(&page), &mut pages);
        if !pages.is_empty() {
            self.destage(cx, Purpose::Clean, 0, pages)?;
        }
        Ok(())
    }
}

/// Splits pages into runs of adjacent pages, without the `lost` pages. Returns index, page number
/// and length of each run.
fn runs(pages: &[(u64, Lpn)], lost: &FxHashSet<u64>) -> Vec<(u32, u64, u32)> {
    let mut runs: Vec<(u32, u64, u32)> = Vec::new();
    let kept = (0..).zip(pages);
    for (place, (page, _)) in kept.filter(|(_, (page, _))| !lost.contains(page)) {
        match runs.last_mut() {
            Some((_, first, count)) if *first + u64::from(*count) == *page => *count += 1,
            _ => runs.push((place, *page, 1)),
        }
    }
    runs
}
