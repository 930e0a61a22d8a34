//! A policy that is not a member over the requests of a trace.

use wordline_cache::replacement::foreign::{Fault, Maker, State};

use super::play::one_by_one;
use super::{Pages, Run};

/// Requests between two looks at whether to go on.
const BEAT: usize = 1 << 12;

impl Pages {
    /// A policy of a maker with `size` pages over the whole trace, from an empty cache; over the
    /// requests up to its fault if there is one, or until `goes_on`, asked from time to time, says
    /// no. It knows pages by their numbers if these are kept, otherwise by the order of their first
    /// requests.
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
