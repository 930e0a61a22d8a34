//! How pages are programmed, and those that are written again for the sake of their reads.

use std::collections::VecDeque;

use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};
use wordline_block::{Op, Ticket};
use wordline_ftl::program_mode::{Characteristic, Graded, Regulator, Rewriting, Storage};
use wordline_ftl::{JobId, Lpn, Mapping};
use wordline_kernel::Time;
use wordline_nand::{Die, Operation, Ppn};
use wordline_reliability::ProgramMode;

use super::Controller;
use super::job::Waiter;
use super::pending::{NO_QUEUE, PageRead, PageWrite, Rewrite};
use super::write::Place;
use crate::backend::{Order, Outcome, PageConditions, Purpose};
use crate::error::Result;
use crate::event::{Context, Kind};
use crate::observation::{DeviceProbe, Observation, PageParts};
use crate::plan::Plan;
use crate::programmed::Programmed;
use wordline_io_scheduler::Slot;

/// What was done of each mode, in the order of [`ProgramMode::ALL`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GradeCounts {
    /// Pages that the host read, by how they had been programmed.
    pub reads: [u64; 4],
    /// Pages that the host wrote.
    pub writes: [u64; 4],
    /// Pages that collections moved.
    pub moves: [u64; 4],
    /// Pages written again.
    pub rewrites: u64,
    /// Pages that were to be written again and were so already, or were gone, when their turn came.
    pub rewrites_skipped: u64,
    /// What the scheme keeps in memory.
    pub storage: Storage,
}

wordline_kernel::since!(GradeCounts: reads, writes, moves, rewrites, rewrites_skipped; but storage);

/// A page that has left its die and is being decoded.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Decoding {
    slot: Slot,
    until: Time,
    /// Where the time of its command went.
    parts: PageParts,
}

/// The regulator, and the pages that are to be written again.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Regulation {
    regulator: Regulator,
    /// Whether it makes a difference of requests that wait.
    pub asks_for_queue: bool,
    regrades: bool,
    rewriting: WhenRewritten,
    rewritten: ProgramMode,
    /// By die: pages that are to be written again.
    queues: Vec<VecDeque<Lpn>>,
    /// All of them, and those whose reads are under way; each once.
    queued: FxHashSet<Lpn>,
    /// By die: whether a page of its queue is being written again.
    busy: Vec<bool>,
}

/// See [`Rewriting`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum WhenRewritten {
    Never,
    Idle,
    AtOnce,
}

impl Regulation {
    /// None if all pages are programmed alike.
    pub fn new(plan: &Plan) -> Option<Box<Self>> {
        plan.part.chains.costs()?;
        let regulator = Regulator::new(&plan.ftl.config.regulation, plan.ftl.user_pages);
        let policy = regulator.policy();
        let dies = plan.part.layout.dies as usize;
        Some(Box::new(Self {
            asks_for_queue: policy.asks_for_queue(),
            regrades: policy.regrades(),
            rewriting: match policy.rewriting() {
                Rewriting::Never => WhenRewritten::Never,
                Rewriting::Idle => WhenRewritten::Idle,
                Rewriting::AtOnce => WhenRewritten::AtOnce,
            },
            rewritten: policy.rewritten(),
            regulator,
            queues: vec![VecDeque::new(); dies],
            queued: FxHashSet::default(),
            busy: vec![false; dies],
        }))
    }
    /// A page of a die's queue is done with.
    fn frees(&mut self, queue: u32) {
        if let Some(busy) = self.busy.get_mut(queue as usize) {
            *busy = false;
        }
    }
    /// A request of the host begins.
    pub fn begins(&mut self, op: Op) {
        if matches!(op, Op::Read | Op::Write) {
            self.regulator.policy_mut().begins();
        }
    }
}

impl<M: Mapping> Controller<M> {
    /// A request of the host begins: the scheduler and the regulator hear of it.
    #[cold]
    #[inline(never)]
    pub(super) fn request_begins(&mut self, ticket: Ticket, op: Op) {
        if let Some(stage) = &mut self.base.flash.issue {
            stage.begin(ticket);
        }
        if let Some(regulation) = &mut self.base.conditions.regulation {
            regulation.begins(op);
        }
    }
    /// The host reads or writes a page: what it is used for, if there is a regulator.
    pub(super) fn accessed(&mut self, page: Lpn, write: bool) -> Characteristic {
        match &mut self.base.conditions.regulation {
            Some(regulation) => regulation.regulator.policy_mut().access(page, write),
            None => Characteristic::New,
        }
    }

