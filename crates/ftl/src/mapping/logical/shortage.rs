//! Search for the merge that announced writes will need.

use wordline_nand::Plane;

use super::{LogicalBlock, LogicalMap, SpaceRequest};
use crate::lpn::Lpn;

impl LogicalMap {
    /// Returns the logical block of each page of `writes` that belongs to `plane`, in order.
    fn of_plane(&self, plane: Plane, writes: &[(Lpn, u32)]) -> impl Iterator<Item = LogicalBlock> {
        let pages = writes.iter().flat_map(|&(first, pages)| {
            let end = first.0.saturating_add(pages).min(self.shape.user_pages);
            first.0..end
        });
        let blocks = pages.map(|page| self.shape.of(Lpn(page)).0);
        blocks.filter(move |block| self.shape.home(*block) == plane)
    }

    /// Implements [`super::Mapping::shortage`].
    pub(super) fn shortage_of(&self, plane: Plane, writes: &[(Lpn, u32)]) -> Option<SpaceRequest> {
        let per_block = self.layout.pages_per_block;
        let (mut shares, mut opens) = (Vec::<(LogicalBlock, u32)>::new(), 0);
        for logical in self.of_plane(plane, writes) {
            let state = self.logical[logical.0 as usize];
            let room = self.active(logical).map_or(0, |block| {
                per_block - u32::from(self.members[block.index()].used)
            });
            let known = shares.iter().position(|(known, _)| *known == logical);
            let place = known.unwrap_or(shares.len());
            if known.is_none() {
                shares.push((logical, 0));
            }
            let pages = &mut shares[place].1;
            *pages += 1;
            let beyond = pages.saturating_sub(room);
            if beyond == 0 || (beyond - 1) % per_block != 0 {
                continue;
            }
            let blocks = beyond.div_ceil(per_block);
            let left = self
                .rules
                .update_blocks
                .saturating_sub(state.updates.into());
            if blocks > left && !self.is_promoted_by_itself(logical) {
                return Some(SpaceRequest::Update(plane, logical));
            }
            opens += 1;
        }
        let free = self.planes[plane.index()].free.saturating_sub(opens);
        if free >= self.start_blocks {
            return None;
        }
        self.to_merge(plane)
            .map(|logical| SpaceRequest::Update(plane, logical))
    }
}
