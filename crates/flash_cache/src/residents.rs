//! Pages of a cache, as the owner of the logical pages of its flash.
//!
//! Resident pages are in one list, or in a read list and a write list. A dirty page that is evicted
//! from its list keeps its copy and its entry until it has been destaged.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use wordline_cache::{Copies, Entry, Found, Full, Index, Replacing, Suspecting};
use wordline_ftl::Lpn;
use wordline_ftl::mapping::owned::Pages;
use wordline_ftl::owner::{Claims, Owner};
use wordline_ftl::recovery::{Flash, Label};
use wordline_kernel::memory::Table;
use wordline_kernel::since;
use wordline_nand::Ppn;

use super::journal::{Journal, Kind};
use super::plan::Plan;

/// Pages of the backing store that the cache tracks, including evicted ones. The number of a page's
/// entry is its logical page in the flash.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Residents {
    index: Index,
    /// One list for all pages, or the read list and the write list.
    lists: Vec<Suspecting>,
    states: States,
    ghosts_of_dropped: bool,
    counts: Counts,
    /// Number of page writes so far. It continues after a power cut, as in a device that finds the
    /// greatest number in its flash.
    sequence: u64,
    /// Number of the latest write of each entry's page.
    #[serde(with = "wordline_kernel::dense")]
    writes: Vec<u64>,
    /// Journal of dead pages, if writes stay in flash and dead pages are recorded. `None` once the
    /// cache is retired, which survives power cuts.
    pub(super) journal: Option<Box<Journal>>,
    /// Plan of the cache, to recreate the state after a power failure.
    plan: Box<Plan>,
}

/// Number of pages that left the cache, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Pages evicted by the replacement policy, because a list was full or had to shrink.
    pub evicted: u64,
    /// Pages dropped by GC.
    pub dropped: u64,
    /// Suspected pages lost because their blocks were erased.
    pub suspected_lost: u64,
}

since!(Counts: evicted, dropped, suspected_lost);

/// State of a page in flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// Page in a list.
    Resident,
    /// Evicted page that can still be read.
    Suspected,
    /// Evicted dirty page that has not been destaged yet.
    Leaving,
}

/// Page that a request has made resident.
#[derive(Clone, Copy, Debug)]
pub(super) struct Accessed {
    pub copy: Lpn,
    pub found: Found,
    /// Whether the flash holds a copy of the page.
    pub has_copy: bool,
    /// Whether the page had been evicted while dirty and had not been destaged yet.
    pub was_leaving: bool,
}

/// Dirty state and destaging state of each entry.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct States {
    #[serde(with = "wordline_kernel::dense")]
    flags: Vec<u8>,
    /// Number of dirty pages, including evicted ones.
    dirty: u32,
    /// Number of dirty pages that have been evicted.
    left: u32,
    /// Evicted dirty pages whose destaging has not started.
    victims: Vec<Entry>,
    /// Entry at which the search for pages to clean continues.
    hand: u32,
}

/// Flag: the page is newer than its copy in the backing store.
const DIRTY: u8 = 1;
/// Flag: the page is being destaged.
const DESTAGING: u8 = 2;
/// Flag: the page has been evicted from its list.
const LEFT: u8 = 4;

impl States {
    fn is(&self, entry: Entry, flag: u8) -> bool {
        self.flags[entry.index()] & flag != 0
    }
    fn enter(&mut self, entry: Entry) {
        if self.flags.len() <= entry.index() {
            self.flags.resize(entry.index() + 1, 0);
        }
    }
    fn written(&mut self, entry: Entry) {
        self.dirty += u32::from(!self.is(entry, DIRTY));
        self.flags[entry.index()] |= DIRTY;
    }
    fn leave(&mut self, entry: Entry) {
        self.flags[entry.index()] |= LEFT;
        self.left += 1;
        if !self.is(entry, DESTAGING) {
            self.victims.push(entry);
        }
    }
    /// Cancels the eviction and the destaging of an entry that is requested again. Returns `true`
    /// if the entry had been evicted.
    fn stay(&mut self, entry: Entry) -> bool {
        let left = self.is(entry, LEFT);
        if left {
            self.flags[entry.index()] &= !(LEFT | DESTAGING);
            self.left -= 1;
        }
        left
    }
    /// Marks an entry as clean. Returns `true` if the entry had been evicted.
    fn clean(&mut self, entry: Entry) -> bool {
        let flags = std::mem::take(&mut self.flags[entry.index()]);
        self.dirty -= u32::from(flags & DIRTY != 0);
        self.left -= u32::from(flags & LEFT != 0);
        flags & LEFT != 0
    }
}

