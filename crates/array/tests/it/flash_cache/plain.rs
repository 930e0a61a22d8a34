//! Simple reference cache: one plane, one page at a time, and lists that are searched completely.
//!
//! It also supports writes that stay in the cache until eviction. An evicted page is then destaged,
//! and its copy becomes clean.
//!
//! Implements Xia 2017, chapters 2 to 4, and Megiddo and Modha 2003. A miss first evicts an entry,
//! then programs the page, and then runs GC while there are too few free pages.

use std::collections::{BTreeSet, VecDeque};

/// State of a flash page.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Slot {
    Free,
    Valid(u64),
    Suspected(u64),
    Invalid,
}

struct Block {
    slots: Vec<Slot>,
    /// For a full block, the time since which it has had its number of valid pages; `None` while it
    /// is not full.
    since: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Policy {
    Lru,
    Arc,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Collect {
    Move,
    Drop,
    DropCold,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    Queue,
    Suspected,
    Nothing,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub fills: u64,
    pub moves: u64,
    pub erases: u64,
    pub dropped: u64,
    pub evicted: u64,
    pub destaged: u64,
}

pub struct Plain {
    policy: Policy,
    collect: Collect,
    ghosts: bool,
    capacity: usize,
    most_suspected: usize,
    threshold: usize,
    blocks: Vec<Block>,
    /// Active blocks of host pages and of moved pages.
    open: [Option<usize>; 2],
    /// Index of the active block that takes moved pages.
    open_of_moved: usize,
    clock: u64,
    /// T1 (the queue under LRU) and T2, the most recent page in front.
    t: [VecDeque<u64>; 2],
    b: [VecDeque<u64>; 2],
    sq: [VecDeque<u64>; 2],
    p: f64,
    pub dirty: BTreeSet<u64>,
    /// Evicted dirty pages, with their queue and whether they become ghosts.
    leaving: Vec<(u64, usize, bool)>,
    /// Pages that are evicted together. Count.
    pub group: usize,
    pub counts: Counts,
}

fn take(list: &mut VecDeque<u64>, page: u64) -> bool {
    let place = list.iter().position(|other| *other == page);
    place.and_then(|place| list.remove(place)).is_some()
}

impl Plain {
    pub fn new(
        (policy, collect, ghosts): (Policy, Collect, bool),
        own_block: bool,
        (blocks, pages): (usize, usize),
        capacity: usize,
        most_suspected: usize,
        threshold: usize,
    ) -> Self {
        let block = || Block {
            slots: vec![Slot::Free; pages],
            since: None,
        };
        Self {
            policy,
            collect,
            ghosts,
            capacity,
            most_suspected,
            threshold,
            blocks: (0..blocks).map(|_| block()).collect(),
            open: [None; 2],
            open_of_moved: usize::from(own_block),
            clock: 0,
            t: Default::default(),
            b: Default::default(),
            sq: Default::default(),
            p: 0.0,
            dirty: BTreeSet::new(),
            leaving: Vec::new(),
            group: 1,
            counts: Counts::default(),
        }
    }
    pub fn residents(&self) -> usize {
        self.t[0].len() + self.t[1].len()
    }
    pub fn suspected(&self) -> usize {
        self.sq[0].len() + self.sq[1].len()
    }
    pub fn free_pages(&self) -> usize {
        let slots = self.blocks.iter().flat_map(|block| &block.slots);
        slots.filter(|slot| **slot == Slot::Free).count()
    }

    /// Returns `true` if a page is readable from flash.
    fn holds(&self, page: u64) -> bool {
        let mut lists = self.t.iter().chain(&self.sq);
        lists.any(|list| list.contains(&page))
    }
    /// Serves a request for consecutive pages: pages in flash are read first, then the others are
    /// inserted one after another.
    pub fn read_all(&mut self, pages: std::ops::Range<u64>) -> Vec<Found> {
        let mut missing = Vec::new();
        let mut found = Vec::new();
        for page in pages {
            if self.holds(page) {
                found.push(self.read(page));
            } else {
                missing.push(page);
            }
        }
        found.extend(missing.into_iter().map(|page| self.read(page)));
        found
    }
    pub fn read(&mut self, page: u64) -> Found {
        for queue in 0..2 {
            if take(&mut self.t[queue], page) {
                let to = usize::from(self.policy == Policy::Arc);
                self.t[to].push_front(page);
                return Found::Queue;
            }
        }
        for queue in 0..2 {
            if take(&mut self.sq[queue], page) {
                self.make_room(false);
                let to = usize::from(self.policy == Policy::Arc);
                self.t[to].push_front(page);
                self.trim_ghosts();
                self.set(page, Slot::Valid(page));
                self.destage();
                return Found::Suspected;
            }
        }
        self.leave_together();
        self.miss(page);
        self.destage();
        self.program(page, 0);
        self.counts.fills += 1;
        self.collect();
        Found::Nothing
    }
    pub fn write(&mut self, page: u64) {
        let lists = self.t.iter_mut().chain(&mut self.sq).chain(&mut self.b);
        for list in lists {
            take(list, page);
        }
        self.set(page, Slot::Invalid);
    }

    /// Writes a whole page that stays in flash. Returns `true` if the page was in flash.
    pub fn write_back(&mut self, page: u64) -> bool {
        let to = usize::from(self.policy == Policy::Arc);
        let queued = (0..2).any(|queue| take(&mut self.t[queue], page));
        let suspected = !queued && (0..2).any(|queue| take(&mut self.sq[queue], page));
        if suspected {
            self.make_room(false);
            self.set(page, Slot::Valid(page)); // revived, then superseded
        }
        if queued || suspected {
            self.t[to].push_front(page);
            self.trim_ghosts();
        } else {
            self.leave_together();
            self.miss(page);
        }
        self.destage();
        self.dirty.insert(page);
        self.set(page, Slot::Invalid);
        self.program(page, 0);
        self.collect();
        queued || suspected
    }
    /// Evicts a group before an insertion into a full queue, if pages are evicted in groups.
    fn leave_together(&mut self) {
        if self.group > 1 && self.residents() == self.capacity {
            for _ in 0..self.group {
                if let Some(oldest) = self.t[0].pop_back() {
                    self.leaves(oldest, 0, true);
                }
            }
        }
    }

    fn miss(&mut self, page: u64) {
        if self.policy == Policy::Lru {
            self.make_room(false);
            self.t[0].push_front(page);
            return;
        }
        let (b1, b2) = (self.b[0].len() as f64, self.b[1].len() as f64);
        if self.b[0].contains(&page) {
            self.p = (self.p + (b2 / b1).max(1.0)).min(self.capacity as f64);
            self.make_room(false);
            take(&mut self.b[0], page);
            self.t[1].push_front(page);
        } else if self.b[1].contains(&page) {
            self.p = (self.p - (b1 / b2).max(1.0)).max(0.0);
            self.make_room(true);
            take(&mut self.b[1], page);
            self.t[1].push_front(page);
        } else {
            let c = self.capacity;
            if self.t[0].len() == c {
                let oldest = self.t[0].pop_back().unwrap();
                self.leaves(oldest, 0, false);
            } else {
                let all = self.residents() + self.b[0].len() + self.b[1].len();
                if self.t[0].len() + self.b[0].len() >= c {
                    self.b[0].pop_back();
                } else if all >= 2 * c {
                    self.b[1].pop_back();
                }
                self.make_room(false);
            }
            self.t[0].push_front(page);
        }
    }
    /// Evicts a page if the queues are full.
    fn make_room(&mut self, for_b2: bool) {
        if self.residents() < self.capacity {
            return;
        }
        let once = self.t[0].len() as f64;
        let first = self.policy == Policy::Lru
            || (once > 0.0 && (once > self.p || (for_b2 && once == self.p)))
            || self.t[1].is_empty();
        let queue = usize::from(!first);
        let oldest = self.t[queue].pop_back().unwrap();
        self.leaves(oldest, queue, true);
    }
    /// Handles the eviction of an entry from a queue.
    fn leaves(&mut self, page: u64, queue: usize, ghost: bool) {
        self.counts.evicted += 1;
        if self.dirty.remove(&page) {
            self.leaving.push((page, queue, ghost));
            return;
        }
        self.gives_up(page, queue, ghost);
    }
    /// Writes evicted dirty pages to the disk, in order of their numbers; then treats them like
    /// evicted clean pages.
    fn destage(&mut self) {
        self.leaving.sort_unstable();
        for (page, queue, ghost) in std::mem::take(&mut self.leaving) {
            self.counts.destaged += 1;
            self.gives_up(page, queue, ghost);
        }
    }
    fn gives_up(&mut self, page: u64, queue: usize, ghost: bool) {
        if self.most_suspected == 0 {
            self.set(page, Slot::Invalid);
            if ghost {
                self.becomes_ghost(page, queue);
            }
            return;
        }
        self.set(page, Slot::Suspected(page));
        self.sq[queue].push_front(page);
        while self.suspected() > self.most_suspected {
            let longer = usize::from(self.sq[1].len() > self.sq[0].len());
            let oldest = self.sq[longer].pop_back().unwrap();
            self.set(oldest, Slot::Invalid);
            self.becomes_ghost(oldest, longer);
        }
    }
    fn becomes_ghost(&mut self, page: u64, queue: usize) {
        if self.policy == Policy::Arc {
            self.b[queue].push_front(page);
            self.trim_ghosts();
        }
    }
    fn trim_ghosts(&mut self) {
        let c = self.capacity;
        while self.t[0].len() + self.b[0].len() > c && self.b[0].pop_back().is_some() {}
        while self.residents() + self.b[0].len() + self.b[1].len() > 2 * c
            && self.b[1].pop_back().is_some()
        {}
    }

    /// Changes the state of the flash page that contains a page, valid or suspected.
    fn set(&mut self, page: u64, to: Slot) {
        self.clock += 1;
        for block in &mut self.blocks {
            for slot in &mut block.slots {
                if *slot == Slot::Valid(page) || *slot == Slot::Suspected(page) {
                    let before = matches!(slot, Slot::Valid(_));
                    *slot = to;
                    if before != matches!(to, Slot::Valid(_)) && block.since.is_some() {
                        block.since = Some(self.clock);
                    }
                    return;
                }
            }
        }
    }
    fn program(&mut self, page: u64, writer: usize) {
        self.clock += 1;
        let open = self.open[writer].unwrap_or_else(|| {
            let is_free = |block: &Block| block.slots.iter().all(|slot| *slot == Slot::Free);
            self.blocks.iter().position(is_free).unwrap()
        });
        let block = &mut self.blocks[open];
        let next = block
            .slots
            .iter()
            .position(|slot| *slot == Slot::Free)
            .unwrap();
        block.slots[next] = Slot::Valid(page);
        let full = next + 1 == block.slots.len();
        self.open[writer] = (!full).then_some(open);
        if full {
            block.since = Some(self.clock);
        }
    }
    fn valid(block: &Block) -> usize {
        let valid = |slot: &&Slot| matches!(slot, Slot::Valid(_));
        block.slots.iter().filter(valid).count()
    }
    fn collect(&mut self) {
        while self.free_pages() <= self.threshold {
            let full = (0..self.blocks.len()).filter_map(|number| {
                let block = &self.blocks[number];
                Some((Self::valid(block), block.since?, number))
            });
            let Some((valid, _, victim)) = full.min() else {
                return;
            };
            if valid == self.blocks[victim].slots.len() {
                return;
            }
            self.erase(victim);
        }
    }
    fn is_hot(&self, page: u64) -> bool {
        self.t.iter().any(|queue| {
            let place = queue.iter().position(|other| *other == page);
            place.is_some_and(|place| place < queue.len().div_ceil(2))
        })
    }
    fn erase(&mut self, victim: usize) {
        let slots = self.blocks[victim].slots.clone();
        let mut moved = Vec::new();
        self.blocks[victim].since = None;
        for slot in slots {
            match slot {
                Slot::Suspected(page) => {
                    let queue = usize::from(!take(&mut self.sq[0], page));
                    take(&mut self.sq[1], page);
                    self.becomes_ghost(page, queue);
                }
                Slot::Valid(page) => {
                    let keep = self.dirty.contains(&page)
                        || match self.collect {
                            Collect::Move => true,
                            Collect::Drop => false,
                            Collect::DropCold => self.is_hot(page),
                        };
                    if keep {
                        moved.push(page);
                        continue;
                    }
                    self.counts.dropped += 1;
                    let queue = usize::from(!take(&mut self.t[0], page));
                    take(&mut self.t[1], page);
                    if self.ghosts {
                        self.becomes_ghost(page, queue);
                    }
                }
                Slot::Free | Slot::Invalid => {}
            }
        }
        // The block accepts no program before it is erased.
        self.blocks[victim].slots.fill(Slot::Invalid);
        for page in moved {
            self.counts.moves += 1;
            self.program(page, self.open_of_moved);
        }
        self.blocks[victim].slots.fill(Slot::Free);
        self.counts.erases += 1;
    }
}
