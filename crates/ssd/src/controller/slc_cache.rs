//! Pages in single-level mode: their conditions, their statistics, and folding.

use serde::{Deserialize, Serialize};
use wordline_ftl::Mapping;
use wordline_ftl::gc::schedule::Trigger;
use wordline_kernel::Time;
use wordline_nand::{Operation, Plane, Ppn};

use super::collector::Collector;
use super::conditions::Conditions;
use super::flash::Flash;
use crate::backend::{Order, PageConditions, Purpose};
use crate::event::Context;
use crate::observation::DeviceProbe;

/// Statistics of an SLC cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlcCounts {
    /// Host pages programmed in single-level mode. Count.
    pub written: u64,
    /// Host pages programmed in the part's own mode. Count.
    pub direct: u64,
    /// Pages that GC moved out of single-level blocks. Count.
    pub folded: u64,
    /// Pages that the host read from single-level blocks. Count.
    pub reads: u64,
    /// Erases of single-level blocks. Count.
    pub erases: u64,
}

wordline_kernel::since!(SlcCounts: written, direct, folded, reads, erases);
wordline_kernel::plus!(SlcCounts: written, direct, folded, reads, erases);

impl Conditions {
    /// Sets whether the pages of an operation are, or will be, in single-level mode, and counts it.
    pub fn grade_cached<M: Mapping>(
        &mut self,
        flash: &mut Flash,
        mapping: &M,
        order: &Order,
        grade: &mut PageConditions,
    ) {
        let Some(counts) = &mut self.slc else {
            return;
        };
        let array = &mut flash.array;
        let layout = &flash.layout;
        let was_single = |place: Ppn| array.is_single_level(layout.block_of(place));
        let (operation, purpose) = (order.purpose.operation(), order.purpose);
        grade.single_read = match operation {
            Operation::Read | Operation::Move => was_single(order.place),
            _ => false,
        };
        match purpose {
            Purpose::Read => counts.reads += u64::from(grade.single_read),
            Purpose::Move => counts.folded += u64::from(grade.single_read),
            Purpose::MoveProgram => counts.folded += u64::from(was_single(Ppn(order.tag))),
            Purpose::Erase => counts.erases += u64::from(was_single(order.place)),
            _ => {}
        }
        if matches!(operation, Operation::Program | Operation::Move) {
            grade.single_program = mapping.is_single_level(order.target);
            array.set_single_level(layout.block_of(order.target), grade.single_program);
            if purpose.is_write() {
                let count = if grade.single_program {
                    &mut counts.written
                } else {
                    &mut counts.direct
                };
                *count += 1;
            }
        }
    }
}

impl<M: Mapping> Collector<M> {
    /// Returns `true` if the device has been idle long enough to fold blocks of the SLC cache.
    pub fn folds_now(&self, now: Time) -> bool {
        let Some(idling) = &self.idling else {
            return false;
        };
        let due = idling.fold_due();
        self.base.requests.serving() == 0 && due.is_some_and(|due| due <= now)
    }

    /// Folds the next block of an idle plane, if it is due.
    pub fn fold_in_idle_time(&mut self, cx: &mut Context<impl DeviceProbe>, plane: Plane) {
        if self.jobs.collects(plane)
            || self.base.conditions.failing.is_ending
            || !self.folds_now(cx.now)
        {
            return;
        }
        if let Some(collection) = self.base.mapping.fold(plane) {
            self.begin_collection(cx, plane, collection, Trigger::IdleFold);
        }
    }
}
