//! Garbage collection in time: a job a plane.

use wordline_ftl::Mapping;
use wordline_ftl::gc::Collection;
use wordline_kernel::{EventQueue, Probe, Time};
use wordline_nand::{Plane, Ppn};

use super::{Controller, NO_VERSION};
use crate::backend::{Order, Purpose, Slot};
use crate::event::Event;
use crate::observation::Observation;

/// A collection in progress.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job {
    collection: Collection,
    started: Time,
    /// Pages on the move.
    outstanding: u32,
    moved: u32,
}

impl<M: Mapping> Controller<M> {
    /// Starts a collection of the plane, unless one runs or nothing can be gained: all valid pages
    /// of the victim are read, each is programmed when it has been read, then the victim is erased.
    /// With internal data move, each page gets its place at once and is moved by one command.
    pub(super) fn collect(&mut self, now: Time, plane: Plane, queue: &mut EventQueue<Event>) {
        if self.jobs[plane.index()].is_some() {
            return;
        }
        let Some(mut collection) = self.mapping.collect(plane) else {
            return;
        };
        let mut outstanding = 0;
        while let Some(from) = self.mapping.next_to_move(&mut collection) {
            let mut order = Order::new(Purpose::MoveRead, from, plane.0, 0);
            if self.internal_data_move {
                let Some(target) = self.mapping.relocate(from) else {
                    continue;
                };
                order.purpose = Purpose::Move;
                order.target = target;
            }
            let slot = self.give(now, &order, queue);
            if let Some(verification) = &mut self.verification {
                verification.note(slot, 0, NO_VERSION);
            }
            outstanding += 1;
        }
        self.jobs[plane.index()] = Some(Job {
            collection,
            started: now,
            outstanding,
            moved: 0,
        });
        if outstanding == 0 {
            self.erase(now, collection, queue);
        }
    }

    pub(super) fn erase(
        &mut self,
        now: Time,
        collection: Collection,
        queue: &mut EventQueue<Event>,
    ) {
        let first = self.layout.page(collection.victim, 0);
        let order = Order::new(Purpose::Erase, first, collection.plane.0, 0);
        let slot = self.give(now, &order, queue);
        if let Some(verification) = &mut self.verification {
            verification.note(slot, 0, NO_VERSION);
        }
    }

    /// Starts a collection of every plane that wants one. Needed while writes wait for a block
    /// anywhere: a plane that had nothing to gain may since have lost valid pages to others.
    #[cold]
    pub(super) fn collect_everywhere(&mut self, now: Time, queue: &mut EventQueue<Event>) {
        for plane in (0..self.layout.planes()).map(Plane) {
            if self.mapping.wants_collection(plane) {
                self.collect(now, plane, queue);
            }
        }
    }

    /// A page of a victim has been read: programs its copy, if it is still the current one.
    pub(super) fn move_page(
        &mut self,
        now: Time,
        slot: Slot,
        from: Ppn,
        plane: Plane,
        queue: &mut EventQueue<Event>,
        probe: &mut impl Probe<Observation>,
    ) {
        let content = self
            .verification
            .as_ref()
            .map(|verification| verification.contents[slot as usize]);
        let Some(to) = self.mapping.relocate(from) else {
            self.page_moved(now, plane, 0, queue);
            return;
        };
        self.observe_free_blocks(now, probe);
        let order = Order::new(Purpose::MoveProgram, to, plane.0, 0);
        let slot = self.give(now, &order, queue);
        if let Some((verification, content)) = self.verification.as_mut().zip(content) {
            verification.note(slot, content, NO_VERSION);
        }
    }

    /// A page of a victim is out of the way; after the last one the victim is erased.
    pub(super) fn page_moved(
        &mut self,
        now: Time,
        plane: Plane,
        moved: u32,
        queue: &mut EventQueue<Event>,
    ) {
        let Some(job) = &mut self.jobs[plane.index()] else {
            return;
        };
        job.moved += moved;
        job.outstanding -= 1;
        if job.outstanding == 0 {
            let collection = job.collection;
            self.erase(now, collection, queue);
        }
    }

    /// A victim is erased: writes that waited for a block go on.
    pub(super) fn collected(
        &mut self,
        now: Time,
        plane: Plane,
        queue: &mut EventQueue<Event>,
        probe: &mut impl Probe<Observation>,
    ) {
        let Some(Job {
            collection,
            started,
            moved,
            ..
        }) = self.jobs[plane.index()].take()
        else {
            return;
        };
        let erases = self.array.erases()[collection.victim.index()];
        self.mapping.erased(collection.victim, erases);
        self.observe_free_blocks(now, probe);
        probe.observe(
            now,
            Observation::Collected {
                plane,
                moved,
                from: started,
            },
        );
        while let Some(&tag) = self.stalled[plane.index()].front() {
            if self.place_held(now, tag, queue, probe).is_err() {
                break;
            }
            self.stalled[plane.index()].pop_front();
        }
        while let Some(&tag) = self.stalled_anywhere.front() {
            if self.place_held(now, tag, queue, probe).is_err() {
                break;
            }
            self.stalled_anywhere.pop_front();
        }
        if !self.stalled_anywhere.is_empty() {
            self.collect_everywhere(now, queue);
        }
        if self.mapping.wants_collection(plane) {
            self.collect(now, plane, queue);
        }
    }
}
