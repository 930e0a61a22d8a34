//! The event queue.

use std::collections::BinaryHeap;

use crate::Time;
use crate::heap::{Entry, Key};

/// Rows beside the heap. What a device schedules comes with a few durations (commands, transfers, array
/// times), and the events of one duration are due in the order in which they were scheduled: as many rows
/// as there are durations hold nearly all of them. Measured with 2, 4, 8 and 16: on the work of the
/// benchmarks 4 are fastest, a heap alone takes a fifth to a third longer.
const ROWS: usize = 4;
/// The place of the heap among the rows.
const HEAP: usize = ROWS;
/// Bits of a number in the queue that say where the event is.
const PLACE_BITS: u32 = 3;

/// Events in order of time; among equal times in order of scheduling.
///
/// The order is total and does not depend on the content of the events, so a run is repeatable.
///
/// An event goes to the end of the row whose last event is the latest that is not later, so that every
/// row is in order; what fits no row goes to a heap. The earliest event is the first of a row or the top
/// of the heap. Next to nothing of this depends on outcomes that a processor cannot predict.
#[derive(Clone, Debug)]
pub struct EventQueue<E> {
    rows: [Row<E>; ROWS],
    /// By row: when the event is due that came last. Descending: an event goes to the first row whose
    /// last is not later than it, and leaves the order as it is.
    last: [Time; ROWS],
    /// By row, and of the heap: the first event, or [`NEVER`].
    firsts: [Key; ROWS + 1],
    /// The earliest of them, found when it changes: whoever takes an event does not wait for it.
    first: Key,
    heap: BinaryHeap<Entry<E>>,
    /// Events scheduled so far.
    scheduled: u64,
}

/// Behind all events.
const NEVER: Key = Key::MAX;

/// Events in order: a ring of a power of two of places.
#[derive(Clone, Debug)]
struct Row<E> {
    ring: Vec<Entry<E>>,
    /// Events that have left, and that have come; their difference wait.
    left: usize,
    come: usize,
}

impl<E: Copy> Row<E> {
    // Field by field, from registers: an entry that is put together in memory first and then copied with
    // wider loads waits for its own stores.
    #[inline(always)]
    fn push(&mut self, time: Time, sequence: u64, event: E) {
        if self.come - self.left == self.ring.len() {
            self.grow(Entry {
                time,
                sequence,
                event,
            });
        }
        let mask = self.ring.len() - 1;
        let place = &mut self.ring[self.come & mask];
        place.time = time;
        place.sequence = sequence;
        place.event = event;
        self.come += 1;
    }
    #[inline(always)]
    fn pop(&mut self) -> Entry<E> {
        let mask = self.ring.len() - 1;
        let entry = self.ring[self.left & mask];
        self.left += 1;
        entry
    }
    /// The order of the first.
    #[inline]
    fn first(&self) -> Key {
        if self.left == self.come {
            return NEVER;
        }
        let mask = self.ring.len() - 1;
        self.ring[self.left & mask].key()
    }
    /// Makes room for twice as many; new places hold `filler`.
    #[cold]
    fn grow(&mut self, filler: Entry<E>) {
        let length = self.ring.len();
        if length > 0 {
            self.ring.rotate_left(self.left & (length - 1));
        }
        self.ring.resize((2 * length).max(16), filler);
        (self.left, self.come) = (0, length);
    }
}

impl<E> Default for EventQueue<E> {
    fn default() -> Self {
        Self {
            rows: std::array::from_fn(|_| Row {
                ring: Vec::new(),
                left: 0,
                come: 0,
            }),
            last: [Time::ZERO; ROWS],
            firsts: [NEVER; ROWS + 1],
            first: NEVER,
            heap: BinaryHeap::new(),
            scheduled: 0,
        }
    }
}

impl<E: Copy> EventQueue<E> {
    /// Puts `event` at `time`, behind all events already scheduled for that time.
    #[inline(always)]
    pub fn schedule(&mut self, time: Time, event: E) {
        let row: usize = self.last.iter().map(|last| usize::from(*last > time)).sum();
        let sequence = self.scheduled << PLACE_BITS | row as u64;
        self.scheduled += 1;
        if row == HEAP {
            self.schedule_in_heap(time, sequence, event);
            return;
        }
        self.last[row] = time;
        let key = Key::from(time.0) << 64 | Key::from(sequence);
        self.firsts[row] = self.firsts[row].min(key);
        self.first = self.first.min(key);
        self.rows[row].push(time, sequence, event);
    }
    #[cold]
    fn schedule_in_heap(&mut self, time: Time, sequence: u64, event: E) {
        let entry = Entry {
            time,
            sequence,
            event,
        };
        self.firsts[HEAP] = self.firsts[HEAP].min(entry.key());
        self.first = self.first.min(entry.key());
        self.heap.push(entry);
    }
    /// Takes the earliest event.
    #[inline]
    pub fn pop(&mut self) -> Option<(Time, E)> {
        if self.first == NEVER {
            return None;
        }
        let place = self.first as usize & ((1 << PLACE_BITS) - 1);
        if place >= HEAP {
            return self.pop_of_heap();
        }
        let entry = self.rows[place].pop();
        self.firsts[place] = self.rows[place].first();
        self.first = self.earliest();
        Some((entry.time, entry.event))
    }
    #[cold]
    fn pop_of_heap(&mut self) -> Option<(Time, E)> {
        let entry = self.heap.pop()?;
        self.firsts[HEAP] = self.heap.peek().map_or(NEVER, Entry::key);
        self.first = self.earliest();
        Some((entry.time, entry.event))
    }
    /// When the earliest event is due.
    #[inline]
    pub fn next_time(&self) -> Option<Time> {
        (self.first != NEVER).then_some(Time((self.first >> 64) as u64))
    }
    #[inline]
    fn earliest(&self) -> Key {
        let [a, b, c, d, heap] = self.firsts;
        a.min(b).min(c.min(d)).min(heap)
    }
}

impl<E> EventQueue<E> {
    /// Events waiting.
    pub fn len(&self) -> usize {
        let rows = self.rows.iter().map(|row| row.come - row.left);
        self.heap.len() + rows.sum::<usize>()
    }
    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EventHeap, Stream};

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
            let mut random = Stream::new(spread, "queue");
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
