//! Issue queue of the device: flash operations of host requests that wait for the scheduler.
//!
//! It implements the clump table of Jung 2013, section 6.4.5: waiting operations in request order
//! and by package, with the number of operations that share a die, a package and a channel.

use serde::{Deserialize, Serialize};
use wordline_kernel::Time;
use wordline_kernel::memory::Table;
use wordline_nand::{Block, Die, Layout, Operation, Plane, PlaneRule, Ppn};

use super::commands::{Class, Commands};
use crate::Slot;
use wordline_block::Ticket;

/// Index of an entry.
pub type EntryId = u32;
const NONE: EntryId = EntryId::MAX;

/// Flash operation that waits for the scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    /// Index in the device's transaction table.
    pub slot: Slot,
    /// Number of the request, in the order in which requests started in the device.
    pub request: u64,
    /// Ticket of the request.
    pub ticket: Ticket,
    /// Read or program.
    pub operation: Operation,
    /// Physical page.
    pub place: Ppn,
    /// Block of the page.
    pub block: Block,
    /// Die of the page.
    pub die: Die,
    /// Plane of the page, within the die.
    pub plane: u32,
    /// Time at which the wait started.
    pub since: Time,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Links {
    previous: EntryId,
    next: EntryId,
}

const APART: Links = Links {
    previous: NONE,
    next: NONE,
};

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Entry {
    waiting: Waiting,
    /// Sequence number of arrival.
    number: u64,
    class: Class,
    whole: Links,
    package: Links,
    /// Links to operations of the same kind on the same die.
    die: Links,
    /// Links to operations of the same package, in order of arrival, if it is maintained.
    age: Links,
    /// Links to programs of the same block, in page order.
    block: Links,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Ends {
    first: EntryId,
    last: EntryId,
}

const EMPTY: Ends = Ends {
    first: NONE,
    last: NONE,
};

/// Lists of waiting operations by place.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Places {
    packages: Vec<Ends>,
    /// Reads and programs of each die.
    dies: Vec<[Ends; 2]>,
}

/// Numbers of waiting operations per die, package and channel.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Counts {
    /// Waiting reads and programs of each die. Count.
    dies: Vec<[u32; 2]>,
    packages: Vec<u32>,
    channels: Vec<u32>,
}

/// Operations that wait for the scheduler.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct IssueQueue {
    layout: Layout,
    rule: PlaneRule,
    dies_per_package: u32,
    dies_per_channel: u32,
    entries: Vec<Entry>,
    vacant: Vec<EntryId>,
    /// Operations that have arrived so far. Count.
    came: u64,
    whole: Ends,
    /// Operations by place; `None` unless a scheduler needs them.
    places: Option<Places>,
    /// Operations of each package in order of arrival; empty unless a scheduler needs them.
    ages: Vec<Ends>,
    counts: Counts,
    /// Waiting programs. Count.
    waiting_programs: u32,
    /// First and last waiting program of each block, each as the entry's index plus one; 0 if there
    /// is none.
    programs: Vec<[EntryId; 2]>,
    /// Commands and counts of adjacent operations; `None` unless a scheduler needs them.
    kept: Option<Box<Kept>>,
}

/// Properties of the waiting operations, maintained as operations come and go.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Kept {
    commands: Commands,
    /// Operations of each package whose predecessor in the list of the package belongs to the same
    /// request. Count.
    siblings: Vec<u32>,
}

