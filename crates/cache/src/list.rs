//! Doubly linked lists over one dense array of nodes.
//!
//! Every entry is in at most one of `N` lists. A list is a ring that includes a head node, so that
//! linking and unlinking have no special cases. A node has eight bytes: two links of 28 bits, four
//! bits for its list and four for the policy.

use serde::{Deserialize, Serialize};

use crate::entry::Entry;

/// Number of bits of a link.
const LINK: u32 = 28;
const LINK_MASK: u32 = (1 << LINK) - 1;

/// Node of a ring. `front`: link toward the front; the bits above it hold the list of the entry
/// (one more than its number, 0 if the entry is in no list). `back`: link toward the back; the bits
/// above it hold the mark.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Node {
    front: u32,
    back: u32,
}

impl Node {
    fn toward_front(self) -> u32 {
        self.front & LINK_MASK
    }
    fn toward_back(self) -> u32 {
        self.back & LINK_MASK
    }
    fn set_toward_front(&mut self, node: u32) {
        self.front = self.front & !LINK_MASK | node;
    }
    fn set_toward_back(&mut self, node: u32) {
        self.back = self.back & !LINK_MASK | node;
    }
}

/// `N` lists, at most 15, over the same entries. The array of nodes grows with the entries
/// inserted.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Lists<const N: usize> {
    /// Head nodes of the rings, then the nodes of the entries.
    nodes: Vec<Node>,
    #[serde(with = "lengths")]
    lengths: [u32; N],
}

/// Serialises arrays of any length as sequences.
mod lengths {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer, const N: usize>(
        lengths: &[u32; N],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        lengths.as_slice().serialize(serializer)
    }
    pub(super) fn deserialize<'de, D: Deserializer<'de>, const N: usize>(
        deserializer: D,
    ) -> Result<[u32; N], D::Error> {
        let lengths = Vec::deserialize(deserializer)?;
        let wrong =
            |lengths: Vec<u32>| D::Error::invalid_length(lengths.len(), &"the number of lists");
        lengths.try_into().map_err(wrong)
    }
}

impl<const N: usize> Default for Lists<N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const N: usize> Lists<N> {
    /// Creates empty lists.
    pub fn new() -> Self {
        const { assert!(N <= 15, "a node has four bits for its list") };
        let ring = |node| Node {
            front: node | (node + 1) << LINK,
            back: node,
        };
        Self {
            nodes: (0..N as u32).map(ring).collect(),
            lengths: [0; N],
        }
    }
    /// Memory per entry. Bytes.
    pub const BYTES: u64 = size_of::<Node>() as u64;

    /// Returns the memory currently allocated. Bytes.
    pub fn bytes(&self) -> u64 {
        (self.nodes.capacity() * size_of::<Node>()) as u64
    }
    /// Reserves memory for exactly `more` additional entries.
    pub(crate) fn reserve_exact(&mut self, more: usize) {
        self.nodes.reserve_exact(more);
    }
    /// Creates the nodes of all entries with numbers below `count`.
    pub fn reserve(&mut self, count: u32) {
        let nodes = N + count as usize;
        if self.nodes.len() < nodes {
            self.nodes.resize(nodes, Node::default());
        }
    }

    #[inline]
    fn node(entry: Entry) -> u32 {
        debug_assert!(
            entry.0 < Entry::LIMIT,
            "the number of an entry is below Entry::LIMIT"
        );
        N as u32 + entry.0
    }
    #[inline]
    fn entry(node: u32) -> Option<Entry> {
        node.checked_sub(N as u32).map(Entry)
    }
    #[inline]
    fn get(&self, entry: Entry) -> Node {
        let node = self.nodes.get(Self::node(entry) as usize);
        node.copied().unwrap_or_default()
    }

    /// Returns the list that an entry is in; `None` if it is in no list.
    #[inline]
    pub fn list(&self, entry: Entry) -> Option<usize> {
        ((self.get(entry).front >> LINK) as usize).checked_sub(1)
    }
    /// Returns `true` if an entry is in any list.
    #[inline]
    pub fn contains(&self, entry: Entry) -> bool {
        self.get(entry).front >> LINK != 0
    }
    /// Returns the number of entries in a list.
    #[inline]
    pub fn len(&self, list: usize) -> usize {
        self.lengths[list] as usize
    }
    /// Returns `true` if a list is empty.
    #[inline]
    pub fn is_empty(&self, list: usize) -> bool {
        self.lengths[list] == 0
    }
    /// Returns the first entry of a list; `None` if the list is empty.
    #[inline]
    pub fn front(&self, list: usize) -> Option<Entry> {
        Self::entry(self.nodes[list].toward_back())
    }
    /// Returns the last entry of a list; `None` if the list is empty.
    #[inline]
    pub fn back(&self, list: usize) -> Option<Entry> {
        Self::entry(self.nodes[list].toward_front())
    }
    /// Returns the neighbour of a linked entry toward the front; `None` for the first entry.
    #[inline]
    pub fn toward_front(&self, entry: Entry) -> Option<Entry> {
        Self::entry(self.get(entry).toward_front())
    }
    /// Returns the neighbour of a linked entry toward the back; `None` for the last entry.
    #[inline]
    pub fn toward_back(&self, entry: Entry) -> Option<Entry> {
        Self::entry(self.get(entry).toward_back())
    }
    /// Iterates over the entries of a list from the back to the front.
    pub fn from_back(&self, list: usize) -> impl Iterator<Item = Entry> {
        std::iter::successors(self.back(list), |&entry| self.toward_front(entry))
    }
    /// Iterates over the entries of a list from the front to the back.
    pub fn from_front(&self, list: usize) -> impl Iterator<Item = Entry> {
        std::iter::successors(self.front(list), |&entry| self.toward_back(entry))
    }

