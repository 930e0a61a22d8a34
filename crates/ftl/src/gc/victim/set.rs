//! Sets of blocks, one per plane, from which a member can be drawn by index.

use serde::{Deserialize, Serialize};
use wordline_kernel::memory::{Fill, Table};
use wordline_nand::{Block, Layout, Plane};

/// Dense array of blocks per plane.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PlaneSets {
    blocks_per_plane: usize,
    #[serde(with = "wordline_kernel::dense")]
    members: Vec<u32>,
    #[serde(with = "wordline_kernel::dense")]
    sizes: Vec<u32>,
}

impl PlaneSets {
    pub fn new(layout: &Layout) -> Self {
        Self {
            blocks_per_plane: layout.blocks_per_plane as usize,
            members: vec![0; layout.blocks() as usize],
            sizes: vec![0; layout.planes() as usize],
        }
    }
    /// Returns the memory estimate of the sets on a device filled to `fill`.
    pub fn memory(layout: &Layout, fill: Fill) -> Table {
        Table::zeroed::<u32>("GC candidates", layout.blocks().into(), fill.physical)
    }
    pub fn size(&self, plane: Plane) -> u32 {
        self.sizes[plane.index()]
    }
    pub fn get(&self, plane: Plane, place: u32) -> Block {
        Block(self.members[plane.index() * self.blocks_per_plane + place as usize])
    }
    pub fn insert(&mut self, plane: Plane, block: Block) {
        let size = &mut self.sizes[plane.index()];
        self.members[plane.index() * self.blocks_per_plane + *size as usize] = block.0;
        *size += 1;
    }
    /// Removes and returns the member at index `place`. The last member moves to that index.
    pub fn remove(&mut self, plane: Plane, place: u32) -> Block {
        let base = plane.index() * self.blocks_per_plane;
        let size = &mut self.sizes[plane.index()];
        *size -= 1;
        let block = self.members[base + place as usize];
        self.members[base + place as usize] = self.members[base + *size as usize];
        Block(block)
    }
    /// Removes a member. Takes time linear in the number of members.
    pub fn withdraw(&mut self, plane: Plane, block: Block) {
        let place = (0..self.size(plane)).find(|&place| self.get(plane, place) == block);
        if let Some(place) = place {
            self.remove(plane, place);
        }
    }
}
