//! What reads find, and what becomes of data that cannot be read.

use serde::{Deserialize, Serialize};
use wordline_block::{ReadEvents, Ticket};
use wordline_kernel::Time;
use wordline_nand::{Block, Operation, Ppn};
use wordline_reliability::Read;

use super::conditions::Conditions;
use super::flash::Flash;
use crate::backend::{Order, PageConditions, Purpose};
use wordline_io_scheduler::Slot;

/// What reads of the device have found, for whatever purpose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorCounts {
    /// Pages read.
    pub reads: u64,
    /// Of them those that the first level did not correct.
    pub reads_retried: u64,
    /// Further reads of their pages.
    pub retries: u64,
    /// Errors of the worst codeword of each page, summed.
    pub worst_codewords: u64,
    /// Pages that the host read, or wrote in part, and that could not be corrected.
    pub host_failures: u64,
    /// Pages that could not be read when they were moved, or that hold such data in part.
    pub pages_lost: u64,
    /// Reads of pages whose raw bit error rate was beyond the limit of its model.
    pub limited: u64,
    /// Further reads that the probe has heard of.
    told: u64,
}

wordline_kernel::since!(ErrorCounts: reads, reads_retried, retries, worst_codewords, host_failures, pages_lost, limited; but told);

/// What there is to say of a request where pages are not all alike.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ReadAnnotations {
    /// What it has met.
    pub met: ReadEvents,
    /// Whether a page of it could not be read or written.
    pub failed: bool,
    /// Whether that is because a page could not be written or discarded.
    pub unwritten: bool,
    /// What the last decoding of the page took that was done last.
    pub decode: Time,
}

impl Conditions {
    /// Looks at what a read will find. What the mapping keeps for itself is read in the end, however many retries it takes: it is
    /// kept more than once.
    pub fn find_errors(
        &mut self,
        flash: &Flash,
        now: Time,
        order: &Order,
        grade: &mut PageConditions,
    ) {
        let place = order.place;
        if order.purpose == Purpose::Read {
            self.look_at_die(flash, order);
        }
        let of_mapping = matches!(order.purpose, Purpose::MetadataRead | Purpose::MapRead);
        let lost = self.lost.contains(&place) || self.failing.unwritten.contains(&place);
        let Some(reader) = &self.reader else {
            self.errors.reads += 1;
            grade.failed = !of_mapping && lost;
            return;
        };
        let block = flash.layout.block_of(place);
        let array = &flash.array;
        let Some(health) = array.health() else {
            return;
        };
        let read = Read {
            page: flash.layout.page_in_block(place),
            is_single_level: array.is_single_level(block),
            ..health.of(now, block, array.erases()[block.index()])
        };
        let mode = grade.mode;
        let costs = flash.backend.costs();
        let levels = reader.code.ladder.len();
        let first = costs
            .map_or(0, |costs| usize::from(costs.of(mode).level))
            .min(levels - 1);
        let found = reader.read(&read, mode, first, &mut self.error_draws);
        let last = found.level.unwrap_or(levels - 1);
        grade.first = first as u8;
        grade.retries = (last - first) as u8;
        grade.failed = !of_mapping && (lost || found.level.is_none());
        grade.decode = reader
            .code
            .last_decoding(last, found.level.map(|_| found.errors));
        let counts = &mut self.errors;
        counts.reads += 1;
        counts.reads_retried += u64::from(last > first);
        counts.retries += (last - first) as u64;
        counts.worst_codewords += u64::from(found.errors);
        counts.limited += u64::from(found.rate.is_limited);
        if order.purpose == Purpose::Read && last > first {
            self.meet(order.owner, ReadEvents::RETRY);
        }
        if order.purpose == Purpose::Move && grade.failed {
            self.lose(order.target);
        }
    }

    /// What goes on on the die of a page that a request asks for. Once the device is read-only no data moves: what a job has left
    /// stays.
    fn look_at_die(&mut self, flash: &Flash, order: &Order) {
        let layout = &flash.layout;
        let die = layout.die_of(layout.plane_of(layout.block_of(order.place)));
        let mut refreshing = flash.refreshing.iter();
        let moves = refreshing.any(|plane| layout.die_of(*plane) == die) && !self.is_read_only();
        let replaces = self.failing.replaces_on(layout, die);
        let met = ReadEvents::RECLAIM
            .only_if(moves)
            .union(ReadEvents::BAD_BLOCK.only_if(replaces));
        if !met.is_nothing() {
            self.meet(order.owner, met);
        }
    }

    /// A request has met something.
    #[cold]
    fn meet(&mut self, ticket: Ticket, met: ReadEvents) {
        if let Some(beside) = self.beside_of(ticket) {
            beside.met = beside.met.union(met);
        }
    }

    /// What there is to say of a request beside; nothing where pages are all alike.
    pub fn beside_of(&mut self, ticket: Ticket) -> Option<&mut ReadAnnotations> {
        let beside = self.annotations.as_mut()?;
        Some(beside.entry(ticket).or_default())
    }

    /// Further reads since this was asked last.
    pub fn newly_retried(&mut self) -> Option<u32> {
        let counts = &mut self.errors;
        let told = std::mem::replace(&mut counts.told, counts.retries);
        Some((counts.retries - told) as u32).filter(|retries| *retries > 0)
    }

    /// A page holds what could not be read.
    pub fn lose(&mut self, place: Ppn) {
        let is_new = self.lost.insert(place);
        self.errors.pages_lost += u64::from(is_new);
    }

    /// A page that a collection moves has been read.
    #[cold]
    pub fn copy_read(&mut self, flash: &Flash, slot: Slot, from: Ppn) {
        if flash.backend.graded(slot).failed {
            self.lose(from);
        }
    }

    /// A page of a request of the host could not be read.
    #[cold]
    pub fn fail(&mut self, ticket: u32) {
        self.errors.host_failures += 1;
        if let Some(beside) = self.beside_of(ticket) {
            beside.failed = true;
        }
    }

    /// A page of a block has been sensed, and the read is counted: whether the data of the block is to move now.
    fn look_at_age(&mut self, flash: &Flash, now: Time, block: Block) {
        let array = &flash.array;
        let Some((reader, health)) = self.reader.as_ref().zip(array.health()) else {
            return;
        };
        let read = health.of(now, block, array.erases()[block.index()]);
        if let Some(due) = reader.due(&read)
            && !self.due.iter().any(|(other, _)| *other == block)
        {
            self.due.push((block, due));
        }
    }

    /// The array has worked: what ages data is noted.
    pub fn age(
        &mut self,
        flash: &mut Flash,
        now: Time,
        operation: Operation,
        place: Ppn,
        target: Ppn,
    ) {
        let block = flash.layout.block_of(target);
        let begins = flash.layout.page_in_block(target) == 0;
        match operation {
            Operation::Read => {
                let block = flash.layout.block_of(place);
                if let Some(health) = flash.array.health_mut() {
                    health.read(block);
                }
                self.look_at_age(flash, now, block);
            }
            Operation::Program | Operation::Move if begins => {
                if let Some(health) = flash.array.health_mut() {
                    health.begun(now, block);
                }
            }
            Operation::Program | Operation::Move => {}
            Operation::Erase => self.age_erased(flash, block),
        }
    }

    /// A block has been erased: nothing is lost in it any more.
    pub fn age_erased(&mut self, flash: &mut Flash, block: Block) {
        if let Some(health) = flash.array.health_mut() {
            health.erased(block);
        }
        if !self.lost.is_empty() {
            let layout = &flash.layout;
            self.lost.retain(|place| layout.block_of(*place) != block);
        }
    }
}
