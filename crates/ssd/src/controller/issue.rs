//! Operations on their way to the dies: through the scheduler's queue, or directly.

use serde::{Deserialize, Serialize};
use wordline_ftl::Mapping;
use wordline_kernel::Time;
use wordline_nand::{Block, Die, Operation, Ppn};

use super::Controller;
use super::base::Base;
use super::flash::Flash;
use crate::backend::{Order, Outcome, Purpose};
use crate::event::{Context, Kind};
use crate::observation::DeviceProbe;
use crate::plan::Plan;
use wordline_io_scheduler::Slot;
use wordline_io_scheduler::schedule::{
    Changed, EntryId, IssueQueue, Load, Schedule, Scheduling, View, Waiting,
};

/// Scheduler and its queue.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct IssueStage {
    pub(super) queue: IssueQueue,
    pub(super) scheduling: Scheduling,
    joins: bool,
    /// Packages with waiting operations that have changed; empty unless the scheduler looks up
    /// operations by package.
    pub(super) changed: Changed,
    /// Whether the scheduler looks up operations by package.
    by_package: bool,
    /// Time of the pending [`Kind::Schedule`], if any.
    called: Option<Time>,
    /// Chosen operations, which are committed when the search is over.
    group: Vec<EntryId>,
    /// Sequence numbers of the requests, by ticket.
    pub(super) requests: Vec<u64>,
    /// Requests started so far. Count.
    begun: u64,
}

impl IssueStage {
    /// Creates the stage; `None` if no operation waits for a scheduler.
    pub(super) fn new(plan: &Plan) -> Option<Box<Self>> {
        if !plan.is_scheduled() {
            return None;
        }
        let part = &plan.part;
        let scheduling = Scheduling::new(&plan.scheduler);
        let mut queue = IssueQueue::new(
            part.layout,
            part.plane_rule,
            plan.dies_per_package,
            plan.dies_per_channel,
        );
        let by_package = scheduling.keeps_places();
        if by_package {
            queue.keep_places();
        }
        if scheduling.has_age_bound() {
            queue.keep_ages();
        }
        if scheduling.keeps_commands() {
            queue.keep_commands();
        }
        Some(Box::new(Self {
            queue,
            scheduling,
            joins: plan.joins(),
            changed: Changed::new(),
            by_package,
            called: None,
            group: Vec::new(),
            requests: Vec::new(),
            begun: 0,
        }))
    }

    /// Registers a request that starts.
    pub(super) fn begin(&mut self, ticket: u32) {
        let place = ticket as usize;
        if self.requests.len() <= place {
            self.requests.resize(place + 1, 0);
        }
        self.requests[place] = self.begun;
        self.begun += 1;
    }

    /// Returns the number of operations that wait for a die, and the number of programs among them.
    pub(super) fn waiting(&self, die: Die) -> (u32, u32) {
        (
            self.queue.of_die_count(die),
            self.queue.programs_of_die(die),
        )
    }

    /// Notifies the scheduler that a request is done.
    pub(super) fn done(&mut self, ticket: u32) {
        self.scheduling.done(ticket);
        if self.by_package {
            self.mark(0);
        }
    }

    /// Marks a package as changed. The scheduler need not examine it if no operation waits there.
    #[inline]
    fn mark(&mut self, package: u32) {
        if self.queue.of_package_count(package) > 0 {
            self.changed.insert(package);
        }
    }

    /// Calls the scheduler because the load of a die has changed.
    #[inline]
    fn load_changed(&mut self, cx: &mut Context<impl DeviceProbe>, die: Die) {
        if self.by_package {
            self.mark(self.queue.package(die));
        }
        self.call(cx);
    }

    /// Schedules a call of the scheduler at this instant, after the events that are already
    /// scheduled for the instant, if no call is pending.
    #[inline]
    fn call(&mut self, cx: &mut Context<impl DeviceProbe>) {
        if self.called.is_none() {
            self.called = Some(cx.now);
            cx.schedule(cx.now, Kind::Schedule);
        }
    }

