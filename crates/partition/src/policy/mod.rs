//! The policies that divide the flash.

mod by_period;
pub mod locality_driven;
pub mod op_fcl;
pub mod rw_fcl;
pub mod split;
pub mod unified;

use wordline_kernel::memory::Table;

use crate::space::{Kind, Sizes, Space};
pub use locality_driven::Learned;

/// How the flash is divided, with what is known of the requests until now. The engine tells of them and moves the
/// borders; when and how fast, is its business.
pub trait Divide {
    /// Whether reads and writes have lists of their own.
    fn is_split(&self) -> bool;
    /// The sizes at the start.
    fn start(&self) -> Sizes;
    /// A request of the host begins.
    fn request(&mut self) {}
    /// One page of it, and whether the list that it belongs to held it.
    fn page(&mut self, _page: u64, _kind: Kind, _hit: bool) {}
    /// Asked after every request: the sizes wanted from now on, if a period has ended and they are others than
    /// before.
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

        /// A division of the flash, with its state.
        #[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
        #[allow(missing_docs)]
        pub enum Partitioning { $($Variant($file::State)),+ }

        impl Partitioning {
            /// The policy before any request. `seed` decides which pages are sampled.
            pub fn new(policy: &Partition, space: &Space, seed: u64) -> Self {
                match policy { $(Partition::$Variant(policy) => Self::$Variant($file::State::new(policy, space, seed))),+ }
            }
            /// What its state takes at most.
            pub fn memory(policy: &Partition, space: &Space) -> Vec<Table> {
                match policy { $(Partition::$Variant(policy) => $file::State::memory(policy, space)),+ }
            }
        }

        wordline_kernel::forward! {
            impl Divide for Partitioning by [$($Variant),+] {
                #[inline]
                fn is_split(&self) -> bool;
                fn start(&self) -> Sizes;
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
    /// How full it takes victims to be, if it chooses by that.
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

/// The paper of OP-FCL and of what it is compared with.
pub(crate) const OP_FCL: &str = "Oh, Choi, Lee and Noh, \"Caching less for better performance: Balancing cache size and update cost of flash memory cache in hybrid storage systems\", FAST 2012";

/// The bytes of a segment of the source's table 2.
pub(crate) const SEGMENT_BYTES: u64 = 256 << 20;
/// Segments of the smaller flash of that table.
const MIN_SEGMENTS: u64 = 16;
/// Segments at most: divisions are compared in proportion to their square.
const MAX_SEGMENTS: u64 = 1024;

/// The segments of a flash: as many as are given, or else, for zero, as many as there are of `segment_bytes`, but 16
/// at least.
pub(crate) fn segments(space: &Space, given: u32, segment_bytes: u64) -> u32 {
    if given > 0 {
        return given.max(2);
    }
    let segment = segment_bytes.max(1);
    let fitting = (space.total_bytes() + segment / 2) / segment;
    fitting.clamp(MIN_SEGMENTS, MAX_SEGMENTS) as u32
}

/// Sizes that collections can bear: those given, or the most that they bear in the same ratio.
pub(crate) fn bearable(sizes: Sizes, most_pages: u32) -> Sizes {
    let pages = sizes.pages();
    if pages <= most_pages {
        return sizes;
    }
    Sizes::split(most_pages, f64::from(sizes.read) / f64::from(pages))
}
