//! Which plane gets the next page (Jung 2013, chapter 3).

pub mod dynamic;
pub mod least_busy;
pub mod order;
pub mod r#static;

use serde::{Deserialize, Serialize};
use wordline_kernel::Time;
use wordline_nand::{Die, Plane};

pub use order::{Dimensions, Order};

use crate::lpn::Lpn;

/// Decides the plane of a host write.
pub trait PlanePolicy {
    /// The plane for the next program of `page`, among those that have room; `None` if the page must wait.
    fn plane(&mut self, page: Lpn, has_room: impl FnMut(Plane) -> bool) -> Option<Plane>;
    /// The only plane that will ever do for `page`, if there is only one.
    fn home(&self, page: Lpn) -> Option<Plane>;
    /// The planes of the pages from `first` on, one for every plane and again, for as long as all have room and nothing
    /// else is written; `None` where that is not known beforehand.
    fn turn(&self, first: Lpn) -> Option<Vec<Plane>>;
    /// What the dies have to do now, of policies that ask for it (`Allocate::is_by_work`).
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
            /// Whether the address alone decides the plane.
            pub fn is_by_address(&self) -> bool {
                match self { $(Self::$Variant(_) => $file::State::BY_ADDRESS),+ }
            }
        }

        /// The allocator of a device, with its state.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        #[allow(missing_docs)]
        pub enum Allocator { $($Variant($file::State)),+ }

        impl Allocator {
            /// The state of `policy` before the first write.
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
    /// Whether a write gets its page when it is issued.
    pub fn is_on_issue(&self) -> bool {
        matches!(self, Self::Static(r#static::Static { on_issue: true, .. }))
    }
    /// Whether it has to hear what the dies have to do before each page.
    pub fn is_by_work(&self) -> bool {
        matches!(self, Self::LeastBusy(_))
    }
}

impl Default for Allocate {
    fn default() -> Self {
        Self::Static(r#static::Static::default())
    }
}
