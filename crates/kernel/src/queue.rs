//! The event queue.

use std::collections::BinaryHeap;

use serde::{Deserialize, Serialize};

use crate::Time;
use crate::heap::Entry;

/// Rows beside the heap. What a device schedules comes with a few durations (commands, transfers, array
/// times), and the events of one duration are due in the order in which they were scheduled: as many rows
/// as there are durations hold nearly all of them. Measured with 2, 4, 8 and 16: on the work of the
/// benchmarks 4 are fastest, a heap alone takes a fifth to a third longer.
const ROWS: usize = 4;
/// The place of the heap among the rows.
const HEAP: usize = ROWS;

/// Events in order of time; among equal times in order of scheduling.
///
/// The order is total and does not depend on the content of the events, so a run is repeatable.
///
/// An event goes to the end of the row whose last event is the latest that is not later, so that every
/// row is in order; what fits no row goes to a heap. The earliest event is the first of a row or the top
/// of the heap. Next to nothing of this depends on outcomes that a processor cannot predict.
///
/// Of events of the same time in different rows the one of the lower row was scheduled first, and those
/// in the heap last: the last events of rows only become later, so a row that does not take a time any
/// more never takes it again.
///
/// `E::default()` stands where there is no event, and is never handed out.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EventQueue<E> {
    rows: [Row<E>; ROWS],
    /// By row: when the event is due that came last. Descending: an event goes to the first row whose
    /// last is not later than it, and leaves the order as it is.
    last: [Time; ROWS],
    /// By row, and of the heap: when the first event is due, or [`NEVER`].
    firsts: [Time; ROWS + 1],
    /// By row: its first event, if there is one. What an event is decides what is done next: whoever
    /// takes it waits for no memory but this.
    heads: [E; ROWS],
    /// The earliest of them and whose it is, found when it changes: whoever takes an event does not wait
    /// for it.
    first: Time,
    place: usize,
    heap: BinaryHeap<Entry<E>>,
    /// Events scheduled so far in the heap.
    scheduled: u64,
}

/// Behind all events.
const NEVER: Time = Time::MAX;

/// An event in a row, and when it is due.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Due<E> {
    time: Time,
    event: E,
}

/// Events in order, without gaps. They move to the front when the end is reached, at most one for each
/// that came since.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Row<E> {
    /// Behind the last event there is one that is never due.
    places: Vec<Due<E>>,
    /// From the first event to behind the last.
    first: u32,
    end: u32,
}

/// Fewest places of a row that has held an event.
const FEWEST: usize = 128;

impl<E: Copy> Row<E> {
    // Field by field, from registers: an entry that is put together in memory first and then copied with
    // wider loads waits for its own stores.
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
    /// Takes the first event; the next one, if a place is there.
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
            self.places.resize((2 * waiting).max(FEWEST), filler);
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
    /// Puts `event` at `time`, before [`Time::MAX`], behind all events already scheduled for that time.
    #[inline(always)]
    pub fn schedule(&mut self, time: Time, event: E) {
        debug_assert!(time < NEVER, "never is no time");
        let row: usize = self.last.iter().map(|last| usize::from(*last > time)).sum();
        if row == HEAP {
            self.schedule_in_heap(time, event);
            return;
        }
        self.last[row] = time;
        // Seldom, while something of nearly every duration waits: a branch costs less than to choose.
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
    /// Takes the earliest event.
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
    /// When the earliest event is due.
    #[inline]
    pub fn next_time(&self) -> Option<Time> {
        (self.first != NEVER).then_some(self.first)
    }
    /// Finds the earliest event: of equals that of the first row.
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
    /// Events waiting.
    pub fn len(&self) -> usize {
        self.heap.len() + self.rows.iter().map(Row::len).sum::<usize>()
    }
    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EventHeap, Rng};

    #[test]
    fn equal_times_leave_in_the_order_they_came() {
        let mut queue = EventQueue::default();
        for (time, event) in [(5, 'c'), (1, 'a'), (5, 'd'), (1, 'b'), (5, 'e')] {
            queue.schedule(Time::from_ns(time), event);
        }
        let order: String = std::iter::from_fn(|| queue.pop())
            .map(|(_, event)| event)
            .collect();
        assert_eq!(order, "abcde");
    }

    /// Beside a sorted list, with times that fit rows and times that do not.
    #[test]
    fn the_earliest_leaves_first_whatever_was_scheduled() {
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
