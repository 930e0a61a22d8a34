//! What the naive policies have in common.

/// What the owner says of its entries, by number.
#[derive(Clone, Debug, Default)]
pub struct World {
    pub dirty: Vec<bool>,
    pub load: Vec<u64>,
    pub collecting: Vec<bool>,
}

/// A policy by the words of its paper: every question is answered by looking through everything.
pub trait Naive {
    /// What lies ahead of the request that follows.
    fn set_next_use(&mut self, _next: u32) {}
    /// Whether it was a hit.
    fn access(&mut self, entry: u32, world: &World) -> bool;
    fn remove(&mut self, entry: u32);
    fn resize(&mut self, capacity: usize, world: &World);
    /// In any order.
    fn residents(&self) -> Vec<u32>;
    /// In any order.
    fn ghosts(&self) -> Vec<u32> {
        Vec::new()
    }
}

/// Takes an entry out of a queue; whether it was there.
pub fn take(queue: &mut Vec<u32>, entry: u32) -> bool {
    let found = queue.iter().position(|&other| other == entry);
    found.map(|at| queue.remove(at)).is_some()
}
