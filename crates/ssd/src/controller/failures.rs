//! Programs and erases that fail, the blocks that take the place of theirs, and the end of the device's life.
//!
//! Whether an operation fails is found when it is issued, with the wear that its block has then. What a program that fails takes
//! beside is part of its command ([`Outcome::Replaced`]), so that nothing on its die comes between. With the first failure for which
//! there is no spare block in the plane, the device is read-only: writes and trims of the host end with an error, collections
//! stop, and reads go on. What a collection could not copy is read where it was.

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use wordline_block::Request;
use wordline_ftl::Mapping;
use wordline_kernel::{Rng, Time};
use wordline_nand::{BadBlocks, Block, Cause, Die, Layout, Operation, Plane, Ppn};
use wordline_reliability::failures::Fail;

use super::Controller;
use super::pending::PageWrite;
use crate::backend::{Order, Outcome, PageConditions, Purpose};
use crate::error::Result;
use crate::event::Context;
use crate::observation::{DeviceProbe, PageParts};
use wordline_io_scheduler::Slot;

/// What has come of programs and erases that failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureCounts {
    /// Erases that failed.
    pub erases: u64,
    /// Programs of pages that failed.
    pub programs: u64,
    /// Pages that were copied to spare blocks for them.
    pub pages_copied: u64,
    /// Pages that the host wrote or trimmed and that were not written, or not for certain.
    pub host_failures: u64,
    /// Since when the device has been read-only.
    pub read_only: Option<Time>,
    /// Blocks gone bad that the probe has heard of.
    told: u32,
}

wordline_kernel::since!(FailureCounts: erases, programs, pages_copied, host_failures; but read_only, told);

/// What is known of failures in memory.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Failures {
    /// Where failures are drawn from.
    pub draws: Rng,
    /// Blocks that a spare one will take the place of when what has failed on them is over; each as often as it will.
    replacing: Vec<Block>,
    /// Whether something has failed, or will, for which no spare block is left: collections stop.
    pub is_ending: bool,
    /// Pages of the host whose program will fail with none left.
    pub unwritten: FxHashSet<Ppn>,
    /// Blocks on which something has failed or will, with no spare block left: what is to be programmed there behind it fails, too.
    broken: Vec<Block>,
    /// By page whose copy could not be programmed: where its data still is.
    kept: FxHashMap<Ppn, Ppn>,
}

impl Failures {
    /// Nothing has.
    pub fn new(draws: Rng) -> Self {
        Self {
            draws,
            replacing: Vec::new(),
            is_ending: false,
            unwritten: FxHashSet::default(),
            broken: Vec::new(),
            kept: FxHashMap::default(),
        }
    }
}

impl Failures {
    /// Whether a spare block is about to take the place of one on a die.
    pub fn replaces_on(&self, layout: &Layout, die: Die) -> bool {
        let mut replacing = self.replacing.iter();
        replacing.any(|block| layout.die_of(layout.plane_of(*block)) == die)
    }
}

impl<M: Mapping> Controller<M> {
    /// Whether the device takes no writes any more.
    #[inline]
    pub(crate) fn is_read_only(&self) -> bool {
        self.base.conditions.failures.read_only.is_some()
    }

    /// Blocks that have gone bad since this was asked last: of each, whether a spare one has taken its place.
    pub(crate) fn newly_retired(&mut self) -> impl Iterator<Item = bool> {
        let told = &mut self.base.conditions.failures.told;
        let table = self.base.flash.array.bad_blocks().map(BadBlocks::table);
        let grown = table.unwrap_or_default().iter();
        let grown = grown.filter(|bad| bad.cause != Cause::Factory);
        grown.skip(*told as usize).map(move |bad| {
            *told += 1;
            bad.spare.is_some()
        })
    }

    /// The probability that an operation on a block fails. One that will be replaced is as new from then on.
    fn failure_probability(&self, block: Block, operation: Operation) -> f64 {
        let Some(failing) = &self.base.conditions.failure_model else {
            return 0.0;
        };
        let erases = if self.base.conditions.failing.replacing.contains(&block) {
            0
        } else {
            self.base.flash.array.erases()[block.index()]
        };
        let cycles = failing.cycles + f64::from(erases);
        match operation {
            Operation::Read => 0.0,
            Operation::Program | Operation::Move => failing
                .failures
                .program(cycles, self.base.flash.layout.pages_per_block),
            Operation::Erase => failing.failures.erase(cycles),
        }
    }

    /// Whether an operation on a block fails, which is carried out next.
    fn fails(&mut self, block: Block, operation: Operation) -> bool {
        let probability = self.failure_probability(block, operation);
        probability > 0.0 && self.base.conditions.failing.draws.unit() < probability
    }

