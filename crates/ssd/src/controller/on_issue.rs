//! Allocation of writes when the scheduler issues them (`ftl.allocate.static.on_issue`).
//!
//! Until then a write is pending, like one without space, and its operation waits in the issue
//! queue for any page of its plane. Programs that are issued together to all planes of a die get
//! pages of the same offset in a superblock, if possible.

use std::collections::VecDeque;

use wordline_ftl::{Lpn, Mapping, SpaceRequest, WriteOutcome};
use wordline_nand::{Operation, Ppn};

use super::Controller;
use super::base::Base;
use super::collector::Collector;
use super::pending::PageWrite;
use super::write::Writes;
use crate::backend::{Order, Purpose};
use crate::event::Context;
use crate::observation::{DeviceProbe, Observation, PageComponents};
use wordline_io_scheduler::Slot;
use wordline_io_scheduler::schedule::{Schedule, Waiting};

/// A write whose program is issued: its index among the pending writes, and its page.
#[derive(Clone, Copy)]
struct Issued {
    slot: Slot,
    tag: u32,
    page: Lpn,
}

/// Result of the allocation of issued writes.
#[derive(Default)]
struct Placing {
    /// Allocated writes, each with its page and the page that it supersedes, if any.
    placed: Vec<(Issued, Ppn, Option<Ppn>)>,
    waits: Vec<(Issued, SpaceRequest)>,
}

impl Writes {
    /// Allocates pages to issued writes, die by die. Programs for all planes of a die get pages of
    /// a superblock if possible.
    fn place_issued<M: Mapping>(&mut self, base: &mut Base<M>, unplaced: &[Waiting]) -> Placing {
        let planes = base.flash.layout.planes_per_die as usize;
        let mut placing = Placing::default();
        for group in unplaced.chunk_by(|one, other| one.die == other.die) {
            let of = |waiting: &Waiting| {
                let tag = base.flash.backend.get(waiting.slot).tag;
                let page = self.pending.get_mut(tag).page;
                let slot = waiting.slot;
                Issued { slot, tag, page }
            };
            let group: Vec<Issued> = group.iter().map(of).collect();
            let pages: Vec<Lpn> = group.iter().map(|issued| issued.page).collect();
            let before = pages.iter().map(|page| base.mapping.lookup(*page));
            let before: Vec<Option<Ppn>> = before.collect();
            let mut places = Vec::new();
            let in_step = planes > 1
                && group.len() == planes
                && base.mapping.write_in_step(&pages, &mut places);
            for (turn, issued) in group.into_iter().enumerate() {
                let written = if in_step {
                    WriteOutcome::Placed(places[turn])
                } else {
                    base.mapping.write(issued.page)
                };
                match written {
                    WriteOutcome::Placed(place) => {
                        placing.placed.push((issued, place, before[turn]));
                    }
                    WriteOutcome::Blocked(want) => placing.waits.push((issued, want)),
                }
            }
        }
        placing
    }

    /// Queues a write without a physical page, with the later writes of its logical page. Returns
    /// `false` if it cannot wait in the queue.
    pub fn defer_allocation<M: Mapping>(
        &mut self,
        base: &mut Base<M>,
        cx: &mut Context<impl DeviceProbe>,
        write: &PageWrite,
        later: &mut VecDeque<PageWrite>,
    ) -> bool {
        let Some(stage) = &base.flash.issue else {
            return false;
        };
        let Some(plane) = base.mapping.home_plane(write.page) else {
            return false;
        };
        if !stage.scheduling.holds(Operation::Program) {
            return false;
        }
        let request = stage.requests[write.owner as usize];
        let tag = self.pending.add(write, later);
        let place = base.flash.layout.page(base.flash.layout.block(plane, 0), 0);
        let order = Order::new(Purpose::of_write(write.fill), place, write.owner, tag);
        let die = base.flash.layout.die_of(plane);
        let slot = base.flash.backend.admit(cx.now, die, &order);
        if write.parts != PageComponents::NONE {
            base.flash.backend.add_earlier(slot, &write.parts);
        }
        let Some(stage) = &mut base.flash.issue else {
            return false;
        };
        let waiting = Waiting {
            slot,
            request,
            ticket: write.owner,
            operation: Operation::Program,
            place,
            block: stage.queue.unplaced(plane),
            die: base.flash.layout.die_of(plane),
            plane: plane.0 % base.flash.layout.planes_per_die,
            since: cx.now,
        };
        stage.push(cx, waiting);
        true
    }

