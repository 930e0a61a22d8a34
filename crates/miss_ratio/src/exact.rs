//! Exact miss-ratio curve.

use super::stack::Stack;
use super::{Corner, Curve};
use wordline_cache::Entry;
use wordline_cache::Requests;

/// Computes the miss-ratio curve from stack distances (Mattson et al., "Evaluation techniques for
/// storage hierarchies", IBM Systems Journal 1970). A request hits in an LRU cache exactly if the
/// number of other keys requested since the last request for its key is below the size of the
/// cache.
///
/// Takes logarithmic time per request and about 13 bytes per key.
#[derive(Clone, Debug, Default)]
pub struct Exact {
    stack: Stack,
    /// Requests by stack distance.
    distances: Vec<u64>,
    requests: u64,
}

impl Exact {
    /// Returns the curve of a trace.
    pub fn of(requests: &Requests) -> Curve {
        let mut exact = Self::default();
        for &number in requests.numbers() {
            exact.request(Entry(number));
        }
        exact.curve()
    }
    /// Records a request. Returns its stack distance, which is the number of other entries
    /// requested since the last request for its entry; `None` for the first request.
    #[inline]
    pub fn request(&mut self, entry: Entry) -> Option<u32> {
        self.requests += 1;
        let distance = self.stack.touch(entry)?;
        count(&mut self.distances, distance);
        Some(distance)
    }
    /// Returns the curve of the requests so far. Its hits equal those of an LRU cache at every
    /// size.
    pub fn curve(&self) -> Curve {
        let footprint = self.stack.len() as u64;
        Curve::new(self.requests, footprint, steps(&self.distances, 1.0, 0.0))
    }
}

/// Counts a request with stack distance `distance`.
#[inline]
pub(super) fn count(distances: &mut Vec<u64>, distance: u32) {
    let index = distance as usize;
    if index >= distances.len() {
        distances.resize(index + 1, 0);
    }
    distances[index] += 1;
}

/// Returns the corners of the curve. `distances` holds the number of requests by stack distance.
/// Counts and distances are multiplied by `weight`, and `more` requests of distance zero are added.
pub(super) fn steps(distances: &[u64], weight: f64, more: f64) -> impl Iterator<Item = Corner> {
    let mut hits = more + distances.first().map_or(0.0, |&once| once as f64 * weight);
    let first = Corner { size: weight, hits };
    let counted = distances.iter().enumerate().skip(1);
    let filled = counted.filter(|&(_, &requests)| requests > 0);
    let rest = filled.flat_map(move |(distance, &requests)| {
        let size = distance as f64 * weight;
        let before = Corner { size, hits };
        hits += requests as f64 * weight;
        let size = (distance + 1) as f64 * weight;
        [before, Corner { size, hits }]
    });
    std::iter::once(first).chain(rest)
}
