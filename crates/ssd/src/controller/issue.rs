//! Operations on their way to the dies: through the scheduler's queue, or past it.

use serde::{Deserialize, Serialize};
use wordline_ftl::Mapping;
use wordline_kernel::Time;
use wordline_nand::{Block, Die, Operation, Ppn};

use super::Controller;
use crate::backend::{Order, Outcome, Purpose};
use crate::event::{Context, Kind};
use crate::observation::DeviceProbe;
use crate::plan::Plan;
use wordline_io_scheduler::Slot;
use wordline_io_scheduler::schedule::{
    Changed, EntryId, IssueQueue, Schedule, Scheduling, View, Waiting,
};

/// The scheduler and its queue.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct IssueStage {
    pub(super) queue: IssueQueue,
    pub(super) scheduling: Scheduling,
    joins: bool,
    pub(super) changed: Changed,
    /// When [`Kind::Schedule`] comes, if it is on its way.
    called: Option<Time>,
    /// What has been chosen and is committed when the search is over.
    group: Vec<EntryId>,
    /// By ticket: the number of its request.
    pub(super) requests: Vec<u64>,
    /// Requests begun so far.
    begun: u64,
}

impl IssueStage {
    /// None if nothing ever waits for the scheduler.
    pub(super) fn new(plan: &Plan) -> Option<Box<Self>> {
        if !plan.is_scheduled() {
            return None;
        }
        let part = &plan.part;
        Some(Box::new(Self {
            queue: IssueQueue::new(
                part.layout,
                part.plane_rule,
                plan.dies_per_package,
                plan.dies_per_channel,
            ),
            scheduling: Scheduling::new(&plan.scheduler),
            joins: plan.joins(),
            changed: Changed::new(),
            called: None,
            group: Vec::new(),
            requests: Vec::new(),
            begun: 0,
        }))
    }

    /// A request begins.
    pub(super) fn begin(&mut self, ticket: u32) {
        let place = ticket as usize;
        if self.requests.len() <= place {
            self.requests.resize(place + 1, 0);
        }
        self.requests[place] = self.begun;
        self.begun += 1;
    }

    /// Operations that wait for a die, and how many of them are programs.
    pub(super) fn waiting(&self, die: Die) -> (u32, u32) {
        (
            self.queue.of_die_count(die),
            self.queue.programs_of_die(die),
        )
    }

    /// A request is done.
    pub(super) fn done(&mut self, ticket: u32) {
        self.scheduling.done(ticket);
        self.changed.insert(0);
    }

    /// Asks for the scheduler at this instant, once all that happens in it has happened.
    pub(super) fn call(&mut self, cx: &mut Context<impl DeviceProbe>) {
        if self.called.is_none() && !self.changed.is_empty() {
            self.called = Some(cx.now);
            cx.schedule(cx.now, Kind::Schedule);
        }
    }
}

impl<M: Mapping> Controller<M> {
    /// Takes an operation on: it goes to the end of its die's queue, or waits for the scheduler.
    #[inline(always)]
    pub(super) fn issue(&mut self, cx: &mut Context<impl DeviceProbe>, order: &Order) -> Slot {
        if self.base.dispatches_directly {
            let die = self.base.flash.layout.die_of_page(order.place);
            return self.base.flash.backend.enqueue(cx, die, order);
        }
        self.issue_else(cx, *order)
    }

    /// The same where operations wait for a scheduler, or where pages are not all programmed alike: a read takes what the last
    /// program of its page makes it take, and what is programmed is noted.
    #[cold]
    #[inline(never)]
    fn issue_else(&mut self, cx: &mut Context<impl DeviceProbe>, order: Order) -> Slot {
        if self.base.has_page_conditions {
            return self.issue_graded(cx, &order);
        }
        self.issue_to(cx, &order)
    }

    /// The same of an operation whose page is to be looked at first.
    fn issue_graded(&mut self, cx: &mut Context<impl DeviceProbe>, order: &Order) -> Slot {
        let order = self.where_kept(order);
        self.grade(cx.now, &order);
        let fails = self.base.flash.backend.next_grade().outcome == Outcome::Failed;
        let slot = self.issue_to(cx, &order);
        if fails {
            // What it is held back for may wait for a collection that has stopped for it.
            self.clear(cx, Operation::Program, order.place, None);
        }
        slot
    }

    fn issue_to(&mut self, cx: &mut Context<impl DeviceProbe>, order: &Order) -> Slot {
        if self.base.flash.issue.is_some() {
            return self.issue_to_queue(cx, order);
        }
        let die = self.base.flash.layout.die_of_page(order.place);
        self.base.flash.backend.enqueue(cx, die, order)
    }

