//! Doubly linked lists over one dense range of items, where each item is in at most one list.

use prefetch_index::prefetch_index;
use serde::{Deserialize, Serialize};
use wordline_kernel::memory::Table;

/// Lists of the items `0..items`. Push, removal and access to both ends take constant time.
///
/// Each list is a ring that includes a head, whose links are stored after those of the items. A
/// link is stored as the exclusive or of its target and its own index. Untouched memory thus
/// represents a ring of one element, which is an empty list, and costs nothing. Both links of an
/// item are adjacent, so that one memory access loads them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Lists {
    items: u32,
    /// Next and previous element of each item, then of each list head. The elements are arrays
    /// because zeroes of a custom type would be written at creation.
    #[serde(with = "wordline_kernel::dense")]
    links: Vec<[u32; 2]>,
}

const NEXT: usize = 0;
const PREV: usize = 1;

impl Lists {
    /// Creates `lists` empty lists. Items and lists together must be fewer than 2^32.
    pub fn new(lists: usize, items: usize) -> Self {
        debug_assert!(u32::try_from(lists + items).is_ok(), "links have 32 bits");
        Self {
            items: items as u32,
            links: vec![[0; 2]; items + lists],
        }
    }
    /// Returns the memory estimate of the lists if a share `used` of the items has ever been in a
    /// list. Ratio.
    pub fn memory(name: &'static str, lists: u64, items: u64, used: f64) -> Table {
        Table::zeroed::<[u32; 2]>(name, lists + items, used)
    }
    #[inline]
    fn head(&self, list: usize) -> u32 {
        self.items + list as u32
    }
    /// Returns the item that has been in `list` for the longest time; `None` if the list is empty.
    #[inline]
    pub fn front(&self, list: usize) -> Option<u32> {
        self.after(self.head(list))
    }
    /// Returns the item that was added to `list` last; `None` if the list is empty.
    #[inline]
    pub fn back(&self, list: usize) -> Option<u32> {
        let head = self.head(list);
        let back = self.links[head as usize][PREV] ^ head;
        (back < self.items).then_some(back)
    }
    /// Returns the item after `item` in its list; `None` if `item` is the last.
    #[inline]
    pub fn after(&self, item: u32) -> Option<u32> {
        let next = self.links[item as usize][NEXT] ^ item;
        (next < self.items).then_some(next)
    }
    /// Appends `item`, which must be in no list, to `list`.
    #[inline]
    pub fn push_back(&mut self, list: usize, item: u32) {
        let head = self.head(list);
        let to_head = item ^ head;
        let back = std::mem::replace(&mut self.links[head as usize][PREV], to_head) ^ head;
        self.links[item as usize] = [to_head, item ^ back];
        self.links[back as usize][NEXT] = item ^ back;
    }
    /// Moves `item`, which must be in a list, to the end of `list`. Returns `true` if `list` was
    /// empty.
    #[inline(always)]
    pub fn move_back(&mut self, list: usize, item: u32) -> bool {
        let head = self.head(list);
        let links = self.links.as_mut_slice();
        let [to_next, to_prev] = links[item as usize];
        let across = to_next ^ to_prev;
        links[(to_next ^ item) as usize][PREV] = across;
        links[(to_prev ^ item) as usize][NEXT] = across;
        let to_head = item ^ head;
        let to_back = std::mem::replace(&mut links[head as usize][PREV], to_head);
        let to_prev = to_back ^ to_head;
        links[item as usize] = [to_head, to_prev];
        links[(to_prev ^ item) as usize][NEXT] = to_prev;
        to_back == 0
    }
    /// Loads the links of `item` into the CPU cache.
    #[inline]
    pub fn prefetch(&self, item: u32) {
        prefetch_index(&self.links, item as usize);
    }
    /// Removes `item` from its list. `item` must be in a list.
    #[inline]
    pub fn remove(&mut self, item: u32) {
        let [to_next, to_prev] = self.links[item as usize];
        let across = to_next ^ to_prev;
        self.links[(to_next ^ item) as usize][PREV] = across;
        self.links[(to_prev ^ item) as usize][NEXT] = across;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;
    use wordline_kernel::Rng;

    #[test]
    fn lists_behave_like_queues_that_allow_removal_of_any_item() {
        let mut random = Rng::new(3, "lists");
        let mut lists = Lists::new(3, 20);
        let mut naive = vec![VecDeque::<u32>::new(); 3];
        let mut home = [None; 20];
        for _ in 0..20_000 {
            let item = random.below(20) as u32;
            let list = random.below(3) as usize;
            if home[item as usize].is_some() && random.below(2) == 0 {
                for queue in &mut naive {
                    queue.retain(|&other| other != item);
                }
                assert_eq!(lists.move_back(list, item), naive[list].is_empty());
                naive[list].push_back(item);
                home[item as usize] = Some(list);
            } else if let Some(list) = home[item as usize].take() {
                lists.remove(item);
                naive[list].retain(|&other| other != item);
            } else {
                lists.push_back(list, item);
                naive[list].push_back(item);
                home[item as usize] = Some(list);
            }
            for (list, queue) in naive.iter().enumerate() {
                let along = |item: &u32| lists.after(*item);
                let items = std::iter::successors(lists.front(list), along);
                assert!(items.eq(queue.iter().copied()));
                assert_eq!(lists.back(list), queue.back().copied());
            }
        }
    }
}