impl IssueQueue {
    /// Creates an empty queue for the dies of `layout`.
    pub fn new(
        layout: Layout,
        rule: PlaneRule,
        dies_per_package: u32,
        dies_per_channel: u32,
    ) -> Self {
        let dies = layout.dies;
        // The indices after those of the blocks are pseudo-blocks, one per plane, for programs that
        // have no page yet.
        let blocks = (layout.blocks() + layout.planes()) as usize;
        let packages = dies.div_ceil(dies_per_package) as usize;
        let channels = dies.div_ceil(dies_per_channel) as usize;
        Self {
            layout,
            rule,
            dies_per_package,
            dies_per_channel,
            entries: Vec::new(),
            vacant: Vec::new(),
            came: 0,
            whole: EMPTY,
            places: None,
            ages: Vec::new(),
            counts: Counts {
                dies: vec![[0; 2]; dies as usize],
                packages: vec![0; packages],
                channels: vec![0; channels],
            },
            waiting_programs: 0,
            programs: vec![[0; 2]; blocks],
            kept: None,
        }
    }
    /// Starts maintaining the operations of each package and die, for [`IssueQueue::of_package`]
    /// and [`IssueQueue::first_ready`]. Must be called while the queue is empty.
    pub fn keep_places(&mut self) {
        self.places = Some(Places {
            packages: vec![EMPTY; self.packages() as usize],
            dies: vec![[EMPTY; 2]; self.layout.dies as usize],
        });
    }
    /// Starts maintaining the order in which the operations of each package arrived, for
    /// [`IssueQueue::oldest`]. Must be called while the queue is empty.
    pub fn keep_ages(&mut self) {
        self.ages = vec![EMPTY; self.packages() as usize];
    }
    /// Starts maintaining the commands that the waiting reads can form, for
    /// [`IssueQueue::first_of_widest`], unless the plane rule compares blocks, with which there
    /// would be too many. Needs [`IssueQueue::keep_places`]. Must be called while the queue is
    /// empty.
    pub fn keep_commands(&mut self) {
        if !self.compares_blocks() {
            self.kept = Some(Box::new(Kept {
                commands: Commands::new(&self.layout),
                siblings: vec![0; self.packages() as usize],
            }));
        }
    }

    /// Returns the memory estimate of the table with one entry per block, which only queued
    /// programs touch.
    pub fn memory(layout: &Layout) -> Table {
        let blocks = u64::from(layout.blocks() + layout.planes());
        Table::zeroed::<[EntryId; 2]>("waiting programs per block", blocks, 0.0)
    }

