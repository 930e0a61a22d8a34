//! Read errors, and the loss of unreadable data.

use serde::{Deserialize, Serialize};
use wordline_block::{ReadEvents, Ticket};
use wordline_kernel::Time;
use wordline_nand::{Block, Operation, Ppn};
use wordline_reliability::Read;

use super::conditions::Conditions;
use super::flash::Flash;
use crate::backend::{Order, PageConditions, Purpose};
use wordline_io_scheduler::Slot;

/// Errors found by reads of the device, for any purpose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorCounts {
    /// Pages read. Count.
    pub reads: u64,
    /// Pages that needed retries. Count.
    pub reads_retried: u64,
    /// Read retries. Count.
    pub retries: u64,
    /// Bit errors of the worst codeword of each page read, summed. Count.
    pub worst_codewords: u64,
    /// Uncorrectable or lost pages that the host read or wrote in part. Count.
    pub host_failures: u64,
    /// Pages whose data were lost, completely or in part, because they were unreadable when they
    /// were moved, copied to a spare block, or completed by a partial write. Count.
    pub pages_lost: u64,
    /// Page reads whose raw bit error rate exceeded the limit of the model. Count.
    pub limited: u64,
    /// Retries reported to the probe. Count.
    told: u64,
}

wordline_kernel::since!(ErrorCounts: reads, reads_retried, retries, worst_codewords, host_failures, pages_lost, limited; but told);

/// Annotations of a request to a device with page conditions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ReadAnnotations {
    /// Events that delayed the request.
    pub met: ReadEvents,
    /// Whether a page of the request could not be read, written or trimmed.
    pub failed: bool,
    /// Whether a page could not be written or trimmed.
    pub unwritten: bool,
    /// Duration of the last decoding of the request's last page.
    pub decode: Time,
}

impl Conditions {
    /// Determines the errors that a read or copyback will find. Metadata pages of the mapping never
    /// fail, because copies exist; they only need retries.
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
            self.lose_copy(place, order.target);
        }
    }

    /// Records the read reclaim, refresh or block replacement that delays a request on its die. On
    /// a read-only device no data move: the data of an interrupted job stay where they are.
    fn look_at_die(&mut self, flash: &Flash, order: &Order) {
        if flash.refreshing.is_empty() && !self.failing.replaces() {
            return;
        }
        let layout = &flash.layout;
        let die = layout.die_of_page(order.place);
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

    /// Records events that delay a request.
    #[cold]
    fn meet(&mut self, ticket: Ticket, met: ReadEvents) {
        if let Some(beside) = self.beside_of(ticket) {
            beside.met = beside.met.union(met);
        }
    }

    /// Returns the annotations of a request; `None` if the device has no page conditions.
    #[inline]
    pub fn beside_of(&mut self, ticket: Ticket) -> Option<&mut ReadAnnotations> {
        let (annotations, place) = (self.annotations.as_mut()?, ticket as usize);
        if annotations.len() <= place {
            extend(annotations, place);
        }
        annotations.get_mut(place)
    }

    /// Returns the number of retries since the last call, or `None` if there were none.
    pub fn newly_retried(&mut self) -> Option<u32> {
        let counts = &mut self.errors;
        let told = std::mem::replace(&mut counts.told, counts.retries);
        Some((counts.retries - told) as u32).filter(|retries| *retries > 0)
    }

    /// Marks a page whose data were unreadable. Counts it unless it is lost already.
    pub fn lose(&mut self, place: Ppn) {
        let is_new = self.lost.insert(place);
        self.errors.pages_lost += u64::from(is_new);
    }

    /// Marks the copy of an unreadable page. A copy of a page that is lost already loses no more
    /// data.
    pub fn lose_copy(&mut self, from: Ppn, to: Ppn) {
        if self.lost.contains(&from) {
            self.lost.insert(to);
        } else {
            self.lose(to);
        }
    }

    /// Marks the source page of a GC read as lost if it could not be read.
    #[cold]
    pub fn copy_read(&mut self, flash: &Flash, slot: Slot, from: Ppn) {
        if flash.backend.graded(slot).failed {
            self.lose(from);
        }
    }

    /// Records that a page of a host request could not be read.
    #[cold]
    pub fn fail(&mut self, ticket: u32) {
        self.errors.host_failures += 1;
        if let Some(beside) = self.beside_of(ticket) {
            beside.failed = true;
        }
    }

    /// Checks whether the data of a block are due for read reclaim or refresh, after a page was
    /// sensed and counted.
    #[inline(never)]
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

    /// Updates the ageing of data after an array operation.
    #[inline]
    pub fn age(
        &mut self,
        flash: &mut Flash,
        now: Time,
        operation: Operation,
        place: Ppn,
        target: Ppn,
    ) {
        if operation == Operation::Read {
            let block = flash.layout.block_of(place);
            if let Some(health) = flash.array.health_mut() {
                health.read(block);
            }
            if self
                .reader
                .as_ref()
                .is_some_and(|reader| reader.moves_data())
            {
                self.look_at_age(flash, now, block);
            }
        } else {
            self.age_changed(flash, now, operation, target);
        }
    }

    /// Updates the ageing of data after a program, a move or an erase.
    fn age_changed(&mut self, flash: &mut Flash, now: Time, operation: Operation, target: Ppn) {
        let block = flash.layout.block_of(target);
        let begins = flash.layout.page_in_block(target) == 0;
        match operation {
            Operation::Program | Operation::Move if begins => {
                if let Some(health) = flash.array.health_mut() {
                    health.begun(now, block);
                }
            }
            Operation::Read | Operation::Program | Operation::Move => {}
            Operation::Erase => self.age_erased(flash, block),
        }
    }

    /// Handles the erase of a block, after which it has no lost pages.
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

/// Extends the annotations to the ticket `last`.
#[cold]
#[inline(never)]
fn extend(annotations: &mut Vec<ReadAnnotations>, last: usize) {
    annotations.resize(last + 1, ReadAnnotations::default());
}
