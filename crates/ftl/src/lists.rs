//! Many doubly linked lists over one dense range of items, each item in at most one list.

/// Lists of items `0..items`, with constant-time push, removal and front.
///
/// Links are stored as `item + 1` so that untouched memory means "empty" and costs nothing. Both links
/// of an item lie together: an item is found once.
#[derive(Clone, Debug)]
pub struct Lists {
    front: Vec<u32>,
    /// By item: the next and the one before. Arrays, because zeroes of a type of our own would be
    /// written at the start.
    links: Vec<[u32; 2]>,
}

const NEXT: usize = 0;
const PREV: usize = 1;

impl Lists {
    /// `lists` empty lists.
    pub fn new(lists: usize, items: usize) -> Self {
        Self {
            front: vec![0; lists],
            links: vec![[0; 2]; items],
        }
    }
    /// The item that has been in `list` longest.
    #[inline]
    pub fn front(&self, list: usize) -> Option<u32> {
        self.front[list].checked_sub(1)
    }
    /// The item behind `item` in `list`, which holds it.
    #[inline]
    pub fn after(&self, list: usize, item: u32) -> Option<u32> {
        let next = self.links[item as usize][NEXT];
        (next != self.front[list]).then(|| next - 1)
    }
    /// Puts `item`, which is in no list, behind all others of `list`.
    #[inline]
    pub fn push_back(&mut self, list: usize, item: u32) {
        let link = item + 1;
        let front = self.front[list];
        if front == 0 {
            self.front[list] = link;
            self.links[item as usize] = [link, link];
            return;
        }
        let first = &mut self.links[front as usize - 1];
        let back = std::mem::replace(&mut first[PREV], link);
        self.links[item as usize] = [front, back];
        self.links[back as usize - 1][NEXT] = link;
    }
    /// Takes `item` out of `list`, which holds it.
    #[inline]
    pub fn remove(&mut self, list: usize, item: u32) {
        let link = item + 1;
        let [next, prev] = self.links[item as usize];
        if next == link {
            self.front[list] = 0;
            return;
        }
        self.links[prev as usize - 1][NEXT] = next;
        self.links[next as usize - 1][PREV] = prev;
        if self.front[list] == link {
            self.front[list] = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;
    use wordline_kernel::Stream;

    #[test]
    fn lists_behave_like_queues_with_removal() {
        let mut random = Stream::new(3, "lists");
        let mut lists = Lists::new(3, 20);
        let mut naive = vec![VecDeque::new(); 3];
        let mut home = [None; 20];
        for _ in 0..20_000 {
            let item = random.below(20) as u32;
            if let Some(list) = home[item as usize].take() {
                lists.remove(list, item);
                naive[list].retain(|&other| other != item);
            } else {
                let list = random.below(3) as usize;
                lists.push_back(list, item);
                naive[list].push_back(item);
                home[item as usize] = Some(list);
            }
            for (list, queue) in naive.iter().enumerate() {
                let along = |item: &u32| lists.after(list, *item);
                let items = std::iter::successors(lists.front(list), along);
                assert!(items.eq(queue.iter().copied()));
            }
        }
    }
}
