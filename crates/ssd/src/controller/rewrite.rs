//! Rewrites of pages in a mode with faster reads.

use std::collections::VecDeque;

use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};
use wordline_ftl::program_mode::{Regulator, Rewriting};
use wordline_ftl::{Lpn, Mapping, Programmed};
use wordline_io_scheduler::Slot;
use wordline_nand::{Die, Layout, Ppn};
use wordline_reliability::ProgramMode;

use super::base::Base;
use super::collector::Collector;
use super::job::Waiter;
use super::pending::{NO_QUEUE, PageRead, Rewrite};
use super::write::{Place, Writes};
use crate::backend::{Order, PageConditions, Purpose};
use crate::event::Context;
use crate::observation::DeviceProbe;
use crate::plan::Plan;

/// Time at which pages are rewritten; see [`Rewriting`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum WhenRewritten {
    Never,
    Idle,
    AtOnce,
}

/// Pages to rewrite, if there are several program modes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Rewrites {
    when: WhenRewritten,
    /// Program mode of rewritten pages.
    mode: ProgramMode,
    /// Pages to rewrite, by the die that holds them.
    queues: Vec<VecDeque<Lpn>>,
    /// Pages that are queued, or whose rewrite has not reached its program.
    queued: FxHashSet<Lpn>,
    /// Whether a page of a die's queue is being rewritten, by die.
    busy: Vec<bool>,
}

impl Rewrites {
    /// Creates the state; `None` if there is only one program mode.
    pub fn new(plan: &Plan) -> Option<Box<Self>> {
        plan.part.chains.costs()?;
        let regulator = Regulator::new(&plan.ftl.config.regulation, 0);
        let policy = regulator.policy();
        let dies = plan.part.layout.dies as usize;
        Some(Box::new(Self {
            when: match policy.rewriting() {
                Rewriting::Never => WhenRewritten::Never,
                Rewriting::Idle => WhenRewritten::Idle,
                Rewriting::AtOnce => WhenRewritten::AtOnce,
            },
            mode: policy.rewritten(),
            queues: vec![VecDeque::new(); dies],
            queued: FxHashSet::default(),
            busy: vec![false; dies],
        }))
    }
    /// Marks the queue of a die as free for its next page.
    fn frees(&mut self, queue: u32) {
        if let Some(busy) = self.busy.get_mut(queue as usize) {
            *busy = false;
        }
    }
    /// Queues a page for a rewrite when its die is idle.
    pub fn queue(&mut self, layout: &Layout, page: Lpn, place: Ppn) {
        if self.queued.insert(page) {
            self.queues[layout.die_of_page(place).index()].push_back(page);
        }
    }
}

impl Writes {
    /// Handles an issued read, after which the page may be rewritten.
    #[cold]
    pub fn regulate_read<M: Mapping>(
        &mut self,
        gc: &mut Collector<M>,
        cx: &mut Context<impl DeviceProbe>,
        read: &PageRead,
        place: Ppn,
    ) {
        let mode = gc.base.flash.mode_of(place);
        let Some((rewrites, regulation)) = self
            .rewrites
            .as_mut()
            .zip(gc.base.conditions.regulation.as_ref())
        else {
            return;
        };
        if mode == rewrites.mode || !regulation.rewrites(read, mode) {
            return;
        }
        match rewrites.when {
            WhenRewritten::Never => {}
            WhenRewritten::Idle => rewrites.queue(&gc.base.flash.layout, read.page, place),
            WhenRewritten::AtOnce => {
                if rewrites.queued.insert(read.page) {
                    self.rewrite(gc, cx, Rewrite::of(read.page.0, NO_QUEUE));
                }
            }
        }
    }

    /// Rewrites the next page of a die's queue, if the die is idle.
    pub fn use_idle_die<M: Mapping>(
        &mut self,
        gc: &mut Collector<M>,
        cx: &mut Context<impl DeviceProbe>,
        die: Die,
    ) {
        if !gc.base.flash.is_idle(die) {
            return;
        }
        while let Some(rewrites) = &mut self.rewrites
            && !rewrites.busy[die.index()]
            && let Some(page) = rewrites.queues[die.index()].pop_front()
        {
            let now_on = gc.base.mapping.lookup(page);
            let now_on = now_on.map_or(die, |place| gc.base.flash.layout.die_of_page(place));
            if now_on == die {
                rewrites.busy[die.index()] = true;
                self.rewrite(gc, cx, Rewrite::of(page.0, die.0));
            } else {
                // The page has moved, so it waits for its new die.
                rewrites.queues[now_on.index()].push_back(page);
                self.use_idle_die(gc, cx, now_on);
            }
        }
    }

