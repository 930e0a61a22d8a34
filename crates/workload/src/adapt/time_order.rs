//! Adapter for time stamps that decrease.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use wordline_kernel::Time;

use super::Refusal;
use crate::record_counts::Counts;
use wordline_trace_format::Place;
use wordline_trace_format::Placed;

/// Maximum distance, in records, over which [`TimeOrder::Sort`] restores the time order.
pub(crate) const WINDOW: usize = 65_536;

/// Treatment of a record that is earlier than the previous one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TimeOrder {
    /// Stop with an error.
    #[default]
    Error,
    /// Set the time of the record to the latest time before it in the file.
    Clamp,
    /// Sort by time within a window of 65,536 records. Records with equal times keep their order.
    Sort,
    /// Keep the order of the file, for uses that do not need times. Any number and an empty field
    /// are accepted as time stamps. If a time stamp is missing or out of the clock's range, counted
    /// from the first one, the trace counts as one without times.
    File,
}

words! {
    TimeOrder at "time_order" { "error" => Error, "clamp" => Clamp, "sort" => Sort, "file" => File }
}

/// Adapter that brings the records of one file into time order.
pub(crate) struct Orderer {
    order: TimeOrder,
    latest: u64, // greatest tick returned
    newest: u64, // greatest tick read
    before: u64, // tick of the record read last
    tick_ps: u64,
    /// Waiting records that were in time order when read; nearly all records of most traces.
    inorder: VecDeque<Waiting>,
    /// Waiting records that were earlier than a previous one when read.
    late: BinaryHeap<Reverse<Waiting>>,
    taken: u64,
}

struct Waiting {
    ticks: u64,
    sequence: u64,
    placed: Placed,
}

impl Waiting {
    fn key(&self) -> (u64, u64) {
        (self.ticks, self.sequence)
    }
}
impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}
impl Eq for Waiting {}
impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

impl Orderer {
    pub(crate) fn new(order: TimeOrder) -> Self {
        Self {
            order,
            latest: 0,
            newest: 0,
            before: 0,
            tick_ps: 0,
            inorder: VecDeque::new(),
            late: BinaryHeap::new(),
            taken: 0,
        }
    }

    /// Starts the next file, with ticks of `tick_ps` picoseconds.
    pub(crate) fn restart(&mut self, tick_ps: u64) {
        (self.latest, self.newest, self.before, self.tick_ps) = (0, 0, 0, tick_ps);
    }

    /// Returns `true` if the file's next record, with this tick, is in order and need not wait.
    /// Counts it as returned in that case.
    #[inline]
    pub(crate) fn passes(&mut self, ticks: u64) -> bool {
        let passes = self.order != TimeOrder::Sort && ticks >= self.latest;
        if passes {
            (self.latest, self.before) = (ticks, ticks);
        }
        passes
    }

    /// Returns the next record in order. `pull` reads the next record of the file.
    #[inline(always)]
    pub(crate) fn next<E>(
        &mut self,
        counts: &mut Counts,
        mut pull: impl FnMut(&mut Counts) -> Result<Option<Placed>, E>,
        refuse: impl Fn(Place, Refusal) -> E,
    ) -> Result<Option<Placed>, E> {
        let next = if self.order == TimeOrder::Sort {
            self.sorted(counts, &mut pull)?
        } else {
            self.pulled(counts, &mut pull)?
        };
        let Some(mut placed) = next else {
            return Ok(None);
        };
        if placed.record.ticks >= self.latest {
            self.latest = placed.record.ticks;
        } else if matches!(self.order, TimeOrder::Clamp | TimeOrder::File) {
            counts.times_clamped += u64::from(self.order == TimeOrder::Clamp);
            placed.record.ticks = self.latest;
        } else {
            return Err(refuse(placed.place, self.refusal(placed.record.ticks)));
        }
        Ok(Some(placed))
    }

    #[inline(always)]
    fn pulled<E>(
        &mut self,
        counts: &mut Counts,
        pull: &mut impl FnMut(&mut Counts) -> Result<Option<Placed>, E>,
    ) -> Result<Option<Placed>, E> {
        let placed = pull(counts)?;
        if let Some(Placed { record, .. }) = &placed {
            counts.time_inversions += u64::from(record.ticks < self.before);
            self.before = record.ticks;
        }
        Ok(placed)
    }

    #[inline(never)]
    fn sorted<E>(
        &mut self,
        counts: &mut Counts,
        pull: &mut impl FnMut(&mut Counts) -> Result<Option<Placed>, E>,
    ) -> Result<Option<Placed>, E> {
        while self.inorder.len() + self.late.len() < WINDOW {
            let Some(placed) = self.pulled(counts, pull)? else {
                break;
            };
            let ticks = placed.record.ticks;
            counts.times_sorted += u64::from(ticks < self.newest);
            self.newest = self.newest.max(ticks);
            let waiting = Waiting {
                ticks,
                sequence: self.taken,
                placed,
            };
            self.taken += 1;
            if self.inorder.back().is_none_or(|last| last.ticks <= ticks) {
                self.inorder.push_back(waiting);
            } else {
                self.late.push(Reverse(waiting));
            }
        }
        Ok(self.first().map(|first| first.placed))
    }

    /// Removes and returns the earliest of the waiting records.
    fn first(&mut self) -> Option<Waiting> {
        match (self.inorder.front(), self.late.peek()) {
            (Some(next), Some(Reverse(late))) if late < next => self.late.pop().map(|late| late.0),
            (Some(_), _) => self.inorder.pop_front(),
            (None, _) => self.late.pop().map(|late| late.0),
        }
    }

    #[cold]
    fn refusal(&self, ticks: u64) -> Refusal {
        let back = Time::from_ps((self.latest - ticks).saturating_mul(self.tick_ps));
        // Concurrently recorded requests are never this far out of order.
        let set = if back >= Time(1_000_000_000_000) {
            ", or, if the clock was set, --time-gaps cut=1s"
        } else {
            ""
        };
        match self.order {
            TimeOrder::Sort => Refusal::new(
                format!(
                    "the time is {back} earlier than that of a record at least {WINDOW} records \
                     before, which is too far to sort"
                ),
                format!("pass --time-order clamp{set}"),
            ),
            _ => Refusal::new(
                format!("the time goes back by {back}"),
                format!("pass --time-order sort or --time-order clamp{set}"),
            ),
        }
    }
}
