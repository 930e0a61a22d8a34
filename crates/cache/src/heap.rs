//! Priority queue of entries whose keys change.
//!
//! A heap with four children per node that also stores the position of every entry. It removes the
//! smallest key, and changes any key, in logarithmic time.

use serde::{Deserialize, Serialize};

use crate::entry::Entry;

/// Number of children of a node.
const ARITY: usize = 4;

/// Entries with one key each, the smallest key first. The order of entries with equal keys is
/// unspecified; make keys unique if the order matters.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Heap<K> {
    nodes: Vec<(K, Entry)>,
    /// One more than the position of each entry in `nodes`; 0 if it is not in the heap.
    places: Vec<u32>,
}

impl<K: Copy + Ord> Default for Heap<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: Copy + Ord> Heap<K> {
    /// Creates an empty heap.
    pub fn new() -> Self {
        Self {
            nodes: Vec::new(),
            places: Vec::new(),
        }
    }
    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }
    /// Returns `true` if the heap is empty.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }
    #[inline]
    fn place(&self, entry: Entry) -> Option<usize> {
        let place = self.places.get(entry.index()).copied().unwrap_or(0);
        (place as usize).checked_sub(1)
    }
    /// Returns `true` if an entry is in the heap.
    #[inline]
    pub fn contains(&self, entry: Entry) -> bool {
        self.place(entry).is_some()
    }
    /// Returns the key of an entry, if it is in the heap.
    #[inline]
    pub fn key(&self, entry: Entry) -> Option<K> {
        self.place(entry).map(|place| self.nodes[place].0)
    }
    /// Sets the key of an entry. Inserts the entry if it is not in the heap.
    #[inline]
    pub fn set(&mut self, entry: Entry, key: K) {
        let place = self.place(entry).unwrap_or_else(|| {
            if self.places.len() <= entry.index() {
                self.places.resize(entry.index() + 1, 0);
            }
            self.nodes.push((key, entry));
            self.nodes.len() - 1
        });
        self.settle(place, (key, entry));
    }
    /// Removes an entry. Returns `true` if it was in the heap.
    pub fn remove(&mut self, entry: Entry) -> bool {
        let Some(place) = self.place(entry) else {
            return false;
        };
        self.places[entry.index()] = 0;
        if let Some(last) = self.nodes.pop()
            && place < self.nodes.len()
        {
            self.settle(place, last);
        }
        true
    }
    /// Removes and returns the smallest key and its entry; `None` if the heap is empty.
    #[inline]
    pub fn pop(&mut self) -> Option<(K, Entry)> {
        let first = *self.nodes.first()?;
        self.remove(first.1);
        Some(first)
    }

    /// Stores a node where its key belongs: at the vacant position `place`, on the path above it or
    /// in the subtree below it. Nodes in between move by one level.
    #[inline]
    fn settle(&mut self, mut place: usize, node: (K, Entry)) {
        while place > 0 {
            let parent = (place - 1) / ARITY;
            if self.nodes[parent].0 <= node.0 {
                break;
            }
            self.put(place, self.nodes[parent]);
            place = parent;
        }
        while let Some(child) = self.least_child(place)
            && self.nodes[child].0 < node.0
        {
            self.put(place, self.nodes[child]);
            place = child;
        }
        self.put(place, node);
    }
    #[inline]
    fn least_child(&self, place: usize) -> Option<usize> {
        let first = place * ARITY + 1;
        let children = first..(first + ARITY).min(self.nodes.len());
        children.min_by_key(|&child| self.nodes[child].0)
    }
    #[inline]
    fn put(&mut self, place: usize, node: (K, Entry)) {
        self.nodes[place] = node;
        self.places[node.1.index()] = place as u32 + 1;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use wordline_kernel::Rng;

    use super::*;

    #[test]
    fn heap_orders_like_a_sorted_map() {
        let mut random = Rng::new(1, "heap");
        let mut heap = Heap::new();
        let mut model = BTreeMap::new();
        for tick in 0..20_000_u64 {
            let entry = Entry(random.below(70) as u32);
            match random.below(5) {
                0 => {
                    let least = model.iter().map(|(&entry, &key)| (key, entry)).min();
                    assert_eq!(heap.pop(), least);
                    least.map(|(_, entry)| model.remove(&entry));
                }
                1 => assert_eq!(heap.remove(entry), model.remove(&entry).is_some()),
                _ => {
                    let key = (random.below(50), tick);
                    heap.set(entry, key);
                    model.insert(entry, key);
                }
            }
            assert_eq!(heap.len(), model.len());
            assert_eq!(heap.key(entry), model.get(&entry).copied());
            assert_eq!(heap.contains(entry), model.contains_key(&entry));
        }
    }
}