/// Copies of entries in flash, as seen by the lists while a request changes them.
struct InFlash<'a> {
    index: &'a mut Index,
    pages: &'a mut Pages,
    states: &'a mut States,
    evicted: u64,
}

fn lpn(entry: Entry) -> Lpn {
    Lpn(entry.0)
}

impl Residents {
    /// Returns the memory estimate of the pages known to the cache: residents, suspected pages, and
    /// as many ghosts as residents.
    pub(super) fn memory(plan: &Plan) -> Vec<Table> {
        let room = u64::from(plan.space.most_pages);
        let suspected = u64::from(plan.most_suspected);
        let known = room.saturating_mul(2).saturating_add(suspected);
        let mut tables = vec![
            Index::memory("pages known to the cache", known),
            // Per page, a node in the list of the policy and a node in the list of suspected pages.
            Table::grown::<[u64; 2]>("lists of the cache", known),
            Table::grown::<(u64, u32, u8)>("state of the cache's pages", known),
        ];
        if plan.journal.is_some() {
            tables.extend(Journal::memory(plan.space.total_pages, room));
        }
        tables
    }
}

impl Copies for InFlash<'_> {
    fn is_dirty(&self, entry: Entry) -> bool {
        self.states.is(entry, DIRTY)
    }
    fn evicted(&mut self, entry: Entry, suspect: bool) -> bool {
        self.evicted += 1;
        if self.states.is(entry, DIRTY) {
            self.states.leave(entry);
            return false;
        }
        if suspect {
            return self.pages.suspect(lpn(entry));
        }
        self.pages.discard(lpn(entry));
        false
    }
    fn revived(&mut self, entry: Entry) {
        self.pages.revive(lpn(entry));
    }
    fn discarded(&mut self, entry: Entry) {
        self.pages.discard(lpn(entry));
    }
    fn forgotten(&mut self, entry: Entry) {
        if !self.states.is(entry, LEFT) {
            self.index.free(entry);
        }
    }
}

/// Copies of entries, as seen by the lists while dirty pages are restored from flash in the order
/// of their writes.
struct Returning<'a>(&'a mut Index, &'a mut States);

impl Copies for Returning<'_> {
    fn is_dirty(&self, entry: Entry) -> bool {
        self.1.is(entry, DIRTY)
    }
    fn evicted(&mut self, entry: Entry, _suspect: bool) -> bool {
        self.1.leave(entry);
        false
    }
    fn revived(&mut self, _entry: Entry) {}
    fn discarded(&mut self, _entry: Entry) {}
    fn forgotten(&mut self, entry: Entry) {
        if !self.1.is(entry, LEFT) {
            self.0.free(entry);
        }
    }
}

/// Copies of entries in a GC victim, as seen by the lists. The translation layer handles the copies
/// themselves.
struct Collected<'a>(&'a mut Index, &'a States);

impl Copies for Collected<'_> {
    fn is_dirty(&self, entry: Entry) -> bool {
        self.1.is(entry, DIRTY)
    }
    fn evicted(&mut self, _entry: Entry, _suspect: bool) -> bool {
        false
    }
    fn revived(&mut self, _entry: Entry) {}
    fn discarded(&mut self, _entry: Entry) {}
    fn forgotten(&mut self, entry: Entry) {
        if !self.1.is(entry, LEFT) {
            self.0.free(entry);
        }
    }
}

