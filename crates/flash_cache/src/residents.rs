//! The pages that a cache holds: the owner of the pages of its flash.
//!
//! They are in one list, or in one of reads and one of writes. A dirty page that leaves its list keeps its copy and its number
//! until it has been destaged.

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

/// Pages of the store below by the numbers of their entries, which are the logical pages of the flash.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Residents {
    index: Index,
    /// One for all pages, or that of reads and that of writes.
    lists: Vec<Suspecting>,
    states: States,
    ghosts_of_dropped: bool,
    counts: Counts,
    /// Writes of pages so far. It goes on behind a power cut, as that of a device does which looks for the greatest in its flash.
    sequence: u64,
    /// By entry: the last one of its page.
    #[serde(with = "wordline_kernel::dense")]
    writes: Vec<u64>,
    /// What is dead in flash, if writes stay there and that is recorded. None once the cache is retired, which survives power cuts.
    pub(super) journal: Option<Box<Journal>>,
    /// What it was built from, to build it again when the memory has been lost.
    plan: Box<Plan>,
}

/// What has become of the pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Pages that left by the rule of the policy.
    pub evicted: u64,
    /// Pages that a collection has dropped.
    pub dropped: u64,
    /// Suspected pages that were lost with their blocks.
    pub suspected_lost: u64,
}

since!(Counts: evicted, dropped, suspected_lost);

/// What the flash holds of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// A page of a list.
    Resident,
    /// A page that was evicted and can still be read.
    Suspected,
    /// A page that was evicted, and is being destaged.
    Leaving,
}

/// A page that a request has made resident.
#[derive(Clone, Copy, Debug)]
pub(super) struct Accessed {
    pub copy: Lpn,
    pub found: Found,
    /// Whether the flash holds a copy of it.
    pub has_copy: bool,
    /// Whether it had left and was to be destaged.
    pub was_leaving: bool,
}

/// By entry, whether it is dirty and what is done about that.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct States {
    #[serde(with = "wordline_kernel::dense")]
    flags: Vec<u8>,
    /// Dirty pages, those included that have left their list.
    dirty: u32,
    /// Dirty pages that have left their list.
    left: u32,
    /// Those of them that have not been asked for.
    victims: Vec<Entry>,
    /// Where the search for pages to clean goes on.
    hand: u32,
}

/// Newer than the store below.
const DIRTY: u8 = 1;
/// On its way to the store below.
const DESTAGING: u8 = 2;
/// In no list any more.
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
    /// It is back before it was destaged. Whether it had left.
    fn stay(&mut self, entry: Entry) -> bool {
        let left = self.is(entry, LEFT);
        if left {
            self.flags[entry.index()] &= !(LEFT | DESTAGING);
            self.left -= 1;
        }
        left
    }
    /// It is dirty no more. Whether it had left.
    fn clean(&mut self, entry: Entry) -> bool {
        let flags = std::mem::take(&mut self.flags[entry.index()]);
        self.dirty -= u32::from(flags & DIRTY != 0);
        self.left -= u32::from(flags & LEFT != 0);
        flags & LEFT != 0
    }
}

/// The copies while a request changes them.
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
    /// What the pages of a cache take of memory, as far as they are known: residents, suspected ones, ghosts as many as residents.
    pub(super) fn memory(plan: &Plan) -> Vec<Table> {
        let lists: u64 = plan.lists().into_iter().map(u64::from).sum();
        let room = lists.max(plan.space.most_pages.into());
        let suspected = u64::from(plan.most_suspected);
        let known = room.saturating_mul(2).saturating_add(suspected);
        let mut tables = vec![
            Index::memory("pages known to the cache", known),
            // A node in the list of the policy, and one in that of the suspected.
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

/// The copies while dirty pages come back from flash, in the order of their writes.
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

/// The copies while their block is collected: the translation layer has taken care of them.
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
        // Programmed for an entry that had left before.
    }
}