    /// Returns the pseudo-block for programs of a plane that have no page yet.
    pub fn unplaced(&self, plane: Plane) -> Block {
        Block(self.layout.blocks() + plane.0)
    }
    /// Returns the package of a die.
    pub fn package(&self, die: Die) -> u32 {
        die.0 / self.dies_per_package
    }
    /// Returns the channel of a die.
    pub fn channel(&self, die: Die) -> u32 {
        die.0 / self.dies_per_channel
    }
    /// Returns the dies of a package.
    pub fn dies_of_package(&self, package: u32) -> impl Iterator<Item = Die> + use<> {
        let first = package * self.dies_per_package;
        (first..first + self.dies_per_package).map(Die)
    }
    /// Returns the dies of a channel.
    pub fn dies_of_channel(&self, channel: u32) -> impl Iterator<Item = Die> + use<> {
        let first = channel * self.dies_per_channel;
        (first..first + self.dies_per_channel).map(Die)
    }
    /// Returns the number of packages.
    pub fn packages(&self) -> u32 {
        self.counts.packages.len() as u32
    }
    /// Returns the number of channels.
    pub fn channels(&self) -> u32 {
        self.counts.channels.len() as u32
    }
    /// Returns the waiting operation `id`.
    #[inline]
    pub fn get(&self, id: EntryId) -> &Waiting {
        &self.entries[id as usize].waiting
    }
    /// Iterates over all waiting operations, in the order of their requests and pages.
    pub fn iter(&self) -> impl Iterator<Item = EntryId> + '_ {
        self.from(self.whole.first, |entry| entry.whole)
    }
    /// Iterates from an entry along one of its links.
    fn from(&self, id: EntryId, links: impl Fn(&Entry) -> Links) -> impl Iterator<Item = EntryId> {
        std::iter::successors((id != NONE).then_some(id), move |id| {
            let next = links(&self.entries[*id as usize]).next;
            (next != NONE).then_some(next)
        })
    }
    /// Iterates over the operations of a package, in the order of their requests and pages. Needs
    /// [`IssueQueue::keep_places`].
    pub fn of_package(&self, package: u32) -> impl Iterator<Item = EntryId> + '_ {
        let places = self.places.as_ref();
        let first = places.map_or(NONE, |places| places.packages[package as usize].first);
        self.from(first, |entry| entry.package)
    }
    /// Iterates over the reads or the programs of a die, in the order of their requests and pages.
    /// Needs [`IssueQueue::keep_places`].
    fn of_die(&self, die: Die, operation: Operation) -> impl Iterator<Item = EntryId> + '_ {
        let ends = |places: &Places| places.dies[die.index()][kind(operation)].first;
        self.from(self.places.as_ref().map_or(NONE, ends), |entry| entry.die)
    }
    /// Returns the first ready read or program of a die. Needs [`IssueQueue::keep_places`].
    #[inline]
    pub fn first_ready(&self, die: Die, operation: Operation) -> Option<EntryId> {
        let mut ids = self.of_die(die, operation);
        ids.find(|id| self.is_ready(*id))
    }
    /// Returns a key that sorts operations in the order of the queue.
    #[inline]
    pub fn rank(&self, id: EntryId) -> (u64, u64) {
        let entry = &self.entries[id as usize];
        (entry.waiting.request, entry.number)
    }
    /// Returns the operation of a package that has waited longest; among equals, the first in the
    /// queue. Needs [`IssueQueue::keep_ages`].
    pub fn oldest(&self, package: u32) -> Option<EntryId> {
        let first = self.ages[package as usize].first;
        (first != NONE).then_some(first)
    }
    /// Returns the number of waiting operations of a die.
    pub fn of_die_count(&self, die: Die) -> u32 {
        let [reads, programs] = self.counts.dies[die.index()];
        reads + programs
    }
    /// Returns the number of waiting programs of a die.
    pub fn programs_of_die(&self, die: Die) -> u32 {
        self.counts.dies[die.index()][kind(Operation::Program)]
    }
    /// Returns the number of waiting operations of a package.
    pub fn of_package_count(&self, package: u32) -> u32 {
        self.counts.packages[package as usize]
    }
    /// Returns the number of waiting operations of a channel.
    pub fn of_channel_count(&self, channel: u32) -> u32 {
        self.counts.channels[channel as usize]
    }

    /// Returns `true` if two waiting operations fit one multi-plane command: the same kind of
    /// operation on different planes of one die, within the plane rule.
    #[inline]
    pub fn fits(&self, one: EntryId, other: EntryId) -> bool {
        let same = self.class(one) == self.class(other);
        let (one, other) = (self.get(one), self.get(other));
        same && one.die == other.die && one.plane != other.plane
    }
    /// Returns the class of an operation; operations on different planes of a die with equal
    /// classes fit one command.
    #[inline]
    pub(super) fn class(&self, id: EntryId) -> Class {
        self.entries[id as usize].class
    }
    fn class_of(&self, waiting: &Waiting) -> Class {
        if waiting.block.0 >= self.layout.blocks() {
            return Class(u64::MAX);
        }
        let in_block = self.layout.page_in_block(waiting.place);
        let place = if self.compares_blocks() {
            self.layout.block_in_plane(waiting.block) * self.layout.pages_per_block + in_block
        } else {
            in_block
        };
        let writes = u64::from(waiting.operation != Operation::Read);
        Class(writes << 32 | u64::from(place))
    }
    /// Returns `true` if the plane rule compares the offsets of blocks.
    const fn compares_blocks(&self) -> bool {
        !self.rule.allows((0, 0), (1, 0))
    }
    /// Returns the first read of a die whose command covers the most planes, and this number of
    /// planes. Returns `None` if commands are not maintained, if a program waits for the die, or if
    /// two operations of the package belong to one request.
    pub(super) fn first_of_widest(&self, die: Die) -> Option<(EntryId, u32)> {
        let kept = self.kept.as_ref()?;
        if kept.siblings[self.package(die) as usize] > 0 || self.programs_of_die(die) > 0 {
            return None;
        }
        let most = kept.commands.widest(die);
        let mut reads = self.of_die(die, Operation::Read);
        let first = reads.find(|id| kept.commands.width(die, self.class(*id)) == most);
        first.map(|first| (first, most))
    }
    /// Returns the bit mask of all planes of a die.
    pub(super) fn planes(&self) -> u64 {
        u64::MAX >> (64 - self.layout.planes_per_die)
    }

    /// Returns the waiting program of the earliest page of a block. Pages are allocated in order,
    /// so it has also waited longest.
    #[inline]
    pub(super) fn first_program(&self, block: Block) -> Option<EntryId> {
        self.programs[block.index()][0].checked_sub(1)
    }

    /// Iterates over the waiting programs of a block, in the order of allocation.
    fn programs_of(&self, block: Block) -> impl Iterator<Item = EntryId> + '_ {
        let first = self.first_program(block).unwrap_or(NONE);
        self.from(first, |entry| entry.block)
    }

    /// Returns `true` if no queued operation must precede this one. Programs of earlier pages of
    /// its block must precede a program. Programs of the page and of earlier pages of the block
    /// must precede a read.
    #[inline]
    pub fn is_ready(&self, id: EntryId) -> bool {
        if self.waiting_programs == 0 {
            return true;
        }
        let waiting = self.get(id);
        let first = self.first_program(waiting.block);
        first.is_none_or(|first| first == id || waiting.place < self.get(first).place)
    }

    /// Returns the queued operation to commit next before an operation that bypasses the queue;
    /// `None` if no queued operation must precede it. All queued operations on the block must
    /// precede an erase, and the queued programs of the block up to the page must precede a read or
    /// a program. If `request` is given, as for a host program, only operations of later requests
    /// must. Programs of a block are committed in page order.
    #[inline]
    pub fn in_the_way(
        &self,
        operation: Operation,
        place: Ppn,
        request: Option<u64>,
    ) -> Option<EntryId> {
        let erases = operation == Operation::Erase;
        if !erases && self.waiting_programs == 0 || self.whole.last == NONE {
            return None;
        }
        self.first_in_the_way(erases, place, request)
    }
    /// Like [`IssueQueue::in_the_way`], for a queue with operations that may have to precede.
    fn first_in_the_way(&self, erases: bool, place: Ppn, request: Option<u64>) -> Option<EntryId> {
        let block = self.layout.block_of(place);
        if !erases && self.first_program(block).is_none() {
            return None;
        }
        let last = self.get(self.whole.last).request;
        if request.is_some_and(|request| last <= request) {
            return None;
        }
        let later = |other: &Waiting| request.is_none_or(|request| other.request > request);
        let program = self.programs_of(block).find(|id| {
            let other = self.get(*id);
            later(other) && (erases || other.place <= place)
        });
        if program.is_some() || !erases {
            return program.and_then(|_| self.first_program(block));
        }
        let die = self.layout.die_of_page(place);
        let in_block = |id: &EntryId| self.get(*id).block == block && later(self.get(*id));
        let found = if self.places.is_some() {
            self.of_die(die, Operation::Read).find(in_block)
        } else {
            let is_read = |id: &EntryId| self.get(*id).operation == Operation::Read;
            self.iter().find(|id| is_read(id) && in_block(id))
        };
        found.map(|found| self.first_program(block).unwrap_or(found))
    }

    /// Inserts an operation after those of the same and of earlier requests.
    pub fn push(&mut self, waiting: Waiting) -> EntryId {
        let entry = Entry {
            waiting,
            number: self.came,
            class: self.class_of(&waiting),
            whole: APART,
            package: APART,
            die: APART,
            age: APART,
            block: APART,
        };
        self.came += 1;
        let id = if let Some(id) = self.vacant.pop() {
            self.entries[id as usize] = entry;
            id
        } else {
            self.entries.push(entry);
            self.entries.len() as EntryId - 1
        };
        let package = self.package(waiting.die) as usize;
        let (entries, request) = (&mut self.entries, |waiting: &Waiting| waiting.request);
        insert(entries, &mut self.whole, id, request, |entry| {
            &mut entry.whole
        });
        if let Some(places) = &mut self.places {
            let ends = &mut places.packages[package];
            insert(entries, ends, id, request, |entry| &mut entry.package);
            let ends = &mut places.dies[waiting.die.index()][kind(waiting.operation)];
            insert(entries, ends, id, request, |entry| &mut entry.die);
        }
        if let Some(ends) = self.ages.get_mut(package) {
            let age = |waiting: &Waiting| (waiting.since, waiting.request);
            insert(entries, ends, id, age, |entry| &mut entry.age);
        }
        if waiting.operation == Operation::Program {
            self.chain(id);
        }
        self.count(&waiting, package, 1);
        if let Some(kept) = &mut self.kept {
            kept.enter(&self.entries, id, package);
        }
        id
    }

    /// Removes and returns the waiting operation `id`.
    pub fn remove(&mut self, id: EntryId) -> Waiting {
        let waiting = *self.get(id);
        let package = self.package(waiting.die) as usize;
        if let Some(kept) = &mut self.kept {
            kept.leave(&self.entries, id, package);
        }
        unlink(&mut self.entries, &mut self.whole, id, |entry| {
            &mut entry.whole
        });
        if let Some(places) = &mut self.places {
            let ends = &mut places.packages[package];
            unlink(&mut self.entries, ends, id, |entry| &mut entry.package);
            let ends = &mut places.dies[waiting.die.index()][kind(waiting.operation)];
            unlink(&mut self.entries, ends, id, |entry| &mut entry.die);
        }
        if let Some(ends) = self.ages.get_mut(package) {
            unlink(&mut self.entries, ends, id, |entry| &mut entry.age);
        }
        if waiting.operation == Operation::Program {
            self.unchain(id);
        }
        self.vacant.push(id);
        self.count(&waiting, package, u32::MAX);
        waiting
    }

    /// Adds `change` to the counts of the operation's die, package and channel. A wrapped -1
    /// decrements them.
    #[inline]
    fn count(&mut self, waiting: &Waiting, package: usize, change: u32) {
        let channel = self.channel(waiting.die) as usize;
        for count in [
            &mut self.counts.dies[waiting.die.index()][kind(waiting.operation)],
            &mut self.counts.packages[package],
            &mut self.counts.channels[channel],
        ] {
            *count = count.wrapping_add(change);
        }
    }

    /// Appends a program to the list of its block.
    fn chain(&mut self, id: EntryId) {
        self.waiting_programs += 1;
        let block = self.get(id).block.index();
        let [_, last] = self.programs[block];
        match last.checked_sub(1) {
            None => self.programs[block][0] = id + 1,
            Some(last) => {
                self.entries[last as usize].block.next = id;
                self.entries[id as usize].block.previous = last;
            }
        }
        self.programs[block][1] = id + 1;
    }

    /// Removes a program from the list of its block.
    fn unchain(&mut self, id: EntryId) {
        self.waiting_programs -= 1;
        let Links { previous, next } = self.entries[id as usize].block;
        let block = self.get(id).block.index();
        match previous {
            NONE => self.programs[block][0] = next.wrapping_add(1),
            previous => self.entries[previous as usize].block.next = next,
        }
        match next {
            NONE => self.programs[block][1] = previous.wrapping_add(1),
            next => self.entries[next as usize].block.previous = previous,
        }
    }
}

