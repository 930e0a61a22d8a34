//! Admission policies, which decide whether a missed page is inserted into the cache.

pub mod always;
pub mod second_access;
pub mod sequential_bypass;

use wordline_block::Request;

/// Admission policy with its state.
pub trait Admit {
    /// Observes a request before its pages are looked up.
    fn comes(&mut self, _request: &Request) {}
    /// Returns `true` if the latest request bypasses the cache: no missed page is admitted, and
    /// writes go to the backing store. Read hits and partial writes of dirty pages are still served
    /// from flash.
    fn bypasses(&self) -> bool {
        false
    }
    /// Returns `true` if a missed page of the latest request is admitted.
    fn admits(&mut self, page: u64) -> bool;
}

macro_rules! members {
    ($($tag:literal => $Variant:ident($file:ident)),+ $(,)?) => {
        wordline_kernel::family! {
            /// Which missed pages does a cache admit?
            pub enum Admission at "cache.admission" {
                $($tag => $Variant($file::$Variant)),+
            }
        }

        /// Admission policy of a cache, with its state.
        #[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
        #[allow(missing_docs)]
        pub enum Filter { $($Variant($file::State)),+ }

        impl Filter {
            /// Creates the initial state of a policy, for a cache of `capacity` pages.
            pub fn new(policy: &Admission, capacity: usize) -> Self {
                match policy { $(Admission::$Variant(policy) => Self::$Variant($file::State::new(policy, capacity))),+ }
            }
        }

        wordline_kernel::forward! {
            impl Admit for Filter by [$($Variant),+] {
                #[inline]
                fn comes(&mut self, request: &Request);
                #[inline]
                fn bypasses(&self) -> bool;
                #[inline]
                fn admits(&mut self, page: u64) -> bool;
            }
        }
    };
}

members! {
    "always" => Always(always),
    "second-access" => SecondAccess(second_access),
    "sequential-bypass" => SequentialBypass(sequential_bypass),
}

impl Default for Admission {
    fn default() -> Self {
        Self::Always(always::Always::default())
    }
}
