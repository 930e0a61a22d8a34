//! A store as a block device: passes all calls to its devices.

use std::marker::PhantomData;

use wordline_block::{
    ArrayObservation, BlockDevice, Busy, Completion, Nested, PowerCut, Request, Ticket,
};
use wordline_flash_cache::{self as flash_cache, Cached};
use wordline_kernel::{AnyProbe, Context, Probe, Time};

use crate::array::Array;
use crate::device::Device;
use crate::kinds::{DeviceEvent, Event, OfDevice, Part, Store, StoreError, either, only};

/// Member numbers of the two tiers of a cached store, and the number of tiers.
const FLASH: u32 = 0;
const BACKING: u32 = 1;
const TIERS: u32 = 2;

/// Renumbers an observation of a backing store as one of its cached store.
#[inline]
#[must_use]
pub fn behind_cache<T>(observation: ArrayObservation<T>) -> ArrayObservation<T> {
    observation.behind(BACKING, TIERS)
}

impl Part for Cached<Store> {
    fn wrap(event: Self::Event) -> Event {
        match event {
            flash_cache::Event::Flash(event) => only(DeviceEvent::Ssd(event)).wrap(FLASH, TIERS),
            flash_cache::Event::Backing(event) => event.wrap(BACKING, TIERS),
        }
    }
    fn unwrap(event: Event) -> Option<Self::Event> {
        let (tier, event) = Event::unwrap(event, TIERS);
        match (tier, event.of) {
            (FLASH, DeviceEvent::Ssd(event)) => Some(flash_cache::Event::Flash(event)),
            (FLASH, _) => None,
            _ => Some(flash_cache::Event::Backing(event)),
        }
    }
    fn wrap_observation(observation: Self::Observation) -> ArrayObservation<OfDevice> {
        match observation.apart() {
            Ok(own) => ArrayObservation::Device(only(OfDevice::Cached(own))),
            Err(observation) => behind_cache(observation),
        }
    }
    fn fault(error: Self::Error) -> StoreError {
        StoreError::Cached(Box::new(error))
    }
}

/// Probe of a device of a store: wraps its observations for the probe of the store.
struct DeviceProbe<'a, D, P> {
    store: &'a mut P,
    device: PhantomData<D>,
}

impl<'a, D, P> DeviceProbe<'a, D, P> {
    fn new(store: &'a mut P) -> Self {
        let device = PhantomData;
        Self { store, device }
    }
}

impl<D: Part, P: Probe<ArrayObservation<OfDevice>>> Probe<D::Observation>
    for DeviceProbe<'_, D, P>
{
    fn wants_fragments(&self) -> bool {
        self.store.wants_fragments()
    }
    fn observe(&mut self, now: Time, observation: D::Observation) {
        self.store.observe(now, D::wrap_observation(observation));
    }
}

impl<D: Part> Device<D> {
    /// Performs an action on the device at the current time, and passes the events that it
    /// schedules to the queue.
    fn act<T>(
        &mut self,
        cx: &mut Context<'_, Event, impl Probe<ArrayObservation<OfDevice>>>,
        act: impl FnOnce(
            &mut D,
            &mut Context<'_, D::Event, AnyProbe<'_, D::Observation>>,
        ) -> Result<T, D::Error>,
    ) -> Result<T, StoreError> {
        let mut own = DeviceProbe::<D, _>::new(cx.probe);
        let mut probe = AnyProbe::new(&mut own);
        let mut within = Context::new(cx.now, &mut self.scheduled, &mut probe);
        let done = act(&mut self.device, &mut within).map_err(D::fault)?;
        while let Some((at, event)) = self.scheduled.pop() {
            cx.queue.schedule(at, D::wrap(event));
        }
        Ok(done)
    }
    fn handle(
        &mut self,
        cx: &mut Context<'_, Event, impl Probe<ArrayObservation<OfDevice>>>,
        event: Event,
    ) -> Result<(), StoreError> {
        let Some(event) = D::unwrap(event) else {
            unreachable!("a device receives only its own events");
        };
        self.act(cx, |device, cx| device.handle(cx, event))
    }
    fn cut_power(
        &mut self,
        now: Time,
        probe: &mut impl Probe<ArrayObservation<OfDevice>>,
    ) -> Result<PowerCut, StoreError> {
        let mut own = DeviceProbe::<D, _>::new(probe);
        let cut = self.device.cut_power(now, &mut AnyProbe::new(&mut own));
        cut.map_err(D::fault)
    }
}

impl From<Cached<Store>> for Store {
    fn from(cached: Cached<Self>) -> Self {
        Self::Cached(Device::boxed(cached))
    }
}

