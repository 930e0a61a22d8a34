//! Many doubly linked lists over one dense range of items, each item in at most one list.

/// Lists of items `0..items`, with constant-time push, removal and front.
///
/// Links are stored as `item + 1` so that untouched memory means "empty" and costs nothing.
#[derive(Clone, Debug)]
pub struct Lists {
    front: Vec<u32>,
    next: Vec<u32>,
    prev: Vec<u32>,
}

impl Lists {
    /// `lists` empty lists.
    pub fn new(lists: usize, items: usize) -> Self {
        Self {
            front: vec![0; lists],
            next: vec![0; items],
            prev: vec![0; items],
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
        let next = self.next[item as usize];
        (next != self.front[list]).then(|| next - 1)
    }
    /// Puts `item`, which is in no list, behind all others of `list`.
    #[inline]
    pub fn push_back(&mut self, list: usize, item: u32) {
        let link = item + 1;
        let front = self.front[list];
        if front == 0 {
            self.front[list] = link;
            self.next[item as usize] = link;
            self.prev[item as usize] = link;
            return;
        }
        let back = self.prev[front as usize - 1];
        self.next[item as usize] = front;
        self.prev[item as usize] = back;
        self.next[back as usize - 1] = link;
        self.prev[front as usize - 1] = link;
    }
    /// Takes `item` out of `list`, which holds it.
    #[inline]
    pub fn remove(&mut self, list: usize, item: u32) {
        let link = item + 1;
        let (next, prev) = (self.next[item as usize], self.prev[item as usize]);
        if next == link {
            self.front[list] = 0;
            return;
        }
        self.next[prev as usize - 1] = next;
        self.prev[next as usize - 1] = prev;
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
