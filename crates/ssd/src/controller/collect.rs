//! GC runs: their start, preemption and end, and the writes that wait for them.

use std::collections::VecDeque;

use wordline_ftl::gc::schedule::incremental::Incremental;
use wordline_ftl::gc::schedule::{PreemptionPoint, Schedule, Trigger};
use wordline_ftl::refresh::Steps;
use wordline_ftl::{Collection, GcKind, JobId, Lpn, Mapping, SpaceRequest};
use wordline_kernel::Time;
use wordline_nand::Plane;
use wordline_reliability::Due;

use super::Controller;
use super::collector::Collector;
use super::job::{GcObservation, Job};
use crate::event::Context;
use crate::observation::{DeviceProbe, Observation};

impl<M: Mapping> Collector<M> {
    /// Checks whether GC of a plane is due after an allocation for page `written`; see
    /// [`Self::free_blocks_are_few`].
    #[inline]
    pub fn look_at_free_blocks(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        plane: Plane,
        written: Lpn,
    ) {
        if self.base.mapping.wants_collection(plane) {
            self.free_blocks_are_few(cx, plane, Some(written));
        }
    }

    /// Starts the GC that a plane needs, if the schedule permits GC while the host is served and no
    /// GC run is in progress on the plane. Otherwise records page `written` if the schedule defers
    /// GC. Called after an allocation for this page, and at the end of a GC run.
    #[inline]
    pub fn free_blocks_are_few(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        plane: Plane,
        written: Option<Lpn>,
    ) {
        if !self.jobs.collects(plane) && self.scheduling.policy().at_threshold() {
            self.collect(cx, SpaceRequest::Free(plane), Trigger::FreeBlocks);
        } else if self.puts_off
            && let Some(page) = written
        {
            self.base.mapping.delay(page);
        }
    }

    /// Starts a GC run on a plane, unless one is in progress there, no block can be freed, or the
    /// end of the device's life has stopped GC.
    pub fn collect(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        want: SpaceRequest,
        trigger: Trigger,
    ) {
        let (SpaceRequest::Free(plane) | SpaceRequest::Update(plane, _)) = want else {
            return;
        };
        if self.jobs.collects(plane) || self.base.conditions.failing.is_ending {
            return;
        }
        let Some(collection) = self.base.mapping.collect(want) else {
            return;
        };
        self.begin_collection(cx, plane, collection, trigger);
    }

    /// Executes a GC run that the mapping has started.
    pub fn begin_collection(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        plane: Plane,
        collection: Collection,
        trigger: Trigger,
    ) {
        self.base.first_reads = None;
        let Collection { job, kind, .. } = collection;
        let time = self.die_loads.time(&collection);
        self.die_loads.begins(plane, time);
        let collecting = GcObservation {
            plane,
            kind,
            trigger,
            time,
        };
        let stepwise =
            trigger != Trigger::Trim && self.goes_in_steps(trigger) && !self.is_awaited(plane);
        if kind == GcKind::Refresh {
            self.base.flash.refreshing.push(plane);
        }
        self.jobs.start(cx.now, job, Some(collecting), stepwise);
        let over = self.run(cx, job);
        assert!(!over, "a GC run has at least one step");
    }

    /// Returns `true` if a GC run with this trigger is executed one flash operation at a time, so
    /// that host requests can preempt it.
    fn goes_in_steps(&self, trigger: Trigger) -> bool {
        let by_schedule = || self.scheduling.policy().stepwise();
        match trigger {
            Trigger::IdleFold => true,
            Trigger::ReadDisturb | Trigger::Retention => match self.refresh_steps {
                Steps::Schedule => by_schedule(),
                Steps::Page => true,
                Steps::Block => false,
            },
            _ => by_schedule(),
        }
    }

    /// Returns `true` if a GC run must pause at its current preemption point.
    pub fn must_stop(&self, now: Time, collecting: GcObservation) -> bool {
        let plane = collecting.plane;
        if collecting.trigger == Trigger::IdleFold {
            return !self.folds_now(now) && !self.base.mapping.wants_collection(plane);
        }
        let die = self.base.flash.layout.die_of(plane);
        let checkpoint = PreemptionPoint {
            requests: self.base.requests.serving(),
            on_die: self.base.flash.backend.loads()[die.index()].committed(),
            free_blocks: self.base.mapping.free_blocks_of(plane),
            reserve_blocks: self.reserve_blocks,
        };
        if collecting.kind == GcKind::Refresh && self.refresh_steps == Steps::Page {
            return Incremental::default().yields(&checkpoint);
        }
        self.scheduling.policy().yields(&checkpoint)
    }

    /// Handles a write that waits for space in a plane: GC there continues without pauses, or
    /// starts. Returns the job if it is over.
    fn demand(&mut self, cx: &mut Context<impl DeviceProbe>, want: SpaceRequest) -> Option<Job> {
        let (plane, trigger) = match want {
            SpaceRequest::Free(plane) => (plane, Trigger::FreeBlocks),
            SpaceRequest::Update(plane, _) => (plane, Trigger::UpdateBlock),
            SpaceRequest::Anywhere => return None,
        };
        if self.jobs.collects(plane) {
            return self.expedite(cx, JobId::of(plane));
        }
        self.collect(cx, want, trigger);
        None
    }

