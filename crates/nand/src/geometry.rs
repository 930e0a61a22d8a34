//! Geometry of a NAND package, and the addresses that follow from it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Division of one package into dies, planes, blocks and pages (`[nand.geometry]`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Geometry {
    /// Dies in a package; they share its bus. Count.
    #[schemars(range(min = 1, max = 64))]
    pub dies_per_package: u32,
    /// Planes in a die; they share the die's command logic. Count.
    #[schemars(range(min = 1, max = 64))]
    pub planes_per_die: u32,
    /// Erase blocks in a plane. Count.
    #[schemars(range(min = 1, max = 16_777_216))]
    pub blocks_per_plane: u32,
    /// Pages in a block; they are programmed in order. Count.
    #[schemars(range(min = 1, max = 65_535))]
    pub pages_per_block: u32,
    /// User bytes in a page. Bytes, a multiple of 512.
    #[schemars(range(min = 512, max = 65_536))]
    pub page_bytes: u32,
    /// Spare (out-of-band) bytes per page. Bytes.
    #[schemars(range(min = 0, max = 65_536))]
    pub spare_bytes: u32,
}

impl Default for Geometry {
    fn default() -> Self {
        Self {
            dies_per_package: 1,
            planes_per_die: 2,
            blocks_per_plane: 512,
            pages_per_block: 64,
            page_bytes: 4096,
            spare_bytes: 128,
        }
    }
}

macro_rules! id {
    ($(#[doc = $doc:literal])+ $Name:ident) => {
        $(#[doc = $doc])+
        #[derive(
            Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        )]
        pub struct $Name(pub u32);

        impl $Name {
            /// Returns the number as an index into a dense array.
            #[inline(always)]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id! {
    /// Number of a die in the whole array.
    Die
}
id! {
    /// Number of a plane in the whole array: `die * planes_per_die + plane in die`.
    Plane
}
id! {
    /// Number of an erase block in the whole array: `block in plane * planes + plane`. Blocks that
    /// the planes use at the same time are adjacent in dense arrays, whatever the size of a plane.
    Block
}
id! {
    /// Number of a physical page in the whole array: `block * pages_per_block + page in block`.
    Ppn
}

/// Address arithmetic for an array of equal dies. All counts are positive, and the number of pages
/// fits 32 bits; code that builds a layout from user input checks both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layout {
    /// Dies in the array. Count.
    pub dies: u32,
    /// Planes in a die. Count.
    pub planes_per_die: u32,
    /// Blocks in a plane. Count.
    pub blocks_per_plane: u32,
    /// Pages in a block. Count.
    pub pages_per_block: u32,
}

impl Layout {
    /// Returns the layout of `packages` packages of `geometry`, or `None` above 2^32 - 2 pages.
    pub fn new(geometry: &Geometry, packages: u32) -> Option<Self> {
        let layout = Self {
            dies: packages.checked_mul(geometry.dies_per_package)?,
            planes_per_die: geometry.planes_per_die,
            blocks_per_plane: geometry.blocks_per_plane,
            pages_per_block: geometry.pages_per_block,
        };
        let pages = u64::from(layout.dies)
            .checked_mul(u64::from(layout.planes_per_die))?
            .checked_mul(u64::from(layout.blocks_per_plane))?
            .checked_mul(u64::from(layout.pages_per_block))?;
        (pages < u64::from(u32::MAX)).then_some(layout)
    }
    /// Returns the number of planes in the array.
    pub const fn planes(&self) -> u32 {
        self.dies * self.planes_per_die
    }
    /// Returns the number of blocks in the array.
    pub const fn blocks(&self) -> u32 {
        self.planes() * self.blocks_per_plane
    }
    /// Returns the number of pages in the array.
    pub const fn pages(&self) -> u32 {
        self.blocks() * self.pages_per_block
    }
    /// Returns the block of a page.
    #[inline]
    pub const fn block_of(&self, page: Ppn) -> Block {
        Block(page.0 / self.pages_per_block)
    }
    /// Returns the offset of a page in its block.
    #[inline]
    pub const fn page_in_block(&self, page: Ppn) -> u32 {
        page.0 % self.pages_per_block
    }
    /// Returns the plane of a block.
    #[inline]
    pub const fn plane_of(&self, block: Block) -> Plane {
        Plane(block.0 % self.planes())
    }
    /// Returns the offset of a block in its plane.
    #[inline]
    pub const fn block_in_plane(&self, block: Block) -> u32 {
        block.0 / self.planes()
    }
    /// Returns the die of a plane.
    #[inline]
    pub const fn die_of(&self, plane: Plane) -> Die {
        Die(plane.0 / self.planes_per_die)
    }
    /// Returns the plane of a page.
    #[inline]
    pub const fn plane_of_page(&self, page: Ppn) -> Plane {
        self.plane_of(self.block_of(page))
    }
    /// Returns the die of a page.
    #[inline]
    pub const fn die_of_page(&self, page: Ppn) -> Die {
        self.die_of(self.plane_of(self.block_of(page)))
    }
    /// Returns the page at an offset of a block.
    #[inline]
    pub const fn page(&self, block: Block, page_in_block: u32) -> Ppn {
        Ppn(block.0 * self.pages_per_block + page_in_block)
    }
    /// Returns the block at an offset of a plane.
    #[inline]
    pub const fn block(&self, plane: Plane, block_in_plane: u32) -> Block {
        Block(block_in_plane * self.planes() + plane.0)
    }
    /// Returns the address of a page as text, for messages.
    pub fn describe(&self, page: Ppn) -> String {
        let block = self.block_of(page);
        format!(
            "{}, page {}",
            self.describe_block(block),
            self.page_in_block(page)
        )
    }
    /// Returns the address of a block as text, for messages.
    pub fn describe_block(&self, block: Block) -> String {
        let plane = self.plane_of(block);
        format!(
            "die {}, plane {}, block {}",
            self.die_of(plane).0,
            plane.0 % self.planes_per_die,
            self.block_in_plane(block)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_survive_decoding_and_encoding() {
        let geometry = Geometry {
            planes_per_die: 3,
            blocks_per_plane: 5,
            pages_per_block: 7,
            ..Geometry::default()
        };
        let layout = Layout::new(&geometry, 4).unwrap();
        assert_eq!(layout.pages(), 4 * 3 * 5 * 7);
        for page in (0..layout.pages()).map(Ppn) {
            let block = layout.block_of(page);
            let plane = layout.plane_of(block);
            assert_eq!(layout.page(block, layout.page_in_block(page)), page);
            assert_eq!(layout.block(plane, layout.block_in_plane(block)), block);
            assert_eq!(layout.die_of(plane).0, page.0 / 7 % 12 / 3);
        }
    }

    #[test]
    fn layout_with_page_numbers_beyond_32_bits_is_rejected() {
        let geometry = Geometry {
            blocks_per_plane: 1 << 20,
            pages_per_block: 1 << 12,
            ..Geometry::default()
        };
        assert_eq!(Layout::new(&geometry, 1), None);
        assert_eq!(Layout::new(&geometry, u32::MAX), None);
    }
}
