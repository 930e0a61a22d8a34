//! A store of any shape: an SSD, a disk, flash in front of a store, an array of stores.

use std::convert::Infallible;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use wordline_block::{
    ArrayObservation, BlockDevice, Busy, Completion, GcObservation, Member, Nested, PowerCut,
    Request, Ticket,
};
use wordline_flash_cache::{self as flash_cache, Cached};
use wordline_ftl::Map;
use wordline_hdd::Disk;
use wordline_kernel::{Context, Digest, EventQueue, Probe, Time};
use wordline_ssd::Ssd;

use crate::array::Array;
use crate::error::StoreError;

/// A store whose shape is known only when it is built. Where all devices of a store are of one kind, [`Array`] and [`Cached`] by
/// themselves are faster.
///
/// Its devices are numbered: the members of an array as [`Member`] says, and in a cached store the flash is member 0 of two and the
/// store behind it is member 1.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Store {
    /// A solid-state disk.
    Ssd(Box<Device<Ssd<Map>>>),
    /// A hard disk.
    Disk(Box<Device<Disk>>),
    /// Flash in front of another store.
    Cached(Box<Device<Cached<Store>>>),
    /// Several stores as one.
    Array(Box<Array<Store>>),
}

/// A device of a store.
#[derive(Clone, Copy, Debug)]
pub enum Leaf<'a> {
    /// A solid-state disk.
    Ssd(&'a Ssd<Map>),
    /// A hard disk.
    Disk(&'a Disk),
    /// The cache before another store.
    Cached(&'a Cached<Store>),
}

/// Something that happened in a device of a store of any shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfDevice {
    /// In an SSD.
    Ssd(wordline_ssd::Observation),
    /// In a disk.
    Disk(wordline_hdd::Observation),
    /// In a cache. What is heard of the store behind it is said by the devices there.
    Cache(flash_cache::Observation<Infallible>),
}

impl GcObservation for OfDevice {
    fn collection_steps(&self) -> u32 {
        match self {
            Self::Ssd(heard) | Self::Cache(flash_cache::Observation::Flash(heard)) => {
                heard.collection_steps()
            }
            Self::Disk(heard) => heard.collection_steps(),
            Self::Cache(_) => 0,
        }
    }
}

/// An event of a device of any kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DeviceEvent {
    /// Of an SSD, or of the flash of a cache.
    Flash(wordline_ssd::Event),
    /// Of a disk.
    Disk(wordline_hdd::Event),
}

impl Default for DeviceEvent {
    fn default() -> Self {
        Self::Flash(wordline_ssd::Event::default())
    }
}

impl wordline_block::Event for DeviceEvent {
    fn mix(self, digest: &mut Digest) {
        match self {
            Self::Flash(event) => event.mix(digest),
            Self::Disk(event) => event.mix(digest),
        }
    }
}

/// What a store schedules.
type Event = Member<DeviceEvent>;

/// The places of the two tiers of a cached store among its devices, and how many there are.
const FLASH: u32 = 0;
const BACKING: u32 = 1;
const TIERS: u32 = 2;

/// The observation, made behind a cache, as one of a store that has this cache in front.
#[inline]
#[must_use]
pub fn behind_cache<T>(observation: ArrayObservation<T>) -> ArrayObservation<T> {
    observation.behind(BACKING, TIERS)
}

/// What is not an array: what it schedules, tells of and fails with, as a store says it.
pub trait Part: BlockDevice<Event: Copy + Default> {
    /// An event of its own.
    fn outside(event: Self::Event) -> Event;
    /// Back again; `None` if the event is none of its own.
    fn inside(event: Event) -> Option<Self::Event>;
    /// What is heard of it.
    fn heard(observation: Self::Observation) -> ArrayObservation<OfDevice>;
    /// How it fails.
    fn fault(error: Self::Error) -> StoreError;
}

fn only<T>(of: T) -> Member<T> {
    Member { member: 0, of }
}

impl Part for Ssd<Map> {
    fn outside(event: Self::Event) -> Event {
        only(DeviceEvent::Flash(event))
    }
    fn inside(event: Event) -> Option<Self::Event> {
        match event.of {
            DeviceEvent::Flash(event) => Some(event),
            DeviceEvent::Disk(_) => None,
        }
    }
    fn heard(observation: Self::Observation) -> ArrayObservation<OfDevice> {
        ArrayObservation::Device(only(OfDevice::Ssd(observation)))
    }
    fn fault(error: Self::Error) -> StoreError {
        StoreError::Ssd(error)
    }
}

