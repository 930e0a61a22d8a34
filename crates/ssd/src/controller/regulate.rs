//! Regulation of program modes, and rewrites that speed up later reads.

use serde::{Deserialize, Serialize};
use wordline_block::{Op, Ticket};
use wordline_ftl::program_mode::{Characteristic, Graded, Regulator, Storage};
use wordline_ftl::{Lpn, Mapping, Programmed};
use wordline_kernel::Time;
use wordline_nand::{Operation, Ppn};
use wordline_reliability::ProgramMode;

use super::base::Base;
use super::conditions::Conditions;
use super::flash::Flash;
use super::pending::{PageRead, PageWrite};
use crate::backend::{Finished, Order, Outcome, PageConditions, Purpose};
use crate::event::Context;
use crate::observation::{DeviceProbe, Observation};
use crate::plan::Plan;
use wordline_io_scheduler::Slot;

/// Operations by program mode, in the order of [`ProgramMode::ALL`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GradeCounts {
    /// Pages that the host read, by their program mode. Count.
    pub reads: [u64; 4],
    /// Pages that the host wrote, by their program mode. Count.
    pub writes: [u64; 4],
    /// Pages that GC moved, by their new program mode. Count.
    pub moves: [u64; 4],
    /// Pages rewritten. Count.
    pub rewrites: u64,
    /// Rewrites that were skipped, because the page already had the mode, was unmapped or
    /// unreadable, had a pending write, or found no space; because it moved while it was being read
    /// for an immediate rewrite; or because the device's life ended. Count.
    pub rewrites_skipped: u64,
    /// Memory that the policy uses.
    pub storage: Storage,
}

wordline_kernel::since!(GradeCounts: reads, writes, moves, rewrites, rewrites_skipped; but storage);

/// A page that has left its die and is being decoded.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Decoding {
    pub slot: Slot,
    pub until: Time,
    /// Times of the command that read the page.
    pub command: Finished,
}

/// Regulation of program modes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Regulation {
    regulator: Regulator,
    /// Whether the policy depends on waiting requests.
    pub asks_for_queue: bool,
    regrades: bool,
}

impl Regulation {
    /// Creates the regulation; `None` if there is only one program mode.
    pub fn new(plan: &Plan) -> Option<Box<Self>> {
        plan.part.chains.costs()?;
        let regulator = Regulator::new(&plan.ftl.config.regulation, plan.ftl.user_pages);
        let policy = regulator.policy();
        Some(Box::new(Self {
            asks_for_queue: policy.asks_for_queue(),
            regrades: policy.regrades(),
            regulator,
        }))
    }
    /// Notifies the policy that a host request starts. Only reads and writes count.
    pub fn begins(&mut self, op: Op) {
        if matches!(op, Op::Read | Op::Write) {
            self.regulator.policy_mut().begins();
        }
    }
    /// Returns `true` if a page that was read in this mode should be rewritten.
    pub fn rewrites(&self, read: &PageRead, mode: ProgramMode) -> bool {
        let policy = self.regulator.policy();
        policy.read(read.page, read.found, mode)
    }
}

impl Conditions {
    /// Records a host access to a page, and returns the page's access characteristic. Without
    /// regulation it is [`Characteristic::New`].
    pub fn accessed(&mut self, page: Lpn, write: bool) -> Characteristic {
        match &mut self.regulation {
            Some(regulation) => regulation.regulator.policy_mut().access(page, write),
            None => Characteristic::New,
        }
    }

