//! Failed programs and erases, replacement by spare blocks, and the end of the device's life.
//!
//! Failures are determined when an operation is issued, from the wear of its block at that time.
//! The additional work of a failed program is part of its command ([`Outcome::Replaced`]), so that
//! no other operation of its die intervenes. The first failure without a spare block in its plane
//! makes the device read-only: writes and TRIMs of the host end with an error, GC stops, and reads
//! continue. Pages that GC could not copy are read from their old place.

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

/// Counts of failed programs and erases, and of their consequences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureCounts {
    /// Failed erases. Count.
    pub erases: u64,
    /// Failed page programs. Count.
    pub programs: u64,
    /// Pages copied to spare blocks after failed programs. Count.
    pub pages_copied: u64,
    /// Pages whose write or TRIM ended with an error because the device was read-only or became so.
    /// Count.
    pub host_failures: u64,
    /// Time from which the device has been read-only.
    pub read_only: Option<Time>,
    /// Bad blocks reported to the probe. Count.
    told: u32,
}

wordline_kernel::since!(FailureCounts: erases, programs, pages_copied, host_failures; but read_only, told);

/// Failures of operations in progress, and failures without a spare block. A power cut clears
/// them, except the state of the generator; `is_ending` then states whether the device is
/// read-only.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Failures {
    /// Generator of failures.
    pub draws: Rng,
    /// Blocks that a spare block will replace when the failed operation ends. A block is listed
    /// once per replacement.
    replacing: Vec<Block>,
    /// Whether an operation has failed, or will fail, without a spare block; GC then stops.
    pub is_ending: bool,
    /// Host pages whose program will fail without a spare block.
    pub unwritten: FxHashSet<Ppn>,
    /// Failed blocks for which no spare block is left; later programs and erases of these blocks
    /// also fail.
    broken: Vec<Block>,
    /// Page that still holds the data, by the page to which they could not be copied.
    kept: FxHashMap<Ppn, Ppn>,
}

impl Failures {
    /// Creates the state of a device on which no operation has failed.
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
    /// Returns `true` if a block is being replaced.
    #[inline]
    pub fn replaces(&self) -> bool {
        !self.replacing.is_empty()
    }
    /// Returns `true` if a spare block is about to replace a block of a die.
    pub fn replaces_on(&self, layout: &Layout, die: Die) -> bool {
        let mut replacing = self.replacing.iter();
        replacing.any(|block| layout.die_of(layout.plane_of(*block)) == die)
    }
}

impl Conditions {
    /// Returns `true` if the device is read-only.
    #[inline]
    pub fn is_read_only(&self) -> bool {
        self.failures.read_only.is_some()
    }

    /// Returns one value for each block that has gone bad since the last call: `true` if a spare
    /// block has replaced it.
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

    /// Returns the failure probability of an operation on a block. A block that will be replaced
    /// counts as not yet erased.
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

    /// Returns `true` if the next operation on a block fails, by a random draw.
    fn fails(&mut self, flash: &Flash, block: Block, operation: Operation) -> bool {
        let probability = self.failure_probability(flash, block, operation);
        probability > 0.0 && self.failing.draws.unit() < probability
    }

    /// Determines whether a program or an erase will fail.
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

    /// Marks the next operation as failing without a spare block. GC stops, so that data that it
    /// could not copy stay where they are.
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

    /// Reads the first pages of a block for its spare block; marks the unreadable ones as lost.
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

    /// Returns the page that still holds the data of a host read, if they could not be copied to the
    /// page of the read.
    #[inline]
    pub fn where_kept(&self, order: &Order) -> Option<Ppn> {
        if self.failing.kept.is_empty() || !matches!(order.purpose, Purpose::Read | Purpose::Merge)
        {
            return None;
        }
        self.failing.kept.get(&order.place).copied()
    }

    /// Handles a power failure: a bad block without a replacement makes the device read-only, even
    /// if the command that failed on it had not ended.
    pub fn find_end_of_life(&mut self, array: &Array, now: Time) {
        let Some(bad_blocks) = array.bad_blocks() else {
            return;
        };
        let mut grown = bad_blocks.table().iter();
        if grown.any(|bad| bad.cause != Cause::Factory && bad.spare.is_none()) {
            self.failures.read_only.get_or_insert(now);
        }
    }

    /// Counts the pages of a host write or TRIM that the buffer rejects because the device is
    /// read-only.
    #[cold]
    pub fn count_refused(&mut self, request: &Request, page_bytes: u64) {
        let pages = (request.offset + request.bytes).div_ceil(page_bytes);
        self.failures.host_failures += pages - request.offset / page_bytes;
    }

    /// Records that a page of a request could not be written or trimmed.
    #[cold]
    pub fn fail_write(&mut self, ticket: u32) {
        self.failures.host_failures += 1;
        if let Some(beside) = self.beside_of(ticket) {
            (beside.failed, beside.unwritten) = (true, true);
        }
    }
}

impl<M: Mapping> Base<M> {
    /// Returns `true` if the array operation of a transaction has failed, and applies the failure.
    #[cold]
    pub fn is_failure(&mut self, now: Time, slot: Slot, operation: Operation) -> bool {
        let outcome = self.flash.backend.graded(slot).outcome;
        if outcome == Outcome::Done || operation == Operation::Read {
            return false;
        }
        let transaction = self.flash.backend.get(slot);
        let (place, target) = (transaction.place, transaction.target);
        if operation == Operation::Program {
            // Without a replacement, the program may fail in the array, too, because the erase of
            // its block has failed.
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

    /// Counts a failed operation, and applies its outcome to the block and to the device.
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
            debug_assert!(
                replaced,
                "the spare block promised to {block:?} is available"
            );
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

    /// Returns `true` if recovery from a power cut can erase a block. If the erase fails, a spare
    /// block replaces the block; without one, the device becomes read-only.
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
    /// Handles the end of an operation that failed without a spare block: the device is read-only
    /// from now on. Writes that wait for space and TRIMs that wait for flash end with an error.
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

    /// Ends a pending write, and those queued behind it, with an error.
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
