//! The hot and the cold half of a queue.

use serde::{Deserialize, Serialize};

use crate::entry::Entry;
use crate::list::Lists;

/// Queues of a policy, at most two, each in two halves by recency: the hot one holds the entries requested
/// last, and one more than the cold one if their number is odd. Every step is constant.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Halves {
    /// By queue, its hot half and then its cold one, the most recent in front.
    lists: Lists<4>,
}

const fn hot(queue: usize) -> usize {
    2 * queue
}

const fn cold(queue: usize) -> usize {
    2 * queue + 1
}

impl Halves {
    /// An entry is requested and then in `queue`, 0 or 1.
    pub fn touch(&mut self, queue: usize, entry: Entry) {
        self.leave(entry);
        self.lists.push_front(hot(queue), entry);
        self.balance(queue);
    }
    /// An entry is in no queue any more.
    pub fn leave(&mut self, entry: Entry) {
        if let Some(list) = self.lists.list(entry) {
            self.lists.unlink(entry);
            self.balance(list / 2);
        }
    }
    /// Whether an entry is in a queue, and in its hot half.
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
    fn the_first_half_of_each_queue_is_hot_and_the_odd_one_with_it() {
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
