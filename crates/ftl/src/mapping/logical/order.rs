//! Order in which logical blocks are merged.

use wordline_nand::Plane;

use super::state::{IN_DELAYED, IN_FULL, IN_RECENT, MERGING};
use super::{LogicalBlock, LogicalMap};

impl LogicalMap {
    /// Updates the lists to which a logical block belongs, and appends the logical block to each
    /// list that it joins.
    pub(super) fn sort(&mut self, logical: LogicalBlock) {
        let plane = self.shape.home(logical).index();
        let state = self.logical[logical.0 as usize];
        let full = self.active(logical).is_none();
        let gains = u32::from(state.blocks) > self.needed(logical) && state.bits & MERGING == 0;
        let full = gains && full;
        let state = &mut self.logical[logical.0 as usize];
        for (list, bit, belongs) in [
            (&mut self.recent, IN_RECENT, gains),
            (&mut self.full, IN_FULL, full),
        ] {
            let is_in = state.bits & bit != 0;
            if is_in == belongs {
                continue;
            }
            state.bits ^= bit;
            if belongs {
                list.push_back(plane, logical.0);
            } else {
                list.remove(logical.0);
            }
        }
        // The logical block has nothing left to merge, for example after a TRIM, so its merge is no
        // longer delayed.
        if !gains && state.bits & MERGING == 0 && state.buffered == 0 {
            self.no_longer_put_off(logical);
        }
    }

    /// Marks a logical block as the most recently written one.
    #[inline]
    pub(super) fn touch(&mut self, plane: Plane, logical: LogicalBlock) {
        if self.logical[logical.0 as usize].bits & IN_RECENT != 0 {
            self.recent.remove(logical.0);
            self.recent.push_back(plane.index(), logical.0);
        }
    }

    pub(super) fn put_off(&mut self, logical: LogicalBlock) {
        let state = &mut self.logical[logical.0 as usize];
        if state.bits & IN_DELAYED == 0 {
            state.bits |= IN_DELAYED;
            self.delayed
                .push_back(self.shape.home(logical).index(), logical.0);
        }
    }

    pub(super) fn no_longer_put_off(&mut self, logical: LogicalBlock) {
        let state = &mut self.logical[logical.0 as usize];
        if state.bits & IN_DELAYED != 0 {
            state.bits &= !IN_DELAYED;
            self.delayed.remove(logical.0);
        }
    }
}
