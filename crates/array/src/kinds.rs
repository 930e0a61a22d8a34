//! The kinds of devices that a store is built of, and what follows from each of them.

use std::convert::Infallible;

use serde::{Deserialize, Serialize};
use thiserror::Error;
use wordline_block::{
    ArrayObservation, BeyondEnd, BlockDevice, DeviceObservation, Failure, GcObservation, Member,
    RequestObservation,
};
use wordline_flash_cache::{self as flash_cache, Cached, CachedError};
use wordline_ftl::Map;
use wordline_hdd::Disk;
use wordline_kernel::Digest;
use wordline_ssd::Ssd;

use crate::array::Array;
use crate::device::Device;
use crate::error::ArrayError;

/// What a store schedules.
pub(crate) type Event = Member<DeviceEvent>;

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

/// Of a device by itself.
pub(crate) fn only<T>(of: T) -> Member<T> {
    Member { member: 0, of }
}

/// Makes of the list of kinds what a store is, holds, schedules, reports and fails with, each one type; how a device is wrapped in
/// them; and `either!`, which does the same to a store of any kind. Each has its type and its crate; `$d` is the dollar sign, for
/// `either!`.
macro_rules! kinds {
    ($d:tt $($(#[$doc:meta])* $Kind:ident($Device:ty) of $of:ident),+ $(,)?) => {
        /// A store whose shape is known only when it is built. Where all devices of a store are of one kind, [`Array`] and
        /// [`Cached`] by themselves are faster.
        ///
        /// Its devices are numbered: the members of an array as [`wordline_block::Member`] says, and in a cached store the flash is
        /// member 0 of two and the store behind it is member 1.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub enum Store {
            $($(#[$doc])* $Kind(Box<Device<$Device>>),)+
            /// Flash in front of another store.
            Cached(Box<Device<Cached<Store>>>),
            /// Several stores as one.
            Array(Box<Array<Store>>),
        }

        /// A device of a store.
        #[derive(Clone, Copy, Debug)]
        pub enum Leaf<'a> {
            $($(#[$doc])* $Kind(&'a $Device),)+
            /// The cache before another store.
            Cached(&'a Cached<Store>),
        }

        /// Something that happened in a device of a store of any shape, by its kind.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum OfDevice {
            $($(#[$doc])* $Kind(<$Device as BlockDevice>::Observation),)+
            /// A cache. The devices of the store behind it report what happens there.
            Cached(flash_cache::Observation<Infallible>),
        }

        /// An event of a device, by its kind. Those of the flash of a cache are those of an SSD.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        pub enum DeviceEvent {
            $($(#[$doc])* $Kind(<$Device as BlockDevice>::Event),)+
        }

        /// A run that cannot go on, in a store of any shape.
        #[derive(Clone, Debug, PartialEq, Eq, Error)]
        pub enum StoreError {
            /// A request outside the store.
            #[error(transparent)]
            BeyondEnd(#[from] BeyondEnd),
            $($(#[$doc])* #[error(transparent)] $Kind(<$Device as BlockDevice>::Error),)+
            /// A cached store failed.
            #[error(transparent)]
            Cached(Box<CachedError<Self>>),
            /// A member of an array failed, at any depth.
            #[error("member {name}: {error}")]
            Member {
                /// Its name, behind those of the arrays around it.
                name: String,
                /// How.
                error: Box<Self>,
            },
        }

        $(
            impl From<$Device> for Store {
                fn from(device: $Device) -> Self {
                    Self::$Kind(Device::boxed(device))
                }
            }

            impl From<$of::Observation> for OfDevice {
                fn from(observation: $of::Observation) -> Self {
                    Self::$Kind(observation)
                }
            }

            impl Part for $Device {
                fn outside(event: Self::Event) -> Event {
                    only(DeviceEvent::$Kind(event))
                }
                fn inside(event: Event) -> Option<Self::Event> {
                    match event.of {
                        DeviceEvent::$Kind(event) => Some(event),
                        _ => None,
                    }
                }
                fn heard(observation: Self::Observation) -> ArrayObservation<OfDevice> {
                    ArrayObservation::Device(only(OfDevice::$Kind(observation)))
                }
                fn fault(error: Self::Error) -> StoreError {
                    StoreError::$Kind(error)
                }
            }
        )+

        impl Store {
            /// The devices: of a cached store the cache, and then what lies behind it; of an array those of its members in their order.
            pub fn leaves(&self) -> Vec<Leaf<'_>> {
                match self {
                    $(Self::$Kind(one) => vec![Leaf::$Kind(one.device())],)+
                    Self::Cached(cached) => {
                        let cached = cached.device();
                        [vec![Leaf::Cached(cached)], cached.backing().leaves()].concat()
                    }
                    Self::Array(array) => array.members().flat_map(Self::leaves).collect(),
                }
            }
        }

        impl GcObservation for OfDevice {
            fn collection_steps(&self) -> u32 {
                match self {
                    $(Self::$Kind(heard) => heard.collection_steps(),)+
                    Self::Cached(flash_cache::Observation::Flash(heard)) => heard.collection_steps(),
                    Self::Cached(_) => 0,
                }
            }
        }

        impl DeviceObservation for OfDevice {
            fn of_requests(self) -> Option<RequestObservation> {
                match self {
                    $(Self::$Kind(heard) => heard.of_requests(),)+
                    Self::Cached(heard) => heard.of_requests(),
                }
            }
        }

        impl wordline_block::Event for DeviceEvent {
            fn mix(self, digest: &mut Digest) {
                match self {
                    $(Self::$Kind(event) => event.mix(digest),)+
                }
            }
        }

        impl Failure for StoreError {
            fn is_interruption(&self) -> bool {
                match self {
                    Self::BeyondEnd(_) => false,
                    $(Self::$Kind(error) => error.is_interruption(),)+
                    Self::Cached(error) => error.is_interruption(),
                    Self::Member { error, .. } => error.is_interruption(),
                }
            }
        }

        /// Does the same to a store of any shape: to a device of any kind as `$device`, to an array.
        macro_rules! either {
            ($d store:expr, $d device:ident => $d done:expr, $d array:ident => $d of_array:expr) => {
                match $d store {
                    $(Self::$Kind($d device) => $d done,)+
                    Self::Cached($d device) => $d done,
                    Self::Array($d array) => $d of_array,
                }
            };
        }
        pub(crate) use either;
    };
}

kinds! { $
    /// A solid-state disk.
    Ssd(Ssd<Map>) of wordline_ssd,
    /// A hard disk.
    Disk(Disk) of wordline_hdd,
}

impl Default for DeviceEvent {
    fn default() -> Self {
        Self::Ssd(wordline_ssd::Event::default())
    }
}

impl From<ArrayError<Self>> for StoreError {
    fn from(error: ArrayError<Self>) -> Self {
        match error {
            ArrayError::BeyondEnd(error)
            | ArrayError::Member {
                error: Self::BeyondEnd(error),
                ..
            } => Self::BeyondEnd(error),
            ArrayError::Member {
                name,
                error: Self::Member { name: inner, error },
            } => Self::Member {
                name: format!("{name}.{inner}"),
                error,
            },
            ArrayError::Member { name, error } => Self::Member {
                name,
                error: Box::new(error),
            },
        }
    }
}
