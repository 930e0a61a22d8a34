//! The event queue.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::Time;

/// Events in order of time; among equal times in order of scheduling.
///
/// The order is total and does not depend on the content of the events, so a run is repeatable.
#[derive(Clone, Debug)]
pub struct EventQueue<E> {
    heap: BinaryHeap<Entry<E>>,
    sequence: u64,
}

#[derive(Clone, Debug)]
struct Entry<E> {
    time: Time,
    sequence: u64,
    event: E,
}

impl<E> Entry<E> {
    #[inline]
    fn key(&self) -> u128 {
        (u128::from(self.time.0) << 64) | u128::from(self.sequence)
    }
}
impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}
impl<E> Eq for Entry<E> {}
impl<E> PartialOrd for Entry<E> {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl<E> Ord for Entry<E> {
    /// Reversed: the standard heap keeps its greatest element on top, we want the earliest.
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        other.key().cmp(&self.key())
    }
}

impl<E> Default for EventQueue<E> {
    fn default() -> Self {
        Self {
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
        self.heap.push(Entry {
            time,
            sequence,
            event,
        });
    }
    /// Takes the earliest event.
    #[inline]
    pub fn pop(&mut self) -> Option<(Time, E)> {
        self.heap.pop().map(|entry| (entry.time, entry.event))
    }
    /// When the earliest event is due.
    pub fn next_time(&self) -> Option<Time> {
        self.heap.peek().map(|entry| entry.time)
    }
    /// Events waiting.
    pub fn len(&self) -> usize {
        self.heap.len()
    }
    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
