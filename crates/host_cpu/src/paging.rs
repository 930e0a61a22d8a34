//! Pages of a map on their way between the memory of the host and the store.
//!
//! Which pages are in memory is decided as requests come ([`crate::mapping::Map::touch`]); what that takes of the store is done
//! here, request by request and page by page: the page that leaves is written, then the one that comes is read. A page waits for
//! what is already under way with it, or with the page whose place it takes. All of that was decided before, so nothing waits in a
//! circle.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};
use wordline_block::{Op, Request, Ticket};
use wordline_kernel::Time;

use crate::mapping::Touch;

/// Something done with a page, by its number in the order of decisions.
type Deed = u64;

/// A page that a request touches.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Step {
    touch: Touch,
    /// What it is; none if the page is in memory, or will be.
    deed: Option<Deed>,
    /// What has to be over before.
    after: [Option<Deed>; 2],
}

/// Where a request is with its first step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Stage {
    /// It has not begun.
    Before,
    /// The page that leaves is written.
    Writing,
    /// The page that comes is read.
    Reading,
}

/// The pages that a request has still to touch.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Way {
    steps: VecDeque<Step>,
    stage: Stage,
    /// Since when it waits for others.
    since: Option<Time>,
}

/// What a request does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// It waits for what others do.
    Waits,
    /// It reads or writes a page of the map, having waited so long.
    Asks(Time),
    /// It has touched all its pages, having waited so long.
    Goes(Time),
}

/// The requests that touch pages of the map, and what is under way.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Paging {
    page_bytes: u64,
    deeds: Deed,
    /// What was decided last for a page, as long as it is not over.
    last: BTreeMap<u64, Deed>,
    open: BTreeSet<Deed>,
    ways: BTreeMap<Ticket, Way>,
    waiting: BTreeMap<Deed, Vec<Ticket>>,
    /// Requests that may go on, as what they waited for is over.
    pub freed: VecDeque<Ticket>,
}

impl Paging {
    pub fn new(page_bytes: u64) -> Self {
        Self {
            page_bytes,
            ..Self::default()
        }
    }
    /// A request touches pages, in this order.
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
    /// What a touch takes, unless it is nothing.
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
    /// Whether a request is still at its pages.
    pub fn has(&self, ticket: Ticket) -> bool {
        self.ways.contains_key(&ticket)
    }
    /// What a request asks of the store for its page, in its name.
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
    /// A request goes on with its pages, if it touches any: it comes to them, is freed, or has been answered.
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
    /// A step is over.
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
    /// The power fails: nothing is under way.
    pub fn stop(&mut self) {
        *self = Self::new(self.page_bytes);
    }
}
