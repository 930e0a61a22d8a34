//! What a cache takes in of what it missed.

pub mod always;
pub mod second_access;
pub mod sequential_bypass;

use wordline_block::Request;

/// A filter of misses, with its state.
pub trait Admit {
    /// A request comes, whatever it will find.
    fn comes(&mut self, _request: &Request) {}
    /// Whether the request passes by whatever the cache holds, but for what only the cache holds.
    fn bypasses(&self) -> bool {
        false
    }
    /// Whether a page that the request has missed is taken in.
    fn admits(&mut self, page: u64) -> bool;
}

macro_rules! members {
    ($($tag:literal => $Variant:ident($file:ident)),+ $(,)?) => {
        wordline_kernel::family! {
            /// What does a cache take in of what it missed?
            pub enum Admission at "cache.admission" {
                $($tag => $Variant($file::$Variant)),+
            }
        }

        /// The filter of a cache, with its state.
        #[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
        #[allow(missing_docs)]
        pub enum Filter { $($Variant($file::State)),+ }

        impl Filter {
            /// A filter that has seen nothing, of a cache of `capacity` pages.
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