    /// Queues an operation for the scheduler.
    pub(super) fn push(&mut self, cx: &mut Context<impl DeviceProbe>, waiting: Waiting) {
        if self.by_package {
            self.changed.insert(self.queue.package(waiting.die));
        }
        self.queue.push(waiting);
        self.call(cx);
    }

    /// Chooses the next group; returns `true` if the group is empty, or if the search takes time.
    fn choose(&mut self, cx: &mut Context<impl DeviceProbe>, loads: &[Load]) -> bool {
        let view = View {
            now: cx.now,
            queue: &self.queue,
            loads,
            joins: self.joins,
        };
        self.scheduling
            .choose(&view, &mut self.changed, &mut self.group);
        if self.group.is_empty() {
            return true;
        }
        let search = self.scheduling.search();
        if search > Time::ZERO {
            self.called = Some(cx.now + search);
            cx.schedule(cx.now + search, Kind::Schedule);
        }
        search > Time::ZERO
    }
}

impl<M: Mapping> Base<M> {
    /// Issues an operation: appends it to its die's queue, or queues it for the scheduler.
    #[inline(always)]
    pub fn issue(&mut self, cx: &mut Context<impl DeviceProbe>, order: &Order) -> Slot {
        if self.dispatches_directly {
            return self.flash.enqueue(cx, order);
        }
        self.issue_else(cx, *order)
    }

    /// Like [`Self::issue`], for devices with a scheduler or page conditions. A read takes the time
    /// of its page's program mode, and a program records its mode.
    #[cold]
    #[inline(never)]
    fn issue_else(&mut self, cx: &mut Context<impl DeviceProbe>, order: Order) -> Slot {
        if self.has_page_conditions {
            return self.issue_graded(cx, order);
        }
        self.flash.issue(cx, &order)
    }

    /// Issues an operation after determining the conditions of its page.
    fn issue_graded(&mut self, cx: &mut Context<impl DeviceProbe>, mut order: Order) -> Slot {
        if let Some(kept) = self.conditions.where_kept(&order) {
            (order.place, order.target) = (kept, kept);
        }
        self.conditions
            .grade(&mut self.flash, &self.mapping, cx.now, &order);
        let fails = self.flash.backend.next_grade().outcome == Outcome::Failed;
        let slot = self.flash.issue(cx, &order);
        if fails {
            // A failing program stops GC. The operations that must precede the program may wait for
            // that GC, so they are committed now.
            self.flash.clear(cx, Operation::Program, order.place, None);
        }
        slot
    }
}

impl Flash {
    /// Appends an operation to its die's queue.
    #[inline(always)]
    pub fn enqueue(&mut self, cx: &mut Context<impl DeviceProbe>, order: &Order) -> Slot {
        let die = self.layout.die_of_page(order.place);
        self.backend.enqueue(cx, die, order)
    }

    /// Queues an operation for the scheduler. Without a scheduler, appends it to its die's queue.
    #[inline(always)]
    fn issue(&mut self, cx: &mut Context<impl DeviceProbe>, order: &Order) -> Slot {
        if self.issue.is_some() {
            return self.issue_to_queue(cx, order);
        }
        self.enqueue(cx, order)
    }

    #[inline(never)]
    fn issue_to_queue(&mut self, cx: &mut Context<impl DeviceProbe>, order: &Order) -> Slot {
        let block = self.layout.block_of(order.place);
        let plane = self.layout.plane_of(block);
        let die = self.layout.die_of(plane);
        let slot = self.backend.admit(cx.now, die, order);
        let Some(stage) = &self.issue else {
            return slot;
        };
        let operation = order.purpose.operation();
        let of_host = order.purpose.is_scheduled();
        let request = of_host.then(|| stage.requests[order.owner as usize]);
        let places = [order.place, order.target];
        for place in &places[..if order.target == order.place { 1 } else { 2 }] {
            self.clear(cx, operation, *place, request);
        }
        let Some(stage) = &mut self.issue else {
            return slot;
        };
        let Some(request) = request.filter(|_| stage.scheduling.holds(operation)) else {
            self.backend.commit(cx, slot);
            return slot;
        };
        let waiting = Waiting {
            slot,
            request,
            ticket: order.owner,
            operation,
            place: order.place,
            block,
            die,
            plane: plane.0 - die.0 * self.layout.planes_per_die,
            since: cx.now,
        };
        stage.push(cx, waiting);
        slot
    }

