//! Policies that order the waiting requests of a disk.

pub mod c_look;
pub mod fcfs;
pub mod look;
pub mod sptf;
pub mod sstf;

use serde::{Deserialize, Serialize};
use wordline_block::Ticket;
use wordline_kernel::Time;

use crate::extent::Extent;

/// Operation of the mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Operation {
    /// Read or write of a request.
    Request(Ticket),
    /// Destage of a segment of the on-board buffer.
    Destage(u32),
}

/// Operation that waits for the mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    /// Operation to perform.
    pub operation: Operation,
    /// Sectors of the operation.
    pub extent: Extent,
    /// Whether the operation writes.
    pub write: bool,
    /// Time of arrival in the queue.
    pub since: Time,
    /// Number in order of arrival.
    pub place: u64,
}

/// Queue in the order of a policy.
pub trait Order {
    /// Adds an operation.
    fn push(&mut self, waiting: Waiting);
    /// Removes and returns the next operation; `None` if none waits. `served` is the extent served
    /// last, and `cost` returns the positioning time to the first sector of an operation.
    fn next(
        &mut self,
        now: Time,
        served: Extent,
        cost: impl Fn(&Waiting) -> Time,
    ) -> Option<Waiting>;
    /// Returns the number of waiting operations.
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

        /// Waiting operations, in the order of a policy.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        #[allow(missing_docs)]
        pub enum Queue { $($Variant($file::State)),+ }

        impl Queue {
            /// Creates an empty queue.
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

/// Waiting operations by first sector and number of arrival.
type ByLbn = std::collections::BTreeMap<(u64, u64), Waiting>;

fn insert(queue: &mut ByLbn, waiting: Waiting) {
    queue.insert((waiting.extent.lbn, waiting.place), waiting);
}