    /// Sets the conditions of the next operation: the mode in which its page was, or will be,
    /// programmed, and its errors or failure. Counts the operation by mode.
    #[inline(always)]
    pub fn grade<M: Mapping>(&mut self, flash: &mut Flash, mapping: &M, now: Time, order: &Order) {
        let mode = match order.purpose {
            Purpose::Erase => ProgramMode::default(),
            Purpose::MoveProgram => {
                let from = Ppn(order.tag);
                if self.lost.contains(&from) {
                    self.lost.insert(order.target);
                }
                self.mode_of_copy(flash, mapping, from, order.target)
            }
            Purpose::Write | Purpose::PartWrite | Purpose::Rewrite => {
                flash.backend.next_grade().mode
            }
            Purpose::MetadataProgram | Purpose::MapProgram => ProgramMode::Medium,
            _ => flash.mode_of(order.place),
        };
        let counts = &mut self.graded;
        match order.purpose {
            Purpose::Read => counts.reads[mode.index()] += 1,
            Purpose::Write | Purpose::PartWrite => counts.writes[mode.index()] += 1,
            Purpose::MoveProgram | Purpose::Move => counts.moves[mode.index()] += 1,
            _ => {}
        }
        let operation = order.purpose.operation();
        if matches!(operation, Operation::Program | Operation::Move) {
            flash.array.set_mode(order.target, mode);
        }
        let mut grade = PageConditions::of(mode);
        if order.purpose.is_write() {
            grade.decode = flash.backend.next_grade().decode;
        }
        if matches!(operation, Operation::Read | Operation::Move) {
            self.find_errors(flash, now, order, &mut grade);
        }
        self.grade_cached(flash, mapping, order, &mut grade);
        if self.failure_model.is_some() && operation != Operation::Read {
            self.find_failure(flash, order, &mut grade);
        }
        flash.backend.grade_next(grade);
    }

    /// Returns the program mode of a GC copy.
    fn mode_of_copy<M: Mapping>(
        &self,
        flash: &Flash,
        mapping: &M,
        from: Ppn,
        to: Ppn,
    ) -> ProgramMode {
        let mode = flash.mode_of(from);
        match &self.regulation {
            Some(regulation) if regulation.regrades => {
                let page = mapping.page_at(to);
                regulation.regulator.policy().moved(page, mode)
            }
            _ => mode,
        }
    }

    /// Sets the program mode of a host write that is issued now. `waits` returns whether writes of
    /// other requests wait for space. Returns `true` if the page should be rewritten later.
    #[cold]
    pub fn grade_write(
        &mut self,
        flash: &mut Flash,
        place: Ppn,
        write: &PageWrite,
        waits: impl FnOnce() -> bool,
    ) -> bool {
        let PageWrite {
            owner, page, found, ..
        } = *write;
        if write.lost {
            self.lost.insert(place);
        }
        let mut grade = PageConditions {
            decode: write.decode,
            ..PageConditions::default()
        };
        flash.backend.grade_next(grade);
        let Some(regulation) = &self.regulation else {
            return false;
        };
        let waits = || flash.backend.others_wait(owner) || waits();
        let queued = regulation.asks_for_queue && waits();
        let policy = regulation.regulator.policy();
        let Graded { mode, rewrite } = policy.write(page, found, queued);
        grade.mode = mode;
        flash.backend.grade_next(grade);
        rewrite
    }

    /// Returns `true` if the page of a transaction is being decoded.
    pub fn is_decoding(&self, slot: Slot) -> bool {
        self.decoding.iter().any(|one| one.slot == slot)
    }
}

impl<M: Mapping> Base<M> {
    /// Notifies the scheduler and the regulation of a host request that starts.
    #[cold]
    #[inline(never)]
    pub fn request_begins(&mut self, ticket: Ticket, op: Op) {
        if let Some(stage) = &mut self.flash.issue {
            stage.begin(ticket);
        }
        if let Some(regulation) = &mut self.conditions.regulation {
            regulation.begins(op);
        }
    }

    /// Adds the time of the last decoding to a request whose last page has just finished.
    pub fn page_was_decoded(&mut self, ticket: Ticket, decode: Time) {
        let is_last = self
            .requests
            .done
            .last()
            .is_some_and(|done| done.ticket == ticket);
        if decode > Time::ZERO
            && is_last
            && let Some(beside) = self.conditions.beside_of(ticket)
        {
            beside.decode = decode;
        }
    }

    /// Reports the pages programmed in a spare block after a failed program.
    #[cold]
    pub fn spare_pages_programmed(
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
                bytes: (u64::from(copies) + 1) * self.page_bytes,
            });
        }
    }
}