    pub(super) fn mode_of(&self, place: Ppn) -> ProgramMode {
        let modes = self.base.flash.array.modes();
        modes.map_or(ProgramMode::Medium, |modes| modes.of(place))
    }

    /// Says of an operation how its page was programmed, or notes how it is to be.
    pub(super) fn grade(&mut self, now: Time, order: &Order) {
        let mode = match order.purpose {
            Purpose::Erase => ProgramMode::default(),
            Purpose::MoveProgram => {
                let from = Ppn(order.tag);
                if self.base.conditions.lost.contains(&from) {
                    self.base.conditions.lost.insert(order.target);
                }
                self.mode_of_copy(from, order.target)
            }
            Purpose::Write | Purpose::PartWrite | Purpose::Rewrite => {
                self.base.flash.backend.next_grade().mode
            }
            Purpose::MetadataProgram | Purpose::MapProgram => ProgramMode::Medium,
            _ => self.mode_of(order.place),
        };
        let counts = &mut self.base.conditions.graded;
        match order.purpose {
            Purpose::Read => counts.reads[mode.index()] += 1,
            Purpose::Write | Purpose::PartWrite => counts.writes[mode.index()] += 1,
            Purpose::MoveProgram | Purpose::Move => counts.moves[mode.index()] += 1,
            _ => {}
        }
        let operation = order.purpose.operation();
        if matches!(operation, Operation::Program | Operation::Move) {
            self.base.flash.array.set_mode(order.target, mode);
        }
        let mut grade = PageConditions::of(mode);
        if order.purpose.is_write() {
            grade.decode = self.base.flash.backend.next_grade().decode;
        }
        if matches!(operation, Operation::Read | Operation::Move) {
            self.find_errors(now, order, &mut grade);
        }
        self.grade_cached(order, &mut grade);
        if self.base.conditions.failure_model.is_some() && operation != Operation::Read {
            self.find_failure(order, &mut grade);
        }
        self.base.flash.backend.grade_next(grade);
    }

    /// The mode of a copy that a collection programs.
    fn mode_of_copy(&self, from: Ppn, to: Ppn) -> ProgramMode {
        let mode = self.mode_of(from);
        match &self.base.conditions.regulation {
            Some(regulation) if regulation.regrades => {
                let page = self.base.mapping.page_at(to);
                regulation.regulator.policy().moved(page, mode)
            }
            _ => mode,
        }
    }

    /// Says how a write of the host is programmed that is issued now.
    #[cold]
    pub(super) fn grade_write(&mut self, place: Ppn, write: &PageWrite) {
        let PageWrite {
            owner, page, found, ..
        } = *write;
        if write.lost {
            self.lose(place);
        }
        let mut grade = PageConditions {
            decode: write.decode,
            ..PageConditions::default()
        };
        self.base.flash.backend.grade_next(grade);
        let Some(regulation) = &self.base.conditions.regulation else {
            return;
        };
        let waits = || {
            let room = self.collector.waiting_for_room();
            self.base.flash.backend.others_wait(owner)
                || self.writes.pending.any_of_others(owner, room)
        };
        let queued = regulation.asks_for_queue && waits();
        let policy = regulation.regulator.policy();
        let Graded { mode, rewrite } = policy.write(page, found, queued);
        grade.mode = mode;
        self.base.flash.backend.grade_next(grade);
        if rewrite {
            self.queue_rewrite(page, place);
        }
    }

    /// A read of a page has been issued: the page may be written again for it.
    #[cold]
    pub(super) fn regulate_read(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        read: &PageRead,
        place: Ppn,
    ) {
        let mode = self.mode_of(place);
        let Some(regulation) = &mut self.base.conditions.regulation else {
            return;
        };
        let policy = regulation.regulator.policy();
        if mode == regulation.rewritten || !policy.read(read.page, read.found, mode) {
            return;
        }
        match regulation.rewriting {
            WhenRewritten::Never => {}
            WhenRewritten::Idle => self.queue_rewrite(read.page, place),
            WhenRewritten::AtOnce => {
                if regulation.queued.insert(read.page) {
                    self.rewrite(cx, Rewrite::of(read.page.0, NO_QUEUE));
                }
            }
        }
    }

    fn queue_rewrite(&mut self, page: Lpn, place: Ppn) {
        let die = self.base.flash.layout.die_of_page(place);
        if let Some(regulation) = &mut self.base.conditions.regulation
            && regulation.queued.insert(page)
        {
            regulation.queues[die.index()].push_back(page);
        }
    }

