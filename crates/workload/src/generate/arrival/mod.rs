//! Arrival processes. Each is one file and one line in the list below.

mod closed_loop;
mod constant;
mod idle_mix;
mod poisson;

pub use closed_loop::ClosedLoop;
pub use constant::Constant;
pub use idle_mix::IdleMix;
pub use poisson::Poisson;

use wordline_kernel::{Rng, Time};

use crate::WorkloadError;

macro_rules! arrivals {
    ($($tag:literal => $Variant:ident in $file:ident),+ $(,)?) => {
        wordline_kernel::family! {
            /// When do the requests of a generated workload arrive?
            pub enum Arrival at "workload.arrival" {
                $($tag => $Variant($file::$Variant)),+
            }
        }

        impl Arrival {
            /// Returns the number of outstanding requests of a closed loop; `None` if requests
            /// arrive by the clock.
            pub fn queue_depth(&self) -> Option<u32> {
                match self { $(Self::$Variant(parameters) => parameters.queue_depth()),+ }
            }
        }

        /// Arrival process with its state.
        #[derive(Clone, Debug)]
        pub(crate) enum Clock { $($Variant($file::State)),+ }

        impl Clock {
            /// Checks the parameters and creates the initial state.
            pub(crate) fn new(arrival: &Arrival) -> Result<Self, WorkloadError> {
                Ok(match arrival {
                    $(Arrival::$Variant(parameters) => {
                        Self::$Variant($file::State::new(parameters)?)
                    })+
                })
            }
            /// Returns the arrival of the next request; `None` if it is beyond the range of the
            /// clock.
            #[inline]
            pub(crate) fn next(&mut self, random: &mut Rng) -> Option<Time> {
                match self { $(Self::$Variant(state) => state.next(random)),+ }
            }
        }
    };
}

arrivals! {
    "closed-loop" => ClosedLoop in closed_loop,
    "poisson" => Poisson in poisson,
    "constant" => Constant in constant,
    "idle-mix" => IdleMix in idle_mix,
}
