//! A translation layer whose operations take no time, for preconditioning and tests.
//!
//! The state that results is exactly that of the same writes served one after the other.

use thiserror::Error;
use wordline_nand::{Array, Layout, Plane, Ppn, Violation};

use crate::lpn::Lpn;
use crate::mapping::{Mapping, Written};

/// Writes that could not be carried out.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum InstantError {
    /// The array refused.
    #[error(transparent)]
    Violation(#[from] Violation),
    /// No plane can take the page, and none can gain by collection.
    #[error(
        "the device has no room for page {0} and nothing to collect; raise ftl.over_provisioning_ratio"
    )]
    Full(u32),
}

/// Flash operations that have been carried out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Pages the host wrote.
    pub written: u64,
    /// Pages moved by garbage collection.
    pub moved: u64,
    /// Blocks erased.
    pub erased: u64,
}

impl Work {
    /// Programs a host write: (written + moved) / written; `None` before the first.
    pub fn write_amplification(&self) -> Option<f64> {
        (self.written > 0).then(|| (self.written + self.moved) as f64 / self.written as f64)
    }
    /// What was done since `earlier`.
    #[must_use]
    pub fn since(&self, earlier: Self) -> Self {
        Self {
            written: self.written - earlier.written,
            moved: self.moved - earlier.moved,
            erased: self.erased - earlier.erased,
        }
    }
}

/// A mapping and its array, without a clock.
#[derive(Debug)]
pub struct Instant<'a, M> {
    mapping: &'a mut M,
    array: &'a mut Array,
    layout: Layout,
    work: Work,
    /// Pages of the victim that are to be moved.
    moving: Vec<Ppn>,
}

impl<'a, M: Mapping> Instant<'a, M> {
    /// Writes through `mapping` to `array`.
    pub fn new(mapping: &'a mut M, array: &'a mut Array, layout: Layout) -> Self {
        Self {
            mapping,
            array,
            layout,
            work: Work::default(),
            moving: Vec::new(),
        }
    }
    /// What has been done so far.
    pub fn work(&self) -> Work {
        self.work
    }
    /// Writes a page, and collects where that left too few free blocks.
    #[inline]
    pub fn write(&mut self, page: Lpn) -> Result<(), InstantError> {
        let place = match self.mapping.write(page) {
            Written::Placed(place) => place,
            Written::Wait(plane) => self.make_room(page, plane)?,
        };
        self.array.program(place)?;
        self.work.written += 1;
        let plane = self.layout.plane_of(self.layout.block_of(place));
        if self.mapping.wants_collection(plane) {
            self.collect(plane)?;
        }
        Ok(())
    }
    /// Collects where `page` waits for a block, and places it. Only dynamic allocation gets here:
    /// a plane that had nothing to collect when it was last written has since lost valid pages to
    /// others.
    #[cold]
    fn make_room(&mut self, page: Lpn, plane: Option<Plane>) -> Result<Ppn, InstantError> {
        let planes = match plane {
            Some(plane) => plane.0..plane.0 + 1,
            None => 0..self.layout.planes(),
        };
        for plane in planes {
            self.collect(Plane(plane))?;
        }
        match self.mapping.write(page) {
            Written::Placed(place) => Ok(place),
            Written::Wait(_) => Err(InstantError::Full(page.0)),
        }
    }
    fn collect(&mut self, plane: Plane) -> Result<(), InstantError> {
        while self.mapping.wants_collection(plane) {
            let Some(mut collection) = self.mapping.collect(plane) else {
                break;
            };
            // All looks into the map first: they do not depend on each other, so their cache misses
            // overlap.
            self.moving.clear();
            while let Some(from) = self.mapping.next_to_move(&mut collection) {
                self.moving.push(from);
            }
            for &from in &self.moving {
                self.array.read(from)?;
                if let Some(to) = self.mapping.relocate(from) {
                    self.array.program(to)?;
                    self.work.moved += 1;
                }
            }
            self.array.erase(collection.victim)?;
            let erases = self.array.erases()[collection.victim.index()];
            self.mapping.erased(collection.victim, erases);
            self.work.erased += 1;
        }
        Ok(())
    }
}
