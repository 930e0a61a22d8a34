//! Runs a policy that is not a member over the requests of a trace.

use wordline_cache::replacement::foreign::{Fault, Maker, State};

use super::play::one_by_one;
use super::{Pages, Run};

/// Requests between two checks whether to continue.
const BEAT: usize = 1 << 12;

impl Pages {
    /// Runs a policy of `maker` with `size` pages over the whole trace, from an empty cache. The
    /// run ends early at a fault of the policy, or when `goes_on`, which is called from time to
    /// time, returns `false`. Pages are identified by their numbers if these are kept, otherwise by
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
