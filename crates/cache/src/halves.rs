//! Queues divided into a hot and a cold half.

use serde::{Deserialize, Serialize};

use crate::entry::Entry;
use crate::list::Lists;

/// Up to two queues of a policy, each divided into two halves by recency. The hot half holds the
/// most recently requested entries. If the queue has an odd number of entries, the hot half has one
/// more than the cold half. Every operation takes constant time.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Halves {
    /// Hot and cold half of each queue, the most recent entry at the front.
    lists: Lists<4>,
}

const fn hot(queue: usize) -> usize {
    2 * queue
}

const fn cold(queue: usize) -> usize {
    2 * queue + 1
}

impl Halves {
    /// Records a request for an entry that is in `queue` (0 or 1) after the request.
    pub fn touch(&mut self, queue: usize, entry: Entry) {
        self.leave(entry);
        self.lists.push_front(hot(queue), entry);
        self.balance(queue);
    }
    /// Removes an entry from its queue, if it is in one.
    pub fn leave(&mut self, entry: Entry) {
        if let Some(list) = self.lists.list(entry) {
            self.lists.unlink(entry);
            self.balance(list / 2);
        }
    }
    /// Returns `true` if an entry is in the hot half of its queue.
    pub fn is_hot(&self, entry: Entry) -> bool {
        self.lists.list(entry).is_some_and(|list| list % 2 == 0)
    }

    fn balance(&mut self, queue: usize) {
        let (hot, cold) = (hot(queue), cold(queue));
        let half = (self.lists.len(hot) + self.lists.len(cold)).div_ceil(2);
        while self.lists.len(hot) > half
            && let Some(entry) = self.lists.pop_back(hot)
        {
            self.lists.push_front(cold, entry);
        }
        while self.lists.len(hot) < half
            && let Some(entry) = self.lists.front(cold)
        {
            self.lists.unlink(entry);
            self.lists.push_back(hot, entry);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;
    use wordline_kernel::Rng;

    #[test]
    fn recent_half_is_hot_and_includes_the_odd_entry() {
        let mut random = Rng::new(3, "halves");
        let mut halves = Halves::default();
        let mut queues: [VecDeque<Entry>; 2] = Default::default();
        for _ in 0..20_000 {
            let entry = Entry(random.below(12) as u32);
            for queue in &mut queues {
                queue.retain(|other| *other != entry);
            }
            if random.below(4) == 0 {
                halves.leave(entry);
            } else {
                let queue = random.below(2) as usize;
                halves.touch(queue, entry);
                queues[queue].push_front(entry);
            }
            for entry in (0..12).map(Entry) {
                let hot = queues.iter().any(|queue| {
                    let place = queue.iter().position(|other| *other == entry);
                    place.is_some_and(|place| place < queue.len().div_ceil(2))
                });
                assert_eq!(halves.is_hot(entry), hot);
            }
        }
    }
}