    /// A transaction has left the back end where pages are not all alike: a page that was read has to be decoded first.
    #[cold]
    pub(super) fn finish_graded(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        slot: Slot,
    ) -> Result<()> {
        let decode = self.base.flash.backend.graded(slot).decode;
        let purpose = self.base.flash.backend.get(slot).purpose;
        if decode == Time::ZERO || purpose.operation() != Operation::Read {
            return self.finish_page(cx, slot);
        }
        let (until, parts) = (cx.now + decode, self.base.flash.backend.finished());
        self.base
            .conditions
            .decoding
            .push(Decoding { slot, until, parts });
        cx.schedule(until, Kind::Look);
        Ok(())
    }

    /// Pages have been decoded.
    pub(super) fn finish_decoded(&mut self, cx: &mut Context<impl DeviceProbe>) -> Result<()> {
        let mut place = 0;
        while let Some(Decoding { slot, until, parts }) =
            self.base.conditions.decoding.get(place).copied()
        {
            if until > cx.now {
                place += 1;
                continue;
            }
            self.base.conditions.decoding.remove(place);
            self.base.flash.backend.finish_again(parts);
            self.finish_page(cx, slot)?;
        }
        Ok(())
    }
    /// Whether the page of a transaction is being decoded.
    pub(super) fn is_decoding(&self, slot: Slot) -> bool {
        self.base
            .conditions
            .decoding
            .iter()
            .any(|one| one.slot == slot)
    }

    /// A page of a request is done whose last decoding took so long; if it is the last of its request, that is a part of its time.
    pub(super) fn page_was_decoded(&mut self, ticket: Ticket, decode: Time) {
        let is_last = self
            .base
            .requests
            .done
            .last()
            .is_some_and(|done| done.ticket == ticket);
        if decode > Time::ZERO
            && is_last
            && let Some(beside) = self.beside_of(ticket)
        {
            beside.decode = decode;
        }
    }

    /// A transaction is over: if its die has nothing more to do for the host, a page is written again; and blocks whose data is to move
    /// are looked at.
    fn finish_page(&mut self, cx: &mut Context<impl DeviceProbe>, slot: Slot) -> Result<()> {
        let transaction = self.base.flash.backend.get(slot);
        let (place, target, owner) = (transaction.place, transaction.target, transaction.owner);
        let purpose = transaction.purpose;
        if purpose == Purpose::MoveRead {
            self.copy_read(slot, place);
        }
        let outcome = self.base.flash.backend.graded(slot).outcome;
        if outcome != Outcome::Done {
            for replaced in self.newly_retired() {
                cx.observe(Observation::BlockRetired { replaced });
            }
            self.spare_pages_programmed(cx, purpose, outcome);
        }
        if let Some(retries) = self.newly_retried() {
            cx.observe(Observation::Retried { retries });
        }
        if outcome == Outcome::Failed {
            self.end_life(cx)?;
            if purpose == Purpose::Erase {
                // A collection stops here; what waits for a part of the map goes on.
                self.base.flash.backend.release(slot);
                return match self.collector.jobs.get(JobId(owner)) {
                    Some(job) if job.collecting.is_none() => self.step_done(cx, JobId(owner)),
                    _ => Ok(()),
                };
            }
        }
        let decode = self.base.flash.backend.graded(slot).decode;
        self.finish_apart(cx, slot)?;
        if purpose == Purpose::Read || purpose.is_write() {
            self.page_was_decoded(owner, decode);
        }
        if self.base.conditions.regulation.is_some() {
            for place in [place, target] {
                self.use_idle_die(cx, self.base.flash.layout.die_of_page(place));
            }
        }
        if !self.base.conditions.due.is_empty() {
            self.refresh_due(cx);
        }
        Ok(())
    }

    /// A program or an erase has failed; of a program for which a spare block was left, pages have gone there.
    #[cold]
    fn spare_pages_programmed(
        &self,
        cx: &mut Context<impl DeviceProbe>,
        purpose: Purpose,
        outcome: Outcome,
    ) {
        if let Outcome::Replaced { copies } = outcome
            && purpose != Purpose::Erase
        {
            cx.observe(Observation::Programmed {
                of: Programmed::Spare,
                bytes: (u64::from(copies) + 1) * self.base.page_bytes,
            });
        }
    }

    /// Whether a die has nothing to do for the host.
    fn is_idle(&self, die: Die) -> bool {
        let stage = self.base.flash.issue.as_ref();
        self.base.flash.backend.loads()[die.index()].committed() == 0
            && stage.is_none_or(|stage| stage.waiting(die).0 == 0)
    }

