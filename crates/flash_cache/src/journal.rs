//! What a cache that keeps writes says in its flash, so that no power cut brings back what is dead.
//!
//! The spare area of every page says which page of the store below it is, whether it is newer than that store, and which write it
//! is of. After a power cut the newest dirty copy of a page is the page, unless a record says that it is dead: the store below has it, or
//! has something newer. Records are pages of metadata, each with as many pairs of a page and a write as fit; all dirty copies of
//! the page up to that write are dead, for ever. A record is programmed
//!
//! - behind a write that has passed by and before its acknowledgement, if the flash holds dirty copies of its pages,
//! - behind a destage whose pages would leave more dead pages unrecorded than the space in reserve can take back,
//! - before a block is erased that holds the newest copy of a dead page, if an older one lies elsewhere.
//!
//! When the flash takes no programs any more, nothing can be recorded. Then writes that would have waited for a record wait until no page is dirty
//! and the cache is retired: from then on no copy is looked for after a power cut, dead or not (see [`super::records`]).
//!
//! What is not needed any more, because the copies have been erased or a newer one has been programmed, is left out when other
//! records take the place of a page of them: so each page of records is a checkpoint of those that it replaces.

use std::collections::VecDeque;
use std::ops::Range;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use wordline_ftl::Lpn;
use wordline_ftl::recovery::Label;
use wordline_kernel::memory::Table;
use wordline_nand::Ppn;

/// Bytes of a record: the number of a page, and that of a write.
const RECORD_BYTES: u32 = 16;

/// How a cache keeps its records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalPlan {
    /// Logical pages for records.
    pub slots: u32,
    /// Records in a page.
    pub per_page: u32,
    /// Dead pages that need not be recorded.
    pub most_unrecorded: u32,
    /// Whether there are records at all. Without them dead pages come back, as tests show.
    pub records: bool,
}

impl JournalPlan {
    /// That of a flash of so many pages, `user_pages` of which can hold data.
    ///
    /// The pages of records are fewer than twice what all records fill, and those on their way: whenever one is programmed, all of those take
    /// up their place in it that fit.
    pub fn new(pages: u32, user_pages: u32, planes: u32, page_bytes: u32) -> Self {
        let per_page = (page_bytes / RECORD_BYTES).max(1);
        Self {
            slots: 2 * pages.div_ceil(per_page) + 2 + 2 * planes,
            per_page,
            most_unrecorded: (user_pages / 64).clamp(1, per_page),
            records: true,
        }
    }
    /// Pages that the cache cannot use: those of records, and those that may come back although they are dead.
    pub fn reserve(&self) -> u32 {
        self.slots + self.most_unrecorded
    }
}

/// What a page of the flash is, in its label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A copy of a page as it is in the store below.
    Clean(u64),
    /// A copy of a page that is newer.
    Dirty(u64),
    /// Records.
    Records,
}

impl Kind {
    const CLEAN: u64 = 1;
    const DIRTY: u64 = 2;
    const RECORDS: u64 = 3;

    pub fn label(self, sequence: u64) -> Label {
        let what = match self {
            Self::Clean(page) => page << 2 | Self::CLEAN,
            Self::Dirty(page) => page << 2 | Self::DIRTY,
            Self::Records => Self::RECORDS,
        };
        Label { what, sequence }
    }
    pub fn of(label: Label) -> Option<Self> {
        match label.what & 3 {
            Self::CLEAN => Some(Self::Clean(label.what >> 2)),
            Self::DIRTY => Some(Self::Dirty(label.what >> 2)),
            Self::RECORDS => Some(Self::Records),
            _ => None,
        }
    }
}

/// What is known of a page of which the flash holds dirty copies.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Known {
    /// 1 + the place of a copy, from which a chain leads to the others.
    first: u32,
    copies: u32,
    /// The latest write that is known to be programmed.
    durable: u64,
    /// Up to which write its copies are recorded as dead; 0 without a record that is kept.
    recorded: u64,
    /// 1 + the slot of the page that has this record, or 0.
    slot: u32,
    /// Whether the latest copy is the page.
    is_alive: bool,
    /// Whether it is dead, and not recorded yet.
    is_unrecorded: bool,
}

impl Known {
    /// The write up to which it can be said to be dead, if there is something to say.
    fn due(&self) -> Option<u64> {
        (self.durable > self.recorded).then_some(self.durable)
    }
}

/// A page of records.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Log {
    /// Counts the pages of records.
    pub serial: u64,
    pub entries: Vec<(u64, u64)>,
    /// Of them, those that are needed.
    needed: u32,
    is_durable: bool,
}