    #[inline(never)]
    fn issue_to_queue(&mut self, cx: &mut Context<impl DeviceProbe>, order: &Order) -> Slot {
        let slot = self.base.flash.backend.admit(cx.now, order);
        let Some(stage) = &self.base.flash.issue else {
            return slot;
        };
        let operation = order.purpose.operation();
        let of_host = order.purpose.is_scheduled();
        let request = of_host.then(|| stage.requests[order.owner as usize]);
        let places = [order.place, order.target];
        for place in &places[..if order.target == order.place { 1 } else { 2 }] {
            self.clear(cx, operation, *place, request);
        }
        let Some(stage) = &mut self.base.flash.issue else {
            return slot;
        };
        let Some(request) = request.filter(|_| stage.scheduling.holds(operation)) else {
            self.base.flash.backend.commit(cx, slot);
            return slot;
        };
        let die = self.base.flash.layout.die_of_page(order.place);
        let block = self.base.flash.layout.block_of(order.place);
        stage.queue.push(Waiting {
            slot,
            request,
            ticket: order.owner,
            operation,
            place: order.place,
            block,
            die,
            plane: self.base.flash.layout.plane_of(block).0 % self.base.flash.layout.planes_per_die,
            since: cx.now,
        });
        stage.changed.insert(stage.queue.package(die));
        stage.call(cx);
        slot
    }

    /// Commits what has to come before an operation that does not wait for it.
    pub(super) fn clear(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        operation: Operation,
        place: Ppn,
        request: Option<u64>,
    ) {
        while let Some(stage) = &mut self.base.flash.issue
            && let Some(id) = stage.queue.in_the_way(operation, place, request)
        {
            stage.group.retain(|chosen| *chosen != id);
            let slot = stage.queue.remove(id).slot;
            self.base.flash.backend.commit(cx, slot);
        }
    }

    /// Commits the programs that supersede a page of `block`, and those before them in their blocks:
    /// the erase of the block waits for them, and what the scheduler holds them back for may wait
    /// for the erase.
    #[cold]
    pub(super) fn commit_superseding(&mut self, cx: &mut Context<impl DeviceProbe>, block: Block) {
        while let Some(stage) = &self.base.flash.issue {
            let supersedes = |waiting: &&Waiting| {
                self.base.flash.backend.get(waiting.slot).superseded == block.0 + 1
            };
            let waiting = stage
                .queue
                .iter()
                .map(|id| stage.queue.get(id))
                .find(supersedes);
            let Some(&Waiting { place, .. }) = waiting else {
                return;
            };
            self.clear(cx, Operation::Program, place, None);
        }
    }

    /// A die that has done something with the last hold of a bus may take more.
    pub(super) fn take_load_change(&mut self, cx: &mut Context<impl DeviceProbe>) {
        let Some(die) = self.base.flash.backend.load_changed() else {
            return;
        };
        if let Some(stage) = &mut self.base.flash.issue {
            stage.changed.insert(stage.queue.package(die));
            stage.call(cx);
        }
    }

    /// A request is done.
    #[inline]
    pub(super) fn request_done(&mut self, ticket: u32) {
        if let Some(stage) = &mut self.base.flash.issue {
            stage.done(ticket);
        }
    }

    /// Lets the scheduler choose, until it has nothing to commit or a search takes time.
    pub(crate) fn schedule(&mut self, cx: &mut Context<impl DeviceProbe>) {
        let Some(mut stage) = self.base.flash.issue.take() else {
            return;
        };
        stage.called = None;
        loop {
            if self.writes.places_on_issue && !stage.group.is_empty() {
                stage = self.issue_group(cx, stage);
            }
            for place in 0..stage.group.len() {
                let slot = stage.queue.remove(stage.group[place]).slot;
                self.base.flash.backend.commit(cx, slot);
                self.preempt(cx, slot);
            }
            stage.group.clear();
            let view = View {
                now: cx.now,
                queue: &stage.queue,
                loads: self.base.flash.backend.loads(),
                joins: stage.joins,
            };
            stage
                .scheduling
                .choose(&view, &mut stage.changed, &mut stage.group);
            if stage.group.is_empty() {
                break;
            }
            let search = stage.scheduling.search();
            if search > Time::ZERO {
                stage.called = Some(cx.now + search);
                cx.schedule(cx.now + search, Kind::Schedule);
                break;
            }
        }
        self.base.flash.issue = Some(stage);
    }

    /// Issues the group of a stage, with places for what has none. What follows from a place may need the stage, which is in the
    /// controller meanwhile.
    fn issue_group(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        mut stage: Box<IssueStage>,
    ) -> Box<IssueStage> {
        let group = std::mem::take(&mut stage.group);
        let chosen: Vec<Waiting> = group.iter().map(|id| stage.queue.remove(*id)).collect();
        self.base.flash.issue = Some(stage);
        self.issue_chosen(cx, &chosen);
        match self.base.flash.issue.take() {
            Some(stage) => stage,
            None => unreachable!("it was put there"),
        }
    }

    /// Idle dies begin with what has been enqueued at this instant, once the scheduler has chosen what
    /// it commits in it.
    pub fn begin_dies(&mut self, cx: &mut Context<impl DeviceProbe>) {
        if let Some(stage) = &self.base.flash.issue
            && stage.called == Some(cx.now)
        {
            cx.schedule(cx.now, Kind::Begin);
            return;
        }
        self.base.flash.backend.begin(cx, &self.base.flash.array);
    }

    /// A read of the host is in the queue of its die: it may interrupt what the die is at.
    #[inline]
    pub(super) fn preempt(&mut self, cx: &mut Context<impl DeviceProbe>, slot: Slot) {
        if matches!(
            self.base.flash.backend.get(slot).purpose,
            Purpose::Read | Purpose::Merge | Purpose::MapRead
        ) {
            self.base
                .flash
                .backend
                .preempt(cx, slot, &self.base.flash.array);
        }
    }
}