    /// Starts read reclaim and refresh of the due blocks that the mapping can move now. Blocks that
    /// have been erased since are dropped, because their data are no longer due. At the end of the
    /// device's life all due blocks are dropped; otherwise the remaining blocks stay due.
    #[cold]
    pub fn refresh_due(&mut self, cx: &mut Context<impl DeviceProbe>) {
        if self.base.conditions.failing.is_ending {
            self.base.conditions.due.clear();
        }
        let mut place = 0;
        while let Some(&(block, due)) = self.base.conditions.due.get(place) {
            let plane = self.base.flash.layout.plane_of(block);
            let is_due = self
                .base
                .conditions
                .reader
                .as_ref()
                .zip(self.base.flash.array.health());
            let erases = self.base.flash.array.erases()[block.index()];
            let is_due = is_due.is_some_and(|(reader, health)| {
                reader.due(&health.of(cx.now, block, erases)).is_some()
            });
            if !is_due {
                self.base.conditions.due.swap_remove(place);
            } else if self.jobs.collects(plane) {
                place += 1;
            } else if let Some(collection) = self.base.mapping.refresh(block) {
                self.base.conditions.due.swap_remove(place);
                let trigger = match due {
                    Due::Reads => Trigger::ReadDisturb,
                    Due::Age => Trigger::Retention,
                };
                self.begin_collection(cx, plane, collection, trigger);
            } else {
                place += 1;
            }
        }
    }
}

impl<M: Mapping> Controller<M> {
    /// Handles writes that wait for space: GC of the plane, or of every plane that lacks room,
    /// continues without pauses or starts.
    pub(super) fn demand(&mut self, cx: &mut Context<impl DeviceProbe>, want: SpaceRequest) {
        if want == SpaceRequest::Anywhere {
            self.demand_everywhere(cx);
        } else if let Some(job) = self.gc.demand(cx, want) {
            self.collection_over(cx, &job);
        }
    }

    /// Starts GC, or continues it without pauses, on every plane that lacks free blocks or room for
    /// a write. Needed while writes wait for a block on any plane: a plane without victims may
    /// since have lost valid pages to other planes.
    #[cold]
    fn demand_everywhere(&mut self, cx: &mut Context<impl DeviceProbe>) {
        for plane in (0..self.gc.base.flash.layout.planes()).map(Plane) {
            if self.gc.base.mapping.lacks_room(plane) {
                self.demand(cx, SpaceRequest::Free(plane));
            }
        }
    }

    /// Handles the end of a job. If it was a GC run, reports it and continues the writes that
    /// waited for space.
    pub(super) fn collection_over(&mut self, cx: &mut Context<impl DeviceProbe>, job: &Job) {
        let Some(GcObservation {
            plane,
            kind,
            trigger,
            time: _,
        }) = job.collecting
        else {
            return;
        };
        self.gc.die_loads.ends(plane);
        let Job {
            moved,
            erased,
            started,
            ..
        } = *job;
        cx.observe(Observation::Collected {
            plane,
            kind,
            trigger,
            moved,
            erased,
            from: started,
        });
        self.place_stalled(cx, plane);
        self.place_stalled_anywhere(cx);
        if self.gc.waiting_erases > 0 {
            self.gc.erase_for_trims(cx, plane);
        }
        if self.gc.base.mapping.wants_collection(plane) {
            self.gc.free_blocks_are_few(cx, plane, None);
        }
        self.gc.use_idle_time(cx, plane);
    }

    /// Continues the writes that waited for space in a plane, in order. A write that needs a free
    /// block delays the later ones. A write that needs space in a logical block does not, but
    /// earlier writes of that block may have to wait for it. All are therefore retried until none
    /// can be allocated.
    fn place_stalled(&mut self, cx: &mut Context<impl DeviceProbe>, plane: Plane) {
        let mut wanted = Vec::new();
        loop {
            let mut waiting = std::mem::take(&mut self.gc.stalled.planes[plane.index()]);
            let asked = waiting.len();
            let mut left = VecDeque::new();
            wanted.clear();
            while let Some(tag) = waiting.pop_front() {
                let Err(want) = self.place_pending(cx, tag) else {
                    self.gc
                        .die_loads
                        .goes_on(self.gc.base.flash.layout.die_of(plane));
                    continue;
                };
                left.push_back(tag);
                wanted.push(want);
                if want == SpaceRequest::Free(plane) {
                    left.append(&mut waiting);
                }
            }
            let done = left.is_empty()
                || left.len() == asked
                || wanted.contains(&SpaceRequest::Free(plane));
            let later = &mut self.gc.stalled.planes[plane.index()];
            left.append(later);
            *later = left;
            if done {
                break;
            }
        }
        for want in wanted {
            self.demand(cx, want);
            if self.gc.jobs.collects(plane) {
                break;
            }
        }
    }

    fn place_stalled_anywhere(&mut self, cx: &mut Context<impl DeviceProbe>) {
        while let Some(&tag) = self.gc.stalled.anywhere.front() {
            if self.place_pending(cx, tag).is_err() {
                break;
            }
            self.gc.stalled.anywhere.pop_front();
        }
        if !self.gc.stalled.anywhere.is_empty() {
            self.demand_everywhere(cx);
        }
    }
}
