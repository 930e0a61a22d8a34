//! Which page of a block stores which bit of its cells.
//!
//! A cell of several bits belongs to as many pages, and how long a page takes depends on the bit
//! that it stores: the page type, or *level*. Level 0 is the least significant bit (LSB), the
//! fastest to program; the highest level is the most significant one (MSB; for three bits LSB, CSB,
//! MSB, for four a top bit above). Only the array's time depends on it, never the bus (Jung 2013,
//! section 2.7.2).

pub mod mlc_alpha;
pub mod mlc_beta;
pub mod qlc;
pub mod slc;
pub mod tlc;

/// A grouping of the pages of a block into levels.
pub trait PageTypes {
    /// Bits of a cell: levels are below it.
    fn levels(&self) -> u8;
    /// Level of the page at `offset` in a block of `pages` pages; `offset < pages`.
    fn level(&self, offset: u32, pages: u32) -> u8;
}

macro_rules! members {
    ($($tag:literal => $Variant:ident($file:ident)),+ $(,)?) => {
        wordline_kernel::family! {
            /// Which bit of its cells does a page store?
            pub enum Cell at "nand.cell" {
                $($tag => $Variant($file::$Variant)),+
            }
        }

        impl PageTypes for Cell {
            fn levels(&self) -> u8 {
                match self { $(Self::$Variant(cell) => cell.levels()),+ }
            }
            fn level(&self, offset: u32, pages: u32) -> u8 {
                match self { $(Self::$Variant(cell) => cell.level(offset, pages)),+ }
            }
        }
    };
}

members! {
    "slc" => Slc(slc),
    "mlc-alpha" => MlcAlpha(mlc_alpha),
    "mlc-beta" => MlcBeta(mlc_beta),
    "tlc" => Tlc(tlc),
    "qlc" => Qlc(qlc),
}

impl Default for Cell {
    fn default() -> Self {
        Self::Slc(slc::Slc::default())
    }
}

impl Cell {
    /// The constant lambda of a grouping that has one.
    pub fn lambda(&self) -> Option<u32> {
        match self {
            Self::MlcAlpha(cell) => Some(cell.lambda),
            Self::MlcBeta(cell) => Some(cell.lambda),
            _ => None,
        }
    }
}

/// The least significant bit.
const LSB: u8 = 0;
/// The other bit of a cell of two.
const MSB: u8 = 1;

/// The level of an offset that the forms of a group claim for both levels, or for none: the lower
/// half of its lambda pages is LSB.
fn half(offset: u32, lambda: u32) -> u8 {
    if offset % lambda < lambda / 2 {
        LSB
    } else {
        MSB
    }
}
