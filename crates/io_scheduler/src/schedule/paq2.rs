//! Physically addressed queueing (PAQ) with clumps and plane packing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::Time;
use wordline_kernel::slot::Cited;
use wordline_nand::Operation;

use super::clump::Clump;
use super::pack::PackScope;
use super::{Changed, EntryId, Schedule, View, us};

/// Reads are served in clumps. Each package in turn gets one read: first from those that share a
/// die with other waiting reads, then from those that share the package, then the channel, then the
/// others; among equals, the oldest in the issue queue. Pages that the plane rule allows in one
/// command are issued together, regardless of their requests. Writes do not wait: their pages are
/// allocated on arrival.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Paq2 {
    /// Whether a package takes a read while other dies of the package are busy, if their array
    /// operations have started. Otherwise a package takes a read only when all its dies are idle.
    pub interleaves: bool,
    /// Whether a package that cannot take its waiting read blocks all packages after it
    /// (`check_and_wait` in Algorithm 2, line 4). Otherwise any package that can take a read is
    /// served.
    pub in_turn: bool,
    /// Time to search the clump table, once per command. The default is the time for 64 packages on
    /// a 72 MHz processor (section 6.6.3). Nanoseconds.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub search_ns: u32,
    /// Age above which a ready read goes to the queue of its die unconditionally, before all others
    /// of its package. 0 disables the bound. Microseconds.
    #[schemars(range(min = 0.0, max = 1e9))]
    pub age_bound_us: f64,
}

impl Default for Paq2 {
    fn default() -> Self {
        Self {
            interleaves: true,
            in_turn: false,
            search_ns: 1770,
            age_bound_us: 0.0,
        }
    }
}

impl Cited for Paq2 {
    const PAPER: &'static str = "M. Jung, Design of a Smart Non-Volatile Memory Controller, PhD thesis, Pennsylvania State University, 2013, section 6.4";
}

/// State of the clumps.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    clump: Clump,
    search: Time,
}

impl State {
    /// Creates the state before the first request.
    pub fn new(policy: &Paq2) -> Self {
        Self {
            clump: Clump::new(
                PackScope::Any,
                policy.interleaves,
                policy.in_turn,
                us(policy.age_bound_us),
            ),
            search: Time::from_ns(policy.search_ns.into()),
        }
    }
}

impl Schedule for State {
    fn holds(&self, operation: Operation) -> bool {
        operation == Operation::Read
    }
    fn choose(&mut self, view: &View<'_>, changed: &mut Changed, group: &mut Vec<EntryId>) {
        self.clump.choose(view, changed, group);
    }
    fn search(&self) -> Time {
        self.search
    }
    fn packs(&self) -> bool {
        true
    }
    fn has_age_bound(&self) -> bool {
        self.clump.has_age_bound()
    }
}
