//! Whatever serves blocks.

use std::fmt::{Debug, Display};

use serde::{Deserialize, Serialize};
use wordline_kernel::{BusyTime, Context, Digest, Probe, Time};

use crate::completion::{Completion, Ticket};
use crate::power_cut::PowerCut;
use crate::request::Request;

/// Something that a device will have to deal with.
pub trait Event: Copy + Debug + Default {
    /// Takes the event into the digest of a run.
    fn mix(self, digest: &mut Digest);
}

/// How a device can fail.
pub trait Failure: Display {
    /// Whether it is no fault: the user ended the run.
    fn is_interruption(&self) -> bool;
}

/// How long buses and dies have been busy since the power came.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Busy {
    /// Bus by bus.
    pub buses: Vec<BusyTime>,
    /// Die by die.
    pub dies: Vec<BusyTime>,
}

/// What is heard of a device, to who has to know how much it collects.
pub trait GcObservation: Copy {
    /// Operations of the flash that are done with this, for collections: pages read, programmed or moved, blocks erased.
    fn collection_steps(&self) -> u32;
}

/// Serves the requests of a host. It holds no clock and no event queue: its owner passes both in ([`Context`]), so that devices
/// can share one queue.
pub trait BlockDevice {
    /// What it schedules for itself.
    type Event: Event;
    /// What a probe hears of it.
    type Observation: Copy;
    /// How it can fail.
    type Error: Failure;

    /// Bytes that the host can address.
    fn user_bytes(&self) -> u64;
    /// Whether the host can submit another request of a stream. Of streams that are refused, a submission of another stream does not
    /// change that: only an event, a power cut or its end can.
    fn takes(&self, stream: u32) -> bool;
    /// How many requests ahead the host is to tell of with [`BlockDevice::look_ahead`]; 0 if the device does not look
    /// ahead.
    fn tags(&self) -> u32 {
        0
    }
    /// The host tells what it will submit next, in order of arrival, each time that changes.
    fn look_ahead(
        &mut self,
        _cx: &mut Context<'_, Self::Event, impl Probe<Self::Observation>>,
        _upcoming: &[Request],
    ) {
    }
    /// This request will be submitted soon: the device may bring what it will look up then into the caches of the
    /// processor. Changes nothing.
    #[inline]
    fn prefetch(&mut self, _request: &Request) {}
    /// The host submits a request, of a stream that is taken. It can be complete at once.
    fn submit(
        &mut self,
        cx: &mut Context<'_, Self::Event, impl Probe<Self::Observation>>,
        request: Request,
    ) -> Result<Ticket, Self::Error>;
    /// Deals with an event that the device has scheduled.
    fn handle(
        &mut self,
        cx: &mut Context<'_, Self::Event, impl Probe<Self::Observation>>,
        event: Self::Event,
    ) -> Result<(), Self::Error>;
    /// The requests that are complete since this was last asked, one by one in the order of completion.
    fn completions(&mut self) -> impl Iterator<Item = Completion> + '_;
    /// Whether there are any.
    fn has_completions(&self) -> bool;
    /// The power fails and comes back at once, and the device recovers. The owner forgets all events, calls
    /// [`BlockDevice::resume`] when [`PowerCut::time`] is over, and submits nothing before. Requests that were begun
    /// are lost: [`BlockDevice::completions`] tells of them too, the probe does not. The others wait on.
    fn cut_power(
        &mut self,
        now: Time,
        probe: &mut impl Probe<Self::Observation>,
    ) -> Result<PowerCut, Self::Error>;
    /// Of these bytes, the pages that a power cut would lose now although they are written, counted as in
    /// [`PowerCut::pages_lost`].
    fn volatile_pages(&self, offset: u64, bytes: u64) -> u32;
    /// After a power cut: these requests, which were not lost, are not wanted any more and complete no more. Their tickets ascend.
    fn withdraw(&mut self, _tickets: &[Ticket]) {}
    /// The power is back: what still waits is begun.
    fn resume(
        &mut self,
        _cx: &mut Context<'_, Self::Event, impl Probe<Self::Observation>>,
    ) -> Result<(), Self::Error> {
        Ok(())
    }
    /// Measuring begins: what the device counts is counted from `now` on. It changes nothing of what the device does.
    fn begin_measuring(&mut self, now: Time);
    /// Appends how long what each die has to do takes, die by die.
    fn die_backlog(&self, _times: &mut Vec<Time>) {}
    /// Appends how long its buses and dies have been busy.
    fn busy(&self, _busy: &mut Busy) {}
}