    /// Writes the next page of a die's queue again, if the die is idle.
    fn use_idle_die(&mut self, cx: &mut Context<impl DeviceProbe>, die: Die) {
        if !self.is_idle(die) {
            return;
        }
        while let Some(regulation) = &mut self.base.conditions.regulation
            && !regulation.busy[die.index()]
            && let Some(page) = regulation.queues[die.index()].pop_front()
        {
            let now_on = self.base.mapping.lookup(page);
            let now_on = now_on.map_or(die, |place| self.base.flash.layout.die_of_page(place));
            if now_on == die {
                regulation.busy[die.index()] = true;
                self.rewrite(cx, Rewrite::of(page.0, die.0));
            } else {
                // It has moved: it waits for the die that it is on.
                regulation.queues[now_on.index()].push_back(page);
                self.use_idle_die(cx, now_on);
            }
        }
    }

    /// Reads a page that is to be written again, unless it is so already, is gone, or is about to be superseded.
    pub(super) fn rewrite(&mut self, cx: &mut Context<impl DeviceProbe>, rewrite: Rewrite) {
        let Rewrite { page, queue } = rewrite;
        if self.base.conditions.failing.is_ending {
            self.skip_rewrite(rewrite);
            return;
        }
        if let Some(job) = self.base.mapping.fetch(page, true) {
            self.wait_for_map(cx, job, Waiter::Rewrite(rewrite));
            return;
        }
        let Some(regulation) = &self.base.conditions.regulation else {
            return;
        };
        let wanted = regulation.rewritten;
        let place = self.base.mapping.lookup(page);
        let place = place.filter(|place| self.mode_of(*place) != wanted);
        let Some(place) = place.filter(|_| !self.writes.pending.has(page)) else {
            self.skip_rewrite(rewrite);
            return;
        };
        let order = Order::new(Purpose::RewriteRead, place, queue, page.0);
        self.issue_for_job(cx, &order, 0);
    }

    /// A page that is to be written again has been read in a place: it is programmed, if it is still there. One that has moved, or
    /// got a newer copy, is looked at anew when it was in a queue.
    pub(super) fn rewrite_page_read(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        slot: Slot,
        rewrite: Rewrite,
        from: Ppn,
    ) {
        let Rewrite { page, queue } = rewrite;
        let content = self.base.contents.verification.as_ref();
        let content = content.map_or(0, |verification| verification.contents[slot as usize]);
        if self.base.flash.backend.graded(slot).failed || self.base.conditions.failing.is_ending {
            self.skip_rewrite(rewrite);
            return;
        }
        if self.base.mapping.lookup(page) != Some(from) || self.writes.pending.has(page) {
            if queue == NO_QUEUE {
                self.skip_rewrite(rewrite);
            } else {
                self.rewrite(cx, rewrite);
            }
            return;
        }
        if let Some(job) = self.base.mapping.fetch(page, true) {
            self.wait_for_map(cx, job, Waiter::Rewrite(rewrite));
            return;
        }
        // Where there is no room, the next read of the page may ask for it again.
        let Ok(Place { place, superseded }) = self.find_place(cx, page) else {
            self.skip_rewrite(rewrite);
            return;
        };
        if superseded != 0 {
            self.base.flash.superseding[superseded as usize - 1] += 1;
        }
        self.observe_free_blocks(cx);
        let mut order = Order::new(Purpose::Rewrite, place, queue, from.0);
        order.superseded = superseded;
        if let Some(regulation) = &mut self.base.conditions.regulation {
            self.base
                .flash
                .backend
                .grade_next(PageConditions::of(regulation.rewritten));
            regulation.queued.remove(&page);
        }
        self.base.conditions.graded.rewrites += 1;
        self.issue_for_job(cx, &order, content);
        let plane = self
            .base
            .flash
            .layout
            .plane_of(self.base.flash.layout.block_of(place));
        self.look_at_free_blocks(cx, plane, page);
    }

    /// A page is not written again: it is so already, is gone, is about to be superseded, cannot be read, or has no room.
    fn skip_rewrite(&mut self, rewrite: Rewrite) {
        self.base.conditions.graded.rewrites_skipped += 1;
        if let Some(regulation) = &mut self.base.conditions.regulation {
            regulation.queued.remove(&rewrite.page);
            regulation.frees(rewrite.queue);
        }
    }

    /// A page has been written again that was in the queue of a die: the next of it follows.
    pub(super) fn rewritten(&mut self, cx: &mut Context<impl DeviceProbe>, queue: u32) {
        if let Some(regulation) = &mut self.base.conditions.regulation {
            regulation.frees(queue);
        }
        if queue != NO_QUEUE {
            self.use_idle_die(cx, Die(queue));
        }
    }
}
