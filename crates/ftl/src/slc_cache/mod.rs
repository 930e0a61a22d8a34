//! Blocks in single-level mode that take what the host writes, until it is folded.

pub mod dynamic;
pub mod hybrid;
pub mod off;
pub mod r#static;

use serde::{Deserialize, Serialize};

use crate::share::share;

/// How many blocks of a plane take writes of the host in single-level mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Size {
    /// Blocks that are never used in another mode, share of the plane's.
    pub dedicated_ratio: f64,
    /// Free blocks that may be lent beside at once, share of the plane's.
    pub lent_ratio: f64,
    /// After how long without a request blocks are folded, in milliseconds.
    pub fold_after_ms: f64,
}

impl Size {
    /// Dedicated blocks of a plane of `blocks`: rounded down, at least one if the share is not zero.
    pub fn dedicated(&self, blocks: u32) -> u32 {
        Self::blocks(self.dedicated_ratio, blocks)
    }
    /// Lent blocks at most, in the same way.
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

/// A cache of single-level blocks.
pub trait Caches {
    /// How large it is; `None` without one.
    fn size(&self) -> Option<Size>;
}

macro_rules! members {
    ($($tag:literal => $Variant:ident($file:ident)),+ $(,)?) => {
        wordline_kernel::family! {
            /// Which blocks take the writes of the host in single-level mode?
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
