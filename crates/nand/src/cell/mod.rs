//! Page types: the bit of its cells that each page of a block stores.
//!
//! A cell of n bits belongs to n pages. The array time of a page depends on the bit that it stores:
//! the page type, or *level*. Level 0 is the least significant bit (LSB) and the fastest to
//! program. Two-bit cells have LSB and MSB (most significant bit), three-bit cells LSB, CSB and
//! MSB; four-bit cells add a top bit. Bus time does not depend on the page type (Jung 2013, section
//! 2.7.2).

pub mod mlc_alpha;
pub mod mlc_beta;
pub mod qlc;
pub mod slc;
pub mod tlc;

/// Assignment of the pages of a block to levels.
pub trait PageTypes {
    /// Returns the number of bits per cell. Every level is less than this number.
    fn levels(&self) -> u8;
    /// Returns the level of the page at `offset` in a block of `pages` pages. `offset` is less than
    /// `pages`.
    fn level(&self, offset: u32, pages: u32) -> u8;
    /// Returns the period lambda of the grouping, if it has one. Pages.
    fn lambda(&self) -> Option<u32> {
        None
    }
}

macro_rules! members {
    ($($tag:literal => $Variant:ident($file:ident)),+ $(,)?) => {
        wordline_kernel::family! {
            /// Which bit of its cells does a page store?
            pub enum Cell at "nand.cell" {
                $($tag => $Variant($file::$Variant)),+
            }
        }

        wordline_kernel::forward! {
            impl PageTypes for Cell by [$($Variant),+] {
                fn levels(&self) -> u8;
                fn level(&self, offset: u32, pages: u32) -> u8;
                fn lambda(&self) -> Option<u32>;
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

/// Level of the least significant bit.
const LSB: u8 = 0;
/// Level of the most significant bit of a two-bit cell.
const MSB: u8 = 1;

/// Returns the level of an offset to which the forms of an address group assign both levels, or
/// neither. Of each lambda consecutive pages, the first half is LSB and the second half MSB.
fn half(offset: u32, lambda: u32) -> u8 {
    if offset % lambda < lambda / 2 {
        LSB
    } else {
        MSB
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alpha(lambda: u32) -> Cell {
        Cell::MlcAlpha(mlc_alpha::MlcAlpha { lambda })
    }
    fn beta(lambda: u32) -> Cell {
        Cell::MlcBeta(mlc_beta::MlcBeta { lambda })
    }
    fn table(cell: &Cell, pages: u32) -> String {
        let level = |offset| ["L", "M"][usize::from(cell.level(offset, pages))];
        (0..pages).map(level).collect()
    }

    #[test]
    fn mlc_block_of_16_pages_has_the_expected_page_types() {
        assert_eq!(table(&alpha(2), 16), "LLLMLMLMLMLMLMLL");
        assert_eq!(table(&alpha(4), 16), "LLMMLLMMLLMMLLML");
        assert_eq!(table(&beta(2), 16), "LLLMLMLMLMLMLMLL");
        assert_eq!(table(&beta(4), 16), "LLLLLLMMLLMMLLLL");
    }

    /// Offsets that the formulas of Jung 2013, section 2.7.2, cover: the rule for the ends of the
    /// block, the LSB form and the MSB form. n ranges over the whole block.
    struct Forms {
        ends: Vec<i64>,
        lsb: Vec<i64>,
        msb: Vec<i64>,
    }

    fn forms(group_alpha: bool, lambda: i64, pages: i64) -> Forms {
        if group_alpha {
            Forms {
                ends: vec![0, 1, pages - 1, pages],
                lsb: (0..pages).map(|n| lambda * n).collect(),
                msb: (0..pages).map(|n| lambda * n - (lambda + 1)).collect(),
            }
        } else {
            let ends = (0..pages).filter(|&n| n < lambda || n > pages - lambda);
            let lsb = (0..pages).flat_map(|n| [lambda * n, lambda * n + 1]);
            let msb =
                (0..pages).flat_map(|n| [lambda * n - (lambda + 2), lambda * n - (lambda + 1)]);
            Forms {
                ends: ends.collect(),
                lsb: lsb.collect(),
                msb: msb.collect(),
            }
        }
    }

    #[test]
    fn page_levels_match_the_published_formulas_where_those_are_unambiguous() {
        let blocks = [8, 16, 64, 128, 256].into_iter();
        for (pages, lambda) in blocks.flat_map(|pages| [(pages, 2), (pages, 4)]) {
            for (cell, is_alpha) in [(alpha(lambda), true), (beta(lambda), false)] {
                let forms = forms(is_alpha, lambda.into(), pages.into());
                for offset in 0..pages {
                    let n = i64::from(offset);
                    let claims = (forms.lsb.contains(&n), forms.msb.contains(&n));
                    let expected = match (forms.ends.contains(&n), claims) {
                        (true, _) | (_, (true, false)) => LSB,
                        (_, (false, true)) => MSB,
                        _ if offset % lambda < lambda / 2 => LSB,
                        _ => MSB,
                    };
                    let level = cell.level(offset, pages);
                    assert_eq!(level, expected, "{cell:?}, page {offset} of {pages}");
                }
            }
        }
    }

    #[test]
    fn every_page_has_a_valid_level_and_every_level_occurs() {
        for cell in Cell::defaults() {
            for pages in [1, 2, 3, 5, 64, 1152] {
                let levels: Vec<u8> = (0..pages).map(|n| cell.level(n, pages)).collect();
                assert!(levels.iter().all(|&level| level < cell.levels()));
                let all = (0..cell.levels()).all(|level| levels.contains(&level));
                assert!(all || pages < 64, "{cell:?}, {pages} pages");
            }
        }
    }
}
