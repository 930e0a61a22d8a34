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
use wordline_nand::{Array, BadBlocks, Block, Cause, Die, Layout, Operation, Plane, Ppn};
use wordline_reliability::failures::Fail;

use super::Controller;
use super::base::Base;
use super::conditions::Conditions;
use super::flash::Flash;
use crate::backend::{Order, Outcome, PageConditions, Purpose};
use crate::error::Result;
use crate::event::Context;
use crate::observation::DeviceProbe;
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

impl Conditions {
    /// Whether the device takes no writes any more.
    #[inline]
    pub fn is_read_only(&self) -> bool {
        self.failures.read_only.is_some()
    }

    /// Blocks that have gone bad since this was asked last: of each, whether a spare one has taken its place.
    pub fn newly_retired(&mut self, array: &Array) -> impl Iterator<Item = bool> {
        let told = &mut self.failures.told;
        let table = array.bad_blocks().map(BadBlocks::table);
        let grown = table.unwrap_or_default().iter();
        let grown = grown.filter(|bad| bad.cause != Cause::Factory);
        grown.skip(*told as usize).map(move |bad| {
            *told += 1;
            bad.spare.is_some()
        })
    }

    /// The probability that an operation on a block fails. One that will be replaced is as new from then on.
    fn failure_probability(&self, flash: &Flash, block: Block, operation: Operation) -> f64 {
        let Some(failing) = &self.failure_model else {
            return 0.0;
        };
        let erases = if self.failing.replacing.contains(&block) {
            0
        } else {
            flash.array.erases()[block.index()]
        };
        let cycles = failing.cycles + f64::from(erases);
        match operation {
            Operation::Read => 0.0,
            Operation::Program | Operation::Move => failing
                .failures
                .program(cycles, flash.layout.pages_per_block),
            Operation::Erase => failing.failures.erase(cycles),
        }
    }

    /// Whether an operation on a block fails, which is carried out next.
    fn fails(&mut self, flash: &Flash, block: Block, operation: Operation) -> bool {
        let probability = self.failure_probability(flash, block, operation);
        probability > 0.0 && self.failing.draws.unit() < probability
    }

    /// Looks at whether a program or an erase will fail.
    pub fn find_failure(&mut self, flash: &Flash, order: &Order, grade: &mut PageConditions) {
        let block = flash.layout.block_of(order.target);
        let operation = order.purpose.operation();
        if self.failing.broken.contains(&block) {
            self.will_fail(&flash.layout, order, grade);
            return;
        }
        if !self.fails(flash, block, operation) {
            return;
        }
        let plane = flash.layout.plane_of(block);
        let replacing = self.failing.replacing.iter();
        let taken = replacing.filter(|one| flash.layout.plane_of(**one) == plane);
        let taken = taken.count() as u32;
        let bad_blocks = flash.array.bad_blocks();
        if bad_blocks.is_none_or(|bad_blocks| bad_blocks.spares_of(plane) <= taken) {
            self.will_fail(&flash.layout, order, grade);
            return;
        }
        self.failing.replacing.push(block);
        let copies = match operation {
            Operation::Erase => 0,
            _ => flash.layout.page_in_block(order.target) as u16,
        };
        grade.outcome = Outcome::Replaced { copies };
    }

    /// An operation that is carried out next will fail, and no spare block is left: collections stop, so that what they could not copy
    /// stays where it is.
    fn will_fail(&mut self, layout: &Layout, order: &Order, grade: &mut PageConditions) {
        grade.outcome = Outcome::Failed;
        self.failing.is_ending = true;
        self.failing.broken.push(layout.block_of(order.target));
        match order.purpose {
            Purpose::Move => {
                self.failing.kept.insert(order.target, order.place);
            }
            Purpose::MoveProgram | Purpose::Rewrite => {
                self.failing.kept.insert(order.target, Ppn(order.tag));
            }
            Purpose::Write | Purpose::PartWrite => {
                self.failing.unwritten.insert(order.target);
            }
            _ => {}
        }
    }

    /// The first pages of a block are read, to be programmed in a spare one: what cannot be read is lost.
    fn copy_to_spare(&mut self, flash: &Flash, now: Time, block: Block, pages: u32) {
        for page in 0..pages {
            let place = flash.layout.page(block, page);
            let mode = flash.mode_of(place);
            let mut grade = PageConditions::of(mode);
            let order = Order::new(Purpose::MoveRead, place, 0, 0);
            self.find_errors(flash, now, &order, &mut grade);
            if grade.failed {
                self.lose(place);
            }
        }
    }

    /// An operation of the host finds a page whose copy could not be programmed where it was.
    pub fn where_kept(&self, order: &Order) -> Order {
        let of_host = matches!(order.purpose, Purpose::Read | Purpose::Merge);
        match self.failing.kept.get(&order.place) {
            Some(place) if of_host => Order {
                place: *place,
                target: *place,
                ..*order
            },
            _ => *order,
        }
    }

    /// The power has failed. A block that has gone bad and has no spare one in its place is the end of life, also where the command that
    /// failed on it was not over.
    pub fn find_end_of_life(&mut self, array: &Array, now: Time) {
        let Some(bad_blocks) = array.bad_blocks() else {
            return;
        };
        let mut grown = bad_blocks.table().iter();
        if grown.any(|bad| bad.cause != Cause::Factory && bad.spare.is_none()) {
            self.failures.read_only.get_or_insert(now);
        }
    }

