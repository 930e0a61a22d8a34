//! Which pages of a block are moved before it is erased.

pub mod conditional;
pub mod move_pages;
pub mod zero_migration;

use crate::lpn::Lpn;
use crate::owner::Owner;

/// Decides page by page, when a collection begins.
pub trait Reclaim {
    /// Whether a valid page is moved; else its owner loses it with the block.
    fn moves(&self, page: Lpn, owner: &impl Owner) -> bool;
    /// Whether it ever moves a page that has another copy: collections need room for copies then.
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