    /// Returns the mark of an entry, 0 to 15; 0 if it was never set. An entry keeps its mark when
    /// it changes lists or is removed from its list.
    #[inline]
    pub fn mark(&self, entry: Entry) -> u8 {
        (self.get(entry).back >> LINK) as u8
    }
    /// Sets the mark, 0 to 15, of an entry that is or was in a list.
    #[inline]
    pub fn set_mark(&mut self, entry: Entry, mark: u8) {
        debug_assert!(mark < 16, "a mark has four bits");
        let node = &mut self.nodes[Self::node(entry) as usize];
        node.back = node.back & LINK_MASK | u32::from(mark) << LINK;
    }

    /// Inserts an entry that is in no list at the front of `list`.
    #[inline]
    pub fn push_front(&mut self, list: usize, entry: Entry) {
        let second = self.nodes[list].toward_back();
        self.link(list, list as u32, entry, second);
    }
    /// Inserts an entry that is in no list at the back of `list`.
    #[inline]
    pub fn push_back(&mut self, list: usize, entry: Entry) {
        let last = self.nodes[list].toward_front();
        self.link(list, last, entry, list as u32);
    }
    /// Removes an entry from its list, if it is in one.
    #[inline]
    pub fn unlink(&mut self, entry: Entry) {
        if let Some(list) = self.list(entry) {
            self.lengths[list] -= 1;
            let node = Self::node(entry) as usize;
            self.bridge(node);
            self.nodes[node].front = 0;
        }
    }
    /// Moves an entry from its current list, if any, to the front of `list`.
    #[inline]
    pub fn move_to_front(&mut self, list: usize, entry: Entry) {
        self.unlink(entry);
        self.push_front(list, entry);
    }
    /// Removes and returns the last entry of a list; `None` if the list is empty.
    #[inline]
    pub fn pop_back(&mut self, list: usize) -> Option<Entry> {
        let entry = self.back(list)?;
        self.unlink(entry);
        Some(entry)
    }

    /// Links the two neighbours of a node to each other.
    #[inline]
    fn bridge(&mut self, node: usize) {
        let (front, back) = (
            self.nodes[node].toward_front(),
            self.nodes[node].toward_back(),
        );
        self.nodes[front as usize].set_toward_back(back);
        self.nodes[back as usize].set_toward_front(front);
    }
    #[inline]
    fn link(&mut self, list: usize, front: u32, entry: Entry, back: u32) {
        debug_assert!(!self.contains(entry), "an entry is in at most one list");
        self.reserve(entry.0 + 1);
        let node = Self::node(entry);
        let mark = self.nodes[node as usize].back & !LINK_MASK;
        self.nodes[node as usize] = Node {
            front: front | (list as u32 + 1) << LINK,
            back: back | mark,
        };
        self.nodes[front as usize].set_toward_back(node);
        self.nodes[back as usize].set_toward_front(node);
        self.lengths[list] += 1;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use wordline_kernel::Rng;

    use super::*;

    fn check(lists: &Lists<3>, model: &[VecDeque<u32>; 3], marks: &[u8]) {
        for (list, expected) in model.iter().enumerate() {
            let forward: Vec<u32> = lists.from_front(list).map(|entry| entry.0).collect();
            let mut backward: Vec<u32> = lists.from_back(list).map(|entry| entry.0).collect();
            backward.reverse();
            assert_eq!(
                (&forward, lists.len(list)),
                (&expected.clone().into(), expected.len())
            );
            assert_eq!(forward, backward);
        }
        for (number, &mark) in marks.iter().enumerate() {
            let entry = Entry(number as u32);
            let list = model.iter().position(|list| list.contains(&entry.0));
            assert_eq!((lists.list(entry), lists.mark(entry)), (list, mark));
        }
    }

    #[test]
    fn lists_match_deques_that_share_their_entries() {
        let mut random = Rng::new(1, "lists");
        let mut lists = Lists::<3>::new();
        let mut model: [VecDeque<u32>; 3] = Default::default();
        let mut marks = [0; 12];
        for _ in 0..5_000 {
            let number = random.below(12) as u32;
            let list = random.below(3) as usize;
            lists.unlink(Entry(number));
            for queue in &mut model {
                queue.retain(|&other| other != number);
            }
            match random.below(4) {
                0 => {}
                1 => {
                    lists.push_back(list, Entry(number));
                    model[list].push_back(number);
                }
                2 => assert_eq!(
                    lists.pop_back(list).map(|entry| entry.0),
                    model[list].pop_back()
                ),
                _ => {
                    lists.push_front(list, Entry(number));
                    model[list].push_front(number);
                    marks[number as usize] = random.below(16) as u8;
                    lists.set_mark(Entry(number), marks[number as usize]);
                }
            }
            check(&lists, &model, &marks);
        }
    }
}
