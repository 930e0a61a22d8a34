//! Paging of a cached map between host memory and the store.
//!
//! [`crate::mapping::Map::touch`] decides which pages are in memory when a request arrives. This
//! module performs the resulting store operations, request by request and page by page: it writes
//! the evicted page, then reads the missing page. An access waits for earlier operations on its
//! page and on the page that it evicts. It never waits for a later decision, so there is no
//! deadlock.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};
use wordline_block::{Op, Request, Ticket};
use wordline_kernel::Time;

use crate::mapping::Touch;

/// Sequence number of a paging operation, in the order in which [`crate::mapping::Map::touch`]
/// decided on them.
type Deed = u64;

/// Access of a request to one page of the map.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Step {
    touch: Touch,
    /// Operation that brings the page into memory; `None` if the page is in memory, or if an
    /// earlier operation brings it.
    deed: Option<Deed>,
    /// Operations that must finish before this one starts.
    after: [Option<Deed>; 2],
}

/// Progress of a request's current step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Stage {
    /// Not started.
    Before,
    /// The evicted page is being written.
    Writing,
    /// The missing page is being read.
    Reading,
}

/// Pages that a request still has to access.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Way {
    steps: VecDeque<Step>,
    stage: Stage,
    /// Start of the wait for other operations, if the request waits.
    since: Option<Time>,
}

/// Next action of a request. `Asks` and `Goes` contain the time that it has waited for other
/// operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// The request waits for other operations.
    Waits,
    /// The request reads or writes a page of the map in the store.
    Asks(Time),
    /// The request has accessed all its pages.
    Goes(Time),
}

/// Requests that access pages of the map, and the operations in progress.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Paging {
    page_bytes: u64,
    deeds: Deed,
    /// Last unfinished operation on each page, if any.
    last: BTreeMap<u64, Deed>,
    open: BTreeSet<Deed>,
    ways: BTreeMap<Ticket, Way>,
    waiting: BTreeMap<Deed, Vec<Ticket>>,
    /// Requests that can continue because the operation that blocked them has finished.
    pub freed: VecDeque<Ticket>,
}

impl Paging {
    pub fn new(page_bytes: u64) -> Self {
        Self {
            page_bytes,
            ..Self::default()
        }
    }
    /// Registers the accesses of a request to pages of the map, in this order.
    pub fn add(&mut self, ticket: Ticket, touches: &[Touch]) {
        let steps = touches.iter().filter_map(|touch| self.step(*touch));
        let steps: VecDeque<_> = steps.collect();
        if !steps.is_empty() {
            let way = Way {
                steps,
                stage: Stage::Before,
                since: None,
            };
            self.ways.insert(ticket, way);
        }
    }
    /// Returns the step of an access, or `None` if the page is in memory and no unfinished
    /// operation concerns it.
    fn step(&mut self, touch: Touch) -> Option<Step> {
        let under_way = |page: u64| self.last.get(&page).copied();
        let after = [under_way(touch.page), touch.left.and_then(under_way)];
        if touch.is_resident {
            let waits = after.iter().any(Option::is_some);
            return waits.then_some(Step {
                touch,
                deed: None,
                after,
            });
        }
        let deed = self.deeds;
        self.deeds += 1;
        self.open.insert(deed);
        self.last.insert(touch.page, deed);
        if let Some(left) = touch.left {
            self.last.insert(left, deed);
        }
        Some(Step {
            touch,
            deed: Some(deed),
            after,
        })
    }
    /// Returns `true` if a request still has pages to access.
    pub fn has(&self, ticket: Ticket) -> bool {
        self.ways.contains_key(&ticket)
    }
    /// Returns the store request for the map page that request `of` is reading or writing, or
    /// `None` if it does neither.
    pub fn ask(&self, ticket: Ticket, of: &Request) -> Option<Request> {
        let way = self.ways.get(&ticket)?;
        let touch = way.steps.front()?.touch;
        let (op, page) = match way.stage {
            Stage::Before => return None,
            Stage::Writing => (Op::Write, touch.left?),
            Stage::Reading => (Op::Read, touch.page),
        };
        Some(Request {
            op,
            fua: false,
            offset: page * self.page_bytes,
            bytes: self.page_bytes,
            ..*of
        })
    }
    /// Advances a request, and returns its next action. Called when the request reaches the map,
    /// when it is unblocked, and when the store has completed its operation.
    pub fn next(&mut self, now: Time, ticket: Ticket) -> Next {
        let mut waited = Time::ZERO;
        while let Some(way) = self.ways.get_mut(&ticket) {
            let Some(step) = way.steps.front().copied() else {
                self.ways.remove(&ticket);
                break;
            };
            if way.stage == Stage::Before {
                waited += way.since.take().map_or(Time::ZERO, |since| now - since);
                let blocked = step.after.into_iter().flatten();
                if let Some(deed) = blocked.filter(|deed| self.open.contains(deed)).max() {
                    way.since = Some(now - waited);
                    self.waiting.entry(deed).or_default().push(ticket);
                    return Next::Waits;
                }
            }
            way.stage = match way.stage {
                Stage::Before if step.touch.is_written => Stage::Writing,
                Stage::Before | Stage::Writing if step.touch.is_loaded => Stage::Reading,
                _ => {
                    way.steps.pop_front();
                    way.stage = Stage::Before;
                    self.over(&step);
                    continue;
                }
            };
            return Next::Asks(waited);
        }
        Next::Goes(waited)
    }
    /// Ends a step: its operation is finished, and the requests that waited for it are freed.
    fn over(&mut self, step: &Step) {
        let Some(deed) = step.deed else {
            return;
        };
        self.open.remove(&deed);
        for page in [Some(step.touch.page), step.touch.left]
            .into_iter()
            .flatten()
        {
            if self.last.get(&page) == Some(&deed) {
                self.last.remove(&page);
            }
        }
        self.freed
            .extend(self.waiting.remove(&deed).unwrap_or_default());
    }
    /// Handles a power failure: drops all operations.
    pub fn stop(&mut self) {
        *self = Self::new(self.page_bytes);
    }
}