    /// Commits the queued operations that must precede an operation on page `place`, as
    /// [`IssueQueue::in_the_way`] determines.
    pub fn clear(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        operation: Operation,
        place: Ppn,
        request: Option<u64>,
    ) {
        while let Some(stage) = &mut self.issue
            && let Some(id) = stage.queue.in_the_way(operation, place, request)
        {
            stage.group.retain(|chosen| *chosen != id);
            let slot = stage.queue.remove(id).slot;
            self.backend.commit(cx, slot);
        }
    }

    /// Commits the programs that supersede a page of `block`, and the earlier programs of their
    /// blocks. The erase of the block waits for them, and the scheduler may hold them back for
    /// operations that wait for the erase.
    #[cold]
    pub fn commit_superseding(&mut self, cx: &mut Context<impl DeviceProbe>, block: Block) {
        while let Some(stage) = &self.issue {
            let supersedes =
                |waiting: &&Waiting| self.backend.get(waiting.slot).superseded.get() == Some(block);
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

    /// Notifies the scheduler of a die whose load has changed.
    pub fn load_changed(&mut self, cx: &mut Context<impl DeviceProbe>, die: Die) {
        if let Some(stage) = &mut self.issue {
            stage.load_changed(cx, die);
        }
    }

    /// Notifies the scheduler of a request that is done.
    #[inline]
    pub fn request_done(&mut self, ticket: u32) {
        if let Some(stage) = &mut self.issue {
            stage.done(ticket);
        }
    }

    /// Starts idle dies with the operations queued at this instant, after the scheduler has made
    /// its choices.
    pub fn begin_dies(&mut self, cx: &mut Context<impl DeviceProbe>) {
        if let Some(stage) = &self.issue
            && stage.called == Some(cx.now)
        {
            cx.schedule(cx.now, Kind::Begin);
            return;
        }
        self.backend.begin(cx, &self.array);
    }

    /// Lets a read that a request waits for suspend the operation of its die.
    #[inline]
    pub fn preempt(&mut self, cx: &mut Context<impl DeviceProbe>, slot: Slot) {
        if matches!(
            self.backend.get(slot).purpose,
            Purpose::Read | Purpose::Merge | Purpose::MapRead
        ) {
            self.backend.preempt(cx, slot, &self.array);
        }
    }

    /// Commits an operation to its die.
    pub fn commit(&mut self, cx: &mut Context<impl DeviceProbe>, slot: Slot) {
        self.backend.commit(cx, slot);
        self.preempt(cx, slot);
    }
}

impl<M: Mapping> Controller<M> {
    /// Runs the scheduler until it selects no operation, or until its search takes simulated time;
    /// an event then resumes it.
    pub(crate) fn schedule(&mut self, cx: &mut Context<impl DeviceProbe>) {
        let Some(mut stage) = self.gc.base.flash.issue.take() else {
            return;
        };
        stage.called = None;
        loop {
            if self.writes.places_on_issue && !stage.group.is_empty() {
                stage = self.issue_group(cx, stage);
            }
            let flash = &mut self.gc.base.flash;
            for place in 0..stage.group.len() {
                let slot = stage.queue.remove(stage.group[place]).slot;
                flash.commit(cx, slot);
            }
            stage.group.clear();
            if stage.choose(cx, flash.backend.loads()) {
                break;
            }
        }
        self.gc.base.flash.issue = Some(stage);
    }

    /// Issues the group of a stage, allocating pages to writes that have none. The stage is put
    /// back into the controller during the call, because allocation may need it.
    fn issue_group(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        mut stage: Box<IssueStage>,
    ) -> Box<IssueStage> {
        let group = std::mem::take(&mut stage.group);
        let chosen: Vec<Waiting> = group.iter().map(|id| stage.queue.remove(*id)).collect();
        self.gc.base.flash.issue = Some(stage);
        self.issue_chosen(cx, &chosen);
        match self.gc.base.flash.issue.take() {
            Some(stage) => stage,
            None => unreachable!("the stage was put back"),
        }
    }
}
