//! What reads find, and what becomes of data that cannot be read.

use serde::{Deserialize, Serialize};
use wordline_block::{ReadEvents, Ticket};
use wordline_ftl::Mapping;
use wordline_ftl::gc::schedule::Trigger;
use wordline_kernel::Time;
use wordline_nand::{Block, Operation, Ppn};
use wordline_reliability::{Due, Read};

use super::Controller;
use crate::backend::{Order, PageConditions, Purpose};
use crate::event::Context;
use crate::observation::DeviceProbe;
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

impl<M: Mapping> Controller<M> {
    /// Looks at what a read will find. What the mapping keeps for itself is read in the end, however many retries it takes: it is
    /// kept more than once.
    pub(super) fn find_errors(&mut self, now: Time, order: &Order, grade: &mut PageConditions) {
        let place = order.place;
        if order.purpose == Purpose::Read {
            self.look_at_die(order);
        }
        let of_mapping = matches!(order.purpose, Purpose::MetadataRead | Purpose::MapRead);
        let lost = self.base.conditions.lost.contains(&place)
            || self.base.conditions.failing.unwritten.contains(&place);
        let Some(reader) = &self.base.conditions.reader else {
            self.base.conditions.errors.reads += 1;
            grade.failed = !of_mapping && lost;
            return;
        };
        let block = self.base.flash.layout.block_of(place);
        let array = &self.base.flash.array;
        let Some(health) = array.health() else {
            return;
        };
        let read = Read {
            page: self.base.flash.layout.page_in_block(place),
            is_single_level: array.is_single_level(block),
            ..health.of(now, block, array.erases()[block.index()])
        };
        let mode = grade.mode;
        let costs = self.base.flash.backend.costs();
        let levels = reader.code.ladder.len();
        let first = costs
            .map_or(0, |costs| usize::from(costs.of(mode).level))
            .min(levels - 1);
        let found = reader.read(&read, mode, first, &mut self.base.conditions.error_draws);
        let last = found.level.unwrap_or(levels - 1);
        grade.first = first as u8;
        grade.retries = (last - first) as u8;
        grade.failed = !of_mapping && (lost || found.level.is_none());
        grade.decode = reader
            .code
            .last_decoding(last, found.level.map(|_| found.errors));
        let counts = &mut self.base.conditions.errors;
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
    fn look_at_die(&mut self, order: &Order) {
        let layout = &self.base.flash.layout;
        let die = layout.die_of(layout.plane_of(layout.block_of(order.place)));
        let mut refreshing = self.base.flash.refreshing.iter();
        let moves = refreshing.any(|plane| layout.die_of(*plane) == die) && !self.is_read_only();
        let replaces = self.base.conditions.failing.replaces_on(layout, die);
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
    pub(super) fn beside_of(&mut self, ticket: Ticket) -> Option<&mut ReadAnnotations> {
        let beside = self.base.conditions.annotations.as_mut()?;
        Some(beside.entry(ticket).or_default())
    }

    /// Further reads since this was asked last.
    pub(crate) fn newly_retried(&mut self) -> Option<u32> {
        let counts = &mut self.base.conditions.errors;
        let told = std::mem::replace(&mut counts.told, counts.retries);
        Some((counts.retries - told) as u32).filter(|retries| *retries > 0)
    }

    /// Starts to move the data of blocks that were read too often or are too old, where the mapping can now. One that was erased
    /// meanwhile is let be; the others are looked at again.
    #[cold]
    pub(super) fn refresh_due(&mut self, cx: &mut Context<impl DeviceProbe>) {
        if self.base.conditions.failing.is_ending {
            self.base.conditions.due.clear();
        }
        let mut place = 0;
        while let Some(&(block, due)) = self.base.conditions.due.get(place) {
            let plane = self.base.flash.layout.plane_of(block);
            let is_due = self
                .base
                .conditions
                .reader
                .as_ref()
                .zip(self.base.flash.array.health());
            let erases = self.base.flash.array.erases()[block.index()];
            let is_due = is_due.is_some_and(|(reader, health)| {
                reader.due(&health.of(cx.now, block, erases)).is_some()
            });
            if !is_due {
                self.base.conditions.due.swap_remove(place);
            } else if self.collector.jobs.collects(plane) {
                place += 1;
            } else if let Some(collection) = self.base.mapping.refresh(block) {
                self.base.conditions.due.swap_remove(place);
                let trigger = match due {
                    Due::Reads => Trigger::ReadDisturb,
                    Due::Age => Trigger::Retention,
                };
                self.begin_collection(cx, plane, collection, trigger);
            } else {
                place += 1;
            }
        }
    }

    /// A page holds what could not be read.
    pub(super) fn lose(&mut self, place: Ppn) {
        let is_new = self.base.conditions.lost.insert(place);
        self.base.conditions.errors.pages_lost += u64::from(is_new);
    }

    /// A page that a collection moves has been read.
    #[cold]
    pub(super) fn copy_read(&mut self, slot: Slot, from: Ppn) {
        if self.base.flash.backend.graded(slot).failed {
            self.lose(from);
        }
    }

    /// A page of a request of the host could not be read.
    #[cold]
    pub(super) fn fail(&mut self, ticket: u32) {
        self.base.conditions.errors.host_failures += 1;
        if let Some(beside) = self.beside_of(ticket) {
            beside.failed = true;
        }
    }

    /// A page of a block has been sensed, and the read is counted: whether the data of the block is to move now.
    fn look_at_age(&mut self, now: Time, block: Block) {
        let array = &self.base.flash.array;
        let Some((reader, health)) = self.base.conditions.reader.as_ref().zip(array.health())
        else {
            return;
        };
        let read = health.of(now, block, array.erases()[block.index()]);
        if let Some(due) = reader.due(&read)
            && !self
                .base
                .conditions
                .due
                .iter()
                .any(|(other, _)| *other == block)
        {
            self.base.conditions.due.push((block, due));
        }
    }

    /// The array has worked: what ages data is noted.
    pub(super) fn age(&mut self, now: Time, operation: Operation, place: Ppn, target: Ppn) {
        let block = self.base.flash.layout.block_of(target);
        let begins = self.base.flash.layout.page_in_block(target) == 0;
        match operation {
            Operation::Read => {
                let block = self.base.flash.layout.block_of(place);
                if let Some(health) = self.base.flash.array.health_mut() {
                    health.read(block);
                }
                self.look_at_age(now, block);
            }
            Operation::Program | Operation::Move if begins => {
                if let Some(health) = self.base.flash.array.health_mut() {
                    health.begun(now, block);
                }
            }
            Operation::Program | Operation::Move => {}
            Operation::Erase => self.age_erased(block),
        }
    }

    /// A block has been erased: nothing is lost in it any more.
    pub(super) fn age_erased(&mut self, block: Block) {
        if let Some(health) = self.base.flash.array.health_mut() {
            health.erased(block);
        }
        if !self.base.conditions.lost.is_empty() {
            let layout = &self.base.flash.layout;
            self.base
                .conditions
                .lost
                .retain(|place| layout.block_of(*place) != block);
        }
    }
}
