//! Jobs of the mapping: those in progress, and those paused at a preemption point.

use serde::{Deserialize, Serialize};
use wordline_ftl::gc::schedule::Trigger;
use wordline_ftl::{GcKind, JobId};
use wordline_kernel::Time;
use wordline_nand::{Block, Plane, Ppn};

use super::pending::{PageRead, PageTrim, Rewrite};

/// An operation that waits for a job: for a part of the map, or for the erase of a trimmed block.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) enum Waiter {
    /// Read, which waits for its map entry.
    Read(PageRead),
    /// Pending write, by index.
    Write(u32),
    /// Rewrite of a page.
    Rewrite(Rewrite),
    /// Trimmed page.
    Trim(PageTrim),
}

/// Plane, kind, trigger and estimated time of a GC run.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct GcObservation {
    pub plane: Plane,
    pub kind: GcKind,
    pub trigger: Trigger,
    /// Time of the run on an idle die, as known at its start.
    pub time: Time,
}

/// A job in progress.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Job {
    /// GC run; `None` if the job reads or writes a part of the map.
    pub collecting: Option<GcObservation>,
    pub started: Time,
    /// Steps in progress. Count.
    pub outstanding: u32,
    pub moved: u32,
    pub erased: u32,
    /// Whether the job executes one flash operation at a time.
    pub stepwise: bool,
    /// Whether the job is paused at a preemption point.
    pub paused: bool,
    /// Whether AGC started the job and DGC continues it.
    pub handed_over: bool,
    /// Page that had been read when the job paused, and its content for verification.
    pub page_read: Option<(Ppn, u64)>,
    pub waiters: Vec<Waiter>,
}

impl Job {
    /// Returns `true` if the job is a GC run that AGC executes.
    pub fn is_of_agc(&self) -> bool {
        let advanced = |of: &GcObservation| of.trigger.is_advanced();
        !self.handed_over && self.collecting.as_ref().is_some_and(advanced)
    }
    /// Returns `true` if the job is a GC run that DGC executes.
    pub fn is_of_dgc(&self) -> bool {
        let delayed = |of: &GcObservation| of.trigger == Trigger::Retroactive;
        self.handed_over || self.collecting.as_ref().is_some_and(delayed)
    }
}

/// All jobs, by job number.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Jobs {
    all: Vec<Option<Job>>,
    /// Paused jobs, in the order in which they paused.
    paused: Vec<JobId>,
    /// Blocks that must not be erased before programs that supersede their pages are done, each
    /// with the job that will erase it.
    deferred_erases: Vec<(Block, JobId)>,
}

impl Jobs {
    pub fn new(planes: usize) -> Self {
        Self {
            all: vec![None; planes],
            paused: Vec::new(),
            deferred_erases: Vec::new(),
        }
    }
    #[inline]
    pub fn get(&mut self, id: JobId) -> Option<&mut Job> {
        self.all.get_mut(id.index())?.as_mut()
    }
    /// Returns `true` if GC of a plane is in progress or paused.
    #[inline]
    pub fn collects(&self, plane: Plane) -> bool {
        self.all[plane.index()].is_some()
    }
    pub fn start(
        &mut self,
        now: Time,
        id: JobId,
        collecting: Option<GcObservation>,
        stepwise: bool,
    ) {
        if self.all.len() <= id.index() {
            self.all.resize(id.index() + 1, None);
        }
        self.all[id.index()] = Some(Job {
            collecting,
            started: now,
            outstanding: 0,
            moved: 0,
            erased: 0,
            stepwise,
            paused: false,
            handed_over: false,
            page_read: None,
            waiters: Vec::new(),
        });
    }
    /// Iterates over the GC runs in progress or paused.
    pub fn collections(&self) -> impl Iterator<Item = &GcObservation> {
        self.all
            .iter()
            .flatten()
            .filter_map(|job| job.collecting.as_ref())
    }
    /// Returns the jobs that read or write a part of the map and have no step in progress.
    pub fn idle_fetches(&self) -> Vec<JobId> {
        let all = (0..).map(JobId).zip(&self.all);
        let fetches = all.filter(|(_, job)| {
            let job = job.as_ref();
            job.is_some_and(|job| job.collecting.is_none() && job.outstanding == 0)
        });
        fetches.map(|(id, _)| id).collect()
    }
    /// Moves the TRIMs that wait for jobs into `into`.
    pub fn take_trims(&mut self, into: &mut Vec<PageTrim>) {
        for job in self.all.iter_mut().flatten() {
            job.waiters.retain(|waiter| {
                if let Waiter::Trim(trim) = waiter {
                    into.push(*trim);
                }
                !matches!(waiter, Waiter::Trim(_))
            });
        }
    }
    pub fn end(&mut self, id: JobId) -> Option<Job> {
        self.all[id.index()].take()
    }
    pub fn pause(&mut self, id: JobId) {
        if let Some(job) = self.get(id)
            && !job.paused
        {
            job.paused = true;
            self.paused.push(id);
        }
    }
    pub fn unpause(&mut self, id: JobId) {
        self.paused.retain(|paused| *paused != id);
        if let Some(job) = self.get(id) {
            job.paused = false;
        }
    }
    #[inline]
    pub fn any_paused(&self) -> bool {
        !self.paused.is_empty()
    }
    /// Returns the job that has been paused longest, skipping the first `from`.
    pub fn paused(&self, from: usize) -> Option<JobId> {
        self.paused.get(from).copied()
    }
    /// Defers the erase of a block by the job `id`.
    pub fn defer_erase(&mut self, id: JobId, block: Block) {
        self.deferred_erases.push((block, id));
    }
    /// Takes the job that waits to erase `block`, if any.
    #[inline]
    pub fn take_deferred_erase(&mut self, block: Block) -> Option<JobId> {
        let place = self
            .deferred_erases
            .iter()
            .position(|(deferred, _)| *deferred == block)?;
        Some(self.deferred_erases.swap_remove(place).1)
    }
}
