//! LRU stack that returns stack distances.

use serde::{Deserialize, Serialize};

use wordline_cache::Entry;

/// Number of slots of the smallest stack.
const SMALLEST: usize = 1 << 12;

/// LRU stack of any depth. Returns the depth of an entry, which is the number of other entries
/// touched since the entry was touched.
///
/// Time is a sequence of slots, one per touch, in which only the last touch of each entry is
/// marked. A depth is a number of marks. In a binary tree over the 64-bit words of marks, each node
/// counts the marks of its right half. A single walk up from a word thus both sums the marks after
/// it and removes a mark. The word being filled is not in the tree. When the slots are used up, the
/// marks are compacted; with twice as many slots as entries this costs constant time per touch.
///
/// A touch takes logarithmic time. The memory is 4 bytes per entry number and about one byte per
/// entry on the stack. The number of entries must be below 2^31.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Stack {
    /// One more than the slot of each entry's last touch; 0 if it is not on the stack.
    last: Vec<u32>,
    marks: Vec<u64>,
    /// Marks in the right half of each node. The root is node 1, and the children of `n` are `2n`
    /// and `2n + 1`.
    right: Vec<u32>,
    /// Next free slot.
    now: usize,
    /// Marks in the word of the next free slot.
    filling: u32,
    depth: usize,
}

impl Default for Stack {
    fn default() -> Self {
        let words = SMALLEST / 64;
        Self {
            last: Vec::new(),
            marks: vec![0; words],
            right: vec![0; words],
            now: 0,
            filling: 0,
            depth: 0,
        }
    }
}

impl Stack {
    /// Returns the number of entries on the stack.
    pub(super) fn len(&self) -> usize {
        self.depth
    }
    /// Returns the memory currently allocated. Bytes.
    pub(super) fn bytes(&self) -> u64 {
        let words = self.marks.capacity() * size_of::<u64>();
        let counts = (self.last.capacity() + self.right.capacity()) * size_of::<u32>();
        (words + counts) as u64
    }
    /// Moves an entry to the top. Returns the number of entries above it; `None` if it was not on
    /// the stack.
    #[inline]
    pub(super) fn touch(&mut self, entry: Entry) -> Option<u32> {
        let index = entry.index();
        if index >= self.last.len() {
            self.last.resize(index + 1, 0);
        }
        if self.now == self.marks.len() * 64 {
            self.compact();
        }
        let above = match self.last[index] {
            0 => {
                self.depth += 1;
                None
            }
            slot => Some(self.take(slot as usize - 1)),
        };
        self.marks[self.now / 64] |= 1 << (self.now % 64);
        self.now += 1;
        self.filling += 1;
        self.last[index] = self.now as u32;
        if self.now.is_multiple_of(64) {
            self.filled();
        }
        above
    }
    /// Removes an entry from the stack. Does nothing if the entry is not on the stack.
    pub(super) fn forget(&mut self, entry: Entry) {
        let Some(last) = self.last.get_mut(entry.index()) else {
            return;
        };
        let slot = std::mem::take(last);
        if slot != 0 {
            self.depth -= 1;
            self.take(slot as usize - 1);
        }
    }
    /// Clears the mark of a slot. Returns the number of marks after it.
    #[inline]
    fn take(&mut self, slot: usize) -> u32 {
        let word = slot / 64;
        let marks = &mut self.marks[word];
        let mut behind = (*marks >> (slot % 64) >> 1).count_ones();
        *marks &= !(1 << (slot % 64));
        if word == self.now / 64 {
            self.filling -= 1;
            return behind;
        }
        behind += self.filling;
        let mut node = word + self.marks.len();
        while node > 1 {
            let from_right = (node & 1) as u32;
            node /= 2;
            let right = &mut self.right[node];
            behind += *right & from_right.wrapping_sub(1);
            *right -= from_right;
        }
        behind
    }
    /// Adds the word before the next free slot to the tree.
    fn filled(&mut self) {
        let mut node = self.now / 64 - 1 + self.marks.len();
        while node > 1 {
            self.right[node / 2] += (node & 1) as u32 * self.filling;
            node /= 2;
        }
        self.filling = 0;
    }
    /// Compacts the marks. The number of slots is chosen so that at least half of them are free.
    #[cold]
    fn compact(&mut self) {
        let mut before = 0;
        let starts: Vec<u32> = (self.marks.iter())
            .map(|marks| {
                let start = before;
                before += marks.count_ones();
                start
            })
            .collect();
        for last in self.last.iter_mut().filter(|last| **last != 0) {
            let slot = *last as usize - 1;
            let lower = self.marks[slot / 64] & ((1 << (slot % 64)) - 1);
            *last = starts[slot / 64] + lower.count_ones() + 1;
        }
        let words = (2 * self.depth).next_power_of_two().max(SMALLEST) / 64;
        self.now = self.depth;
        self.filling = (self.depth % 64) as u32;
        self.marks = vec![0; words];
        let full = self.depth / 64;
        self.marks[..full].fill(u64::MAX);
        self.marks[full] = (1 << self.filling) - 1;
        self.right = vec![0; words];
        for node in 1..words {
            let height = words.ilog2() - node.ilog2();
            let width = 1_usize << (height - 1);
            let first = ((2 * node + 1) << (height - 1)) - words;
            self.right[node] = (full.clamp(first, first + width) - first) as u32 * 64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wordline_kernel::Rng;

    /// The number of entries is small or in the thousands, so that the slots are used up often.
    /// Some entries are forgotten.
    #[test]
    fn stack_depths_match_those_of_a_list() {
        for (seed, entries) in [(1, 1), (2, 2), (3, 70), (4, 3_000)] {
            let mut stream = Rng::new(seed, "stack");
            let (mut stack, mut list) = (Stack::default(), Vec::new());
            for step in 0..20_000 {
                let entry = Entry(stream.below(entries) as u32);
                if step % 7 == 3 {
                    list.retain(|&other| other != entry);
                    stack.forget(entry);
                    assert_eq!(stack.len(), list.len());
                    continue;
                }
                let place = list.iter().rposition(|&other| other == entry);
                let above = place.map(|place| {
                    list.remove(place);
                    (list.len() - place) as u32
                });
                list.push(entry);
                let found = stack.touch(entry);
                assert_eq!(found, above, "step {step}, {entries} entries");
                assert_eq!(stack.len(), list.len());
            }
        }
    }
}
