//! Reclaim policies, which select the pages of a victim that are moved before its erase.

pub mod conditional;
pub mod move_pages;
pub mod zero_migration;

use crate::lpn::Lpn;
use crate::owner::Owner;

/// Decides whether a GC run moves a valid page that has another copy. A page without another copy
/// is always moved ([`Owner::is_only_copy`]).
pub trait Reclaim {
    /// Returns `true` if a valid page is moved. Otherwise its owner loses it when the GC run starts
    /// ([`Owner::lost`]).
    fn moves(&self, page: Lpn, owner: &impl Owner) -> bool;
    /// Returns `true` if the policy may move a page that has another copy, so that GC runs need
    /// free pages for copies.
    fn needs_room(&self) -> bool {
        true
    }
}

macro_rules! members {
    ($($tag:literal => $Variant:ident($file:ident)),+ $(,)?) => {
        wordline_kernel::family! {
            /// Which valid pages does garbage collection move before it erases their block?
            pub enum Reclaiming at "ftl.gc.reclaim" {
                $($tag => $Variant($file::$Variant)),+
            }
        }

        wordline_kernel::forward! {
            impl Reclaim for Reclaiming by [$($Variant),+] {
                fn moves(&self, page: Lpn, owner: &impl Owner) -> bool;
                fn needs_room(&self) -> bool;
            }
        }
    };
}

members! {
    "move" => Move(move_pages),
    "zero-migration" => ZeroMigration(zero_migration),
    "conditional" => Conditional(conditional),
}

impl Default for Reclaiming {
    fn default() -> Self {
        Self::Move(move_pages::Move::default())
    }
}
