//! The event queue.

use std::collections::{BinaryHeap, VecDeque};

use crate::Time;
use crate::heap::{Entry, Key};

/// Rows beside the heap. What a device schedules comes with a few durations (commands, transfers, array
/// times), and the events of one duration are due in the order in which they were scheduled: as many rows
/// as there are durations hold nearly all of them. Measured with 2, 4, 8 and 16: on the work of the
/// benchmarks 4 are fastest, a heap alone takes a fifth to a third longer.
const ROWS: usize = 4;

/// Events in order of time; among equal times in order of scheduling.
///
/// The order is total and does not depend on the content of the events, so a run is repeatable.
///
/// An event goes to the end of the row whose last event is the latest that is not later, so that every
/// row is in order; what fits no row goes to a heap. The earliest event is the first of a row, found by a
/// tournament of the rows, or the top of the heap. Next to nothing of this depends on outcomes that a
/// processor cannot predict.
#[derive(Clone, Debug)]
pub struct EventQueue<E> {
    rows: [VecDeque<Entry<E>>; ROWS],
    /// By row: when its last event is due; zero if it is empty.
    last: [Time; ROWS],
    /// The first event of each row, or [`NEVER`], in the second half; before it the earlier of two each,
    /// down to the earliest of all in place 1.
    firsts: [Rank; 2 * ROWS],
    heap: BinaryHeap<Entry<E>>,
    sequence: u64,
}

/// The first event of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rank {
    key: Key,
    row: usize,
}

/// Behind all events.
const NEVER: Key = Key::MAX;

#[inline]
fn time(key: Key) -> Time {
    Time((key >> 64) as u64)
}

impl<E> Default for EventQueue<E> {
    fn default() -> Self {
        Self {
            rows: std::array::from_fn(|_| VecDeque::new()),
            last: [Time::ZERO; ROWS],
            firsts: std::array::from_fn(|place| Rank {
                key: NEVER,
                row: place % ROWS,
            }),
            heap: BinaryHeap::new(),
            sequence: 0,
        }
    }
}

impl<E> EventQueue<E> {
    /// Puts `event` at `time`, behind all events already scheduled for that time.
    #[inline]
    pub fn schedule(&mut self, time: Time, event: E) {
        let sequence = self.sequence;
        self.sequence += 1;
        let entry = Entry {
            time,
            sequence,
            event,
        };
        let Some(row) = self.fitting(time) else {
            self.heap.push(entry);
            return;
        };
        if self.rows[row].is_empty() {
            self.enter(row, entry.key());
        }
        self.last[row] = time;
        self.rows[row].push_back(entry);
    }
    /// Takes the earliest event.
    #[inline]
    pub fn pop(&mut self) -> Option<(Time, E)> {
        let Rank { key, row } = self.firsts[1];
        if self.heap.peek().is_some_and(|top| top.key() < key) {
            return self.heap.pop().map(|entry| (entry.time, entry.event));
        }
        let entry = self.rows[row].pop_front()?;
        let mut first = NEVER;
        if let Some(next) = self.rows[row].front() {
            first = next.key();
        } else {
            self.last[row] = Time::ZERO;
        }
        self.enter(row, first);
        Some((entry.time, entry.event))
    }
    /// When the earliest event is due.
    #[inline]
    pub fn next_time(&self) -> Option<Time> {
        let mut key = self.firsts[1].key;
        if let Some(top) = self.heap.peek() {
            key = key.min(top.key());
        }
        (key != NEVER).then_some(time(key))
    }
    /// Events waiting.
    pub fn len(&self) -> usize {
        self.heap.len() + self.rows.iter().map(VecDeque::len).sum::<usize>()
    }
    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The row at whose end an event is in order, of several the one with the latest end.
    #[inline]
    fn fitting(&self, time: Time) -> Option<usize> {
        let mut best = ROWS;
        let mut latest = 0;
        for (row, last) in self.last.iter().enumerate() {
            let better = last.0 <= time.0 && (best == ROWS || last.0 > latest);
            best = if better { row } else { best };
            latest = if better { last.0 } else { latest };
        }
        (best < ROWS).then_some(best)
    }

    /// The first event of a row is another.
    #[inline]
    fn enter(&mut self, row: usize, key: Key) {
        let mut place = ROWS + row;
        let mut winner = Rank { key, row };
        while place > 1 {
            self.firsts[place] = winner;
            let rival = self.firsts[place ^ 1];
            winner = if rival.key < winner.key {
                rival
            } else {
                winner
            };
            place /= 2;
        }
        self.firsts[1] = winner;
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