impl Part for Disk {
    fn outside(event: Self::Event) -> Event {
        only(DeviceEvent::Disk(event))
    }
    fn inside(event: Event) -> Option<Self::Event> {
        match event.of {
            DeviceEvent::Disk(event) => Some(event),
            DeviceEvent::Flash(_) => None,
        }
    }
    fn heard(observation: Self::Observation) -> ArrayObservation<OfDevice> {
        ArrayObservation::Device(only(OfDevice::Disk(observation)))
    }
    fn fault(error: Self::Error) -> StoreError {
        StoreError::Disk(error)
    }
}

impl Part for Cached<Store> {
    fn outside(event: Self::Event) -> Event {
        match event {
            flash_cache::Event::Flash(event) => {
                only(DeviceEvent::Flash(event)).outside(FLASH, TIERS)
            }
            flash_cache::Event::Backing(event) => event.outside(BACKING, TIERS),
        }
    }
    fn inside(event: Event) -> Option<Self::Event> {
        let (tier, event) = Event::inside(event, TIERS);
        match (tier, event.of) {
            (FLASH, DeviceEvent::Flash(event)) => Some(flash_cache::Event::Flash(event)),
            (FLASH, DeviceEvent::Disk(_)) => None,
            _ => Some(flash_cache::Event::Backing(event)),
        }
    }
    fn heard(observation: Self::Observation) -> ArrayObservation<OfDevice> {
        match observation.apart() {
            Ok(own) => ArrayObservation::Device(only(OfDevice::Cache(own))),
            Err(heard) => behind_cache(heard),
        }
    }
    fn fault(error: Self::Error) -> StoreError {
        StoreError::Cached(Box::new(error))
    }
}

/// A probe of any kind: what hears a store in a store in a store is one type.
struct AnyProbe<'a, O> {
    hear: &'a mut dyn FnMut(Time, O),
    wants_fragments: bool,
}

impl<'a, O> AnyProbe<'a, O> {
    fn new(wants_fragments: bool, hear: &'a mut dyn FnMut(Time, O)) -> Self {
        Self {
            hear,
            wants_fragments,
        }
    }
}

impl<O> Probe<O> for AnyProbe<'_, O> {
    fn wants_fragments(&self) -> bool {
        self.wants_fragments
    }
    fn observe(&mut self, now: Time, observation: O) {
        (self.hear)(now, observation);
    }
}

/// What is not an array, with what it has scheduled and its owner does not know yet.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "D: Serialize + DeserializeOwned, D::Event: Copy + Default")]
pub struct Device<D: BlockDevice> {
    device: D,
    #[serde(skip)]
    scheduled: EventQueue<D::Event>,
}

impl<D: Part> Device<D> {
    fn boxed(device: D) -> Box<Self> {
        Box::new(Self {
            device,
            scheduled: EventQueue::default(),
        })
    }
    /// Does something with the device at this instant, and passes on what it schedules.
    fn act<T>(
        &mut self,
        cx: &mut Context<'_, Event, impl Probe<ArrayObservation<OfDevice>>>,
        act: impl FnOnce(
            &mut D,
            &mut Context<'_, D::Event, AnyProbe<'_, D::Observation>>,
        ) -> Result<T, D::Error>,
    ) -> Result<T, StoreError> {
        let pieces = cx.probe.wants_fragments();
        let mut hear = |now, heard| cx.probe.observe(now, D::heard(heard));
        let mut probe = AnyProbe::new(pieces, &mut hear);
        let mut within = Context::new(cx.now, &mut self.scheduled, &mut probe);
        let done = act(&mut self.device, &mut within).map_err(D::fault)?;
        while let Some((at, event)) = self.scheduled.pop() {
            cx.queue.schedule(at, D::outside(event));
        }
        Ok(done)
    }
    fn handle(
        &mut self,
        cx: &mut Context<'_, Event, impl Probe<ArrayObservation<OfDevice>>>,
        event: Event,
    ) -> Result<(), StoreError> {
        let Some(event) = D::inside(event) else {
            unreachable!("a device gets its own events");
        };
        self.act(cx, |device, cx| device.handle(cx, event))
    }
    fn cut_power(
        &mut self,
        now: Time,
        probe: &mut impl Probe<ArrayObservation<OfDevice>>,
    ) -> Result<PowerCut, StoreError> {
        let pieces = probe.wants_fragments();
        let mut hear = |now, heard| probe.observe(now, D::heard(heard));
        let mut probe = AnyProbe::new(pieces, &mut hear);
        let cut = self.device.cut_power(now, &mut probe);
        cut.map_err(D::fault)
    }
}

