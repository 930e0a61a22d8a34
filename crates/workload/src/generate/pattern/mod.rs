//! Access patterns. Each is one file and one line in the list below.

mod hot_cold;
mod mixed;
mod sequential;
mod uniform;
mod zipf;

pub use hot_cold::HotCold;
pub use mixed::Mixed;
pub use sequential::Sequential;
pub use uniform::Uniform;
pub use zipf::Zipf;

use wordline_kernel::Rng;

use super::Space;
use crate::WorkloadError;

/// Rule for the offsets of requests.
pub(crate) trait Places {
    /// Returns the offset of a request of `bytes` bytes, relative to the start of the working set.
    /// The offset is a multiple of the alignment, and the request ends within the working set.
    fn next(&mut self, bytes: u64, space: &Space, random: &mut Rng) -> u64;
}

macro_rules! patterns {
    ($($tag:literal => $Variant:ident in $file:ident),+ $(,)?) => {
        wordline_kernel::family! {
            /// Where do the requests of a generated workload go?
            pub enum Pattern at "workload.pattern" {
                $($tag => $Variant($file::$Variant)),+
            }
        }

        /// Access pattern with its state.
        #[derive(Clone, Debug)]
        pub(crate) enum Walk { $($Variant($file::State)),+ }

        impl Walk {
            /// Checks the parameters and creates the initial state.
            pub(crate) fn new(pattern: &Pattern, space: &Space) -> Result<Self, WorkloadError> {
                Ok(match pattern {
                    $(Pattern::$Variant(parameters) => {
                        Self::$Variant($file::State::new(parameters, space)?)
                    })+
                })
            }
        }

        impl Places for Walk {
            #[inline]
            fn next(&mut self, bytes: u64, space: &Space, random: &mut Rng) -> u64 {
                match self { $(Self::$Variant(state) => state.next(bytes, space, random)),+ }
            }
        }
    };
}

patterns! {
    "sequential" => Sequential in sequential,
    "uniform" => Uniform in uniform,
    "zipf" => Zipf in zipf,
    "hot-cold" => HotCold in hot_cold,
    "mixed" => Mixed in mixed,
}
