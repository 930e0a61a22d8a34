//! Writes that get their places when the scheduler issues them (`ftl.allocate.static.on_issue`).
//!
//! Until then a write is pending, as one without room is, and its operation waits in the issue queue for a page of its plane,
//! whichever. Programs that are issued together to all planes of a die get the same page of blocks that are in step.

use std::collections::VecDeque;

use wordline_ftl::{Lpn, Mapping, SpaceRequest, Written};
use wordline_nand::{Operation, Ppn};

use super::Controller;
use super::pending::PageWrite;
use crate::backend::{Order, Purpose};
use crate::event::Context;
use crate::observation::{DeviceProbe, Observation, PageParts};
use wordline_io_scheduler::Slot;
use wordline_io_scheduler::schedule::{Schedule, Waiting};

/// A write whose program is issued: its place in the table of pending ones, and its page.
#[derive(Clone, Copy)]
struct Issued {
    slot: Slot,
    tag: u32,
    page: Lpn,
}

impl<M: Mapping> Controller<M> {
    /// Lets a write wait in the queue for its place, with those of its page behind it. False if it would not wait there.
    pub(super) fn defer_allocation(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        write: &PageWrite,
        later: &mut VecDeque<PageWrite>,
    ) -> bool {
        let Some(stage) = &self.base.flash.issue else {
            return false;
        };
        let Some(plane) = self.base.mapping.home_plane(write.page) else {
            return false;
        };
        if !stage.scheduling.holds(Operation::Program) {
            return false;
        }
        let request = stage.requests[write.owner as usize];
        let tag = self.writes.pending.add(write, later);
        let place = self
            .base
            .flash
            .layout
            .page(self.base.flash.layout.block(plane, 0), 0);
        let order = Order::new(Purpose::of_write(write.fill), place, write.owner, tag);
        let slot = self.base.flash.backend.admit(cx.now, &order);
        if write.parts != PageParts::NONE {
            self.base.flash.backend.add_earlier(slot, &write.parts);
        }
        let Some(stage) = &mut self.base.flash.issue else {
            return false;
        };
        let die = self.base.flash.layout.die_of(plane);
        stage.queue.push(Waiting {
            slot,
            request,
            ticket: write.owner,
            operation: Operation::Program,
            place,
            block: stage.queue.unplaced(plane),
            die,
            plane: plane.0 % self.base.flash.layout.planes_per_die,
            since: cx.now,
        });
        stage.changed.insert(stage.queue.package(die));
        stage.call(cx);
        true
    }

    /// Issues what the scheduler has chosen, giving places to what has none.
    pub(super) fn issue_chosen(&mut self, cx: &mut Context<impl DeviceProbe>, chosen: &[Waiting]) {
        let blocks = self.base.flash.layout.blocks();
        let is_unplaced = |waiting: &&Waiting| waiting.block.0 >= blocks;
        let mut unplaced: Vec<Waiting> = chosen.iter().filter(is_unplaced).copied().collect();
        unplaced.sort_by_key(|waiting| waiting.die);
        let planes = self.base.flash.layout.planes_per_die as usize;
        let (mut placed, mut waits) = (Vec::new(), Vec::new());
        for group in unplaced.chunk_by(|one, other| one.die == other.die) {
            let of = |waiting: &Waiting| {
                let tag = self.base.flash.backend.get(waiting.slot).tag;
                let page = self.writes.pending.get_mut(tag).page;
                let slot = waiting.slot;
                Issued { slot, tag, page }
            };
            let group: Vec<Issued> = group.iter().map(of).collect();
            let pages: Vec<Lpn> = group.iter().map(|issued| issued.page).collect();
            let before: Vec<Option<Ppn>> = pages
                .iter()
                .map(|page| self.base.mapping.lookup(*page))
                .collect();
            let mut places = Vec::new();
            let in_step = planes > 1
                && group.len() == planes
                && self.base.mapping.write_in_step(&pages, &mut places);
            for (turn, issued) in group.into_iter().enumerate() {
                let written = if in_step {
                    Written::Placed(places[turn])
                } else {
                    self.base.mapping.write(issued.page)
                };
                match written {
                    Written::Placed(place) => placed.push((issued, place, before[turn])),
                    Written::Wait(want) => waits.push((issued, want)),
                }
            }
        }
        let mut later = Vec::new();
        for (issued, place, before) in &placed {
            later.push(self.bind(cx, *issued, *place, *before));
        }
        // What had its place before has an earlier page of its block.
        for waiting in chosen.iter().filter(|waiting| !is_unplaced(waiting)) {
            self.base.flash.backend.commit(cx, waiting.slot);
            self.preempt(cx, waiting.slot);
        }
        for (issued, place, _) in &placed {
            self.clear(cx, Operation::Program, *place, None);
            self.base.flash.backend.commit(cx, issued.slot);
        }
        self.summarize(cx);
        for (issued, want) in waits {
            self.waits_for_room(cx, issued, want);
        }
        for ((issued, place, _), mut later) in placed.into_iter().zip(later) {
            let plane = self
                .base
                .flash
                .layout
                .plane_of(self.base.flash.layout.block_of(place));
            self.look_at_free_blocks(cx, plane, issued.page);
            if let Some(mut next) = later.pop_front() {
                next.parts.die_wait += cx.now - next.since;
                next.since = cx.now;
                self.advance(cx, next, later);
            }
        }
    }

    /// A write has its place: what is noted with it, and the writes of its page that came later.
    fn bind(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        issued: Issued,
        place: Ppn,
        before: Option<Ppn>,
    ) -> VecDeque<PageWrite> {
        let (write, later) = self.writes.pending.take(issued.tag);
        let superseded = before.map_or(0, |before| self.base.flash.layout.block_of(before).0 + 1);
        if superseded != 0 {
            self.base.flash.superseding[superseded as usize - 1] += 1;
        }
        cx.observe(Observation::PagesWritten { pages: 1 });
        self.observe_free_blocks(cx);
        self.base.mapping.placed(place, write.label);
        if self.base.has_page_conditions {
            self.grade_write(place, &write);
        }
        let backend = &mut self.base.flash.backend;
        backend.bind(issued.slot, place, write.page.0, superseded);
        backend.fill(issued.slot, write.fill);
        if self.base.follows {
            self.follow_write(issued.slot, &write, place);
        }
        later
    }

    /// A write whose program was issued finds no room: it waits for it as others do, and then goes through the queue.
    #[cold]
    fn waits_for_room(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        issued: Issued,
        want: SpaceRequest,
    ) {
        self.base.flash.backend.withdraw(issued.slot);
        let write = self.writes.pending.get_mut(issued.tag);
        write.parts.queue += cx.now - write.since;
        self.stall(cx, issued.tag, want);
    }
}