impl Residents {
    /// An empty cache.
    pub fn new(plan: &Plan) -> Self {
        let list = |capacity: u32| {
            let policy = Replacing::new(&plan.replacement, capacity.max(1) as usize);
            Suspecting::new(policy, plan.most_suspected as usize, plan.halves)
        };
        let (mut index, mut states) = (Index::default(), States::default());
        // Their numbers are those of the pages of records: keys of no page.
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
    /// The memory has been lost.
    pub(super) fn forget_all(&mut self) {
        *self = Self {
            counts: self.counts,
            sequence: self.sequence,
            ..Self::new(&self.plan)
        };
    }
    /// Numbers that are given, of pages and of pages of records.
    pub(super) fn numbers(&self) -> u32 {
        self.states.flags.len() as u32
    }
    /// A page is dirty in flash, from a write on, and resident from now on; others may leave for it.
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
    /// The number of the next write.
    pub(super) fn next_write(&mut self) -> u64 {
        self.sequence += 1;
        self.sequence
    }
    /// The write that a dirty page is of.
    pub(super) fn write_of(&self, copy: Lpn) -> u64 {
        self.writes.get(copy.index()).copied().unwrap_or_default()
    }
    /// A write of a page has been programmed.
    pub(super) fn programmed(&mut self, page: u64, copy: Lpn) {
        let write = self.write_of(copy);
        if let Some(journal) = &mut self.journal {
            journal.written(page, write);
        }
    }
    /// Dirty pages, with their copies.
    pub(super) fn dirty_pages(&self) -> impl Iterator<Item = (u64, Lpn)> + '_ {
        let flags = (0..).zip(&self.states.flags);
        let dirty = flags.filter(|(_, flags)| **flags & DIRTY != 0);
        dirty.map(|(entry, _)| (self.index.key(Entry(entry)), Lpn(entry)))
    }
    /// Pages of records that the flash holds.
    pub fn records(&self) -> usize {
        self.journal.as_ref().map_or(0, |journal| journal.pages())
    }
    /// Pages held in lists.
    pub fn len(&self) -> usize {
        self.lists.iter().map(Suspecting::len).sum()
    }
    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Pages suspected.
    pub fn suspected(&self) -> usize {
        self.lists.iter().map(Suspecting::suspected).sum()
    }
    /// Pages that are newer than the store below, with those that are leaving.
    pub fn dirty(&self) -> u32 {
        self.states.dirty
    }
    /// Dirty pages that have left their list and still have a copy.
    pub fn leaving(&self) -> u32 {
        self.states.left
    }
    /// How many pages the lists may hold: one list for all pages, or that of reads and that of writes.
    pub fn limits(&self) -> impl Iterator<Item = usize> + '_ {
        self.lists.iter().map(Suspecting::capacity)
    }
    /// How many pages the lists hold.
    pub fn lens(&self) -> impl Iterator<Item = usize> + '_ {
        self.lists.iter().map(Suspecting::len)
    }
    /// What has become of the pages.
    pub fn counts(&self) -> Counts {
        self.counts
    }
    /// What is known of a page of the store below, if it can be read from flash.
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
    /// Whether a page is newer than the store below.
    pub fn is_dirty(&self, page: u64) -> bool {
        let entry = self.index.get(page);
        entry.is_some_and(|entry| self.states.is(entry, DIRTY))
    }
    /// Whether a page is in the list of writes, or would be if there were two lists.
    pub(super) fn is_written(&self, page: u64) -> bool {
        let entry = self.index.get(page);
        entry.is_some_and(|entry| self.is_written_copy(lpn(entry)))
    }
    /// The same, also of a page that has left the list of writes and can still be read.
    pub(super) fn is_written_or_suspected(&self, page: u64) -> bool {
        let (Some(entry), [_, writes]) = (self.index.get(page), &self.lists[..]) else {
            return false;
        };
        writes.contains(entry) || writes.suspects(entry)
    }
    /// [`Self::is_written`], of a page that is held, by its copy.
    #[inline]
    pub(super) fn is_written_copy(&self, copy: Lpn) -> bool {
        let entry = Entry(copy.0);
        match &self.lists[..] {
            [_, writes] => writes.contains(entry),
            _ => self.states.is(entry, DIRTY),
        }
    }
    /// Whether a page is on its way to the store below.
    pub(super) fn is_destaging(&self, page: u64) -> bool {
        let entry = self.index.get(page);
        entry.is_some_and(|entry| self.states.is(entry, DESTAGING | LEFT))
    }
    /// The page of the store below that a logical page of the flash stands for, or stood for last.
    pub fn page_of(&self, page: Lpn) -> u64 {
        self.index.key(Entry(page.0))
    }

    /// A request for a page of the store below, which is resident afterwards, and dirty after a write. If it is leaving, nothing
    /// has been done about that yet.
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
                // An entry is known to one list only, which takes its number back when it forgets it.
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
    /// A page of the store below has changed, or is gone. Whether the cache had it.
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
    /// Changes how many pages a list may hold; those that do not fit leave.
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
    /// Whether a list holds as many pages as it may.
    pub(super) fn is_full(&self, list: usize) -> bool {
        self.lists[list].len() >= self.lists[list].capacity()
    }
    /// Evicts up to `count` pages of a list, whose limit is the same afterwards.
    pub(super) fn evict(&mut self, list: usize, count: usize, pages: &mut Pages) {
        let limit = self.lists[list].capacity();
        let kept = self.lists[list].len().saturating_sub(count);
        self.resize(list, kept, pages);
        self.resize(list, limit, pages);
    }
    /// The list of pages that are written, or of those that are read.
    pub(super) fn list(&self, write: bool) -> usize {
        usize::from(write).min(self.lists.len() - 1)
    }
    /// Whether dirty pages have left and have not been asked for.
    #[inline]
    pub(super) fn has_victims(&self) -> bool {
        !self.states.victims.is_empty()
    }
    /// Dirty pages that have left and have not been asked for, with their copies: they are being destaged from now on.
    pub(super) fn victims(&mut self, into: &mut Vec<(u64, Lpn)>) {
        for entry in std::mem::take(&mut self.states.victims) {
            self.states.flags[entry.index()] |= DESTAGING;
            into.push((self.index.key(entry), lpn(entry)));
        }
    }
    /// Up to `count` dirty residents that are not being destaged and that `may` be, with their copies: they are from now on. Those after the
    /// last that were found, in the order of their numbers.
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
    /// The store below has a page as it is in flash: it stays where it is if it has not left, else its copy is given up.
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
