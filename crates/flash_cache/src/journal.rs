//! Journal of a cache that keeps writes in flash: metadata that prevents recovery from restoring
//! dead pages after a power cut.
//!
//! The spare area of every page contains the page number in the backing store, whether the copy is
//! dirty, and the number of the write. After a power cut, the newest dirty copy of a page is
//! restored, unless a record marks it as dead. The backing store has the same data as a dead copy,
//! or newer data. Record pages are metadata pages with as many records as fit. A record is a pair
//! of a page and a write number: all dirty copies of the page up to that write are dead
//! permanently. A record is programmed
//!
//! - after a write that bypassed the cache and before its acknowledgement, if the flash holds dirty
//!   copies of its pages,
//! - after a destage whose pages would leave more dead pages unrecorded than the reserved space can
//!   restore,
//! - before a block is erased that holds the newest copy of a dead page, if an older copy is stored
//!   elsewhere.
//!
//! Once the flash accepts no more programs, nothing can be recorded. Writes that would have waited
//! for a record then wait until no page is dirty and the cache is retired. From then on, no copy is
//! restored after a power cut, dead or not (see [`super::records`]).
//!
//! A record is no longer needed once the copies are erased or a newer copy is programmed. It is
//! dropped when its record page is replaced: each record page is a checkpoint of the record pages
//! that it replaces.

use std::collections::VecDeque;
use std::ops::Range;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use wordline_ftl::Lpn;
use wordline_ftl::recovery::Label;
use wordline_kernel::memory::Table as MemoryTable;
use wordline_nand::Ppn;

use super::table::Table;

/// Size of a record: page number and write number. Bytes.
const RECORD_BYTES: u32 = 16;

/// Parameters of the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalPlan {
    /// Number of logical pages for record pages.
    pub slots: u32,
    /// Number of records per record page.
    pub per_page: u32,
    /// Maximum number of dead pages without a record.
    pub most_unrecorded: u32,
    /// Whether records are programmed. Without records, dead pages are restored after a power cut.
    /// `false` only in tests.
    pub records: bool,
}

impl JournalPlan {
    /// Computes the parameters for a flash of `pages` pages, of which `user_pages` can hold data.
    ///
    /// There are at most twice as many record pages as all records need, plus those in progress:
    /// each new record page takes over all needed records of other pages that fit.
    pub fn new(pages: u32, user_pages: u32, planes: u32, page_bytes: u32) -> Self {
        let per_page = (page_bytes / RECORD_BYTES).max(1);
        Self {
            slots: 2 * pages.div_ceil(per_page) + 2 + 2 * planes,
            per_page,
            most_unrecorded: (user_pages / 64).clamp(1, per_page),
            records: true,
        }
    }
    /// Returns the number of pages that the cache cannot use: those for record pages, and for dead
    /// pages that may be restored.
    pub fn reserve(&self) -> u32 {
        self.slots + self.most_unrecorded
    }
}

/// Content of a flash page, as encoded in its label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Copy of a page with the same data as in the backing store.
    Clean(u64),
    /// Copy of a page that is newer than the page in the backing store.
    Dirty(u64),
    /// Record page.
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

/// State of a page that has dirty copies in flash.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Known {
    /// Page of the backing store.
    page: u64,
    /// 1 + the physical page of the first copy in the chain of copies.
    first: u32,
    copies: u32,
    /// Number of the latest write that is known to be programmed.
    durable: u64,
    /// Number of the write up to which the copies are recorded as dead; 0 if no record is kept.
    recorded: u64,
    /// 1 + the slot of the record page that contains the record, or 0.
    slot: u32,
    /// Whether the latest copy is the current content of the page. Otherwise the page is dead.
    is_alive: bool,
    /// Whether the page is dead and not recorded yet.
    is_unrecorded: bool,
}

impl Known {
    /// Returns the write number for a record of the page, or `None` if an existing record already
    /// covers all its copies.
    fn due(&self) -> Option<u64> {
        (self.durable > self.recorded).then_some(self.durable)
    }
}

/// Record page and its records.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Log {
    /// Serial number of the record page.
    pub serial: u64,
    pub entries: Vec<(u64, u64)>,
    /// Number of records in the record page that are still needed.
    needed: u32,
    is_durable: bool,
}

