//! The event queue.

use std::collections::BinaryHeap;

use serde::{Deserialize, Serialize};

use crate::Time;
use crate::heap::Entry;

/// Rows in addition to the heap. The events of a device have few durations (commands, transfers,
/// array times), and events of one duration are due in the order in which they are scheduled. As
/// many rows as durations therefore hold nearly all events. Of 2, 4, 8 and 16 rows, 4 are fastest
/// in the benchmarks; a heap alone takes a fifth to a third longer.
const ROWS: usize = 4;
/// Index of the heap among the rows.
const HEAP: usize = ROWS;

/// Event queue, ordered by time and, among equal times, by order of scheduling.
///
/// The order is total and independent of the content of the events, so runs are repeatable.
///
/// Every row is sorted: an event is appended to the row whose last event is the latest one that is
/// not later than the new event. Events that fit no row go to a heap. The earliest event is the
/// first of a row or the top of the heap. Almost no step needs a branch that a processor cannot
/// predict.
///
/// Among events of the same time in different rows, the one in the row with the lower index was
/// scheduled first, and those in the heap last. The reason is that the last events of rows only
/// become later: a row that has stopped accepting a time never accepts it again.
///
/// `E::default()` fills unused entries and is never returned.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EventQueue<E> {
    rows: [Row<E>; ROWS],
    /// Time of the last event of each row, in descending order. An event goes to the first row
    /// whose last event is not later, which keeps this order.
    last: [Time; ROWS],
    /// Time of the first event of each row and of the heap, or [`NEVER`].
    firsts: [Time; ROWS + 1],
    /// First event of each row, if there is one. The next action depends on it, so it is stored
    /// here to avoid another memory access.
    heads: [E; ROWS],
    /// Time and row of the earliest event, updated on every change so that `pop` need not search
    /// for it.
    first: Time,
    place: usize,
    heap: BinaryHeap<Entry<E>>,
    /// Events scheduled in the heap so far. Count.
    scheduled: u64,
}

/// Time of an absent event, later than the time of any event.
const NEVER: Time = Time::MAX;

/// Event in a row, with its time.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Due<E> {
    time: Time,
    event: E,
}

/// Sorted events, stored without gaps. When they reach the end of the memory, they are moved to its
/// front. This costs at most about two moves per event added since the previous time.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Row<E> {
    /// Entries. The time of the entry after the last event is [`NEVER`].
    places: Vec<Due<E>>,
    /// Index of the first event.
    first: u32,
    /// Index after the last event.
    end: u32,
}

/// Minimum capacity of a row that has held an event.
const MIN_PLACES: usize = 128;

impl<E: Copy> Row<E> {
    // Writes each field from a register: an entry that is assembled in memory and then copied with
    // wider loads would wait for its own stores.
    #[inline(always)]
    fn push(&mut self, time: Time, event: E) {
        let end = self.end as usize;
        let Some([last, behind]) = self.places.get_mut(end..end + 2) else {
            return self.push_with_room(time, event);
        };
        last.time = time;
        last.event = event;
        behind.time = NEVER;
        self.end += 1;
    }
    /// Removes the first event. Returns the entry after it, if it exists.
    #[inline(always)]
    fn pop(&mut self) -> Option<Due<E>> {
        self.first += 1;
        self.places.get(self.first as usize).copied()
    }
    #[cold]
    #[inline(never)]
    fn push_with_room(&mut self, time: Time, event: E) {
        let waiting = self.len();
        self.places
            .copy_within(self.first as usize..self.end as usize, 0);
        if 2 * waiting >= self.places.len() {
            let filler = Due { time: NEVER, event };
            self.places.resize((2 * waiting).max(MIN_PLACES), filler);
        }
        (self.first, self.end) = (0, waiting as u32);
        self.push(time, event);
    }
}

impl<E> Row<E> {
    fn len(&self) -> usize {
        (self.end - self.first) as usize
    }
}

impl<E: Copy + Default> Default for EventQueue<E> {
    fn default() -> Self {
        Self {
            rows: std::array::from_fn(|_| Row {
                places: Vec::new(),
                first: 0,
                end: 0,
            }),
            last: [Time::ZERO; ROWS],
            firsts: [NEVER; ROWS + 1],
            heads: [E::default(); ROWS],
            first: NEVER,
            place: 0,
            heap: BinaryHeap::new(),
            scheduled: 0,
        }
    }
}

