//! Page allocation: selects the plane of the next host write (Jung 2013, chapter 3).

pub mod dynamic;
pub mod least_busy;
pub mod order;
pub mod r#static;

use serde::{Deserialize, Serialize};
use wordline_kernel::Time;
use wordline_nand::{Die, Plane};

pub use order::{Dimensions, Order};

use crate::lpn::Lpn;

/// Selects the plane of a host write.
pub trait PlanePolicy {
    /// Returns the plane for the next program of `page`, among those that have room. Returns `None`
    /// if the write must wait.
    fn plane(&mut self, page: Lpn, has_room: impl FnMut(Plane) -> bool) -> Option<Plane>;
    /// Returns the only plane that `page` can ever use, or `None` if it can use several.
    fn home(&self, page: Lpn) -> Option<Plane>;
    /// Returns the planes of the pages from `first` on, one page per plane in a repeating cycle.
    /// Valid as long as all planes have room and no other page is written. Returns `None` if the
    /// order is not known in advance.
    fn turn(&self, first: Lpn) -> Option<Vec<Plane>>;
    /// Updates the outstanding work of the dies. Needed only for policies that use it
    /// ([`Allocate::is_by_work`]).
    fn set_die_loads(&mut self, _work: impl Fn(Die) -> Time) {}
}

macro_rules! members {
    ($($tag:literal => $Variant:ident($file:ident)),+ $(,)?) => {
        wordline_kernel::family! {
            /// Which plane gets the next page of the host?
            pub enum Allocate at "ftl.allocate" {
                $($tag => $Variant($file::$Variant)),+
            }
        }

        impl Allocate {
            /// Returns `true` if the address alone determines the plane.
            pub fn is_by_address(&self) -> bool {
                match self { $(Self::$Variant(_) => $file::State::BY_ADDRESS),+ }
            }
        }

        /// Allocator of a device, with its state.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        #[allow(missing_docs)]
        pub enum Allocator { $($Variant($file::State)),+ }

        impl Allocator {
            /// Creates the state of `policy` before the first write.
            pub fn new(policy: &Allocate, dimensions: Dimensions) -> Self {
                match policy { $(Allocate::$Variant(policy) => Self::$Variant($file::State::new(policy, dimensions))),+ }
            }
        }

        wordline_kernel::forward! {
            impl PlanePolicy for Allocator by [$($Variant),+] {
                #[inline]
                fn plane(&mut self, page: Lpn, has_room: impl FnMut(Plane) -> bool) -> Option<Plane>;
                #[inline]
                fn home(&self, page: Lpn) -> Option<Plane>;
                fn turn(&self, first: Lpn) -> Option<Vec<Plane>>;
                fn set_die_loads(&mut self, work: impl Fn(Die) -> Time);
            }
        }
    };
}

members! {
    "static" => Static(r#static),
    "dynamic" => Dynamic(dynamic),
    "least-busy" => LeastBusy(least_busy),
}

impl Allocate {
    /// Returns `true` if a page is allocated to a write only when the write is issued.
    pub fn is_on_issue(&self) -> bool {
        matches!(self, Self::Static(r#static::Static { on_issue: true, .. }))
    }
    /// Returns `true` if the allocator needs the work of the dies before each page.
    pub fn is_by_work(&self) -> bool {
        matches!(self, Self::LeastBusy(_))
    }
}

impl Default for Allocate {
    fn default() -> Self {
        Self::Static(r#static::Static::default())
    }
}
