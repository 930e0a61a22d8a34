//! Flash translation layer without simulated time, for preconditioning and tests.
//!
//! The resulting state equals that of the same writes served one after another.

use serde::{Deserialize, Serialize};
use std::ops::Range;

use thiserror::Error;
use wordline_nand::{Array, Block, Layout, Plane, Ppn, Violation};

use crate::job::{Collection, JobId, SpaceRequest, Step};
use crate::lpn::Lpn;
use crate::mapping::{Bulk, Mapping, Placed, WriteOutcome};
use crate::recovery::ProgramObserver;

/// Error of untimed writes.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum InstantError {
    /// The operation violates a rule of the array.
    #[error(transparent)]
    Violation(#[from] Violation),
    /// No plane can take the page, and GC can gain no space.
    #[error(
        "the device has no room for page {0}, and garbage collection cannot free any; raise ftl.over_provisioning_ratio"
    )]
    Full(u32),
}

/// Numbers of flash operations executed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlashOps {
    /// Pages written by the host. Count.
    pub written: u64,
    /// Pages copied by GC runs of any kind, including merges, wear levelling and refresh. Count.
    pub moved: u64,
    /// Metadata pages programmed. Count.
    pub metadata: u64,
    /// Blocks erased. Count.
    pub erased: u64,
}

wordline_kernel::plus!(FlashOps: written, moved, metadata, erased);

impl FlashOps {
    /// Returns the write amplification: (written + moved + metadata) / written. Returns `None`
    /// before the first write.
    pub fn write_amplification(&self) -> Option<f64> {
        (self.written > 0)
            .then(|| (self.written + self.moved + self.metadata) as f64 / self.written as f64)
    }
    /// Returns the operations since `earlier`.
    #[must_use]
    pub fn since(&self, earlier: Self) -> Self {
        Self {
            written: self.written - earlier.written,
            moved: self.moved - earlier.moved,
            metadata: self.metadata - earlier.metadata,
            erased: self.erased - earlier.erased,
        }
    }
}

/// Mapping and its array, driven without a clock.
#[derive(Debug)]
pub struct UntimedFtl<'a, M, N = ()> {
    mapping: &'a mut M,
    array: &'a mut Array,
    layout: Layout,
    work: FlashOps,
    /// Observer of page programs.
    note: N,
    /// Steps of the current job to issue together, up to a barrier.
    steps: Vec<Step>,
}

impl<'a, M: Mapping> UntimedFtl<'a, M> {
    /// Creates an FTL that writes through `mapping` to `array`.
    pub fn new(mapping: &'a mut M, array: &'a mut Array, layout: Layout) -> Self {
        Self::noting(mapping, array, layout, ())
    }
}

