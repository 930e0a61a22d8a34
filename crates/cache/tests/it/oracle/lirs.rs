//! LIRS by its definition (Jiang and Zhang, SIGMETRICS 2002): computed from the recency of every
//! known block, without a stack.

use super::naive::{Naive, World};
use std::collections::BTreeMap;

#[derive(Clone, Copy, PartialEq)]
enum Status {
    Lir,
    Resident,
    NonResident,
}

pub struct Lirs {
    capacity: usize,
    /// Ratios of HIR entries and of ghosts to the capacity.
    hir_ratio: f64,
    ghost_ratio: f64,
    now: u64,
    /// Status and time of the last access of each known block.
    blocks: BTreeMap<u32, (Status, u64)>,
    /// Resident HIR blocks, the next victim first.
    queue: Vec<u32>,
}

impl Lirs {
    pub fn new(capacity: usize, hir_ratio: f64, ghost_ratio: f64) -> Self {
        Self {
            capacity,
            hir_ratio,
            ghost_ratio,
            now: 0,
            blocks: BTreeMap::new(),
            queue: Vec::new(),
        }
    }
    fn lir_share(&self) -> usize {
        let hir = (self.capacity as f64 * self.hir_ratio) as usize;
        self.capacity - hir.clamp(1, self.capacity)
    }
    fn of(&self, status: Status) -> Vec<(u64, u32)> {
        let all = self.blocks.iter().filter(|(_, block)| block.0 == status);
        let mut all: Vec<_> = all.map(|(&entry, block)| (block.1, entry)).collect();
        all.sort_unstable();
        all
    }
    /// Returns the time of the last access of the LIR block with the greatest recency.
    fn oldest_lir(&self) -> u64 {
        self.of(Status::Lir)
            .first()
            .map_or(u64::MAX, |&(last, _)| last)
    }
    /// Reduces the LIR set to its share: the block with the greatest recency loses its status.
    fn demote(&mut self) {
        while self.of(Status::Lir).len() > self.lir_share() {
            let (last, entry) = self.of(Status::Lir)[0];
            self.blocks.insert(entry, (Status::Resident, last));
            self.queue.push(entry);
        }
    }
    fn evict(&mut self, size: usize) {
        while self.of(Status::Lir).len() + self.queue.len() > size {
            let entry = self.queue.remove(0);
            self.blocks.get_mut(&entry).unwrap().0 = Status::NonResident;
        }
    }
    /// Drops non-resident blocks that cannot become LIR any more, and ghosts beyond their maximum.
    fn forget(&mut self) {
        let oldest = self.oldest_lir();
        self.blocks
            .retain(|_, block| block.0 != Status::NonResident || block.1 > oldest);
        let ghosts = self.of(Status::NonResident);
        let most = (self.capacity as f64 * self.ghost_ratio) as usize;
        for (_, entry) in &ghosts[..ghosts.len().saturating_sub(most)] {
            self.blocks.remove(entry);
        }
    }
}

impl Naive for Lirs {
    fn access(&mut self, entry: u32, _: &World) -> bool {
        self.now += 1;
        let room = self.of(Status::Lir).len() < self.lir_share();
        // A block becomes LIR if its inter-reference recency is below the greatest recency of the
        // LIR set.
        let found = self.blocks.get(&entry).copied();
        let low = found.is_some_and(|(_, last)| last > self.oldest_lir());
        let hit = found.is_some_and(|(status, _)| status != Status::NonResident);
        let is_lir = found.is_some_and(|(status, _)| status == Status::Lir);
        if !hit {
            self.blocks.remove(&entry);
            self.evict(self.capacity - 1);
        }
        self.queue.retain(|&other| other != entry);
        if is_lir || room || low {
            self.blocks.insert(entry, (Status::Lir, self.now));
            self.demote();
        } else {
            self.blocks.insert(entry, (Status::Resident, self.now));
            self.queue.push(entry);
        }
        self.forget();
        hit
    }
    fn remove(&mut self, entry: u32) {
        self.blocks.remove(&entry);
        self.queue.retain(|&other| other != entry);
        self.forget();
    }
    fn resize(&mut self, capacity: usize, _: &World) {
        self.capacity = capacity;
        self.demote();
        self.evict(capacity);
        self.forget();
    }
    fn residents(&self) -> Vec<u32> {
        let all = [self.of(Status::Lir), self.of(Status::Resident)].concat();
        all.into_iter().map(|(_, entry)| entry).collect()
    }
    fn ghosts(&self) -> Vec<u32> {
        let all = self.of(Status::NonResident).into_iter();
        all.map(|(_, entry)| entry).collect()
    }
}
