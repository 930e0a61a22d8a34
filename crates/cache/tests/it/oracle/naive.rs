//! Interface of the naive policies.

/// State of the entries, by number, from which the owner answers queries.
#[derive(Clone, Debug, Default)]
pub struct World {
    pub dirty: Vec<bool>,
    pub load: Vec<u64>,
    pub collecting: Vec<bool>,
}

/// Policy written literally from its paper. Every operation scans all entries.
pub trait Naive {
    /// Sets the position of the next request for the entry accessed next.
    fn set_next_use(&mut self, _next: u32) {}
    /// Returns `true` for a hit.
    fn access(&mut self, entry: u32, world: &World) -> bool;
    fn remove(&mut self, entry: u32);
    fn resize(&mut self, capacity: usize, world: &World);
    /// Returns the residents in any order.
    fn residents(&self) -> Vec<u32>;
    /// Returns the ghosts in any order.
    fn ghosts(&self) -> Vec<u32> {
        Vec::new()
    }
}

/// Removes an entry from a queue; returns `true` if it was there.
pub fn take(queue: &mut Vec<u32>, entry: u32) -> bool {
    let found = queue.iter().position(|&other| other == entry);
    found.map(|at| queue.remove(at)).is_some()
}
