//! Runs a foreign policy over the requests of a trace.

use wordline_cache::replacement::foreign::{Fault, Maker, State};

use super::play::one_by_one;
use super::{Pages, Run};

/// Number of requests between two calls of `goes_on`.
const BEAT: usize = 1 << 12;

impl Pages {
    /// Runs a policy of `maker` with `size` pages over the whole trace, from an empty cache.
    /// Returns the results, and the fault of the policy if there was one. The run ends early at a
    /// fault, or when `goes_on`, which is called every few thousand requests, returns `false`. The
    /// policy receives page numbers if they are kept; otherwise it receives the pages' positions in
    /// the order of their first requests.
    pub fn run_foreign(
        &self,
        maker: &Maker,
        size: u64,
        mut goes_on: impl FnMut() -> bool,
    ) -> (Run, Option<Fault>) {
        let mut policy = State::new(maker, size as usize);
        let counts = one_by_one(&mut policy, self, |policy, place| {
            policy.fault().is_none() && (place % BEAT > 0 || goes_on())
        });
        let run = Run::new(maker.name().to_owned(), size, &counts, self);
        (run, policy.fault().cloned())
    }
}
