//! Event queue for a small number of events.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use serde::{Deserialize, Serialize};

use crate::Time;

/// Sort key of an event: its time, then its sequence number.
type Key = u128;

/// Event with its time, and a sequence number that orders events of the same time.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Entry<E> {
    pub time: Time,
    pub sequence: u64,
    pub event: E,
}

impl<E> Entry<E> {
    #[inline]
    fn key(&self) -> Key {
        Key::from(self.time.0) << 64 | Key::from(self.sequence)
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
    /// Compares in reverse, because the standard heap returns its greatest element and the queue
    /// needs the earliest.
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        other.key().cmp(&self.key())
    }
}

/// Event queue with the order of [`EventQueue`](crate::EventQueue), implemented by a heap alone. It
/// is faster while few events wait, as in the simulation of a single package.
#[derive(Clone, Debug)]
pub struct EventHeap<E> {
    heap: BinaryHeap<Entry<E>>,
    sequence: u64,
}

impl<E> Default for EventHeap<E> {
    fn default() -> Self {
        Self {
            heap: BinaryHeap::new(),
            sequence: 0,
        }
    }
}

impl<E> EventHeap<E> {
    /// Schedules `event` at `time`, after all events already scheduled for that time.
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
    /// Removes and returns the earliest event.
    #[inline]
    pub fn pop(&mut self) -> Option<(Time, E)> {
        self.heap.pop().map(|entry| (entry.time, entry.event))
    }
    /// Returns the time of the earliest event, or `None` if no event waits.
    pub fn next_time(&self) -> Option<Time> {
        self.heap.peek().map(|entry| entry.time)
    }
    /// Returns the number of waiting events.
    pub fn len(&self) -> usize {
        self.heap.len()
    }
    /// Returns `true` if no event waits.
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }
}