    /// Looks at whether a program or an erase will fail.
    pub(super) fn find_failure(&mut self, order: &Order, grade: &mut PageConditions) {
        let block = self.base.flash.layout.block_of(order.target);
        let operation = order.purpose.operation();
        if self.base.conditions.failing.broken.contains(&block) {
            self.will_fail(order, grade);
            return;
        }
        if !self.fails(block, operation) {
            return;
        }
        let plane = self.base.flash.layout.plane_of(block);
        let replacing = self.base.conditions.failing.replacing.iter();
        let taken = replacing.filter(|one| self.base.flash.layout.plane_of(**one) == plane);
        let taken = taken.count() as u32;
        let bad_blocks = self.base.flash.array.bad_blocks();
        if bad_blocks.is_none_or(|bad_blocks| bad_blocks.spares_of(plane) <= taken) {
            self.will_fail(order, grade);
            return;
        }
        self.base.conditions.failing.replacing.push(block);
        let copies = match operation {
            Operation::Erase => 0,
            _ => self.base.flash.layout.page_in_block(order.target) as u16,
        };
        grade.outcome = Outcome::Replaced { copies };
    }

    /// An operation that is carried out next will fail, and no spare block is left: collections stop, so that what they could not copy
    /// stays where it is.
    fn will_fail(&mut self, order: &Order, grade: &mut PageConditions) {
        grade.outcome = Outcome::Failed;
        self.base.conditions.failing.is_ending = true;
        self.base
            .conditions
            .failing
            .broken
            .push(self.base.flash.layout.block_of(order.target));
        match order.purpose {
            Purpose::Move => {
                self.base
                    .conditions
                    .failing
                    .kept
                    .insert(order.target, order.place);
            }
            Purpose::MoveProgram | Purpose::Rewrite => {
                self.base
                    .conditions
                    .failing
                    .kept
                    .insert(order.target, Ppn(order.tag));
            }
            Purpose::Write | Purpose::PartWrite => {
                self.base.conditions.failing.unwritten.insert(order.target);
            }
            _ => {}
        }
    }

    /// Whether what the array of a die has done for a transaction has failed, which then takes effect.
    #[cold]
    pub(super) fn is_failure(&mut self, now: Time, slot: Slot, operation: Operation) -> bool {
        let outcome = self.base.flash.backend.graded(slot).outcome;
        if outcome == Outcome::Done || operation == Operation::Read {
            return false;
        }
        let transaction = self.base.flash.backend.get(slot);
        let (place, target) = (transaction.place, transaction.target);
        if operation == Operation::Program {
            // Where none takes its place, its block may be one that could not be erased.
            let programmed = self.base.flash.array.program(target);
            debug_assert!(programmed.is_ok() || outcome == Outcome::Failed);
            self.base.flash.array.wear(target);
        }
        self.has_failed(now, operation, slot, outcome);
        if outcome != Outcome::Failed {
            if self.base.conditions.reader.is_some() {
                self.age(now, operation, place, target);
            }
            self.follow(slot, operation, place, target);
        }
        true
    }

    /// An operation has failed.
    fn has_failed(&mut self, now: Time, operation: Operation, slot: Slot, outcome: Outcome) {
        let transaction = self.base.flash.backend.get(slot);
        let (purpose, target) = (transaction.purpose, transaction.target);
        let block = self.base.flash.layout.block_of(target);
        let counts = &mut self.base.conditions.failures;
        let cause = if operation == Operation::Erase {
            counts.erases += 1;
            Cause::Erase
        } else {
            counts.programs += 1;
            Cause::Program
        };
        if let Outcome::Replaced { copies } = outcome {
            counts.pages_copied += u64::from(copies);
            let place = self
                .base
                .conditions
                .failing
                .replacing
                .iter()
                .position(|one| *one == block);
            place.map(|place| self.base.conditions.failing.replacing.swap_remove(place));
            self.copy_to_spare(now, block, copies.into());
            let replaced = self.base.flash.array.replace(now, block, cause);
            debug_assert!(replaced, "the spare block promised to {block:?} stands by");
            return;
        }
        self.base.flash.array.retire(now, block, cause);
        if purpose.is_write() {
            self.base.conditions.lost.insert(target);
        }
        let pages = match cause {
            Cause::Erase => {
                let first = self.base.flash.layout.page(block, 0).0;
                first..first + self.base.flash.array.programmed(block)
            }
            _ => target.0..target.0 + 1,
        };
        self.spoil(pages);
    }

    /// What pages held, or were to hold, cannot be read.
    fn spoil(&mut self, pages: std::ops::Range<u32>) {
        for page in pages.map(Ppn) {
            if let Some(journal) = &mut self.base.contents.journal {
                journal.spare.clear(page);
            }
            if let Some(verification) = &mut self.base.contents.verification {
                verification.shadow.tear(page);
            }
        }
    }