impl<E: Copy + Default> EventQueue<E> {
    /// Schedules `event` at `time`, which must be earlier than [`Time::MAX`], after all events
    /// already scheduled for that time.
    #[inline(always)]
    pub fn schedule(&mut self, time: Time, event: E) {
        debug_assert!(time < NEVER, "an event needs a finite time");
        let row: usize = self.last.iter().map(|last| usize::from(*last > time)).sum();
        if row == HEAP {
            self.schedule_in_heap(time, event);
            return;
        }
        self.last[row] = time;
        // This is rare while an event of nearly every duration waits, so a branch costs less than a
        // conditional move.
        if time < self.firsts[row] {
            self.firsts[row] = time;
            self.heads[row] = event;
            self.place = if time < self.first { row } else { self.place };
            self.first = self.first.min(time);
        }
        self.rows[row].push(time, event);
    }
    #[cold]
    fn schedule_in_heap(&mut self, time: Time, event: E) {
        let sequence = self.scheduled;
        self.scheduled += 1;
        self.heap.push(Entry {
            time,
            sequence,
            event,
        });
        self.firsts[HEAP] = self.firsts[HEAP].min(time);
        self.find_first();
    }
    /// Removes and returns the earliest event.
    #[inline]
    pub fn pop(&mut self) -> Option<(Time, E)> {
        let time = self.first;
        if time == NEVER {
            return None;
        }
        let place = self.place;
        if place >= HEAP {
            return self.pop_of_heap();
        }
        let event = self.heads[place];
        let next = self.rows[place].pop()?;
        self.firsts[place] = next.time;
        self.heads[place] = next.event;
        self.find_first();
        Some((time, event))
    }
    #[cold]
    fn pop_of_heap(&mut self) -> Option<(Time, E)> {
        let entry = self.heap.pop()?;
        self.firsts[HEAP] = self.heap.peek().map_or(NEVER, |entry| entry.time);
        self.find_first();
        Some((entry.time, entry.event))
    }
    /// Returns the time of the earliest event, or `None` if no event waits.
    #[inline]
    pub fn next_time(&self) -> Option<Time> {
        (self.first != NEVER).then_some(self.first)
    }
    /// Finds the earliest event; ties go to the first row.
    #[inline]
    fn find_first(&mut self) {
        let [a, b, c, d, heap] = self.firsts;
        let early = if b < a { (b, 1) } else { (a, 0) };
        let late = if d < c { (d, 3) } else { (c, 2) };
        (self.first, self.place) = if late.0 < early.0 { late } else { early };
        if heap < self.first {
            self.first_of_heap();
        }
    }
    #[cold]
    #[inline(never)]
    fn first_of_heap(&mut self) {
        (self.first, self.place) = (self.firsts[HEAP], HEAP);
    }
}

impl<E> EventQueue<E> {
    /// Returns the number of waiting events.
    pub fn len(&self) -> usize {
        self.heap.len() + self.rows.iter().map(Row::len).sum::<usize>()
    }
    /// Returns `true` if no event waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EventHeap, Rng};

    #[test]
    fn events_of_equal_time_leave_in_order_of_scheduling() {
        let mut queue = EventQueue::default();
        for (time, event) in [(5, 'c'), (1, 'a'), (5, 'd'), (1, 'b'), (5, 'e')] {
            queue.schedule(Time::from_ns(time), event);
        }
        let order: String = std::iter::from_fn(|| queue.pop())
            .map(|(_, event)| event)
            .collect();
        assert_eq!(order, "abcde");
    }

    /// Compares the queue and the heap with a list, for times that fit rows and times that do not.
    #[test]
    fn the_earliest_event_always_leaves_first() {
        for (spread, most) in [(1, 3), (4, 40), (1_000_000, 400)] {
            let mut random = Rng::new(spread, "queue");
            let (mut queue, mut heap) = (EventQueue::default(), EventHeap::default());
            let mut list: Vec<(u64, u64)> = Vec::new();
            let (mut now, mut number) = (0, 0);
            for _ in 0..20_000 {
                if list.len() < most && random.below(2) == 0 {
                    let at = now + random.below(spread);
                    queue.schedule(Time(at), number);
                    heap.schedule(Time(at), number);
                    list.push((at, number));
                    number += 1;
                } else {
                    let earliest = list.iter().copied().min();
                    assert_eq!(
                        queue.next_time().map(|time| time.0),
                        earliest.map(|(at, _)| at)
                    );
                    let popped = queue.pop().map(|(time, number)| (time.0, number));
                    assert_eq!(popped, earliest);
                    assert_eq!(heap.pop().map(|(time, number)| (time.0, number)), earliest);
                    list.retain(|entry| Some(*entry) != earliest);
                    now = popped.map_or(now, |(at, _)| at);
                }
                assert_eq!(queue.len(), list.len());
            }
        }
    }
}