impl Owner for Residents {
    fn is_hot(&self, page: Lpn) -> bool {
        let entry = Entry(page.0);
        self.lists.iter().any(|list| list.is_hot(entry))
    }
    fn is_only_copy(&self, page: Lpn) -> bool {
        let journal = self.journal.as_ref();
        journal.is_some_and(|journal| journal.owns(page)) || self.states.is(Entry(page.0), DIRTY)
    }
    fn label(&self, page: Lpn) -> Label {
        if let Some(journal) = self.journal.as_ref().filter(|journal| journal.owns(page)) {
            return journal.label(page);
        }
        let of = self.page_of(page);
        if self.states.is(Entry(page.0), DIRTY) {
            return Kind::Dirty(of).label(self.writes[page.index()]);
        }
        Kind::Clean(of).label(0)
    }
    fn placed(&mut self, place: Ppn, label: Label) {
        if let Some(journal) = &mut self.journal {
            journal.placed(place, label);
        }
    }
    fn copied(&mut self, from: Ppn, to: Ppn) {
        if let Some(journal) = &mut self.journal {
            journal.copied(from, to);
        }
    }
    fn owes(&mut self, block: Range<u32>) -> Option<Lpn> {
        self.journal.as_mut()?.owes(block)
    }
    fn recorded(&mut self, page: Lpn) -> Vec<Lpn> {
        let journal = self.journal.as_mut();
        journal.map_or_else(Vec::new, |journal| journal.recorded(page))
    }
    fn erased(&mut self, block: Range<u32>) {
        if let Some(journal) = &mut self.journal {
            journal.erased(block);
        }
    }
    fn recover(&mut self, flash: &Flash<'_>) -> Claims {
        self.rescan(flash)
    }
    fn lost(&mut self, page: Lpn) {
        let entry = Entry(page.0);
        for list in &mut self.lists {
            if list.suspects(entry) {
                self.counts.suspected_lost += 1;
            } else if list.contains(entry) {
                self.counts.dropped += 1;
            } else {
                continue;
            }
            let copies = &mut Collected(&mut self.index, &self.states);
            return list.erased(entry, self.ghosts_of_dropped, copies);
        }
        // The entry was evicted before its program, so no list contains it.
    }
}