/// Records of dead pages, and the dirty copies in flash.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Journal {
    plan: JournalPlan,
    /// Pages that have dirty copies in flash, by number.
    known: Table<Known>,
    /// Number in `known` of each page that is in it.
    numbers: FxHashMap<u64, u32>,
    /// 1 + the number in `known` of the page whose dirty copy a physical page holds, or 0.
    #[serde(with = "wordline_kernel::dense")]
    known_at: Vec<u32>,
    /// Write number of the copy in each physical page.
    #[serde(with = "wordline_kernel::dense")]
    write_at: Vec<u64>,
    /// 1 + the physical page of the next copy in the chain, or 0.
    #[serde(with = "wordline_kernel::dense")]
    next_at: Vec<u32>,
    /// 1 + the physical page of the previous copy in the chain, or 0. Without it, removing the
    /// oldest copy of a page with many copies would be slow.
    #[serde(with = "wordline_kernel::dense")]
    before_at: Vec<u32>,
    /// Dead pages without a record, in the order in which they died. May contain pages that have
    /// been recorded since.
    dead: VecDeque<u64>,
    /// Number of unrecorded dead pages.
    unrecorded: u32,
    /// Record pages by slot. Their copies in flash survive a power cut.
    pub logs: Vec<Option<Log>>,
    /// Slots of record pages that may no longer be needed.
    empty: Vec<u32>,
    serial: u64,
    /// Number of record pages programmed.
    programs: u64,
}