impl<'a, M: Mapping, N: ProgramObserver> UntimedFtl<'a, M, N> {
    /// Creates an FTL that writes through `mapping` to `array`, and reports every program to
    /// `note`.
    pub fn noting(mapping: &'a mut M, array: &'a mut Array, layout: Layout, note: N) -> Self {
        Self {
            mapping,
            array,
            layout,
            work: FlashOps::default(),
            note,
            steps: Vec::new(),
        }
    }
    /// Returns the operations executed so far.
    pub fn work(&self) -> FlashOps {
        self.work
    }
    /// Writes a page, and runs GC if the write leaves too few free blocks.
    #[inline]
    pub fn write(&mut self, page: Lpn) -> Result<(), InstantError> {
        self.fetch(page)?;
        let place = match self.mapping.write(page) {
            WriteOutcome::Placed(place) => place,
            WriteOutcome::Blocked(want) => self.make_room(page, want)?,
        };
        self.array.program(place)?;
        self.note.host(place, page);
        self.work.written += 1;
        self.collect_at(place)
    }
    /// Writes consecutive pages, with the same result as calling [`Self::write`] for each.
    pub fn write_row(&mut self, pages: Range<u32>) -> Result<(), InstantError> {
        let mut next = pages.start + self.fill(pages.clone())?;
        while next < pages.end {
            let mut last = None;
            let Self {
                mapping,
                array,
                note,
                work,
                ..
            } = self;
            if let Some(bulk) = mapping.bulk() {
                bulk.write_row(next..pages.end, |Placed { page, place, .. }| {
                    array.program(place)?;
                    note.host(place, page);
                    work.written += 1;
                    last = Some((page, place));
                    Ok::<_, InstantError>(())
                })?;
            }
            if let Some((page, place)) = last {
                next = page.0 + 1;
                self.collect_at(place)?;
            } else {
                self.write(Lpn(next))?;
                next += 1;
            }
        }
        Ok(())
    }
    /// Writes the first of `pages` as whole blocks, if they were never written. Returns the number
    /// of pages written, which is 0 if there is a program observer, because an observer must
    /// receive the pages in order of writing.
    fn fill(&mut self, pages: Range<u32>) -> Result<u32, InstantError> {
        if N::LISTENS {
            return Ok(0);
        }
        let filled = self
            .mapping
            .fill(pages, |block| self.array.program_block(block))?;
        self.work.written += u64::from(filled);
        Ok(filled)
    }
    /// Runs GC on the plane of a page that was written, if the write left too few free blocks.
    #[inline]
    fn collect_at(&mut self, place: Ppn) -> Result<(), InstantError> {
        let plane = self.layout.plane_of(self.layout.block_of(place));
        while self.mapping.wants_collection(plane)
            && self.collect_once(SpaceRequest::Free(plane))?
        {}
        Ok(())
    }
    /// Prefetches the table entries of the pages that will be written next (see
    /// [`Mapping::prefetch`]).
    pub fn prefetch(&mut self, pages: &[u32]) {
        for page in pages {
            self.mapping.prefetch(Lpn(*page));
        }
    }
    /// Unmaps a page.
    pub fn trim(&mut self, page: Lpn) -> Result<(), InstantError> {
        self.fetch(page)?;
        self.mapping.trim(page);
        Ok(())
    }
    #[inline]
    fn fetch(&mut self, page: Lpn) -> Result<(), InstantError> {
        while let Some(job) = self.mapping.fetch(page, true) {
            self.run(job)?;
        }
        Ok(())
    }
    /// Runs GC on the planes where `page` waits for room, as long as space is gained. Returns the
    /// location of the page.
    #[cold]
    fn make_room(&mut self, page: Lpn, want: SpaceRequest) -> Result<Ppn, InstantError> {
        let mut want = want;
        loop {
            let gained = match want {
                SpaceRequest::Anywhere => {
                    let mut gained = false;
                    for plane in (0..self.layout.planes()).map(Plane) {
                        gained |= self.collect(plane)?;
                    }
                    gained
                }
                SpaceRequest::Free(plane) => self.collect(plane)?,
                SpaceRequest::Update(..) => self.collect_once(want)?,
            };
            match self.mapping.write(page) {
                WriteOutcome::Placed(place) => return Ok(place),
                WriteOutcome::Blocked(_) if !gained => return Err(InstantError::Full(page.0)),
                WriteOutcome::Blocked(next) => want = next,
            }
        }
    }
    /// Runs GC on a plane until it reaches its threshold and has room for a write, or until no more
    /// space can be gained. Returns `true` if space was gained.
    fn collect(&mut self, plane: Plane) -> Result<bool, InstantError> {
        let mut gained = false;
        while self.mapping.lacks_room(plane) && self.collect_once(SpaceRequest::Free(plane))? {
            gained = true;
        }
        Ok(gained)
    }
    fn collect_once(&mut self, want: SpaceRequest) -> Result<bool, InstantError> {
        let Some(Collection { job, .. }) = self.mapping.collect(want) else {
            return Ok(false);
        };
        self.run(job)?;
        Ok(true)
    }
    /// Refreshes the data of a block. Returns `false` if [`Mapping::refresh`] does not start a GC
    /// run.
    pub fn refresh(&mut self, block: Block) -> Result<bool, InstantError> {
        let Some(Collection { job, .. }) = self.mapping.refresh(block) else {
            return Ok(false);
        };
        self.run(job)?;
        Ok(true)
    }
    /// Executes a job to its end, from one barrier to the next.
    fn run(&mut self, job: JobId) -> Result<(), InstantError> {
        loop {
            let Self {
                mapping,
                array,
                note,
                work,
                ..
            } = self;
            if let Some(bulk) = mapping.bulk() {
                bulk.move_all(job, |from, to| {
                    array.read(from)?;
                    array.program(to)?;
                    note.copy(from, to);
                    work.moved += 1;
                    Ok::<_, InstantError>(())
                })?;
            }
            self.steps.clear();
            let mut step = self.mapping.step(job);
            while !matches!(step, Step::Wait | Step::Done) {
                self.steps.push(step);
                step = self.mapping.step(job);
            }
            for place in 0..self.steps.len() {
                self.take(job, self.steps[place])?;
            }
            if step == Step::Done {
                return Ok(());
            }
        }
    }
    #[inline]
    fn take(&mut self, job: JobId, step: Step) -> Result<(), InstantError> {
        match step {
            Step::Move(from) => {
                self.array.read(from)?;
                if let Some(to) = self.mapping.relocate(job, from) {
                    self.array.program(to)?;
                    self.note.copy(from, to);
                    self.work.moved += 1;
                }
            }
            Step::Read(place) => self.array.read(place)?,
            Step::Program { place, label } => {
                self.array.program(place)?;
                self.note.metadata(place, label);
                self.work.metadata += 1;
            }
            Step::Erase(block) => {
                self.array.erase(block)?;
                let erases = self.array.erases()[block.index()];
                self.mapping.erased(block, erases);
                self.work.erased += 1;
            }
            Step::Wait | Step::Done => {}
        }
        Ok(())
    }
}
