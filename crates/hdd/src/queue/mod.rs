//! Which of the requests that wait is served next.

pub mod c_look;
pub mod fcfs;
pub mod look;
pub mod sptf;
pub mod sstf;

use serde::{Deserialize, Serialize};
use wordline_block::Ticket;
use wordline_kernel::Time;

use crate::extent::Extent;

/// What the mechanism can be needed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Operation {
    /// A request.
    Request(Ticket),
    /// Data of a segment of the on-board buffer that is to be written.
    Destage(u32),
}

/// What waits for the mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    /// What for.
    pub operation: Operation,
    /// What it touches.
    pub extent: Extent,
    /// Whether it writes.
    pub write: bool,
    /// Since when it waits.
    pub since: Time,
    /// Its place in the order in which all came.
    pub place: u64,
}

/// A queue, in its own order.
pub trait Order {
    /// A request comes.
    fn push(&mut self, waiting: Waiting);
    /// The request to be served next, out of the queue; `served` is that which was served last, and `cost` how long the head takes to the first
    /// sector of one.
    fn next(
        &mut self,
        now: Time,
        served: Extent,
        cost: impl Fn(&Waiting) -> Time,
    ) -> Option<Waiting>;
    /// How many wait.
    fn waiting(&self) -> usize;
}

macro_rules! members {
    ($($tag:literal => $Variant:ident($file:ident)),+ $(,)?) => {
        wordline_kernel::family! {
            /// Which of its requests does a disk serve next?
            pub enum Policy at "disk.queue" {
                $($tag => $Variant($file::$Variant)),+
            }
        }

        /// The requests that wait, in the order of a policy.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        #[allow(missing_docs)]
        pub enum Queue { $($Variant($file::State)),+ }

        impl Queue {
            /// An empty one.
            pub fn new(policy: &Policy) -> Self {
                match policy { $(Policy::$Variant(policy) => Self::$Variant($file::State::new(policy))),+ }
            }
        }

        wordline_kernel::forward! {
            impl Order for Queue by [$($Variant),+] {
                #[inline]
                fn push(&mut self, waiting: Waiting);
                #[inline]
                fn next(&mut self, now: Time, served: Extent, cost: impl Fn(&Waiting) -> Time) -> Option<Waiting>;
                #[inline]
                fn waiting(&self) -> usize;
            }
        }
    };
}

members! {
    "fcfs" => Fcfs(fcfs),
    "look" => Look(look),
    "c-look" => CLook(c_look),
    "sstf" => Sstf(sstf),
    "sptf" => Sptf(sptf),
}

impl Default for Policy {
    fn default() -> Self {
        Self::Fcfs(fcfs::Fcfs::default())
    }
}

/// Requests by their first sectors; of equal ones, those that came before stand before.
type ByLbn = std::collections::BTreeMap<(u64, u64), Waiting>;

fn insert(queue: &mut ByLbn, waiting: Waiting) {
    queue.insert((waiting.extent.lbn, waiting.place), waiting);
}