impl Kept {
    /// Adds an entry that is in the list of its package.
    #[inline]
    fn enter(&mut self, entries: &[Entry], id: EntryId, package: usize) {
        let Entry { waiting, class, .. } = &entries[id as usize];
        if waiting.operation == Operation::Read {
            self.commands.enter(waiting.die, *class, waiting.plane);
        }
        self.siblings[package] += sibling(entries, id);
    }
    /// Removes an entry that is still in the list of its package.
    #[inline]
    fn leave(&mut self, entries: &[Entry], id: EntryId, package: usize) {
        let Entry { waiting, class, .. } = &entries[id as usize];
        if waiting.operation == Operation::Read {
            self.commands.leave(waiting.die, *class, waiting.plane);
        }
        self.siblings[package] -= sibling(entries, id);
    }
}

/// Returns the number by which an entry changes [`Kept::siblings`]: 1 if a neighbour in the
/// list of its package belongs to the same request, otherwise 0. Operations of a request are
/// adjacent in the list.
#[inline]
fn sibling(entries: &[Entry], id: EntryId) -> u32 {
    let Entry {
        waiting, package, ..
    } = &entries[id as usize];
    let joins = |other: EntryId| {
        other != NONE && entries[other as usize].waiting.request == waiting.request
    };
    u32::from(joins(package.previous) || joins(package.next))
}