impl Journal {
    /// Returns the memory estimate for a flash of `pages` pages, of which `dirty` can be dirty.
    pub fn memory(pages: u32, dirty: u64) -> [MemoryTable; 2] {
        let numbers = wordline_cache::keyed::bytes::<(u64, u32)>(dirty);
        let known = dirty.saturating_mul(size_of::<Option<Known>>() as u64);
        [
            MemoryTable::zeroed::<[u32; 5]>("places of dirty copies", pages.into(), 0.0),
            MemoryTable::grown::<u8>("dirty pages", numbers.saturating_add(known)),
        ]
    }
    pub fn new(plan: JournalPlan, pages: u32) -> Self {
        Self {
            plan,
            known: Table::default(),
            numbers: FxHashMap::default(),
            known_at: vec![0; pages as usize],
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
    /// Returns an empty journal for the same flash. The serial number and the program counter
    /// continue.
    pub fn anew(&self) -> Self {
        Self {
            serial: self.serial,
            programs: self.programs,
            ..Self::new(self.plan, self.known_at.len() as u32)
        }
    }
    fn known(&self, page: u64) -> Option<&Known> {
        self.known.get(*self.numbers.get(&page)?)
    }
    fn known_mut(&mut self, page: u64) -> Option<&mut Known> {
        self.known.get_mut(*self.numbers.get(&page)?)
    }
    pub fn programs(&self) -> u64 {
        self.programs
    }
    /// Returns the number of record pages in flash, including those being programmed.
    pub fn pages(&self) -> usize {
        self.logs.iter().flatten().count()
    }
    /// Iterates over the logical pages of the record pages.
    pub fn held(&self) -> impl Iterator<Item = Lpn> + '_ {
        let logs = (0..).zip(&self.logs);
        logs.filter_map(|(slot, log)| log.as_ref().map(|_| Lpn(slot)))
    }
    pub fn per_page(&self) -> usize {
        self.plan.per_page as usize
    }
    /// Returns `true` if a logical page of the flash is reserved for a record page.
    pub fn owns(&self, page: Lpn) -> bool {
        page.0 < self.plan.slots
    }
    /// Returns the label in the spare area of a record page.
    pub fn label(&self, page: Lpn) -> Label {
        let log = self.logs[page.index()].as_ref();
        Kind::Records.label(log.map_or(0, |log| log.serial))
    }

    /// Adds the physical page of a new copy, if it is dirty.
    pub fn placed(&mut self, place: Ppn, label: Label) {
        if let Some(Kind::Dirty(page)) = Kind::of(label) {
            self.link(place, page, label.sequence);
        }
    }
    pub fn copied(&mut self, from: Ppn, to: Ppn) {
        if let Some(number) = self.known_at[from.index()].checked_sub(1) {
            self.link_known(to, number, self.write_at[from.index()]);
        }
    }
    pub fn link(&mut self, place: Ppn, page: u64, write: u64) {
        let known = &mut self.known;
        let number = self.numbers.entry(page).or_insert_with(|| {
            known.add(Known {
                page,
                ..Known::default()
            })
        });
        let number = *number;
        self.link_known(place, number, write);
    }
    /// Adds a copy to the front of the chain of the page with this number.
    fn link_known(&mut self, place: Ppn, number: u32, write: u64) {
        let Some(known) = self.known.get_mut(number) else {
            return;
        };
        self.known_at[place.index()] = number + 1;
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
        let Some(number) = std::mem::take(&mut self.known_at[place.index()]).checked_sub(1) else {
            return;
        };
        let next = std::mem::take(&mut self.next_at[place.index()]);
        let before = std::mem::take(&mut self.before_at[place.index()]);
        if let Some(next) = next.checked_sub(1) {
            self.before_at[next as usize] = before;
        }
        let Some(known) = self.known.get_mut(number) else {
            return;
        };
        known.copies -= 1;
        match before.checked_sub(1) {
            Some(before) => self.next_at[before as usize] = next,
            None => known.first = next,
        }
        if known.copies == 0 {
            let page = known.page;
            self.unneeded(number);
            self.recorded_dead(number);
            self.known.free(number);
            self.numbers.remove(&page);
        }
    }
    /// Iterates over the copies of a page: physical page and write number.
    fn copies_of(&self, known: &Known) -> impl Iterator<Item = (Ppn, u64)> {
        let mut at = known.first;
        std::iter::from_fn(move || {
            let place = at.checked_sub(1)?;
            at = self.next_at[place as usize];
            Some((Ppn(place), self.write_at[place as usize]))
        })
    }

    /// Handles a programmed write of a page: the new copy is its current content.
    pub fn written(&mut self, page: u64, write: u64) {
        let Some(&number) = self.numbers.get(&page) else {
            return;
        };
        self.recorded_dead(number);
        self.unneeded(number);
        if let Some(known) = self.known.get_mut(number) {
            known.durable = write;
            known.recorded = 0;
            known.is_alive = true;
        }
    }
    /// Marks a page as dead: the backing store has the same data, or newer data.
    pub fn died(&mut self, page: u64) {
        let Some(known) = self.known_mut(page) else {
            return;
        };
        known.is_alive = false;
        if known.due().is_some() && !known.is_unrecorded {
            known.is_unrecorded = true;
            self.unrecorded += 1;
            self.dead.push_back(page);
        }
    }
    fn recorded_dead(&mut self, number: u32) {
        if let Some(known) = self.known.get_mut(number) {
            self.unrecorded -= u32::from(std::mem::take(&mut known.is_unrecorded));
        }
    }
    /// Marks the record of a page, if there is one, as no longer needed.
    fn unneeded(&mut self, number: u32) {
        let Some(known) = self.known.get_mut(number) else {
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

    /// Returns the record that is due for a dead page, if any: page and write number.
    pub fn due(&self, page: u64) -> Option<(u64, u64)> {
        let known = self.known(page).filter(|_| self.plan.records)?;
        known.due().map(|write| (page, write))
    }
    /// Returns `true` if `pages` more pages may be dead without a record.
    pub fn bears(&self, pages: usize) -> bool {
        !self.plan.records || self.unrecorded as usize + pages <= self.plan.most_unrecorded as usize
    }
    /// Returns the records that are due before a block is erased. A dead page needs a record if its
    /// newest copy is in the block and an older copy, which would be restored, is elsewhere.
    fn due_before_erase(&self, block: Range<u32>) -> Vec<(u64, u64)> {
        let mut due = Vec::new();
        for place in block.clone() {
            let Some(number) = self.known_at[place as usize].checked_sub(1) else {
                continue;
            };
            let Some(known) = self.known.get(number).filter(|known| !known.is_alive) else {
                continue;
            };
            if known.due() != Some(self.write_at[place as usize]) {
                continue;
            }
            let comes_back = |(at, write): (Ppn, u64)| {
                !block.contains(&at.0) && (known.recorded + 1..known.durable).contains(&write)
            };
            if self.copies_of(known).any(comes_back) {
                due.push((known.page, known.durable));
            }
        }
        due.sort_unstable();
        due.dedup();
        due
    }
    /// Implements [`wordline_ftl::owner::Owner::owes`]: creates the record page that is due before
    /// a block is erased, if any.
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
    /// Creates a record page with `entries`, records of other dead pages, and the needed records of
    /// other record pages, as far as they fit. Returns its logical page.
    pub fn begin(&mut self, mut entries: Vec<(u64, u64)>) -> Lpn {
        let mut dead = std::mem::take(&mut self.dead);
        dead.retain(|page| self.known(*page).is_some_and(|known| known.is_unrecorded));
        self.dead = dead;
        let room = self.per_page() - entries.len();
        let dead = self.dead.iter().filter_map(|page| self.due(*page));
        let more: Vec<(u64, u64)> = dead
            .filter(|one| !entries.contains(one))
            .take(room)
            .collect();
        entries.extend(more);
        self.take_over(&mut entries);
        let slot = self.logs.iter().position(Option::is_none);
        let slot = slot.unwrap_or_else(|| unreachable!("a slot for a record page is free"));
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
    /// Adds the needed records of other record pages, in ascending order of their number, as long
    /// as all needed records of a record page fit.
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
                let known = self.known(*page);
                known.is_some_and(|known| known.slot == slot + 1 && known.recorded == *write)
            });
            entries.extend(records);
        }
    }
    /// Handles a programmed record page. Returns the record pages that are no longer needed.
    pub fn recorded(&mut self, page: Lpn) -> Vec<Lpn> {
        let Some(log) = &mut self.logs[page.index()] else {
            return Vec::new();
        };
        log.is_durable = true;
        let entries = log.entries.clone();
        for (dead, write) in entries {
            let Some(&number) = self.numbers.get(&dead) else {
                continue;
            };
            let Some(known) = self.known.get_mut(number) else {
                continue;
            };
            // A page that has been written since is no longer dead.
            if write >= known.recorded.max(known.durable) {
                known.recorded = write;
                self.recorded_dead(number);
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
    /// Moves the record of a page to the record page in `slot`.
    pub fn needs(&mut self, page: u64, slot: u32) {
        let Some(&number) = self.numbers.get(&page) else {
            return;
        };
        self.unneeded(number);
        if let Some(known) = self.known.get_mut(number)
            && let Some(log) = &mut self.logs[slot as usize]
        {
            known.slot = slot + 1;
            log.needed += 1;
        }
    }
    /// Removes and returns the record pages that are no longer needed.
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

    /// Sets the state of a page during recovery, when its copies have been linked. The page is dead
    /// if its latest write is recorded; otherwise its latest copy is current.
    pub fn restore(&mut self, page: u64, durable: u64, recorded: u64) {
        if let Some(known) = self.known_mut(page) {
            known.durable = durable;
            known.is_alive = durable > recorded;
            known.recorded = if known.is_alive { 0 } else { recorded };
        }
    }
    /// Returns `true` if a page is dead and no record page with its record has been found yet. Used
    /// during recovery.
    pub fn lacks(&self, page: u64, recorded: u64) -> bool {
        let known = self.known(page);
        known.is_some_and(|known| !known.is_alive && known.slot == 0 && known.recorded == recorded)
    }
    /// Adds a record page that recovery found in flash.
    pub fn take_back(&mut self, slot: usize, log: Log) {
        self.logs[slot] = Some(Log {
            needed: 0,
            is_durable: true,
            ..log
        });
    }
    /// Drops a record page during recovery if none of its records is needed. Returns `true` if the
    /// record page is kept.
    pub fn keep(&mut self, slot: usize) -> bool {
        let needed = self.logs[slot].as_ref().is_some_and(|log| log.needed > 0);
        if !needed {
            self.logs[slot] = None;
        }
        needed
    }
}