    /// A write or a trim of the host is not taken by the buffer, as nothing is written any more.
    #[cold]
    pub fn count_refused(&mut self, request: &Request, page_bytes: u64) {
        let pages = (request.offset + request.bytes).div_ceil(page_bytes);
        self.failures.host_failures += pages - request.offset / page_bytes;
    }

    /// A page of a request of the host could not be written.
    #[cold]
    pub fn fail_write(&mut self, ticket: u32) {
        self.failures.host_failures += 1;
        if let Some(beside) = self.beside_of(ticket) {
            (beside.failed, beside.unwritten) = (true, true);
        }
    }
}

impl<M: Mapping> Base<M> {
    /// Whether what the array of a die has done for a transaction has failed, which then takes effect.
    #[cold]
    pub fn is_failure(&mut self, now: Time, slot: Slot, operation: Operation) -> bool {
        let outcome = self.flash.backend.graded(slot).outcome;
        if outcome == Outcome::Done || operation == Operation::Read {
            return false;
        }
        let transaction = self.flash.backend.get(slot);
        let (place, target) = (transaction.place, transaction.target);
        if operation == Operation::Program {
            // Where none takes its place, its block may be one that could not be erased.
            let programmed = self.flash.array.program(target);
            debug_assert!(programmed.is_ok() || outcome == Outcome::Failed);
            self.flash.array.wear(target);
        }
        self.has_failed(now, operation, slot, outcome);
        if outcome != Outcome::Failed {
            if self.conditions.reader.is_some() {
                self.conditions
                    .age(&mut self.flash, now, operation, place, target);
            }
            self.follow(slot, operation, place, target);
        }
        true
    }

    /// An operation has failed.
    fn has_failed(&mut self, now: Time, operation: Operation, slot: Slot, outcome: Outcome) {
        let transaction = self.flash.backend.get(slot);
        let (purpose, target) = (transaction.purpose, transaction.target);
        let block = self.flash.layout.block_of(target);
        let counts = &mut self.conditions.failures;
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
                .conditions
                .failing
                .replacing
                .iter()
                .position(|one| *one == block);
            place.map(|place| self.conditions.failing.replacing.swap_remove(place));
            self.conditions
                .copy_to_spare(&self.flash, now, block, copies.into());
            let replaced = self.flash.array.replace(now, block, cause);
            debug_assert!(replaced, "the spare block promised to {block:?} stands by");
            return;
        }
        self.flash.array.retire(now, block, cause);
        if purpose.is_write() {
            self.conditions.lost.insert(target);
        }
        let pages = match cause {
            Cause::Erase => {
                let first = self.flash.layout.page(block, 0).0;
                first..first + self.flash.array.programmed(block)
            }
            _ => target.0..target.0 + 1,
        };
        self.contents.spoil(pages);
    }

    /// The recovery from a power cut erases a block: whether it is erased then, be it that a spare block takes its place.
    pub fn erase_for_recovery(&mut self, now: Time, block: Block) -> bool {
        if self.conditions.is_read_only() {
            self.conditions.failing.is_ending = true;
            return false;
        }
        if !self.conditions.fails(&self.flash, block, Operation::Erase) {
            return true;
        }
        self.conditions.failures.erases += 1;
        if self.flash.array.replace(now, block, Cause::Erase) {
            return true;
        }
        self.conditions.failures.read_only = Some(now);
        self.conditions.failing.is_ending = true;
        let first = self.flash.layout.page(block, 0).0;
        self.contents
            .spoil(first..first + self.flash.array.programmed(block));
        false
    }
}

impl<M: Mapping> Controller<M> {
    /// An operation is over that has failed, and no spare block was left: from now on the device is read-only. Writes that wait for room and
    /// TRIMs that wait for the flash end with an error.
    #[cold]
    pub(super) fn end_life(&mut self, cx: &mut Context<impl DeviceProbe>) -> Result<()> {
        if self.gc.base.conditions.is_read_only() {
            return Ok(());
        }
        self.gc.base.conditions.failures.read_only = Some(cx.now);
        self.gc.base.conditions.failing.is_ending = true;
        for plane in (0..self.gc.base.flash.layout.planes()).map(Plane) {
            while let Some(tag) = self.gc.stalled.planes[plane.index()].pop_front() {
                self.gc
                    .die_loads
                    .goes_on(self.gc.base.flash.layout.die_of(plane));
                self.refuse_pending(cx, tag);
            }
        }
        while let Some(tag) = self.gc.stalled.anywhere.pop_front() {
            self.refuse_pending(cx, tag);
        }
        self.trims.refuse(&mut self.gc, cx);
        self.gc.base.mapping.freeze();
        for id in self.gc.jobs.idle_fetches() {
            if self.gc.run(cx, id) {
                self.job_over(cx, id)?;
            }
        }
        Ok(())
    }

    /// A held write, and those behind it, end with an error.
    #[cold]
    pub(super) fn refuse_pending(&mut self, cx: &mut Context<impl DeviceProbe>, tag: u32) {
        let (mut write, later) = self.writes.pending.take(tag);
        write.parts.gc += cx.now - write.since;
        self.gc.refuse(cx, &write);
        for mut write in later {
            write.parts.die_wait += cx.now - write.since;
            self.gc.refuse(cx, &write);
        }
    }
}