    /// Reads a page to rewrite, unless the device's life ends, or the page already has the mode, is
    /// unmapped, or has a pending write.
    pub fn rewrite<M: Mapping>(
        &mut self,
        gc: &mut Collector<M>,
        cx: &mut Context<impl DeviceProbe>,
        rewrite: Rewrite,
    ) {
        let Rewrite { page, queue } = rewrite;
        if gc.base.conditions.failing.is_ending {
            self.skip_rewrite(&mut gc.base, rewrite);
            return;
        }
        if let Some(job) = gc.base.mapping.fetch(page, true) {
            gc.wait_for_map(cx, job, Waiter::Rewrite(rewrite));
            return;
        }
        let Some(rewrites) = &self.rewrites else {
            return;
        };
        let wanted = rewrites.mode;
        let place = gc.base.mapping.lookup(page);
        let place = place.filter(|place| gc.base.flash.mode_of(*place) != wanted);
        let Some(place) = place.filter(|_| !self.pending.has(page)) else {
            self.skip_rewrite(&mut gc.base, rewrite);
            return;
        };
        let order = Order::new(Purpose::RewriteRead, place, queue, page.0);
        gc.base.issue_for_job(cx, &order, 0);
    }

    /// Programs a page that was read for a rewrite, if it was readable, its map entry has not
    /// changed and there is space. A queued page that has moved or has a newer copy is tried again.
    pub fn rewrite_page_read<M: Mapping>(
        &mut self,
        gc: &mut Collector<M>,
        cx: &mut Context<impl DeviceProbe>,
        slot: Slot,
        rewrite: Rewrite,
        from: Ppn,
    ) {
        let Rewrite { page, queue } = rewrite;
        let content = gc.base.contents.of(slot).unwrap_or_default();
        if gc.base.flash.backend.graded(slot).failed || gc.base.conditions.failing.is_ending {
            self.skip_rewrite(&mut gc.base, rewrite);
            return;
        }
        if gc.base.mapping.lookup(page) != Some(from) || self.pending.has(page) {
            if queue == NO_QUEUE {
                self.skip_rewrite(&mut gc.base, rewrite);
            } else {
                self.rewrite(gc, cx, rewrite);
            }
            return;
        }
        if let Some(job) = gc.base.mapping.fetch(page, true) {
            gc.wait_for_map(cx, job, Waiter::Rewrite(rewrite));
            return;
        }
        // Without space, the rewrite is skipped; the next read of the page may request it again.
        let Ok(Place { place, superseded }) = self.find_place(gc, cx, page) else {
            self.skip_rewrite(&mut gc.base, rewrite);
            return;
        };
        gc.base.flash.supersedes(superseded);
        gc.base.observe_free_blocks(cx);
        let mut order = Order::new(Purpose::Rewrite, place, queue, from.0);
        order.superseded = superseded.into();
        if let Some(rewrites) = &mut self.rewrites {
            gc.base
                .flash
                .backend
                .grade_next(PageConditions::of(rewrites.mode));
            rewrites.queued.remove(&page);
        }
        gc.base.conditions.graded.rewrites += 1;
        gc.base.issue_for_job(cx, &order, content);
        let plane = gc.base.flash.layout.plane_of_page(place);
        gc.look_at_free_blocks(cx, plane, page);
    }

    /// Skips a rewrite for one of the reasons at [`super::GradeCounts::rewrites_skipped`].
    fn skip_rewrite<M>(&mut self, base: &mut Base<M>, rewrite: Rewrite) {
        base.conditions.graded.rewrites_skipped += 1;
        if let Some(rewrites) = &mut self.rewrites {
            rewrites.queued.remove(&rewrite.page);
            rewrites.frees(rewrite.queue);
        }
    }

    /// Handles the finished read or program of a rewrite.
    #[cold]
    #[inline(never)]
    pub fn finish_rewrite<M: Mapping>(
        &mut self,
        gc: &mut Collector<M>,
        cx: &mut Context<impl DeviceProbe>,
        slot: Slot,
    ) {
        let transaction = gc.base.flash.backend.get(slot);
        let (purpose, place, owner) = (transaction.purpose, transaction.place, transaction.owner);
        let (tag, superseded) = (transaction.tag, transaction.superseded.get());
        if purpose == Purpose::RewriteRead {
            gc.base.flash.backend.release(slot);
            self.rewrite_page_read(gc, cx, slot, Rewrite::of(tag, owner), place);
            return;
        }
        if let Some(block) = superseded {
            gc.is_superseded(cx, block);
        }
        gc.base.page_programmed(cx, Programmed::Rewrite);
        gc.base.flash.backend.release(slot);
        self.rewritten(gc, cx, owner);
    }

    /// Ends a rewrite; the next page of the die's queue follows.
    pub fn rewritten<M: Mapping>(
        &mut self,
        gc: &mut Collector<M>,
        cx: &mut Context<impl DeviceProbe>,
        queue: u32,
    ) {
        if let Some(rewrites) = &mut self.rewrites {
            rewrites.frees(queue);
        }
        if queue != NO_QUEUE {
            self.use_idle_die(gc, cx, Die(queue));
        }
    }
}