impl Residents {
    /// Creates an empty cache.
    pub fn new(plan: &Plan) -> Self {
        let list = |capacity: u32| {
            let policy = Replacing::new(&plan.replacement, capacity.max(1) as usize);
            Suspecting::new(policy, plan.most_suspected as usize, plan.halves)
        };
        let (mut index, mut states) = (Index::default(), States::default());
        // The first entries are those of the record pages. Their keys are not page numbers.
        let slots = plan.journal.map_or(0, |journal| journal.slots);
        for slot in (0..slots).map(u64::from) {
            if let Ok(entry) = index.enter(u64::MAX - slot) {
                states.enter(entry);
            }
        }
        let journal = plan.journal;
        let journal =
            journal.map(|journal| Box::new(Journal::new(journal, plan.space.total_pages)));
        Self {
            index,
            lists: plan.lists().into_iter().map(list).collect(),
            states,
            ghosts_of_dropped: plan.ghosts_of_dropped,
            counts: Counts::default(),
            sequence: 0,
            writes: Vec::new(),
            journal,
            plan: Box::new(plan.clone()),
        }
    }
    /// Resets the state after a power failure. Counters and the number of page writes continue.
    pub(super) fn forget_all(&mut self) {
        *self = Self {
            counts: self.counts,
            sequence: self.sequence,
            ..Self::new(&self.plan)
        };
    }
    /// Returns the number of entries assigned so far, including freed ones and those of record
    /// pages.
    pub(super) fn numbers(&self) -> u32 {
        self.states.flags.len() as u32
    }
    /// Restores a dirty page, found in flash, with the number of its write. It becomes resident,
    /// which may evict other pages. Returns its logical page, or `None` if the index is full.
    pub(super) fn come_back(&mut self, page: u64, write: u64) -> Option<Lpn> {
        let entry = self.index.enter(page).ok()?;
        self.states.enter(entry);
        self.states.written(entry);
        self.note_write(entry, write);
        let list = self.list(true);
        let copies = &mut Returning(&mut self.index, &mut self.states);
        self.lists[list].access(entry, true, copies);
        Some(lpn(entry))
    }
    fn note_write(&mut self, entry: Entry, write: u64) {
        if self.writes.len() <= entry.index() {
            self.writes.resize(entry.index() + 1, 0);
        }
        self.writes[entry.index()] = write;
    }
    /// Increments and returns the write number.
    pub(super) fn next_write(&mut self) -> u64 {
        self.sequence += 1;
        self.sequence
    }
    /// Returns the number of the latest write of an entry's page; 0 if it has not been written.
    pub(super) fn write_of(&self, copy: Lpn) -> u64 {
        self.writes.get(copy.index()).copied().unwrap_or_default()
    }
    /// Handles a programmed write of a page, which is its current content from then on.
    pub(super) fn programmed(&mut self, page: u64, copy: Lpn) {
        let write = self.write_of(copy);
        if let Some(journal) = &mut self.journal {
            journal.written(page, write);
        }
    }
    /// Iterates over all dirty pages with their copies.
    pub(super) fn dirty_pages(&self) -> impl Iterator<Item = (u64, Lpn)> + '_ {
        let flags = (0..).zip(&self.states.flags);
        let dirty = flags.filter(|(_, flags)| **flags & DIRTY != 0);
        dirty.map(|(entry, _)| (self.index.key(Entry(entry)), Lpn(entry)))
    }
    /// Returns the number of record pages in flash.
    pub fn records(&self) -> usize {
        self.journal.as_ref().map_or(0, |journal| journal.pages())
    }
    /// Returns the number of pages in lists.
    pub fn len(&self) -> usize {
        self.lists.iter().map(Suspecting::len).sum()
    }
    /// Returns `true` if no page is in a list.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Returns the number of suspected pages.
    pub fn suspected(&self) -> usize {
        self.lists.iter().map(Suspecting::suspected).sum()
    }
    /// Returns the number of pages that are newer than their copies in the backing store, including
    /// evicted ones.
    pub fn dirty(&self) -> u32 {
        self.states.dirty
    }
    /// Returns the number of evicted dirty pages that have not been destaged yet.
    pub fn leaving(&self) -> u32 {
        self.states.left
    }
    /// Returns the capacities of the lists: of the only list, or of the read list and the write
    /// list. Pages.
    pub fn limits(&self) -> impl Iterator<Item = usize> + '_ {
        self.lists.iter().map(Suspecting::capacity)
    }
    /// Returns the lengths of the lists. Pages.
    pub fn lens(&self) -> impl Iterator<Item = usize> + '_ {
        self.lists.iter().map(Suspecting::len)
    }
    /// Returns the number of pages that left the cache, by reason.
    pub fn counts(&self) -> Counts {
        self.counts
    }
    /// Looks up a page of the backing store. Returns its copy and state, or `None` if it cannot be
    /// read from flash.
    pub fn find(&self, page: u64) -> Option<(Lpn, Held)> {
        let entry = self.index.get(page)?;
        for list in &self.lists {
            if list.contains(entry) {
                return Some((lpn(entry), Held::Resident));
            }
            if list.suspects(entry) {
                return Some((lpn(entry), Held::Suspected));
            }
        }
        let leaving = self.states.is(entry, LEFT);
        leaving.then_some((lpn(entry), Held::Leaving))
    }
    /// Returns `true` if a page is newer than its copy in the backing store.
    pub fn is_dirty(&self, page: u64) -> bool {
        let entry = self.index.get(page);
        entry.is_some_and(|entry| self.states.is(entry, DIRTY))
    }
    /// Returns [`Self::is_dirty`] for the page of a copy.
    #[inline]
    pub(super) fn is_dirty_copy(&self, copy: Lpn) -> bool {
        self.states.is(Entry(copy.0), DIRTY)
    }
    /// Returns `true` if a page is in the write list; with one list, if the page is dirty.
    pub(super) fn is_written(&self, page: u64) -> bool {
        let entry = self.index.get(page);
        entry.is_some_and(|entry| self.is_written_copy(lpn(entry)))
    }
    /// Returns `true` if there are two lists and a page is in the write list, or was evicted from
    /// it and can still be read.
    pub(super) fn is_written_or_suspected(&self, page: u64) -> bool {
        let [_, writes] = &self.lists[..] else {
            return false;
        };
        let entry = self.index.get(page);
        entry.is_some_and(|entry| writes.contains(entry) || writes.suspects(entry))
    }
    /// Returns [`Self::is_written`] for the page of a copy.
    #[inline]
    pub(super) fn is_written_copy(&self, copy: Lpn) -> bool {
        let entry = Entry(copy.0);
        match &self.lists[..] {
            [_, writes] => writes.contains(entry),
            _ => self.states.is(entry, DIRTY),
        }
    }
    /// Returns `true` if a page is being destaged or has been evicted dirty.
    pub(super) fn is_destaging(&self, page: u64) -> bool {
        let entry = self.index.get(page);
        entry.is_some_and(|entry| self.states.is(entry, DESTAGING | LEFT))
    }
    /// Returns the page of the backing store that a logical page of the flash holds, or held last.
    pub fn page_of(&self, page: Lpn) -> u64 {
        self.index.key(Entry(page.0))
    }

    /// Handles a request for a page of the backing store: makes it resident and, on a write, dirty.
    /// If the page was evicted and is being destaged, the caller must cancel its destaging.
    #[inline]
    pub(super) fn access(
        &mut self,
        page: u64,
        write: bool,
        pages: &mut Pages,
    ) -> Result<Accessed, Full> {
        let entry = if let Some(entry) = self.index.get(page) {
            entry
        } else {
            let entry = self.index.enter(page)?;
            pages.reserve(lpn(entry));
            self.states.enter(entry);
            entry
        };
        let was_leaving = self.states.stay(entry);
        let mut copies = InFlash {
            index: &mut self.index,
            pages,
            states: &mut self.states,
            evicted: 0,
        };
        let mut moved = was_leaving;
        let list = match &mut self.lists[..] {
            [reads, writes] => {
                let (to, from) = if write || writes.contains(entry) {
                    (writes, reads)
                } else {
                    (reads, writes)
                };
                // An entry is known to only one list, which frees the entry when it forgets the
                // page.
                if from.knows(entry) {
                    let suspected = from.suspects(entry);
                    moved |= suspected || from.contains(entry);
                    from.give_up(entry, &mut copies);
                    if suspected {
                        copies.revived(entry);
                    }
                }
                to
            }
            [list] => list,
            _ => unreachable!("there are one or two lists"),
        };
        let found = list.access(entry, write, &mut copies);
        self.counts.evicted += copies.evicted;
        if write {
            self.states.written(entry);
            self.sequence += 1;
            self.note_write(entry, self.sequence);
        }
        Ok(Accessed {
            copy: lpn(entry),
            found,
            has_copy: moved || found != Found::Nothing,
            was_leaving,
        })
    }
    /// Removes a page that was written to the backing store or trimmed. Returns `true` if it could
    /// be read from the cache.
    pub(super) fn remove(&mut self, page: u64, pages: &mut Pages) -> bool {
        let Some(entry) = self.index.get(page) else {
            return false;
        };
        let readable = self.find(page).is_some();
        let left = self.states.clean(entry);
        if let Some(journal) = &mut self.journal {
            journal.died(page);
        }
        if left {
            pages.discard(lpn(entry));
        }
        let mut copies = InFlash {
            index: &mut self.index,
            pages,
            states: &mut self.states,
            evicted: 0,
        };
        for list in &mut self.lists {
            list.remove(entry, &mut copies);
        }
        if left && self.index.get(page) == Some(entry) {
            self.index.free(entry);
        }
        readable
    }
    /// Returns the length of a list. Pages.
    pub(super) fn len_of(&self, list: usize) -> usize {
        self.lists[list].len()
    }
    /// Changes the capacity of a list. Evicts the pages that do not fit.
    pub(super) fn resize(&mut self, list: usize, limit: usize, pages: &mut Pages) {
        let mut copies = InFlash {
            index: &mut self.index,
            pages,
            states: &mut self.states,
            evicted: 0,
        };
        self.lists[list].resize(limit.max(1), &mut copies);
        self.counts.evicted += copies.evicted;
    }
    /// Returns `true` if a list is full.
    pub(super) fn is_full(&self, list: usize) -> bool {
        self.lists[list].len() >= self.lists[list].capacity()
    }
    /// Evicts up to `count` pages of a list without changing its capacity.
    pub(super) fn evict(&mut self, list: usize, count: usize, pages: &mut Pages) {
        let limit = self.lists[list].capacity();
        let kept = self.lists[list].len().saturating_sub(count);
        self.resize(list, kept, pages);
        self.resize(list, limit, pages);
    }
    /// Returns the index of the write list if `write` is `true`, otherwise that of the read list; 0
    /// with one list.
    pub(super) fn list(&self, write: bool) -> usize {
        usize::from(write).min(self.lists.len() - 1)
    }
    /// Returns `true` if there are evicted dirty pages whose destaging has not started.
    #[inline]
    pub(super) fn has_victims(&self) -> bool {
        !self.states.victims.is_empty()
    }
    /// Appends the evicted dirty pages whose destaging has not started, with their copies, to
    /// `into`, and marks them as being destaged.
    pub(super) fn victims(&mut self, into: &mut Vec<(u64, Lpn)>) {
        for entry in std::mem::take(&mut self.states.victims) {
            self.states.flags[entry.index()] |= DESTAGING;
            into.push((self.index.key(entry), lpn(entry)));
        }
    }
    /// Appends up to `count` dirty residents, with their copies, to `into`, and marks them as being
    /// destaged. Skips pages that are being destaged or for which `may` is `false`. The search
    /// continues where the last one ended, in the order of entries.
    pub(super) fn dirty_residents(
        &mut self,
        count: usize,
        may: impl Fn(u64) -> bool,
        into: &mut Vec<(u64, Lpn)>,
    ) {
        let all = self.states.flags.len() as u32;
        for _ in 0..all {
            if into.len() >= count {
                return;
            }
            let entry = Entry(self.states.hand % all);
            self.states.hand = (entry.0 + 1) % all;
            let flags = self.states.flags[entry.index()];
            if flags == DIRTY && may(self.index.key(entry)) {
                self.states.flags[entry.index()] |= DESTAGING;
                into.push((self.index.key(entry), lpn(entry)));
            }
        }
    }
    /// Handles a destaged page: a resident page stays in the cache; an evicted page is suspected or
    /// its copy discarded.
    pub(super) fn destaged(&mut self, copy: Lpn, pages: &mut Pages) {
        let entry = Entry(copy.0);
        let left = self.states.clean(entry);
        if let Some(journal) = &mut self.journal {
            journal.died(self.index.key(entry));
        }
        let Some(list) = self.lists.iter_mut().find(|list| list.contains(entry)) else {
            if left {
                let mut copies = InFlash {
                    index: &mut self.index,
                    pages,
                    states: &mut self.states,
                    evicted: 0,
                };
                let writes = self.lists.len() - 1;
                self.lists[writes].left_clean(entry, &mut copies);
            }
            return;
        };
        list.cleaned(entry);
    }
}
