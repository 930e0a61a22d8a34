//! The power fails: what becomes of the buffer.

use rustc_hash::FxHashMap;
use wordline_cache::replacement::Replace;
use wordline_ftl::{Lpn, Mapping};
use wordline_kernel::{Probe, Time};

use super::sight::{Bound, Sight};
use super::{Around, Buffer};
use crate::error::DeviceError;
use crate::link::{Link, Rate};
use crate::observation::Observation;
use wordline_block::PowerCut;

impl Buffer {
    /// The power has failed, and the flash has recovered. Without capacitors everything is lost.
    /// With them the pages that were newer than the flash had been saved, and are here again, as
    /// requests of their pages in the order of their numbers. `holds` tells which of the writes
    /// and trims of a page the flash holds, if the run is verified.
    pub fn cut_power<M: Mapping, P: Probe<Observation>>(
        &mut self,
        now: Time,
        cut: &mut PowerCut,
        around: &mut Around<'_, M, P>,
    ) -> Result<(), DeviceError> {
        let ahead = self.frames.clear();
        self.policy = self.fresh_policy();
        let (bytes, ps) = self.plan.port;
        self.port = Link::new(Rate { ps, bytes });
        self.free = self.plan.pages;
        self.rooms.clear();
        self.parts.clear();
        self.vacant.clear();
        self.remaining.clear();
        self.asks.clear();
        self.bound.fill(Bound::default());
        self.done.clear();
        self.left.clear();
        self.late.clear();
        let lossless = self.plan.capacitors;
        let mut saved = FxHashMap::default();
        if lossless {
            cut.pages_saved = ahead.len() as u32;
            for lost in ahead {
                let dirty = lost.dirty | lost.sending;
                saved.insert(lost.page, lost.valid | dirty);
                self.put_back(lost.page, lost.valid, dirty, around);
            }
        } else {
            cut.pages_lost = ahead.len() as u32;
        }
        self.faultless()?;
        if let Some(verification) = &mut self.verification {
            let holds = |page| around.flash.shadow().map_or(0, |shadow| shadow.holds(page));
            let checked = verification.cut(now, holds, &saved, lossless);
            checked.map_err(DeviceError::Verification)?;
        }
        Ok(())
    }

    /// A page is in memory as it was. If it was only passing through, it leaves with the first request.
    fn put_back<M: Mapping, P>(
        &mut self,
        page: Lpn,
        valid: u64,
        dirty: u64,
        around: &mut Around<'_, M, P>,
    ) {
        let entry = self.frames.enter(page);
        let mut sight = Sight {
            frames: &mut self.frames,
            flash: around.flash,
            bound: &self.bound,
            left: &mut self.left,
        };
        let has_room = self.free > 0;
        if has_room {
            self.policy.access(entry, true, &mut sight);
            self.free -= 1;
        } else {
            self.late.push(entry);
        }
        self.late.extend(self.left.drain(..).map(|gone| gone.entry));
        let frame = self.frames.get_mut(entry);
        (frame.known, frame.resident) = (has_room, has_room);
        (frame.held, frame.passing) = (true, !has_room);
        (frame.valid, frame.dirty, frame.version) = (valid, dirty, 1);
        self.frames.write(entry);
    }
}