    /// The first pages of a block are read, to be programmed in a spare one: what cannot be read is lost.
    fn copy_to_spare(&mut self, now: Time, block: Block, pages: u32) {
        for page in 0..pages {
            let place = self.base.flash.layout.page(block, page);
            let mode = self.mode_of(place);
            let mut grade = PageConditions::of(mode);
            let order = Order::new(Purpose::MoveRead, place, 0, 0);
            self.find_errors(now, &order, &mut grade);
            if grade.failed {
                self.lose(place);
            }
        }
    }

    /// An operation of the host finds a page whose copy could not be programmed where it was.
    pub(super) fn where_kept(&self, order: &Order) -> Order {
        let of_host = matches!(order.purpose, Purpose::Read | Purpose::Merge);
        match self.base.conditions.failing.kept.get(&order.place) {
            Some(place) if of_host => Order {
                place: *place,
                target: *place,
                ..*order
            },
            _ => *order,
        }
    }

    /// An operation is over that has failed, and no spare block was left: from now on the device is read-only. Writes that wait for room and
    /// TRIMs that wait for the flash end with an error.
    #[cold]
    pub(super) fn end_life(&mut self, cx: &mut Context<impl DeviceProbe>) -> Result<()> {
        if self.is_read_only() {
            return Ok(());
        }
        self.base.conditions.failures.read_only = Some(cx.now);
        self.base.conditions.failing.is_ending = true;
        for plane in (0..self.base.flash.layout.planes()).map(Plane) {
            while let Some(tag) = self.collector.stalled[plane.index()].pop_front() {
                self.collector
                    .die_loads
                    .goes_on(self.base.flash.layout.die_of(plane));
                self.refuse_pending(cx, tag);
            }
        }
        while let Some(tag) = self.collector.stalled_anywhere.pop_front() {
            self.refuse_pending(cx, tag);
        }
        self.refuse_trims(cx);
        self.base.mapping.freeze();
        for id in self.collector.jobs.idle_fetches() {
            if self.run(cx, id) {
                self.job_over(cx, id)?;
            }
        }
        Ok(())
    }

    /// The power has failed. A block that has gone bad and has no spare one in its place is the end of life, also where the command that
    /// failed on it was not over.
    pub(super) fn find_end_of_life(&mut self, now: Time) {
        let Some(bad_blocks) = self.base.flash.array.bad_blocks() else {
            return;
        };
        let mut grown = bad_blocks.table().iter();
        if grown.any(|bad| bad.cause != Cause::Factory && bad.spare.is_none()) {
            self.base.conditions.failures.read_only.get_or_insert(now);
        }
    }

    /// A held write, and those behind it, end with an error.
    #[cold]
    pub(super) fn refuse_pending(&mut self, cx: &mut Context<impl DeviceProbe>, tag: u32) {
        let (mut write, later) = self.writes.pending.take(tag);
        write.parts.gc += cx.now - write.since;
        self.refuse(cx, &write);
        for mut write in later {
            write.parts.die_wait += cx.now - write.since;
            self.refuse(cx, &write);
        }
    }

    /// A write or a trim of a page ends with an error.
    #[cold]
    pub(super) fn refuse(&mut self, cx: &mut Context<impl DeviceProbe>, write: &PageWrite) {
        self.fail_write(write.owner);
        self.page_done(cx, write.owner, write.parts);
        self.page_was_decoded(write.owner, write.decode);
    }

    /// The same of a page whose request has just come.
    #[cold]
    pub(super) fn refuse_now(&mut self, cx: &mut Context<impl DeviceProbe>, ticket: u32) {
        self.fail_write(ticket);
        self.page_done(cx, ticket, PageParts::NONE);
    }

    /// A write or a trim of the host is not taken by the buffer, as nothing is written any more.
    #[cold]
    pub(crate) fn count_refused(&mut self, request: &Request) {
        let pages = (request.offset + request.bytes).div_ceil(self.base.page_bytes);
        self.base.conditions.failures.host_failures +=
            pages - request.offset / self.base.page_bytes;
    }

    /// A page of a request of the host could not be written.
    #[cold]
    pub(super) fn fail_write(&mut self, ticket: u32) {
        self.base.conditions.failures.host_failures += 1;
        if let Some(beside) = self.beside_of(ticket) {
            (beside.failed, beside.unwritten) = (true, true);
        }
    }

    /// The recovery from a power cut erases a block: whether it is erased then, be it that a spare block takes its place.
    pub(super) fn erase_for_recovery(&mut self, now: Time, block: Block) -> bool {
        if self.is_read_only() {
            self.base.conditions.failing.is_ending = true;
            return false;
        }
        if !self.fails(block, Operation::Erase) {
            return true;
        }
        self.base.conditions.failures.erases += 1;
        if self.base.flash.array.replace(now, block, Cause::Erase) {
            return true;
        }
        self.base.conditions.failures.read_only = Some(now);
        self.base.conditions.failing.is_ending = true;
        let first = self.base.flash.layout.page(block, 0).0;
        self.spoil(first..first + self.base.flash.array.programmed(block));
        false
    }
}
