//! Fetch and GC jobs of a map in flash: they read and rewrite translation pages.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use wordline_nand::Plane;

use super::DftlMap;
use super::area::{Clean, Room};
use crate::job::{JobId, Step};
use crate::mapping::Mapping;

/// Part of a job that handles translation pages. It reads all translation pages that it needs, then
/// programs them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct TranslationJob {
    /// Whether the job still has to read the translation page that it fetches.
    target: bool,
    /// Pages whose entries are being fetched; not empty while a fetch is in progress.
    arrivals: Vec<u32>,
    /// Translation pages to rewrite that have not been read.
    rewrites: VecDeque<u32>,
    /// Translation pages to rewrite that have been read.
    read: VecDeque<u32>,
    /// Whether the translation pages that have been read are being programmed.
    programming: bool,
    /// Whether a step was issued after the last barrier.
    handed_out: bool,
    /// Plane in which a translation block is being cleaned before the job continues.
    cleaning: Option<Plane>,
}

impl TranslationJob {
    pub fn is_begun(&self) -> bool {
        !self.arrivals.is_empty()
    }
    /// Returns `true` if the job fetches the entry of `page`.
    pub fn fetches(&self, page: u32) -> bool {
        self.arrivals.contains(&page)
    }
    /// Adds the entry of `page` to the fetch. `on_flash` is `true` if there is a translation page
    /// to read.
    pub fn fetch_entry(&mut self, page: u32, on_flash: bool) {
        if !self.is_begun() {
            self.target = on_flash;
        }
        self.arrivals.push(page);
    }
    /// Adds a translation page to rewrite.
    pub fn rewrite_later(&mut self, label: u32) {
        self.rewrites.push_back(label);
    }
    /// Adds a translation page to rewrite, unless it is already listed and not yet programmed.
    pub fn rewrite_once(&mut self, label: u32) {
        if !self.rewrites.contains(&label) && (self.programming || !self.read.contains(&label)) {
            self.rewrites.push_back(label);
        }
    }
    pub fn has_rewrites(&self) -> bool {
        !self.rewrites.is_empty() || !self.read.is_empty()
    }
    /// Returns `true` if the job has no step left and all its steps are complete.
    pub fn is_over(&self) -> bool {
        !self.target && !self.has_rewrites() && !self.handed_out && self.cleaning.is_none()
    }
}

impl DftlMap {
    /// Returns the next step of a GC run. Before the erase, the run updates the map in flash with
    /// the new locations of the moved pages.
    pub(super) fn step_collection(&mut self, id: JobId) -> Step {
        if self.pages.is_moved(Plane(id.0))
            && let Some(step) = self.rewrite(id)
        {
            return step;
        }
        self.pages.step(id)
    }

    pub(super) fn step_fetch(&mut self, id: JobId) -> Step {
        let label = id.0 - self.layout().planes();
        let place = self.directory(label);
        let job = &mut self.jobs[id.index()];
        if std::mem::take(&mut job.target)
            && let Some(place) = place
        {
            job.handed_out = true;
            return Step::Read(place);
        }
        if let Some(step) = self.rewrite(id) {
            return step;
        }
        for page in std::mem::take(&mut self.jobs[id.index()].arrivals) {
            self.cache.arrive(page);
        }
        Step::Done
    }

    /// Returns the next step for the translation pages that a job rewrites, or `None` if none are
    /// left and all steps are complete.
    fn rewrite(&mut self, id: JobId) -> Option<Step> {
        loop {
            if let Some(plane) = self.jobs[id.index()].cleaning {
                if let Some(step) = self.clean(plane, id) {
                    return Some(step);
                }
                self.jobs[id.index()].cleaning = None;
            }
            let step = if self.jobs[id.index()].programming {
                self.program_next(id)
            } else {
                self.read_next(id)
            };
            let job = &mut self.jobs[id.index()];
            if step.is_some() {
                job.handed_out = true;
                return step;
            }
            if job.cleaning.is_some() {
                continue;
            }
            if std::mem::take(&mut job.handed_out) {
                return Some(Step::Wait);
            }
            if job.programming {
                job.programming = false;
            } else if job.read.is_empty() {
                return None;
            } else {
                job.programming = true;
            }
        }
    }

    /// Returns the step that reads the next translation page to rewrite, once there is room for its
    /// new copy. Returns `None` if no translation page is left or a block must be cleaned first.
    fn read_next(&mut self, id: JobId) -> Option<Step> {
        while let Some(&label) = self.jobs[id.index()].rewrites.front() {
            let home = self.home(label);
            let area = &mut self.areas[home.index()];
            match area.room(home, &self.pages) {
                Room::Page => area.reserve(),
                Room::Clean => {
                    area.clean(home, id, &mut self.pages);
                    self.jobs[id.index()].cleaning = Some(home);
                    return None;
                }
                Room::None => {
                    self.jobs[id.index()].rewrites.pop_front();
                    self.give_up(label);
                    continue;
                }
            }
            let job = &mut self.jobs[id.index()];
            job.rewrites.pop_front();
            job.read.push_back(label);
            if let Some(place) = self.directory(label) {
                return Some(Step::Read(place));
            }
        }
        None
    }

    /// Returns the step that programs the next translation page that has been read and still has
    /// changes.
    fn program_next(&mut self, id: JobId) -> Option<Step> {
        while let Some(label) = self.jobs[id.index()].read.pop_front() {
            let home = self.home(label);
            self.areas[home.index()].release();
            self.rewriting[label as usize] = false;
            if self.settle(label) {
                return Some(self.program(label));
            }
        }
        None
    }

    /// Marks the changes of a translation page as written. Returns `true` if there were any.
    fn settle(&mut self, label: u32) -> bool {
        let batch = self.shape.batch_update;
        self.cache.settle(self.entries(label), batch)
    }

    /// Keeps the changed entries of a translation page in memory, because it cannot be rewritten.
    fn give_up(&mut self, label: u32) {
        self.rewriting[label as usize] = false;
        self.cache.take_back(self.entries(label));
    }

    /// Places a new copy of a translation page and returns the step that programs it.
    fn program(&mut self, label: u32) -> Step {
        let home = self.home(label);
        let place = self.areas[home.index()].place(home, &mut self.pages);
        self.pages.put_metadata(self.user_pages + label, place);
        Step::Program { place, label }
    }

    /// Returns the next step of cleaning a translation block of `plane`, or `None` if job `id` is
    /// not cleaning one.
    fn clean(&mut self, plane: Plane, id: JobId) -> Option<Step> {
        match self.areas[plane.index()].step(id, &self.pages)? {
            Clean::Step(step) => Some(step),
            Clean::Copy(page) => {
                let label = page - self.user_pages;
                self.settle(label);
                Some(self.program(label))
            }
        }
    }
}
