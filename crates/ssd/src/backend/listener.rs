//! Callbacks of the channels, which account for the use of dies and buses and report it.

use std::marker::PhantomData;

use wordline_kernel::{EventQueue, Time};
use wordline_nand::channel::{BusHold, ChannelCallbacks};
use wordline_nand::{ArrayBusy, Confirm, Die, Features, Operation, Step};

use super::die::{DieCommand, DieState, GcClock};
use super::table::TransactionTable;
use crate::event::{Event, Kind};
use crate::observation::{DeviceProbe, Observation};

/// Callbacks of the channels, with access to the transaction table.
pub(super) struct ChannelListener<'a, P, F> {
    table: &'a TransactionTable,
    queue: &'a mut EventQueue<Event>,
    probe: &'a mut P,
    features: PhantomData<F>,
}

impl<'a, P, F> ChannelListener<'a, P, F> {
    #[inline(always)]
    pub(super) fn new(
        table: &'a TransactionTable,
        queue: &'a mut EventQueue<Event>,
        probe: &'a mut P,
    ) -> Self {
        Self {
            table,
            queue,
            probe,
            features: PhantomData,
        }
    }
}

impl<P: DeviceProbe, F: Features> ChannelCallbacks<DieState, GcClock>
    for ChannelListener<'_, P, F>
{
    type Features = F;
    #[inline(always)]
    fn schedule(&mut self, at: Time, event: wordline_nand::Event) {
        self.queue.schedule(at, Kind::Flash(event).into());
    }
    #[inline]
    fn waits(&mut self, now: Time, bus: &mut GcClock, state: &mut DieState) {
        state.command.bus_gc = bus.read(now);
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
        let command = &mut state.command;
        if since < now {
            let gc = bus.read(now) - command.bus_gc;
            command.parts.gc += gc;
            command.parts.bus_wait += now - since - gc;
            state.usage.bus_wait += now - since;
        }
        command.parts.bus += hold;
        state.usage.bus += hold;
        bus.start(now, command.gc);
    }
    #[inline]
    fn released(&mut self, now: Time, held: BusHold<'_, DieState, GcClock>, _step: &Step) {
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
        work: ArrayBusy,
        ready: Time,
    ) {
        state.command.busy_since = now;
        state.command.parts.cell += ready - now;
        state.usage.cell += ready - now;
        if let Some(operation) = step.array {
            state.command.under_way = operation != Operation::Read;
            state.usage.array[operation as usize] += work.time() * u64::from(state.command.pages);
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
        state.command.parts.cell -= remaining;
        state.usage.cell += latency;
        state.usage.cell -= remaining;
        let operation = confirm.operation();
        if let Some(operation) = operation {
            let used = &mut state.usage.array[operation as usize];
            *used += latency * u64::from(state.command.pages);
            *used -= remaining * u64::from(state.command.pages);
        }
        self.table.observe_array(
            now,
            &state.command,
            operation == Some(Operation::Program),
            self.probe,
        );
    }
    fn interrupted(&mut self, now: Time, held: BusHold<'_, DieState, GcClock>) {
        held.of_die.usage.bus += now - held.from;
        self.observe_bus(now, &held);
    }
}

impl<P: DeviceProbe, F: Features> ChannelListener<'_, P, F> {
    /// Reports a bus grant for the die's command to the probe.
    #[inline]
    fn observe_bus(&mut self, now: Time, held: &BusHold<'_, DieState, GcClock>) {
        let DieCommand { operation, gc, .. } = held.of_die.command;
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
