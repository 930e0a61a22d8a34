//! Ghost lists: keys of entries that were evicted from a cache.

use serde::{Deserialize, Serialize};
use wordline_kernel::memory::Table;

use crate::compact::Numbers;
use crate::entry::Entry;
use crate::index::Full;
use crate::list::Lists;

/// Segment of a ghost list, with the hits of its keys.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Segment {
    len: usize,
    /// Oldest entry of the segment.
    last: Option<Entry>,
    hits: u64,
}

/// List of the most recently evicted keys, in segments of equal size. Each segment counts the
/// requests whose key it contained.
///
/// If the list records the evictions of an LRU cache, a cache that is larger by `k` segments has
/// the hits of the first `k` segments in addition. This is exact, because the list continues the
/// LRU stack. The time of an operation is proportional to the number of segment borders that it
/// moves.
///
/// ```
/// use wordline_cache::Ghosts;
///
/// let mut ghosts = Ghosts::new(2, 1);
/// for key in [7, 8, 9] {
///     ghosts.left(key)?; // 9 displaces 7
/// }
/// assert_eq!((ghosts.find(8), ghosts.find(7)), (Some(1), None));
/// assert_eq!(ghosts.hits().collect::<Vec<_>>(), [0, 1]);
/// # Ok::<(), wordline_cache::Full>(())
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ghosts {
    numbers: Numbers,
    /// The most recently evicted key is at the front.
    list: Lists<1>,
    /// Segment of each entry.
    segment_of: Vec<u16>,
    segments: Vec<Segment>,
    size: usize,
}

impl Ghosts {
    /// Creates an empty list of up to `segments` times `size` keys. Values below 1 count as 1, and
    /// `segments` above 65,535 as 65,535.
    pub fn new(segments: usize, size: usize) -> Self {
        let segments = segments.clamp(1, u16::MAX.into());
        Self {
            numbers: Numbers::default(),
            list: Lists::new(),
            segment_of: Vec::new(),
            segments: vec![Segment::default(); segments],
            size: size.max(1),
        }
    }
    /// Returns the number of keys in the list.
    pub fn len(&self) -> usize {
        self.list.len(0)
    }
    /// Returns `true` if the list is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Returns `true` if a key is in the list.
    pub fn contains(&self, key: u64) -> bool {
        self.numbers.get(key).is_some()
    }
    /// Returns the segment of a key, from 0 for the most recent; `None` if the key is not in the
    /// list.
    pub fn segment(&self, key: u64) -> Option<usize> {
        let entry = self.numbers.get(key)?;
        Some(self.segment_of[entry.index()].into())
    }
    /// Iterates over the hit counts of the segments, the most recent segment first.
    pub fn hits(&self) -> impl Iterator<Item = u64> {
        self.segments.iter().map(|segment| segment.hits)
    }
    /// Adds a key that was evicted from the cache, as the most recent one. Drops the oldest key if
    /// the list is full. Fails with [`Full`] if all numbers are in use.
    pub fn left(&mut self, key: u64) -> Result<(), Full> {
        self.forget(key);
        self.make_room();
        let entry = self.numbers.enter(key)?;
        self.list.push_front(0, entry);
        if self.segment_of.len() <= entry.index() {
            self.segment_of.push(0);
        }
        let mut moving = Some(entry);
        for segment in 0..self.segments.len() {
            let Some(entry) = moving else { return Ok(()) };
            moving = self.enter(segment, entry);
        }
        if let Some(oldest) = moving {
            self.drop(oldest);
        }
        Ok(())
    }
    /// Looks up the key of a request. If the key is in the list, counts a hit in its segment,
    /// removes the key and returns the segment. Otherwise returns `None`.
    pub fn find(&mut self, key: u64) -> Option<usize> {
        let entry = self.numbers.get(key)?;
        let segment = self.segment_of[entry.index()] as usize;
        self.segments[segment].hits += 1;
        self.forget(key);
        Some(segment)
    }
    /// Looks up the key of a request in a list that represents the whole stack of an LRU cache. If
    /// the key is in the list, counts a hit in its segment and returns the segment; otherwise
    /// returns `None`. In both cases the key becomes the most recent one; the oldest key is dropped
    /// if the list is full. Equivalent to [`find`](Self::find) followed by [`left`](Self::left),
    /// but moves only the borders before the key. Fails with [`Full`] if all numbers are in use.
    #[inline]
    pub fn touch(&mut self, key: u64) -> Result<Option<usize>, Full> {
        let Some(entry) = self.numbers.get(key) else {
            return self.left(key).map(|()| None);
        };
        let found = self.segment_of[entry.index()] as usize;
        let from = &mut self.segments[found];
        from.hits += 1;
        from.len -= 1;
        if from.last == Some(entry) {
            from.last = self.list.toward_front(entry).filter(|_| from.len > 0);
        }
        self.list.move_to_front(0, entry);
        let mut moving = Some(entry);
        for segment in 0..=found {
            let Some(entry) = moving else { break };
            moving = self.enter(segment, entry);
        }
        Ok(Some(found))
    }
    /// Resets the hit counters; the list is unchanged.
    pub fn forget_hits(&mut self) {
        self.segments
            .iter_mut()
            .for_each(|segment| segment.hits = 0);
    }
    /// Returns the estimated memory of a list of up to `keys` keys, labelled `name`.
    pub fn memory(name: &'static str, keys: u64) -> Table {
        let node = Lists::<1>::BYTES + size_of::<u16>() as u64;
        let most = keys.saturating_add(1); // a key is added before another is dropped
        let bytes = Numbers::bytes_of(most).saturating_add(most.saturating_mul(node));
        Table::grown::<u8>(name, bytes)
    }
    /// Returns the memory currently allocated. Bytes.
    pub fn bytes(&self) -> u64 {
        let by_entry = self.segment_of.capacity() * size_of::<u16>();
        let segments = self.segments.capacity() * size_of::<Segment>();
        self.numbers.bytes() + self.list.bytes() + (by_entry + segments) as u64
    }
    /// Removes a key from the list, if it is there.
    pub fn forget(&mut self, key: u64) {
        let Some(entry) = self.numbers.get(key) else {
            return;
        };
        let mut leaving = Some(entry);
        for segment in self.segment_of[entry.index()] as usize..self.segments.len() {
            let Some(entry) = leaving else { break };
            leaving = self.leave(segment, entry);
        }
        self.drop(entry);
    }