/// The records, and the dirty copies that they are about.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Journal {
    plan: JournalPlan,
    pages: FxHashMap<u64, Known>,
    /// By place: 1 + the page of which it holds a dirty copy, or 0.
    #[serde(with = "wordline_kernel::dense")]
    page_at: Vec<u64>,
    /// By place: of which write.
    #[serde(with = "wordline_kernel::dense")]
    write_at: Vec<u64>,
    /// By place: 1 + the place of the next copy of the page, or 0.
    #[serde(with = "wordline_kernel::dense")]
    next_at: Vec<u32>,
    /// By place: 1 + the place of the copy of which it is the next, or 0. A page that is written again and again has many copies, and loses
    /// its oldest ones first.
    #[serde(with = "wordline_kernel::dense")]
    before_at: Vec<u32>,
    /// Pages that died, in their order, until they are recorded.
    dead: VecDeque<u64>,
    /// How many of them are unrecorded.
    unrecorded: u32,
    /// By slot: pages of records. What the flash holds of them survives a power cut.
    pub logs: Vec<Option<Log>>,
    /// Slots of pages that may be needed no more.
    empty: Vec<u32>,
    serial: u64,
    /// Pages of records programmed.
    programs: u64,
}

impl Journal {
    /// What it takes of memory, for a flash of so many pages of which so many can be dirty.
    pub fn memory(pages: u32, dirty: u64) -> [Table; 2] {
        let known = wordline_cache::keyed::bytes::<(u64, Known)>(dirty);
        [
            Table::zeroed::<[u32; 6]>("places of dirty copies", pages.into(), 0.0),
            Table::grown::<u8>("dirty pages", known),
        ]
    }
    pub fn new(plan: JournalPlan, pages: u32) -> Self {
        Self {
            plan,
            pages: FxHashMap::default(),
            page_at: vec![0; pages as usize],
            write_at: vec![0; pages as usize],
            next_at: vec![0; pages as usize],
            before_at: vec![0; pages as usize],
            dead: VecDeque::new(),
            unrecorded: 0,
            logs: vec![None; plan.slots as usize],
            empty: Vec::new(),
            serial: 0,
            programs: 0,
        }
    }
    /// One of the same flash that knows nothing but what it has counted.
    pub fn anew(&self) -> Self {
        Self {
            serial: self.serial,
            programs: self.programs,
            ..Self::new(self.plan, self.page_at.len() as u32)
        }
    }
    pub fn programs(&self) -> u64 {
        self.programs
    }
    /// Pages of records that the flash holds or is to hold.
    pub fn pages(&self) -> usize {
        self.logs.iter().flatten().count()
    }
    /// Their logical pages.
    pub fn held(&self) -> impl Iterator<Item = Lpn> + '_ {
        let logs = (0..).zip(&self.logs);
        logs.filter_map(|(slot, log)| log.as_ref().map(|_| Lpn(slot)))
    }
    pub fn per_page(&self) -> usize {
        self.plan.per_page as usize
    }
    /// Whether a logical page of the flash is one of records.
    pub fn owns(&self, page: Lpn) -> bool {
        page.0 < self.plan.slots
    }
    /// What the spare area of a page of records says.
    pub fn label(&self, page: Lpn) -> Label {
        let log = self.logs[page.index()].as_ref();
        Kind::Records.label(log.map_or(0, |log| log.serial))
    }

    /// A page has been placed.
    pub fn placed(&mut self, place: Ppn, label: Label) {
        if let Some(Kind::Dirty(page)) = Kind::of(label) {
            self.link(place, page, label.sequence);
        }
    }
    pub fn copied(&mut self, from: Ppn, to: Ppn) {
        if let Some(page) = self.page_at[from.index()].checked_sub(1) {
            self.link(to, page, self.write_at[from.index()]);
        }
    }
    pub fn link(&mut self, place: Ppn, page: u64, write: u64) {
        let known = self.pages.entry(page).or_default();
        self.page_at[place.index()] = page + 1;
        self.write_at[place.index()] = write;
        let next = std::mem::replace(&mut known.first, place.0 + 1);
        known.copies += 1;
        self.next_at[place.index()] = next;
        self.before_at[place.index()] = 0;
        if let Some(next) = next.checked_sub(1) {
            self.before_at[next as usize] = place.0 + 1;
        }
    }
    pub fn erased(&mut self, block: Range<u32>) {
        for place in block.map(Ppn) {
            self.unlink(place);
        }
    }
    fn unlink(&mut self, place: Ppn) {
        let Some(page) = std::mem::take(&mut self.page_at[place.index()]).checked_sub(1) else {
            return;
        };
        let next = std::mem::take(&mut self.next_at[place.index()]);
        let before = std::mem::take(&mut self.before_at[place.index()]);
        if let Some(next) = next.checked_sub(1) {
            self.before_at[next as usize] = before;
        }
        let Some(known) = self.pages.get_mut(&page) else {
            return;
        };
        known.copies -= 1;
        match before.checked_sub(1) {
            Some(before) => self.next_at[before as usize] = next,
            None => known.first = next,
        }
        if known.copies == 0 {
            self.unneeded(page);
            self.recorded_dead(page);
            self.pages.remove(&page);
        }
    }
    /// The copies of a page: where, and of which write.
    fn copies_of(&self, known: &Known) -> impl Iterator<Item = (Ppn, u64)> {
        let mut at = known.first;
        std::iter::from_fn(move || {
            let place = at.checked_sub(1)?;
            at = self.next_at[place as usize];
            Some((Ppn(place), self.write_at[place as usize]))
        })
    }

    /// A write of a page has been programmed: it is the page.
    pub fn written(&mut self, page: u64, write: u64) {
        self.recorded_dead(page);
        self.unneeded(page);
        if let Some(known) = self.pages.get_mut(&page) {
            known.durable = write;
            known.recorded = 0;
            known.is_alive = true;
        }
    }
    /// The store below has a page, or something newer.
    pub fn died(&mut self, page: u64) {
        let Some(known) = self.pages.get_mut(&page) else {
            return;
        };
        known.is_alive = false;
        if known.due().is_some() && !known.is_unrecorded {
            known.is_unrecorded = true;
            self.unrecorded += 1;
            self.dead.push_back(page);
        }
    }
    fn recorded_dead(&mut self, page: u64) {
        if let Some(known) = self.pages.get_mut(&page) {
            self.unrecorded -= u32::from(std::mem::take(&mut known.is_unrecorded));
        }
    }
    /// The record of a page is needed no more, if there is one.
    fn unneeded(&mut self, page: u64) {
        let Some(known) = self.pages.get_mut(&page) else {
            return;
        };
        let Some(slot) = std::mem::take(&mut known.slot).checked_sub(1) else {
            return;
        };
        if let Some(log) = &mut self.logs[slot as usize] {
            log.needed -= 1;
            if log.needed == 0 {
                self.empty.push(slot);
            }
        }
    }

    /// What is to be recorded of a page whose copies are dead now.
    pub fn due(&self, page: u64) -> Option<(u64, u64)> {
        let known = self.pages.get(&page).filter(|_| self.plan.records)?;
        known.due().map(|write| (page, write))
    }
    /// Whether so many more pages may die without a record.
    pub fn bears(&self, pages: usize) -> bool {
        !self.plan.records || self.unrecorded as usize + pages <= self.plan.most_unrecorded as usize
    }
    /// What has to be recorded before these pages are erased: of dead pages whose newest copy is among them, and whose older ones
    /// are not.
    fn due_before_erase(&self, block: Range<u32>) -> Vec<(u64, u64)> {
        let mut due = Vec::new();
        for place in block.clone() {
            let Some(page) = self.page_at[place as usize].checked_sub(1) else {
                continue;
            };
            let Some(known) = self.pages.get(&page).filter(|known| !known.is_alive) else {
                continue;
            };
            if known.due() != Some(self.write_at[place as usize]) {
                continue;
            }
            let comes_back = |(at, write): (Ppn, u64)| {
                !block.contains(&at.0) && (known.recorded + 1..known.durable).contains(&write)
            };
            if self.copies_of(known).any(comes_back) {
                due.push((page, known.durable));
            }
        }
        due.sort_unstable();
        due.dedup();
        due
    }
    /// See [`wordline_ftl::owner::Owner::owes`].
    pub fn owes(&mut self, block: Range<u32>) -> Option<Lpn> {
        if !self.plan.records {
            return None;
        }
        let mut due = self.due_before_erase(block);
        if due.is_empty() {
            return None;
        }
        due.truncate(self.per_page());
        Some(self.begin(due))
    }
    /// A page of records is to be programmed: with these, with those of other dead pages, and with all of other pages that fit.
    pub fn begin(&mut self, mut entries: Vec<(u64, u64)>) -> Lpn {
        let pages = &self.pages;
        let due = |page: &u64| pages.get(page).is_some_and(|known| known.is_unrecorded);
        self.dead.retain(due);
        let room = self.per_page() - entries.len();
        let dead = self.dead.iter().filter_map(|page| self.due(*page));
        let more: Vec<(u64, u64)> = dead
            .filter(|one| !entries.contains(one))
            .take(room)
            .collect();
        entries.extend(more);
        self.take_over(&mut entries);
        let slot = self.logs.iter().position(Option::is_none);
        let slot = slot.unwrap_or_else(|| unreachable!("pages of records are bounded"));
        self.serial += 1;
        self.programs += 1;
        self.logs[slot] = Some(Log {
            serial: self.serial,
            entries,
            needed: 0,
            is_durable: false,
        });
        Lpn(slot as u32)
    }
    /// Adds the records that are needed of other pages, those of the fewest first, as long as all of a page fit.
    fn take_over(&self, entries: &mut Vec<(u64, u64)>) {
        let logs = (0_u32..).zip(&self.logs);
        let mut others: Vec<(u32, u32)> = logs
            .filter_map(|(slot, log)| Some((log.as_ref()?, slot)))
            .filter(|(log, _)| log.is_durable && log.needed > 0)
            .map(|(log, slot)| (log.needed, slot))
            .collect();
        others.sort_unstable();
        for (needed, slot) in others {
            if entries.len() + needed as usize > self.per_page() {
                return;
            }
            let log = self.logs[slot as usize].iter();
            let records = log.flat_map(|log| &log.entries).filter(|(page, write)| {
                let known = self.pages.get(page);
                known.is_some_and(|known| known.slot == slot + 1 && known.recorded == *write)
            });
            entries.extend(records);
        }
    }
    /// A page of records is programmed. Pages of records that are needed no more.
    pub fn recorded(&mut self, page: Lpn) -> Vec<Lpn> {
        let Some(log) = &mut self.logs[page.index()] else {
            return Vec::new();
        };
        log.is_durable = true;
        let entries = log.entries.clone();
        for (dead, write) in entries {
            let Some(known) = self.pages.get_mut(&dead) else {
                continue;
            };
            // A page that has been written since is not dead.
            if write >= known.recorded.max(known.durable) {
                known.recorded = write;
                self.recorded_dead(dead);
                self.needs(dead, page.0);
            }
        }
        if let Some(log) = &self.logs[page.index()]
            && log.needed == 0
        {
            self.empty.push(page.0);
        }
        self.sweep()
    }
    /// The record of a page is that in a slot.
    pub fn needs(&mut self, page: u64, slot: u32) {
        self.unneeded(page);
        if let Some(known) = self.pages.get_mut(&page)
            && let Some(log) = &mut self.logs[slot as usize]
        {
            known.slot = slot + 1;
            log.needed += 1;
        }
    }
    /// Gives up the pages of records that are needed no more.
    fn sweep(&mut self) -> Vec<Lpn> {
        let mut unneeded = Vec::new();
        for slot in std::mem::take(&mut self.empty) {
            let log = &mut self.logs[slot as usize];
            if log
                .as_ref()
                .is_some_and(|log| log.is_durable && log.needed == 0)
            {
                *log = None;
                unneeded.push(Lpn(slot));
            }
        }
        unneeded
    }

    /// For a recovery: a page whose copies have been linked is dead up to a write that is recorded, and else it is what the latest
    /// copy says.
    pub fn restore(&mut self, page: u64, durable: u64, recorded: u64) {
        if let Some(known) = self.pages.get_mut(&page) {
            known.durable = durable;
            known.is_alive = durable > recorded;
            known.recorded = if known.is_alive { 0 } else { recorded };
        }
    }
    /// For a recovery: whether a page is dead, and no page of records has been found for it yet.
    pub fn lacks(&self, page: u64, recorded: u64) -> bool {
        let known = self.pages.get(&page);
        known.is_some_and(|known| !known.is_alive && known.slot == 0 && known.recorded == recorded)
    }
    /// For a recovery: takes a page of records back that the flash holds.
    pub fn take_back(&mut self, slot: usize, log: Log) {
        self.logs[slot] = Some(Log {
            needed: 0,
            is_durable: true,
            ..log
        });
    }
    /// For a recovery: forgets a page of records if nothing in it is needed. Whether it is.
    pub fn keep(&mut self, slot: usize) -> bool {
        let needed = self.logs[slot].as_ref().is_some_and(|log| log.needed > 0);
        if !needed {
            self.logs[slot] = None;
        }
        needed
    }
}
