//! SLC cache: blocks that take host writes in single-level mode until they are folded.

pub mod dynamic;
pub mod hybrid;
pub mod off;
pub mod r#static;

use serde::{Deserialize, Serialize};

use crate::rounding::share;

/// Size of the SLC cache of a plane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Size {
    /// Blocks that are used in single-level mode only. Share of the plane's blocks.
    pub dedicated_ratio: f64,
    /// Maximum number of free blocks lent in addition. Share of the plane's blocks.
    pub lent_ratio: f64,
    /// Time without a request after which blocks are folded. Milliseconds.
    pub fold_after_ms: f64,
}

impl Size {
    /// Returns the number of dedicated blocks in a plane of `blocks` blocks: rounded down, but at
    /// least one if the share is not zero.
    pub fn dedicated(&self, blocks: u32) -> u32 {
        Self::blocks(self.dedicated_ratio, blocks)
    }
    /// Returns the maximum number of lent blocks in a plane of `blocks` blocks, rounded in the same
    /// way.
    pub fn lent(&self, blocks: u32) -> u32 {
        Self::blocks(self.lent_ratio, blocks)
    }
    fn blocks(ratio: f64, blocks: u32) -> u32 {
        if ratio > 0.0 {
            share(ratio, blocks).max(1)
        } else {
            0
        }
    }
}

/// SLC cache policy.
pub trait Caches {
    /// Returns the size of the cache, or `None` if there is no cache.
    fn size(&self) -> Option<Size>;
}

macro_rules! members {
    ($($tag:literal => $Variant:ident($file:ident)),+ $(,)?) => {
        wordline_kernel::family! {
            /// Which blocks accept host writes in single-level mode?
            pub enum SlcCache at "ftl.slc_cache" {
                $($tag => $Variant($file::$Variant)),+
            }
        }

        wordline_kernel::forward! {
            impl Caches for SlcCache by [$($Variant),+] {
                fn size(&self) -> Option<Size>;
            }
        }
    };
}

members! {
    "off" => Off(off),
    "static" => Static(r#static),
    "dynamic" => Dynamic(dynamic),
    "hybrid" => Hybrid(hybrid),
}

impl Default for SlcCache {
    fn default() -> Self {
        Self::Off(off::Off::default())
    }
}
