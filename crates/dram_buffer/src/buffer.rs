//! The buffer.

use std::collections::VecDeque;

use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};
use wordline_block::{ReadEvents, Ticket};
use wordline_cache::Entry;
use wordline_cache::replacement::Replacing;
use wordline_cache::replacement::foreign::Maker;
use wordline_kernel::link::{Link, Rate};
use wordline_kernel::memory::Table;

use crate::backing::{Page, PageRequest};
use crate::batch::Batch;
use crate::error::Error;
use crate::frame::Frames;
use crate::idle::Idle;
use crate::part::{Part, Served};
use crate::plan::Plan;
use crate::sectors::Grid;
use crate::verification::{Verification, Versions};
use crate::view::{Decided, Departure};

/// The buffer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Buffer {
    pub(crate) plan: Plan,
    pub(crate) grid: Grid,
    pub(crate) port: Link,
    pub(crate) policy: Replacing,
    /// Who makes the policy, if the plan does not name it.
    pub(crate) maker: Option<Maker>,
    pub(crate) frames: Frames,
    /// Pages of memory that nobody has.
    pub(crate) free: u32,
    /// Pages that wait for memory.
    pub(crate) rooms: VecDeque<Entry>,
    pub(crate) parts: Vec<Part>,
    pub(crate) vacant: Vec<u32>,
    /// By ticket: parts of the request that are not done.
    pub(crate) remaining: Vec<u32>,
    /// Pages that could not be written when they were destaged, and that the memory does not hold for certain any more: what lies behind the
    /// buffer has them as they were before.
    pub(crate) lost: FxHashSet<Page>,
    /// Pages of reads that ended with an error because they are lost.
    pub lost_reads: u64,
    /// Requests of which a page could not be read or written, until they are done.
    pub(crate) failed: Vec<Ticket>,
    /// What requests that are not done have met in the flash, of those that have.
    pub(crate) met: Vec<(Ticket, ReadEvents)>,
    /// Requests to the flash; the owner takes them away.
    pub requests: VecDeque<PageRequest>,
    /// By chip: how much of it there is, and of that which comes to it when it has left the memory.
    pub(crate) decided: Vec<Decided>,
    /// Requests that are done; the owner takes them away.
    pub done: VecDeque<Served>,
    /// Who has left or was forgotten during an access; kept for its memory.
    pub(crate) left: Vec<Departure>,
    /// Pages that have to leave after a power cut.
    pub(crate) late: Vec<Entry>,
    pub(crate) batch: Batch,
    pub(crate) idle: Idle,
    /// The last page of the last read.
    pub(crate) last_read: Option<u64>,
    pub(crate) verification: Option<Box<Verification>>,
}

impl Buffer {
    /// An empty buffer before a device of so many pages and chips.
    pub fn new(plan: &Plan, page_bytes: u32, user_pages: u32, chips: u32) -> Self {
        let (bytes, ps) = plan.port;
        Self {
            grid: Grid::new(page_bytes),
            port: Link::new(Rate { ps, bytes }),
            policy: Replacing::new(&plan.replacement, plan.pages as usize),
            maker: None,
            frames: Frames::new(user_pages),
            free: plan.pages,
            rooms: VecDeque::new(),
            parts: Vec::new(),
            vacant: Vec::new(),
            remaining: Vec::new(),
            lost: FxHashSet::default(),
            lost_reads: 0,
            failed: Vec::new(),
            met: Vec::new(),
            requests: VecDeque::new(),
            decided: vec![Decided::default(); chips as usize],
            done: VecDeque::new(),
            left: Vec::new(),
            late: Vec::new(),
            batch: Batch::new(plan.batch_pages),
            idle: Idle::new(plan.idle_flush, chips),
            last_read: None,
            verification: None,
            plan: plan.clone(),
        }
    }
    /// What a buffer takes of memory before a device of so many pages; of its policy, what a list
    /// and an index take.
    pub fn memory(plan: &Plan, user_pages: u32) -> [Table; 2] {
        let pages = plan.pages.min(user_pages);
        Frames::memory(user_pages, pages)
    }
    /// Before the first request: policies of a maker choose who leaves, in place of the plan's.
    pub fn evict_by(&mut self, maker: &Maker) -> Result<(), Error> {
        self.maker = Some(maker.clone());
        self.policy = self.fresh_policy();
        self.faultless()
    }
    /// A policy for an empty buffer.
    pub(crate) fn fresh_policy(&self) -> Replacing {
        let pages = self.plan.pages as usize;
        match &self.maker {
            Some(maker) => Replacing::foreign(maker, pages),
            None => Replacing::new(&self.plan.replacement, pages),
        }
    }
    /// Whether the policy has done nothing wrong, which only one that the plan does not name can.
    #[inline]
    pub(crate) fn faultless(&self) -> Result<(), Error> {
        match self.policy.fault() {
            Some(fault) => Err(Error::Policy(fault.clone())),
            None => Ok(()),
        }
    }
    /// From now on, what is read is held against what was written.
    pub fn verify(&mut self) {
        let sectors = self.grid.sectors();
        self.verification = Some(Box::new(Verification::new(sectors)));
    }
    /// What became of the writes and trims of a page, if the run is verified.
    pub fn versions(&self, page: Page) -> Option<Versions> {
        let verification = self.verification.as_ref();
        verification.map(|verification| verification.versions(page))
    }
    /// Whether the owner has taken away all that it requests for and all that is done.
    pub fn is_done(&self) -> bool {
        self.requests.is_empty() && self.done.is_empty()
    }
    /// Pages that it holds and that are newer than the flash.
    pub fn dirty_pages(&self) -> u32 {
        self.frames.count_ahead() as u32
    }
}
