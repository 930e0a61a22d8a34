//! What the channels tell, entered into the book.

use wordline_kernel::{EventQueue, Probe, Time};
use wordline_nand::channel::{Held, Listen};
use wordline_nand::{Confirm, Die, Operation, Step, Work};

use super::book::{Book, DieState, GcClock, Job};
use crate::event::{Event, Kind};
use crate::observation::Observation;

/// The book, open for what the channels have to say; of plain dies ([`super::BackEnd::is_plain`]) or
/// of any.
pub(super) struct Ear<'a, P, const PLAIN: bool> {
    pub(super) book: &'a Book,
    pub(super) queue: &'a mut EventQueue<Event>,
    pub(super) probe: &'a mut P,
}

impl<P: Probe<Observation>, const PLAIN: bool> Listen for Ear<'_, P, PLAIN> {
    const PLAIN: bool = PLAIN;
    type OfDie = DieState;
    /// The time that the bus was held for collection.
    type OfBus = GcClock;
    #[inline(always)]
    fn schedule(&mut self, at: Time, event: wordline_nand::Event) {
        self.queue.schedule(at, Kind::Flash(event).into());
    }
    #[inline]
    fn waits(&mut self, now: Time, bus: &mut GcClock, state: &mut DieState) {
        state.job.bus_gc = bus.read(now);
    }
    #[inline]
    fn granted(
        &mut self,
        now: Time,
        _die: Die,
        bus: &mut GcClock,
        state: &mut DieState,
        since: Time,
        hold: Time,
    ) {
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
    fn released(&mut self, now: Time, held: Held<'_, DieState, GcClock>, _step: &Step) {
        held.of_bus.stop(now);
        self.observe_bus(now, &held);
    }
    #[inline]
    fn allows(&mut self, _now: Time, _die: Die, _confirm: Confirm) -> bool {
        true
    }
    #[inline]
    fn busy(
        &mut self,
        now: Time,
        _die: Die,
        state: &mut DieState,
        step: &Step,
        work: Work,
        ready: Time,
    ) {
        state.job.busy_since = now;
        state.job.parts.cell += ready - now;
        state.usage.cell += ready - now;
        if let Some(operation) = step.array {
            state.job.under_way = operation != Operation::Read;
            state.usage.array[operation as usize] += work.time() * u64::from(state.job.pages);
        }
    }
    fn suspended(
        &mut self,
        now: Time,
        state: &mut DieState,
        confirm: Confirm,
        remaining: Time,
        latency: Time,
    ) {
        state.job.parts.cell -= remaining;
        state.usage.cell += latency;
        state.usage.cell -= remaining;
        let operation = confirm.operation();
        if let Some(operation) = operation {
            let used = &mut state.usage.array[operation as usize];
            *used += latency * u64::from(state.job.pages);
            *used -= remaining * u64::from(state.job.pages);
        }
        self.book.observe_array(
            now,
            &state.job,
            operation == Some(Operation::Program),
            self.probe,
        );
    }
    fn interrupted(&mut self, now: Time, held: Held<'_, DieState, GcClock>) {
        held.of_die.usage.bus += now - held.from;
        self.observe_bus(now, &held);
    }
}

impl<P: Probe<Observation>, const PLAIN: bool> Ear<'_, P, PLAIN> {
    /// Tells the probe that the bus has been held for the die's command.
    #[inline]
    fn observe_bus(&mut self, now: Time, held: &Held<'_, DieState, GcClock>) {
        let Job { operation, gc, .. } = held.of_die.job;
        self.probe.observe(
            now,
            Observation::Bus {
                channel: held.channel,
                from: held.from,
                die: held.die,
                operation,
                gc,
            },
        );
    }
}
