//! Audits for tests: incrementally maintained state must equal a full recount.

use wordline_ftl::Mapping;
use wordline_nand::{Die, Operation};

use super::{Controller, DieLoad};

impl<M: Mapping> Controller<M> {
    /// Returns the load of every die, from all waiting operations and all in progress.
    pub fn recount(&self) -> Vec<DieLoad> {
        let mut loads = vec![DieLoad::default(); self.gc.base.flash.layout.dies as usize];
        for (slot, die, transaction) in self.gc.base.flash.backend.in_flight() {
            if transaction.purpose.is_gc() || self.gc.base.conditions.is_decoding(slot) {
                continue;
            }
            let load = &mut loads[die.index()];
            match transaction.purpose.operation() {
                Operation::Read => load.reads += 1,
                _ => load.programs += 1,
            }
        }
        for (writes, plane) in self.gc.stalled.planes.iter().zip(0..) {
            let die = self
                .gc
                .base
                .flash
                .layout
                .die_of(wordline_nand::Plane(plane));
            loads[die.index()].programs += writes.len() as u32;
        }
        for collecting in self.gc.jobs.collections() {
            let load = &mut loads[self.gc.base.flash.layout.die_of(collecting.plane).index()];
            load.collections += 1;
            load.collecting += collecting.time;
            load.longest = load.longest.max(collecting.time);
        }
        loads
    }
    /// Checks the loads of the dies against a recount.
    pub fn audit(&self) -> Result<(), String> {
        for (recounted, die) in self.recount().into_iter().zip(0..) {
            let kept = self.die_load(Die(die));
            if kept != recounted {
                return Err(format!(
                    "die {die}: the load is {kept:?}, a recount gives {recounted:?}"
                ));
            }
        }
        Ok(())
    }
}