impl From<Ssd<Map>> for Store {
    fn from(ssd: Ssd<Map>) -> Self {
        Self::Ssd(Device::boxed(ssd))
    }
}

impl From<Disk> for Store {
    fn from(disk: Disk) -> Self {
        Self::Disk(Device::boxed(disk))
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

impl Store {
    /// The devices: of a cached store the cache, and then what lies behind it; of an array those of its members in their order.
    pub fn leaves(&self) -> Vec<Leaf<'_>> {
        match self {
            Self::Ssd(ssd) => vec![Leaf::Ssd(&ssd.device)],
            Self::Disk(disk) => vec![Leaf::Disk(&disk.device)],
            Self::Cached(cached) => {
                let behind = cached.device.backing().leaves();
                [vec![Leaf::Cached(&cached.device)], behind].concat()
            }
            Self::Array(array) => array.members().flat_map(Self::leaves).collect(),
        }
    }
}

/// Does the same to a store of any shape: to what is not an array as `$device`, to an array.
macro_rules! either {
    ($store:expr, $device:ident => $done:expr, $array:ident => $of_array:expr) => {
        match $store {
            Self::Ssd($device) => $done,
            Self::Disk($device) => $done,
            Self::Cached($device) => $done,
            Self::Array($array) => $of_array,
        }
    };
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
    fn takes(&self, stream: u32) -> bool {
        either!(self, one => one.device.takes(stream), array => array.takes(stream))
    }
    fn tags(&self) -> u32 {
        either!(self, one => one.device.tags(), array => array.tags())
    }
    fn look_ahead(
        &mut self,
        cx: &mut Context<'_, Event, impl Probe<Self::Observation>>,
        upcoming: &[Request],
    ) {
        either!(self, one => {
            let told = one.act(cx, |device, cx| {
                device.look_ahead(cx, upcoming);
                Ok(())
            });
            debug_assert!(told.is_ok(), "looking ahead cannot fail");
        }, array => {
            let pieces = cx.probe.wants_fragments();
            let mut hear = |now, heard| cx.probe.observe(now, heard);
            let mut probe = AnyProbe::new(pieces, &mut hear);
            array.look_ahead(&mut Context::new(cx.now, cx.queue, &mut probe), upcoming);
        });
    }
    fn submit(
        &mut self,
        cx: &mut Context<'_, Event, impl Probe<Self::Observation>>,
        request: Request,
    ) -> Result<Ticket, StoreError> {
        either!(self, one => one.act(cx, |device, cx| device.submit(cx, request)), array => {
            let pieces = cx.probe.wants_fragments();
            let mut hear = |now, heard| cx.probe.observe(now, heard);
            let mut probe = AnyProbe::new(pieces, &mut hear);
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
            let pieces = cx.probe.wants_fragments();
            let mut hear = |now, heard| cx.probe.observe(now, heard);
            let mut probe = AnyProbe::new(pieces, &mut hear);
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
            let pieces = probe.wants_fragments();
            let mut hear = |now, heard| probe.observe(now, heard);
            Ok(array.cut_power(now, &mut AnyProbe::new(pieces, &mut hear))?)
        })
    }
    fn volatile_pages(&self, offset: u64, bytes: u64) -> u32 {
        either!(self, one => one.device.volatile_pages(offset, bytes), array => array.volatile_pages(offset, bytes))
    }
    fn withdraw(&mut self, tickets: &[Ticket]) {
        either!(self, one => one.device.withdraw(tickets), array => array.withdraw(tickets));
    }
    #[allow(clippy::redundant_closure_for_method_calls)] // a path names one lifetime, not any
    fn resume(
        &mut self,
        cx: &mut Context<'_, Event, impl Probe<Self::Observation>>,
    ) -> Result<(), StoreError> {
        either!(self, one => one.act(cx, |device, cx| device.resume(cx)), array => {
            let pieces = cx.probe.wants_fragments();
            let mut hear = |now, heard| cx.probe.observe(now, heard);
            let mut probe = AnyProbe::new(pieces, &mut hear);
            Ok(array.resume(&mut Context::new(cx.now, cx.queue, &mut probe))?)
        })
    }
    fn die_backlog(&self, times: &mut Vec<Time>) {
        either!(self, one => one.device.die_backlog(times), array => array.die_backlog(times));
        if let Self::Cached(cached) = self {
            cached.device.backing().die_backlog(times);
        }
    }
    /// Of all devices in their order ([`Store::leaves`]).
    fn busy(&self, busy: &mut Busy) {
        either!(self, one => one.device.busy(busy), array => array.busy(busy));
        if let Self::Cached(cached) = self {
            cached.device.backing().busy(busy);
        }
    }
}
