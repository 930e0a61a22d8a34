//! Partition policies, which divide the flash.

mod by_period;
pub mod locality_driven;
pub mod op_fcl;
pub mod rw_fcl;
pub mod split;
pub mod unified;

use wordline_kernel::memory::Table;

use crate::space::{Kind, Sizes, Space};
pub use locality_driven::Learned;

/// Partition policy with its state. The cache reports requests to the policy, and resizes its lists
/// gradually.
pub trait Divide {
    /// Returns `true` if reads and writes have separate lists.
    fn is_split(&self) -> bool;
    /// Returns the initial sizes.
    fn start(&self) -> Sizes;
    /// Returns `true` if the lists share the pages of [`Divide::start`] until the first decision,
    /// although reads and writes have separate lists.
    fn starts_undivided(&self) -> bool {
        false
    }
    /// Records the start of a host request.
    fn request(&mut self) {}
    /// Records a page of the request, and whether its list held it.
    fn page(&mut self, _page: u64, _kind: Kind, _hit: bool) {}
    /// Returns new target sizes if a period has ended and the sizes have changed. Called after
    /// every request.
    fn decide(&mut self) -> Option<Sizes> {
        None
    }
}

macro_rules! members {
    ($($tag:literal => $Variant:ident($file:ident)),+ $(,)?) => {
        wordline_kernel::family! {
            /// How is flash divided between reads, writes and over-provisioning?
            pub enum Partition at "cache.partition" {
                $($tag => $Variant($file::$Variant)),+
            }
        }

        /// Partition policy with its state.
        #[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
        #[allow(missing_docs)]
        pub enum Partitioning { $($Variant($file::State)),+ }

        impl Partitioning {
            /// Creates the policy before any request. `seed` determines which pages are sampled.
            pub fn new(policy: &Partition, space: &Space, seed: u64) -> Self {
                match policy { $(Partition::$Variant(policy) => Self::$Variant($file::State::new(policy, space, seed))),+ }
            }
            /// Returns the tables of the policy's state and the memory that they take.
            pub fn memory(policy: &Partition, space: &Space) -> Vec<Table> {
                match policy { $(Partition::$Variant(policy) => $file::State::memory(policy, space)),+ }
            }
        }

        wordline_kernel::forward! {
            impl Divide for Partitioning by [$($Variant),+] {
                #[inline]
                fn is_split(&self) -> bool;
                fn start(&self) -> Sizes;
                fn starts_undivided(&self) -> bool;
                #[inline]
                fn request(&mut self);
                #[inline]
                fn page(&mut self, page: u64, kind: Kind, hit: bool);
                #[inline]
                fn decide(&mut self) -> Option<Sizes>;
            }
        }
    };
}

members! {
    "unified" => Unified(unified),
    "split" => Split(split),
    "rw-fcl" => RwFcl(rw_fcl),
    "op-fcl" => OpFcl(op_fcl),
    "locality-driven" => LocalityDriven(locality_driven),
}

impl Partitioning {
    /// Returns the victim model, if the policy has one.
    pub fn learned(&self) -> Option<Learned> {
        match self {
            Self::LocalityDriven(state) => Some(state.learned()),
            _ => None,
        }
    }
}

impl Default for Partition {
    fn default() -> Self {
        Self::Unified(unified::Unified::default())
    }
}

/// Paper of OP-FCL and of the policies that it is compared with.
pub(crate) const OP_FCL: &str = "Oh, Choi, Lee and Noh, \"Caching less for better performance: Balancing cache size and update cost of flash memory cache in hybrid storage systems\", FAST 2012";

/// Segment size in table 2 of the source. Bytes.
pub(crate) const SEGMENT_BYTES: u64 = 256 << 20;
/// Number of segments of the smaller flash in that table, used as the minimum.
const MIN_SEGMENTS: u64 = 16;
/// Maximum number of segments, because the number of compared divisions is proportional to its
/// square.
const MAX_SEGMENTS: u64 = 1024;

/// Returns the number of segments of a flash: `given`, but at least 2. If `given` is 0, returns the
/// number of segments of `segment_bytes`, limited to the range from 16 to 1024.
pub(crate) fn segments(space: &Space, given: u32, segment_bytes: u64) -> u32 {
    if given > 0 {
        return given.max(2);
    }
    let segment = segment_bytes.max(1);
    let fitting = (space.total_bytes() + segment / 2) / segment;
    fitting.clamp(MIN_SEGMENTS, MAX_SEGMENTS) as u32
}

/// Limits sizes to those that GC can sustain, and keeps their ratio.
pub(crate) fn bearable(sizes: Sizes, most_pages: u32) -> Sizes {
    let pages = sizes.pages();
    if pages <= most_pages {
        return sizes;
    }
    Sizes::split(most_pages, f64::from(sizes.read) / f64::from(pages))
}
