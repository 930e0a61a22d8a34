//! What a host talks to.

use wordline_device::{DeviceError, Plan, PowerCut, Request, Ssd};
use wordline_ftl::Mapping;
use wordline_kernel::{BusyTime, Digest, EventQueue, Probe, Time};

use crate::error::Failure;

/// What serves the requests of a host. It holds no clock and no event queue: the owner passes both in.
pub trait Store {
    /// What it schedules for itself.
    type Event: Copy + Default;
    /// What a probe hears of it.
    type Observation: Copy;
    /// How it can fail.
    type Error: Failure;

    /// Takes an event into the digest of a run.
    fn mix(event: Self::Event, digest: &mut Digest);
    /// Whether the host can hand over another request of a stream.
    fn takes(&self, stream: u32) -> bool;
    /// How many requests ahead the host is to tell of; 0 if nobody listens.
    fn tags(&self) -> u32;
    /// The host tells what it will ask for next, in order of arrival, each time that changes.
    fn announce(&mut self, now: Time, upcoming: &[Request], queue: &mut EventQueue<Self::Event>);
    /// This request will be handed over soon: what is looked at then may be brought into the caches of
    /// the processor meanwhile. Changes nothing.
    #[inline]
    fn foresee(&mut self, _request: &Request) {}
    /// The host hands a request over, of a stream that is taken.
    fn submit(
        &mut self,
        now: Time,
        request: Request,
        queue: &mut EventQueue<Self::Event>,
        probe: &mut impl Probe<Self::Observation>,
    ) -> Result<(), Self::Error>;
    /// Deals with an event that was scheduled.
    fn handle(
        &mut self,
        now: Time,
        event: Self::Event,
        queue: &mut EventQueue<Self::Event>,
        probe: &mut impl Probe<Self::Observation>,
    ) -> Result<(), Self::Error>;
    /// The power of all devices fails and comes back at once, and they recover; `plans` are what they
    /// were built from. The owner forgets all events, resumes when the time of the cut is over, and
    /// submits nothing before. Requests that a device had taken a part of are lost:
    /// [`Store::completed`] tells of them too, the probe does not.
    fn cut_power(
        &mut self,
        now: Time,
        plans: &[Plan],
        probe: &mut impl Probe<Self::Observation>,
    ) -> Result<PowerCut, Self::Error>;
    /// The power is back: what still waits outside the devices is handed over to them.
    fn resume(
        &mut self,
        now: Time,
        queue: &mut EventQueue<Self::Event>,
        probe: &mut impl Probe<Self::Observation>,
    ) -> Result<(), Self::Error>;
    /// Appends how long what each die has to do takes, die by die of all devices.
    fn chip_times(&self, times: &mut Vec<Time>);
    /// Appends how long each bus has been held since the power came, bus by bus of all devices.
    fn buses_busy(&self, buses: &mut Vec<BusyTime>);
    /// Appends how long each die has been occupied since the power came, die by die of all devices.
    fn dies_busy(&self, dies: &mut Vec<BusyTime>);
    /// The streams of the requests that are complete since this was last asked, one by one in the
    /// order of completion.
    fn completed(&mut self) -> impl Iterator<Item = u32> + '_;
    /// Whether there are any.
    fn has_completed(&self) -> bool;
}

impl<M: Mapping> Store for Ssd<M> {
    type Event = wordline_device::Event;
    type Observation = wordline_device::Observation;
    type Error = DeviceError;

    #[inline]
    fn mix(event: Self::Event, digest: &mut Digest) {
        digest.mix(event.code());
    }
    #[inline]
    fn takes(&self, stream: u32) -> bool {
        Ssd::takes(self, stream)
    }
    fn tags(&self) -> u32 {
        Ssd::tags(self)
    }
    fn announce(&mut self, now: Time, upcoming: &[Request], queue: &mut EventQueue<Self::Event>) {
        Ssd::announce(self, now, upcoming, queue);
    }
    #[inline]
    fn foresee(&mut self, request: &Request) {
        Ssd::foresee(self, request);
    }
    #[inline]
    fn submit(
        &mut self,
        now: Time,
        request: Request,
        queue: &mut EventQueue<Self::Event>,
        probe: &mut impl Probe<Self::Observation>,
    ) -> Result<(), DeviceError> {
        Ssd::submit(self, now, request, queue, probe).map(drop)
    }
    #[inline(always)]
    fn handle(
        &mut self,
        now: Time,
        event: Self::Event,
        queue: &mut EventQueue<Self::Event>,
        probe: &mut impl Probe<Self::Observation>,
    ) -> Result<(), DeviceError> {
        Ssd::handle(self, now, event, queue, probe)
    }
    fn cut_power(
        &mut self,
        now: Time,
        plans: &[Plan],
        probe: &mut impl Probe<Self::Observation>,
    ) -> Result<PowerCut, DeviceError> {
        Ssd::cut_power(self, now, &plans[0], probe)
    }
    /// Nothing waits outside.
    fn resume(
        &mut self,
        _now: Time,
        _queue: &mut EventQueue<Self::Event>,
        _probe: &mut impl Probe<Self::Observation>,
    ) -> Result<(), DeviceError> {
        Ok(())
    }
    fn chip_times(&self, times: &mut Vec<Time>) {
        times.extend(Ssd::chip_times(self));
    }
    fn buses_busy(&self, buses: &mut Vec<BusyTime>) {
        buses.extend(Ssd::buses_busy(self));
    }
    fn dies_busy(&self, dies: &mut Vec<BusyTime>) {
        dies.extend(Ssd::dies_busy(self));
    }
    #[inline]
    fn completed(&mut self) -> impl Iterator<Item = u32> + '_ {
        Ssd::completed(self).map(|done| done.stream)
    }
    #[inline]
    fn has_completed(&self) -> bool {
        Ssd::has_completed(self)
    }
}