    /// Binds an issued write to its physical page; returns the later writes of the same logical
    /// page.
    fn bind<M: Mapping>(
        &mut self,
        gc: &mut Collector<M>,
        cx: &mut Context<impl DeviceProbe>,
        issued: Issued,
        place: Ppn,
        before: Option<Ppn>,
    ) -> VecDeque<PageWrite> {
        let (write, later) = self.pending.take(issued.tag);
        let superseded = before.map(|before| gc.base.flash.layout.block_of(before));
        gc.base.flash.supersedes(superseded);
        cx.observe(Observation::PagesWritten { pages: 1 });
        gc.base.observe_free_blocks(cx);
        gc.base.mapping.placed(place, write.label);
        if gc.base.has_page_conditions {
            self.grade_write(gc, place, &write);
        }
        let backend = &mut gc.base.flash.backend;
        backend.bind(issued.slot, place, write.page.0, superseded);
        backend.fill(issued.slot, write.fill);
        if gc.base.follows {
            gc.base.contents.follow_write(issued.slot, &write, place);
        }
        later
    }
}

impl<M: Mapping> Controller<M> {
    /// Issues the operations that the scheduler has chosen, allocating pages to those that have
    /// none.
    pub(super) fn issue_chosen(&mut self, cx: &mut Context<impl DeviceProbe>, chosen: &[Waiting]) {
        let blocks = self.gc.base.flash.layout.blocks();
        let is_unplaced = |waiting: &&Waiting| waiting.block.0 >= blocks;
        let mut unplaced: Vec<Waiting> = chosen.iter().filter(is_unplaced).copied().collect();
        unplaced.sort_by_key(|waiting| waiting.die);
        let Placing { placed, waits } = self.writes.place_issued(&mut self.gc.base, &unplaced);
        let mut later = Vec::new();
        for (issued, place, before) in &placed {
            later.push(self.writes.bind(&mut self.gc, cx, *issued, *place, *before));
        }
        // Programs allocated earlier have earlier pages of their blocks.
        for waiting in chosen.iter().filter(|waiting| !is_unplaced(waiting)) {
            self.gc.base.flash.commit(cx, waiting.slot);
        }
        for (issued, place, _) in &placed {
            self.gc
                .base
                .flash
                .clear(cx, Operation::Program, *place, None);
            self.gc.base.flash.backend.commit(cx, issued.slot);
        }
        self.gc.base.summarize(cx);
        for (issued, want) in waits {
            self.waits_for_room(cx, issued, want);
        }
        for ((issued, place, _), mut later) in placed.into_iter().zip(later) {
            let plane = self.gc.base.flash.layout.plane_of_page(place);
            self.gc.look_at_free_blocks(cx, plane, issued.page);
            if let Some(mut next) = later.pop_front() {
                next.parts.die_wait += cx.now - next.since;
                next.since = cx.now;
                self.advance(cx, next, later);
            }
        }
    }

    /// Lets an issued write without space wait for it like other writes; it then passes through the
    /// queue again.
    #[cold]
    fn waits_for_room(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        issued: Issued,
        want: SpaceRequest,
    ) {
        self.gc.base.flash.backend.withdraw(issued.slot);
        let write = self.writes.pending.get_mut(issued.tag);
        write.parts.queue += cx.now - write.since;
        self.stall(cx, issued.tag, want);
    }
}
