//! State of the DRAM buffer.

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

/// DRAM buffer of a device.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Buffer {
    pub(crate) plan: Plan,
    pub(crate) grid: Grid,
    pub(crate) port: Link,
    pub(crate) policy: Replacing,
    /// Factory of a policy that replaces the policy of the plan, if any.
    pub(crate) maker: Option<Maker>,
    pub(crate) frames: Frames,
    /// Free memory. Pages.
    pub(crate) free: u32,
    /// Pages that wait for memory, in order of arrival.
    pub(crate) rooms: VecDeque<Entry>,
    pub(crate) parts: Vec<Part>,
    pub(crate) vacant: Vec<u32>,
    /// Number of unfinished parts of each request, by ticket.
    pub(crate) remaining: Vec<u32>,
    /// Pages that could not be written to flash when they were destaged. The flash has their old
    /// content, and the memory may no longer hold the new one.
    pub(crate) lost: FxHashSet<Page>,
    /// Page reads that ended with an error because the page is lost. Count.
    pub lost_reads: u64,
    /// Tickets of outstanding requests of which a part has ended with an error.
    pub(crate) failed: Vec<Ticket>,
    /// Flash events that delayed outstanding requests, by ticket.
    pub(crate) met: Vec<(Ticket, ReadEvents)>,
    /// Requests to the flash, for the owner to collect.
    pub requests: VecDeque<PageRequest>,
    /// Work per die that has been decided but not submitted yet.
    pub(crate) decided: Vec<Decided>,
    /// Completed requests, for the owner to collect.
    pub done: VecDeque<Served>,
    /// Entries that the policy evicted or forgot during a call. The list is kept to reuse its
    /// allocation.
    pub(crate) left: Vec<Departure>,
    /// Pages restored after a power cut without room in the buffer; the next request evicts them.
    pub(crate) late: Vec<Entry>,
    pub(crate) batch: Batch,
    pub(crate) idle: Idle,
    /// Page at which the last read ended.
    pub(crate) last_read: Option<u64>,
    pub(crate) verification: Option<Box<Verification>>,
}

impl Buffer {
    /// Creates an empty buffer for a device with `user_pages` pages and `chips` dies.
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
    /// Returns the memory estimate of a buffer for a device with `user_pages` pages. The
    /// replacement policy counts as a list node and an index entry per page.
    pub fn memory(plan: &Plan, user_pages: u32) -> [Table; 2] {
        let pages = plan.pages.min(user_pages);
        Frames::memory(pages)
    }
    /// Replaces the policy of the plan with a policy from `maker`. Must be called before the first
    /// request. Fails if the policy cannot be created.
    pub fn evict_by(&mut self, maker: &Maker) -> Result<(), Error> {
        self.maker = Some(maker.clone());
        self.policy = self.fresh_policy();
        self.faultless()
    }
    /// Creates a policy for an empty buffer.
    pub(crate) fn fresh_policy(&self) -> Replacing {
        let pages = self.plan.pages as usize;
        match &self.maker {
            Some(maker) => Replacing::foreign(maker, pages),
            None => Replacing::new(&self.plan.replacement, pages),
        }
    }
    /// Returns the fault of the replacement policy, if any, as an error. Only custom policies can
    /// fail.
    #[inline]
    pub(crate) fn faultless(&self) -> Result<(), Error> {
        match self.policy.fault() {
            Some(fault) => Err(Error::Policy(fault.clone())),
            None => Ok(()),
        }
    }
    /// Enables verification: every read is compared with the data written.
    pub fn verify(&mut self) {
        let sectors = self.grid.sectors();
        self.verification = Some(Box::new(Verification::new(sectors)));
    }
    /// Returns the versions of a page's sectors, or `None` if the run is not verified.
    pub fn versions(&self, page: Page) -> Option<Versions> {
        let verification = self.verification.as_ref();
        verification.map(|verification| verification.versions(page))
    }
    /// Returns `true` if the owner has collected all requests and completions.
    pub fn is_done(&self) -> bool {
        self.requests.is_empty() && self.done.is_empty()
    }
    /// Returns the number of pages in the buffer that are newer than their flash copies.
    pub fn dirty_pages(&self) -> u32 {
        self.frames.count_ahead() as u32
    }
}