/// Returns the index of the die's list for a kind of operation: 0 for reads, 1 for programs.
fn kind(operation: Operation) -> usize {
    usize::from(operation != Operation::Read)
}

/// Inserts an entry after the last one whose key is not greater.
fn insert<K: Ord>(
    entries: &mut [Entry],
    ends: &mut Ends,
    id: EntryId,
    key: impl Fn(&Waiting) -> K,
    links: impl Fn(&mut Entry) -> &mut Links,
) {
    let own = key(&entries[id as usize].waiting);
    let mut previous = ends.last;
    while previous != NONE && key(&entries[previous as usize].waiting) > own {
        previous = links(&mut entries[previous as usize]).previous;
    }
    let next = match previous {
        NONE => ends.first,
        previous => links(&mut entries[previous as usize]).next,
    };
    *links(&mut entries[id as usize]) = Links { previous, next };
    match previous {
        NONE => ends.first = id,
        previous => links(&mut entries[previous as usize]).next = id,
    }
    match next {
        NONE => ends.last = id,
        next => links(&mut entries[next as usize]).previous = id,
    }
}

fn unlink(
    entries: &mut [Entry],
    ends: &mut Ends,
    id: EntryId,
    links: impl Fn(&mut Entry) -> &mut Links,
) {
    let Links { previous, next } = *links(&mut entries[id as usize]);
    match previous {
        NONE => ends.first = next,
        previous => links(&mut entries[previous as usize]).next = next,
    }
    match next {
        NONE => ends.last = previous,
        next => links(&mut entries[next as usize]).previous = previous,
    }
}
