//! A store of any shape: an array whose members are devices, or stores themselves.

use serde::{Deserialize, Serialize};
use wordline_block::{BlockDevice, Busy, Completion, Member, Nested, PowerCut, Request, Ticket};
use wordline_kernel::{Context, Probe, Time};

use crate::address_map::AddressMap;
use crate::array::Array;
use crate::error::ArrayError;
use crate::observation::{Heard, Observation};

/// Devices in arrays at any depth. A device that stands beside an array is an array of one.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Store<D>
where
    D: BlockDevice<Event: Nested<Outside = Member<D::Event>>, Observation: Heard>,
{
    /// An array of devices.
    OfDevices(Array<D>),
    /// An array of stores.
    OfStores(Array<Self>),
}

/// A probe of any kind: what hears an array in an array in an array is one type.
struct Heeds<'a, O>(&'a mut dyn FnMut(Time, O));

impl<O> Probe<O> for Heeds<'_, O> {
    fn observe(&mut self, now: Time, observation: O) {
        (self.0)(now, observation);
    }
}

/// Does the same to either array.
macro_rules! either {
    ($store:expr, $array:ident => $done:expr) => {
        match $store {
            Self::OfDevices($array) => $done,
            Self::OfStores($array) => $done,
        }
    };
}

/// The fault of a member at any depth, under the names of all arrays around it.
trait Flat<E> {
    fn flat(self) -> ArrayError<E>;
}

impl<E> Flat<E> for ArrayError<E> {
    fn flat(self) -> Self {
        self
    }
}

impl<E> Flat<E> for ArrayError<ArrayError<E>> {
    fn flat(self) -> ArrayError<E> {
        match self {
            Self::BeyondEnd(error)
            | Self::Member {
                error: ArrayError::BeyondEnd(error),
                ..
            } => ArrayError::BeyondEnd(error),
            Self::Member {
                name,
                error: ArrayError::Member { name: inner, error },
            } => ArrayError::Member {
                name: if inner.is_empty() {
                    name
                } else {
                    format!("{name}.{inner}")
                },
                error,
            },
        }
    }
}

impl<D> Store<D>
where
    D: BlockDevice<Event: Nested<Outside = Member<D::Event>>, Observation: Heard>,
{
    /// A device that stands beside an array.
    pub fn of_one(device: D) -> Self {
        let map = AddressMap::concatenated(&[device.user_bytes()]);
        Self::OfDevices(Array::new(map, [(String::new(), device)]))
    }
    /// The devices, in the order of the members.
    pub fn devices(&self) -> Vec<&D> {
        match self {
            Self::OfDevices(array) => array.members().collect(),
            Self::OfStores(array) => array.members().flat_map(Self::devices).collect(),
        }
    }
}

impl<D> BlockDevice for Store<D>
where
    D: BlockDevice<Event: Nested<Outside = Member<D::Event>>, Observation: Heard>,
{
    type Event = Member<D::Event>;
    type Observation = Observation<<D::Observation as Heard>::Device>;
    type Error = ArrayError<D::Error>;

    fn user_bytes(&self) -> u64 {
        either!(self, array => array.user_bytes())
    }
    fn takes(&self, stream: u32) -> bool {
        either!(self, array => array.takes(stream))
    }
    fn tags(&self) -> u32 {
        either!(self, array => array.tags())
    }
    fn look_ahead(
        &mut self,
        cx: &mut Context<'_, Self::Event, impl Probe<Self::Observation>>,
        upcoming: &[Request],
    ) {
        let mut told = |now, heard| cx.probe.observe(now, heard);
        let mut probe = Heeds(&mut told);
        let cx = &mut Context::new(cx.now, cx.queue, &mut probe);
        either!(self, array => array.look_ahead(cx, upcoming));
    }
    fn submit(
        &mut self,
        cx: &mut Context<'_, Self::Event, impl Probe<Self::Observation>>,
        request: Request,
    ) -> Result<Ticket, Self::Error> {
        let mut told = |now, heard| cx.probe.observe(now, heard);
        let mut probe = Heeds(&mut told);
        let cx = &mut Context::new(cx.now, cx.queue, &mut probe);
        either!(self, array => array.submit(cx, request).map_err(Flat::flat))
    }
    fn handle(
        &mut self,
        cx: &mut Context<'_, Self::Event, impl Probe<Self::Observation>>,
        event: Self::Event,
    ) -> Result<(), Self::Error> {
        let mut told = |now, heard| cx.probe.observe(now, heard);
        let mut probe = Heeds(&mut told);
        let cx = &mut Context::new(cx.now, cx.queue, &mut probe);
        either!(self, array => array.handle(cx, event).map_err(Flat::flat))
    }
    fn completions(&mut self) -> impl Iterator<Item = Completion> + '_ {
        let told: Box<dyn Iterator<Item = Completion>> = match self {
            Self::OfDevices(array) => Box::new(array.completions()),
            Self::OfStores(array) => Box::new(array.completions()),
        };
        told
    }
    fn has_completions(&self) -> bool {
        either!(self, array => array.has_completions())
    }
    fn cut_power(
        &mut self,
        now: Time,
        probe: &mut impl Probe<Self::Observation>,
    ) -> Result<PowerCut, Self::Error> {
        let mut told = |now, heard| probe.observe(now, heard);
        let probe = &mut Heeds(&mut told);
        either!(self, array => array.cut_power(now, probe).map_err(Flat::flat))
    }
    fn withdraw(&mut self, ticket: Ticket) {
        either!(self, array => array.withdraw(ticket));
    }
    fn resume(
        &mut self,
        cx: &mut Context<'_, Self::Event, impl Probe<Self::Observation>>,
    ) -> Result<(), Self::Error> {
        let mut told = |now, heard| cx.probe.observe(now, heard);
        let mut probe = Heeds(&mut told);
        let cx = &mut Context::new(cx.now, cx.queue, &mut probe);
        either!(self, array => array.resume(cx).map_err(Flat::flat))
    }
    fn chip_times(&self, times: &mut Vec<Time>) {
        either!(self, array => array.chip_times(times));
    }
    fn busy(&self, busy: &mut Busy) {
        either!(self, array => array.busy(busy));
    }
}
