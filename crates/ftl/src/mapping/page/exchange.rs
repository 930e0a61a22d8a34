//! Exchange of the locations of two pages.

use wordline_nand::Ppn;

use super::PageMap;
use crate::block::Phase;
use crate::gc::victim::VictimPolicy;
use crate::lpn::Lpn;
use crate::mapping::Mapping;

impl PageMap {
    /// Implements [`Mapping::exchange`].
    pub(super) fn exchange_places(&mut self, page: Lpn, place: Ppn) -> bool {
        let Some(from) = self.lookup(page) else {
            return false;
        };
        let Some(other) = self.owners.get(place) else {
            return false;
        };
        let stays = |place| {
            let phase = self.blocks.phase(self.layout.block_of(place));
            matches!(phase, Phase::Active | Phase::Closed)
        };
        if !stays(from) || !stays(place) {
            return false;
        }
        self.scattered = true;
        for place in [from, place] {
            self.owners.store(self.layout.block_of(place));
        }
        self.owners.swap(from, place);
        self.map.set(page, place);
        if self.map.get(other) == Some(place) && other != page {
            self.map.set(other, from);
        } else if from != place {
            self.revive(place);
            self.invalidate(from);
        }
        true
    }

    /// Marks the page programmed at `place`, which is invalid, as the current copy of a logical
    /// page.
    pub(super) fn revive(&mut self, place: Ppn) {
        let block = self.layout.block_of(place);
        self.blocks.gain(block, place);
        if self.blocks.phase(block) == Phase::Closed {
            let plane = self.layout.plane_of(block);
            self.planes[plane.index()].stale -= 1;
            self.chooser.revived(plane, block, self.blocks.valid(block));
        }
    }
}
