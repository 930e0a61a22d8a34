//! What the channels tell, entered into the book.

use wordline_kernel::{EventQueue, Probe, Time};
use wordline_nand::channel::Listen;
use wordline_nand::{Confirm, Die, Stage, Step, Work};

use super::book::{Book, Job};
use crate::event::Event;
use crate::observation::Observation;

/// The book, open for what the channels have to say.
pub(super) struct Ear<'a, P> {
    pub(super) book: &'a mut Book,
    pub(super) queue: &'a mut EventQueue<Event>,
    pub(super) probe: &'a mut P,
}

impl<P: Probe<Observation>> Listen for Ear<'_, P> {
    #[inline]
    fn schedule(&mut self, at: Time, event: wordline_nand::Event) {
        self.queue.schedule(at, Event::Flash(event));
    }
    #[inline]
    fn asks(&mut self, now: Time, channel: u32, die: Die) {
        self.book.dies[die.index()].job.bus_gc = self.book.buses[channel as usize].read(now);
    }
    #[inline]
    fn granted(&mut self, now: Time, channel: u32, die: Die, since: Time, hold: Time) {
        let bus = &mut self.book.buses[channel as usize];
        let state = &mut self.book.dies[die.index()];
        let job = &mut state.job;
        if since < now {
            let gc = bus.read(now) - job.bus_gc;
            job.parts.gc += gc;
            job.parts.bus_wait += now - since - gc;
            state.usage.bus_wait += now - since;
        }
        job.parts.bus += hold;
        state.usage.bus += hold;
        bus.start(now, job.gc);
    }
    #[inline]
    fn released(&mut self, now: Time, channel: u32, die: Die, _step: &Step, from: Time) {
        self.book.buses[channel as usize].stop(now);
        self.observe_bus(now, channel, die, from);
    }
    #[inline]
    fn allows(&mut self, _now: Time, _die: Die, _confirm: Confirm) -> bool {
        true
    }
    #[inline]
    fn busy(&mut self, now: Time, die: Die, confirm: Confirm, work: Work, ready: Time) {
        let state = &mut self.book.dies[die.index()];
        state.job.busy_since = now;
        state.job.parts.cell += ready - now;
        state.usage.cell += ready - now;
        if let Some(kind) = kind(confirm) {
            state.job.under_way = kind > 0;
            state.usage.array[kind] += work.time() * u64::from(state.job.pages);
        }
    }
    fn suspended(&mut self, now: Time, die: Die, confirm: Confirm, remaining: Time, latency: Time) {
        let state = &mut self.book.dies[die.index()];
        state.job.parts.cell -= remaining;
        state.usage.cell += latency;
        state.usage.cell -= remaining;
        if let Some(kind) = kind(confirm) {
            let used = &mut state.usage.array[kind];
            *used += latency * u64::from(state.job.pages);
            *used -= remaining * u64::from(state.job.pages);
        }
        let Job { busy_since, .. } = state.job;
        self.book
            .observe_array(now, die, confirm, busy_since, self.probe);
    }
    fn interrupted(&mut self, now: Time, channel: u32, die: Die, from: Time) {
        self.book.dies[die.index()].usage.bus += now - from;
        self.observe_bus(now, channel, die, from);
    }
}

impl<P: Probe<Observation>> Ear<'_, P> {
    /// Tells the probe that the bus has been held for the die's command.
    #[inline]
    fn observe_bus(&mut self, now: Time, channel: u32, die: Die, from: Time) {
        let Job { operation, gc, .. } = self.book.dies[die.index()].job;
        self.probe.observe(
            now,
            Observation::Bus {
                channel,
                from,
                die,
                operation,
                gc,
            },
        );
    }
}

/// Reads, programs, erases: the place in a [`Usage`].
#[inline]
pub(super) fn kind(confirm: Confirm) -> Option<usize> {
    Stage::of_array(confirm).map(|stage| match stage {
        Stage::Ton => 0,
        Stage::Tin => 1,
        _ => 2,
    })
}