impl From<Array<Store>> for Store {
    fn from(array: Array<Self>) -> Self {
        Self::Array(Box::new(array))
    }
}

impl BlockDevice for Store {
    type Event = Event;
    type Observation = ArrayObservation<OfDevice>;
    type Error = StoreError;

    fn user_bytes(&self) -> u64 {
        either!(self, one => one.device.user_bytes(), array => array.user_bytes())
    }
    fn begin_measuring(&mut self, now: Time) {
        either!(self, one => one.device.begin_measuring(now), array => array.begin_measuring(now));
    }
    fn can_accept(&self, stream: u32) -> bool {
        either!(self, one => one.device.can_accept(stream), array => array.can_accept(stream))
    }
    fn lookahead_depth(&self) -> u32 {
        either!(self, one => one.device.lookahead_depth(), array => array.lookahead_depth())
    }
    fn look_ahead(
        &mut self,
        cx: &mut Context<'_, Event, impl Probe<Self::Observation>>,
        upcoming: &[Request],
    ) {
        either!(self, one => {
            let result = one.act(cx, |device, cx| {
                device.look_ahead(cx, upcoming);
                Ok(())
            });
            debug_assert!(result.is_ok(), "look-ahead cannot fail");
        }, array => {
            let mut probe = AnyProbe::new(cx.probe);
            array.look_ahead(&mut Context::new(cx.now, cx.queue, &mut probe), upcoming);
        });
    }
    fn prefetch(&mut self, request: &Request) {
        either!(self, one => one.device.prefetch(request), array => array.prefetch(request));
    }
    fn submit(
        &mut self,
        cx: &mut Context<'_, Event, impl Probe<Self::Observation>>,
        request: Request,
    ) -> Result<Ticket, StoreError> {
        either!(self, one => one.act(cx, |device, cx| device.submit(cx, request)), array => {
            let mut probe = AnyProbe::new(cx.probe);
            let cx = &mut Context::new(cx.now, cx.queue, &mut probe);
            Ok(array.submit(cx, request)?)
        })
    }
    fn handle(
        &mut self,
        cx: &mut Context<'_, Event, impl Probe<Self::Observation>>,
        event: Event,
    ) -> Result<(), StoreError> {
        either!(self, one => one.handle(cx, event), array => {
            let mut probe = AnyProbe::new(cx.probe);
            let cx = &mut Context::new(cx.now, cx.queue, &mut probe);
            Ok(array.handle(cx, event)?)
        })
    }
    fn completions(&mut self) -> impl Iterator<Item = Completion> + '_ {
        let done: Box<dyn Iterator<Item = Completion>> = either!(self,
            one => Box::new(one.device.completions()),
            array => Box::new(array.completions())
        );
        done
    }
    fn has_completions(&self) -> bool {
        either!(self, one => one.device.has_completions(), array => array.has_completions())
    }
    fn cut_power(
        &mut self,
        now: Time,
        probe: &mut impl Probe<Self::Observation>,
    ) -> Result<PowerCut, StoreError> {
        either!(self, one => one.cut_power(now, probe), array => {
            Ok(array.cut_power(now, &mut AnyProbe::new(probe))?)
        })
    }
    fn volatile_pages(&self, offset: u64, bytes: u64) -> u32 {
        either!(self, one => one.device.volatile_pages(offset, bytes), array => array.volatile_pages(offset, bytes))
    }
    fn cancel(&mut self, tickets: &[Ticket]) {
        either!(self, one => one.device.cancel(tickets), array => array.cancel(tickets));
    }
    #[allow(clippy::redundant_closure_for_method_calls)] // a path names one lifetime, not any
    fn resume(
        &mut self,
        cx: &mut Context<'_, Event, impl Probe<Self::Observation>>,
    ) -> Result<(), StoreError> {
        either!(self, one => one.act(cx, |device, cx| device.resume(cx)), array => {
            let mut probe = AnyProbe::new(cx.probe);
            Ok(array.resume(&mut Context::new(cx.now, cx.queue, &mut probe))?)
        })
    }
    fn slow_die(&mut self, die: u32, slowness: u32) -> bool {
        either!(self, one => one.device.slow_die(die, slowness), array => array.slow_die(die, slowness))
    }
    fn die_backlog(&self, times: &mut Vec<Time>) {
        either!(self, one => one.device.die_backlog(times), array => array.die_backlog(times));
        if let Self::Cached(cached) = self {
            cached.device.backing().die_backlog(times);
        }
    }
    /// Appends the busy times of all devices, in the order of [`Store::leaves`].
    fn busy(&self, busy: &mut Busy) {
        either!(self, one => one.device.busy(busy), array => array.busy(busy));
        if let Self::Cached(cached) = self {
            cached.device.backing().busy(busy);
        }
    }
}
