//! The block device trait and its associated types.

use std::fmt::{Debug, Display};

use serde::{Deserialize, Serialize};
use wordline_kernel::{BusyTime, Context, Digest, Probe, Time};

use crate::completion::{Completion, Ticket};
use crate::power_cut::PowerCut;
use crate::request::Request;

/// Event that a block device schedules.
pub trait Event: Copy + Debug + Default {
    /// Mixes the event into the digest of a run.
    fn mix(self, digest: &mut Digest);
}

/// Error of a block device.
pub trait Failure: Display {
    /// Returns `true` if the user interrupted the run, which is not a fault.
    fn is_interruption(&self) -> bool;
}

/// Busy time of each bus and die since power-on.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Busy {
    /// Busy time of each bus.
    pub buses: Vec<BusyTime>,
    /// Busy time of each die.
    pub dies: Vec<BusyTime>,
}

/// Observation that reports completed GC operations.
pub trait GcObservation: Copy {
    /// Returns the number of operations for GC or rewrites that this observation completes: pages
    /// read, programmed or moved, and blocks erased.
    fn collection_steps(&self) -> u32;
}

/// Device that serves host requests. It has no clock and no event queue: its owner passes both in
/// ([`Context`]), so that several devices can share one queue.
pub trait BlockDevice {
    /// Event that the device schedules.
    type Event: Event;
    /// Observation that the device reports to a probe.
    type Observation: Copy;
    /// Error of the device.
    type Error: Failure;

    /// Returns the number of bytes that the host can address.
    fn user_bytes(&self) -> u64;
    /// Returns `true` if the device can accept another request of `stream`. While the answer is
    /// `false`, submissions of other streams do not change it. Only an event, a power cut or the
    /// end of a power cut can change it.
    fn can_accept(&self, stream: u32) -> bool;
    /// Returns the number of upcoming requests that the host announces through
    /// [`BlockDevice::look_ahead`]; 0 if the device uses none.
    fn lookahead_depth(&self) -> u32 {
        0
    }
    /// Announces the next submissions of the host, in order of arrival. The host calls this method
    /// each time they change.
    fn look_ahead(
        &mut self,
        _cx: &mut Context<'_, Self::Event, impl Probe<Self::Observation>>,
        _upcoming: &[Request],
    ) {
    }
    /// Hints that `request` will be submitted soon, so that its map entries can be loaded into the
    /// CPU cache. Does not change results.
    #[inline]
    fn prefetch(&mut self, _request: &Request) {}
    /// Submits a request, which the device must be able to accept ([`BlockDevice::can_accept`]).
    /// Returns its ticket. The request may complete before this method returns.
    fn submit(
        &mut self,
        cx: &mut Context<'_, Self::Event, impl Probe<Self::Observation>>,
        request: Request,
    ) -> Result<Ticket, Self::Error>;
    /// Handles an event that the device has scheduled.
    fn handle(
        &mut self,
        cx: &mut Context<'_, Self::Event, impl Probe<Self::Observation>>,
        event: Self::Event,
    ) -> Result<(), Self::Error>;
    /// Drains the requests completed since the last call, in order of completion.
    fn completions(&mut self) -> impl Iterator<Item = Completion> + '_;
    /// Returns `true` if there are completions to drain.
    fn has_completions(&self) -> bool;
    /// Cuts power and recovers. The owner drops all pending events, submits nothing, and calls
    /// [`BlockDevice::resume`] after [`PowerCut::time`]. Requests in progress are lost: they appear
    /// in [`BlockDevice::completions`], but are not reported to the probe. Queued requests keep
    /// waiting.
    fn cut_power(
        &mut self,
        now: Time,
        probe: &mut impl Probe<Self::Observation>,
    ) -> Result<PowerCut, Self::Error>;
    /// Returns the number of pages of a byte range whose latest write would be lost if power were
    /// cut now, counted as in [`PowerCut::pages_lost`].
    fn volatile_pages(&self, offset: u64, bytes: u64) -> u32;
    /// Cancels requests that survived a power cut; they will not complete. `tickets` is in
    /// ascending order.
    fn cancel(&mut self, _tickets: &[Ticket]) {}
    /// Starts the waiting requests after a power cut.
    fn resume(
        &mut self,
        _cx: &mut Context<'_, Self::Event, impl Probe<Self::Observation>>,
    ) -> Result<(), Self::Error> {
        Ok(())
    }
    /// Makes the array of a flash die slower. The array times of operations that start from now on
    /// are multiplied by `slowness`, a factor of at least 1 in thousandths. Dies are numbered as in
    /// [`BlockDevice::busy`]. Returns `false` if that die does not exist or is not a flash die.
    fn slow_die(&mut self, _die: u32, _slowness: u32) -> bool {
        false
    }
    /// Starts the measurement: counters count from `now` on. The behaviour of the device does not
    /// change.
    fn begin_measuring(&mut self, now: Time);
    /// Appends the time that the outstanding work of each die takes, in die order.
    fn die_backlog(&self, _times: &mut Vec<Time>) {}
    /// Appends the busy time of the device's buses and dies.
    fn busy(&self, _busy: &mut Busy) {}
}