    /// Doubles the tables if they are full, up to the maximum size of the list.
    fn make_room(&mut self) {
        let (used, most) = (self.numbers.ever(), self.segments.len() * self.size + 1);
        if self.numbers.len() == used && used == self.segment_of.capacity() && used < most {
            let more = used.max(64).min(most - used);
            self.segment_of.reserve_exact(more);
            self.numbers.reserve_exact(more);
            self.list.reserve_exact(more);
        }
    }
    /// Makes an entry the first of a segment. If the segment was full, returns its last entry,
    /// which must move to the next segment.
    fn enter(&mut self, segment: usize, entry: Entry) -> Option<Entry> {
        self.segment_of[entry.index()] = segment as u16;
        let to = &mut self.segments[segment];
        let last = *to.last.get_or_insert(entry);
        if to.len < self.size {
            to.len += 1;
            return None;
        }
        to.last = self.list.toward_front(last);
        Some(last)
    }
    /// Removes an entry from a segment. The first entry of the next segment moves up into the
    /// segment; returns that entry, if there is one.
    fn leave(&mut self, segment: usize, entry: Entry) -> Option<Entry> {
        let from = &mut self.segments[segment];
        let first_of_next = from.last.and_then(|last| self.list.toward_back(last));
        if let Some(first) = first_of_next {
            from.last = Some(first);
            self.segment_of[first.index()] = segment as u16;
            return Some(first);
        }
        from.len -= 1;
        if from.last == Some(entry) {
            let before = self.list.toward_front(entry);
            from.last = before.filter(|_| from.len > 0);
        }
        None
    }
    fn drop(&mut self, entry: Entry) {
        self.list.unlink(entry);
        self.numbers.free(entry);
    }
}
