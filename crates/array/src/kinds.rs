//! Kinds of devices of which a store consists, and the types derived from them.

use std::convert::Infallible;

use serde::{Deserialize, Serialize};
use thiserror::Error;
use wordline_block::{
    ArrayObservation, BeyondEnd, BlockDevice, DeviceObservation, Failure, FromMember,
    GcObservation, RequestObservation,
};
use wordline_flash_cache::{self as flash_cache, Cached, CachedError};
use wordline_ftl::Map;
use wordline_hdd::Disk;
use wordline_kernel::Digest;
use wordline_ram_disk::RamDisk;
use wordline_ssd::Ssd;

use crate::array::Array;
use crate::device::Device;
use crate::error::ArrayError;

/// Event of a store.
pub(crate) type Event = FromMember<DeviceEvent>;

/// Device or cache of a store: conversion of its events, observations and errors to those of the
/// store.
pub trait Part: BlockDevice<Event: Copy + Default> {
    /// Wraps an event of the device as an event of the store.
    fn wrap(event: Self::Event) -> Event;
    /// Unwraps an event of the store; `None` if it is not an event of the device.
    fn unwrap(event: Event) -> Option<Self::Event>;
    /// Wraps an observation of the device as an observation of the store.
    fn wrap_observation(observation: Self::Observation) -> ArrayObservation<OfDevice>;
    /// Converts an error of the device to an error of the store.
    fn fault(error: Self::Error) -> StoreError;
}

/// Wraps an event or observation of a single device.
pub(crate) fn only<T>(of: T) -> FromMember<T> {
    FromMember { member: 0, of }
}

/// Derives the types of a store from the list of device kinds: its devices, events, observations
/// and errors, the conversions of each device, and the macro `either!`, which applies an expression
/// to a store of any kind. Each kind has its type and its crate, and, if its `figures()` returns
/// statistics, a list of them in [`StoreStats`]; `$d` is the dollar sign, for `either!`.
macro_rules! kinds {
    ($d:tt $($(#[$doc:meta])* $Kind:ident($Device:ty) of $of:ident $(with $list:ident: $Stats:ident)?),+ $(,)?) => {
        /// Store whose structure is known only at run time. If all devices of a store are of one
        /// kind, [`Array`] and [`Cached`] alone are faster.
        ///
        /// Its devices are numbered: the members of an array as in [`wordline_block::FromMember`];
        /// in a cached store the flash is member 0 of two, and the backing store is member 1.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub enum Store {
            $($(#[$doc])* $Kind(Box<Device<$Device>>),)+
            /// Flash cache in front of another store.
            Cached(Box<Device<Cached<Store>>>),
            /// Array of stores.
            Array(Box<Array<Store>>),
        }

        /// Device of a store.
        #[derive(Clone, Copy, Debug)]
        pub enum Leaf<'a> {
            $($(#[$doc])* $Kind(&'a $Device),)+
            /// Cache in front of a backing store.
            Cached(&'a Cached<Store>),
        }

        /// Statistics of a store's devices, for the kinds of devices that keep statistics: a list
        /// per kind, in the order of the devices.
        #[derive(Clone, Debug, Default)]
        pub struct StoreStats {
            $($(
                #[doc = concat!("Statistics of each [`Leaf::", stringify!($Kind), "`].")]
                pub $list: Vec<$of::$Stats>,
            )?)+
        }

        $($(
            impl FromIterator<$of::$Stats> for StoreStats {
                fn from_iter<T: IntoIterator<Item = $of::$Stats>>(devices: T) -> Self {
                    let mut stats = Self::default();
                    stats.$list.extend(devices);
                    stats
                }
            }
        )?)+

        impl StoreStats {
            /// Adds the statistics of a device, if it keeps any.
            fn add(&mut self, leaf: Leaf<'_>) {
                $($(
                    if let Leaf::$Kind(device) = leaf {
                        self.$list.push(device.figures());
                    }
                )?)+
            }
        }

        /// Observation of a device of a store, by device kind.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum OfDevice {
            $($(#[$doc])* $Kind(<$Device as BlockDevice>::Observation),)+
            /// Observation of a cache. The devices of its backing store report their own.
            Cached(flash_cache::Observation<Infallible>),
        }

        /// Event of a device, by device kind. Events of a cache's flash are events of an SSD.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        pub enum DeviceEvent {
            $($(#[$doc])* $Kind(<$Device as BlockDevice>::Event),)+
        }

        /// Error of a store.
        #[derive(Clone, Debug, PartialEq, Eq, Error)]
        pub enum StoreError {
            /// The request is outside the store.
            #[error(transparent)]
            BeyondEnd(#[from] BeyondEnd),
            $($(#[$doc])* #[error(transparent)] $Kind(<$Device as BlockDevice>::Error),)+
            /// A cached store failed.
            #[error(transparent)]
            Cached(Box<CachedError<Self>>),
            /// A member of an array failed, at any depth.
            #[error("member {name}: {error}")]
            Member {
                /// Name of the member, after the names of the arrays that contain it.
                name: String,
                /// Error of the member.
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
                fn wrap(event: Self::Event) -> Event {
                    only(DeviceEvent::$Kind(event))
                }
                fn unwrap(event: Event) -> Option<Self::Event> {
                    match event.of {
                        DeviceEvent::$Kind(event) => Some(event),
                        _ => None,
                    }
                }
                fn wrap_observation(observation: Self::Observation) -> ArrayObservation<OfDevice> {
                    ArrayObservation::Device(only(OfDevice::$Kind(observation)))
                }
                fn fault(error: Self::Error) -> StoreError {
                    StoreError::$Kind(error)
                }
            }
        )+

        impl Store {
            /// Returns the devices of the store: for a cached store, the cache and then the devices
            /// of its backing store; for an array, those of its members in order.
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
                    $(Self::$Kind(observation) => observation.collection_steps(),)+
                    Self::Cached(flash_cache::Observation::Flash(observation)) => observation.collection_steps(),
                    Self::Cached(_) => 0,
                }
            }
        }

        impl DeviceObservation for OfDevice {
            fn of_requests(self) -> Option<RequestObservation> {
                match self {
                    $(Self::$Kind(observation) => observation.of_requests(),)+
                    Self::Cached(observation) => observation.of_requests(),
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

        /// Applies an expression to a store of any kind: to a single device as `$device`, or to an
        /// array.
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
    /// Solid-state drive.
    Ssd(Ssd<Map>) of wordline_ssd,
    /// Hard disk.
    Disk(Disk) of wordline_hdd with disks: DiskStats,
    /// RAM disk.
    RamDisk(RamDisk) of wordline_ram_disk with ram_disks: RamDiskStats,
}

impl Store {
    /// Returns the statistics of the store's devices that keep any.
    pub fn stats(&self) -> StoreStats {
        let mut stats = StoreStats::default();
        for leaf in self.leaves() {
            stats.add(leaf);
        }
        stats
    }
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
