//! What a configuration means, checked.

use std::num::NonZeroU32;
use wordline_array::AddressMap;
use wordline_ftl::allocate::Dimensions;
use wordline_host_link::Class;
use wordline_kernel::Time;
use wordline_nand::{Energy, Geometry};
use wordline_workload::{Disk, generate};

use crate::costs::{of_disk, of_flash};

/// A run that can be simulated: every number checked, nothing left to decide.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Name of what is simulated.
    pub name: String,
    /// What serves the requests.
    pub store: Store,
    /// The host side of it, if that takes time.
    pub host_side: Option<wordline_host_cpu::Config>,
    /// When the requests of a trace are issued; a generated workload has its own clock.
    pub replay: Replay,
    /// The time series.
    pub series: Series,
    /// Measurements, and the start of measuring.
    pub observe: Observe,
    /// Load to generate; none if the run is of a trace.
    pub workload: Option<generate::Config>,
    /// Streams by name; none if there is one only, of `workload` or of a trace.
    pub streams: Vec<Stream>,
    /// Seed of all random streams.
    pub seed: u64,
}

/// What a device is like, whatever its kind.
pub trait DevicePlan {
    /// Name of the configuration that describes it.
    fn name(&self) -> &str;
    /// All that it can hold. Bytes.
    fn capacity_bytes(&self) -> u64;
    /// What the host can address. Bytes.
    fn user_bytes(&self) -> u64 {
        self.capacity_bytes()
    }
    /// Requests that it holds at once.
    fn queue_depth(&self) -> u32;
    /// Whether it completes writes that it may lose with the power, if they are neither FUA nor flushed.
    fn is_volatile(&self) -> bool;
    /// Mean time in which it reads or writes a page of `page_bytes` while it is idle. Microseconds.
    fn page_us(&self, page_bytes: u32, write: bool) -> f64;
    /// Its flash, if it has any.
    fn ssd(&self) -> Option<&Ssd> {
        None
    }
}

/// Makes of the list of kinds of devices what a store is, and what a device of it is.
macro_rules! devices {
    ($($(#[$doc:meta])* $Kind:ident($Plan:ty)),+ $(,)?) => {
        /// What serves requests. Stores nest: the members of an array are stores.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Store {
            $($(#[$doc])* $Kind(Box<$Plan>),)+
            /// Flash in front of another store.
            Cached(Box<Cached>),
            /// Several stores as one.
            Array(Array),
        }

        /// What has no members.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum Device<'a> {
            $($(#[$doc])* $Kind(&'a $Plan),)+
            /// A cache, with its flash.
            Cached(&'a Cached),
        }

        impl Store {
            /// The device that it is, or the cache; `None` for an array.
            pub fn device(&self) -> Option<Device<'_>> {
                match self {
                    $(Self::$Kind(device) => Some(Device::$Kind(device)),)+
                    Self::Cached(cached) => Some(Device::Cached(cached)),
                    Self::Array(_) => None,
                }
            }
        }

        impl<'a> Device<'a> {
            /// What it is like.
            pub fn plan(self) -> &'a dyn DevicePlan {
                match self {
                    $(Self::$Kind(device) => device,)+
                    Self::Cached(cached) => cached,
                }
            }
        }
    };
}

devices! {
    /// An SSD.
    Ssd(Ssd),
    /// A hard disk.
    Disk(HardDisk),
}

/// What a store is made of, as far as a run depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One SSD.
    Ssd,
    /// An array of SSDs, at any depth.
    Ssds,
    /// A hard disk, or an array of them.
    Disks,
    /// Flash in front of a hard disk, or of an array of them.
    CachedDisks,
    /// Anything else: devices of several kinds, caches in arrays and behind caches, and what has a host side.
    Mixed,
}

/// A hard disk.
#[derive(Clone, Debug, PartialEq)]
pub struct HardDisk {
    /// Name of the configuration that describes it.
    pub name: String,
    /// What it is.
    pub disk: wordline_hdd::Plan,
}

impl DevicePlan for HardDisk {
    fn name(&self) -> &str {
        &self.name
    }
    fn capacity_bytes(&self) -> u64 {
        self.disk.capacity_bytes
    }
    fn queue_depth(&self) -> u32 {
        self.disk.queue_depth
    }
    fn is_volatile(&self) -> bool {
        self.disk.buffer.write_cache
    }
    fn page_us(&self, page_bytes: u32, write: bool) -> f64 {
        of_disk(&self.disk, page_bytes.into(), write)
    }
}

/// Flash in front of another store.
#[derive(Clone, Debug, PartialEq)]
pub struct Cached {
    /// The flash of the cache.
    pub ssd: Ssd,
    /// The cache.
    pub cache: wordline_flash_cache::Plan,
    /// What lies behind it: a disk, or an array.
    pub backing: Store,
}

impl DevicePlan for Cached {
    fn name(&self) -> &str {
        &self.ssd.name
    }
    fn capacity_bytes(&self) -> u64 {
        self.ssd.capacity_bytes()
    }
    fn user_bytes(&self) -> u64 {
        self.backing.user_bytes()
    }
    fn queue_depth(&self) -> u32 {
        self.cache.queue_depth
    }
    fn is_volatile(&self) -> bool {
        self.backing.is_volatile()
    }
    fn page_us(&self, page_bytes: u32, write: bool) -> f64 {
        self.ssd.page_us(page_bytes, write)
    }
    fn ssd(&self) -> Option<&Ssd> {
        Some(&self.ssd)
    }
}

/// A hard disk, wherever it stands in a store.
#[derive(Clone, Debug, PartialEq)]
pub struct DiskLeaf<'a> {
    /// Its name.
    pub name: String,
    /// The disks of a trace (its volumes) that it holds.
    pub volumes: &'a [u32],
    /// What it is.
    pub disk: &'a wordline_hdd::Plan,
}

impl<'a> DiskLeaf<'a> {
    /// None of what is no disk.
    fn of(leaf: Leaf<'a>) -> Option<Self> {
        let Device::Disk(disk) = leaf.of else {
            return None;
        };
        Some(Self {
            name: leaf.name,
            volumes: leaf.disks,
            disk: &disk.disk,
        })
    }
}

/// A solid-state disk.
#[derive(Clone, Debug, PartialEq)]
pub struct Ssd {
    /// Name of the configuration that describes it.
    pub name: String,
    /// How a package is divided.
    pub geometry: Geometry,
    /// How its planes are wired.
    pub dimensions: Dimensions,
    /// Voltages and currents.
    pub energy: Energy,
    /// The device, for a host with one stream; see [`Ssd::device`].
    pub device: wordline_ssd::Plan,
    /// What happens before the run.
    pub precondition: Precondition,
    /// Seed of its random streams.
    pub seed: u64,
}

/// Several stores as one.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// Where its bytes lie.
    pub layout: AddressMap,
    /// Where the disks of a trace lie in its addresses, if requests go by disk.
    pub disks: Vec<Disk>,
    /// The stores; one at least.
    pub members: Vec<Member>,
}

/// A store of an array.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// Its name, unlike all others.
    pub name: String,
    /// The disks of a trace that it holds, if requests go by disk.
    pub disks: Vec<u32>,
    /// What it is.
    pub store: Store,
}

/// A stream of requests.
#[derive(Clone, Debug, PartialEq)]
pub struct Stream {
    /// Its name, unlike all others.
    pub name: String,
    /// How urgent its commands are.
    pub class: Class,
    /// Load to generate; none if the stream takes a trace.
    pub workload: Option<generate::Config>,
    /// When the requests of its trace are issued.
    pub replay: Replay,
    /// The disk of an array that its addresses are those of, if not those of the whole.
    pub disk: Option<Disk>,
    /// Seed of its load: of the run's and of its name, so that no stream changes what another asks for.
    pub seed: u64,
}

impl Stream {
    /// What the interface has to know of it.
    pub fn at_the_interface(&self) -> wordline_host_link::Stream {
        wordline_host_link::Stream { class: self.class }
    }
}

/// When requests are issued.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Replay {
    /// At their time stamps.
    OpenLoop {
        /// Arrival times are multiplied by this; positive and finite.
        time_scale: f64,
    },
    /// When a request before has completed.
    ClosedLoop {
        /// Requests under way at once.
        queue_depth: u32,
    },
    /// When the request before has completed and a recorded time is over.
    ThinkTime {
        /// Recorded times between a completion and the next request are multiplied by this; not negative, and finite.
        time_scale: f64,
    },
}

/// What happens before the run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Precondition {
    /// Logical pages written once, in order, from the first.
    pub fill_pages: u32,
    /// Whether they are written in a random order instead.
    pub scattered: bool,
    /// Random page writes after that, over the filled pages.
    pub overwrite_pages: u64,
    /// Further random page writes, until write amplification has settled.
    pub settle: Settle,
}

/// How long random page writes go on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Settle {
    /// Not at all.
    No,
    /// Until the write amplification of successive windows differs by less than a share.
    Until {
        /// That share.
        tolerance_ratio: f64,
        /// Most page writes spent.
        limit_pages: u64,
    },
}

/// The time series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Series {
    /// As wide as needed for at most so many intervals.
    Automatic {
        /// Most intervals.
        intervals: u32,
    },
    /// Of a given width.
    Fixed {
        /// Width of an interval.
        interval: Time,
    },
}

/// What is counted of slow requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Observe {
    /// Width of the intervals whose longest response times are kept; none for an automatic one.
    pub worst_case_interval: Option<Time>,
    /// Distance of looks at the load of the dies, if there are any.
    pub chip_load_interval: Option<Time>,
    /// Response time that is still all right.
    pub marginal_response: Time,
    /// Pages that the miss-ratio curve of a cache is made of, if there is one.
    pub miss_ratio_pages: Option<NonZeroU32>,
    /// The part of the run that is not measured, if there is one.
    pub warm_up: Option<WarmUp>,
}

/// The part of a run before anything is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarmUp {
    /// Until this time.
    Until(Time),
    /// Until this many requests have been issued by all streams.
    Requests(u64),
    /// Until each stream with a trace has issued the requests of this many of its files.
    Files(u32),
}

impl Plan {
    /// The array, if the store is one.
    pub fn array(&self) -> Option<&Array> {
        if let Store::Array(array) = &self.store {
            return Some(array);
        }
        None
    }

    /// What the store is made of.
    pub fn shape(&self) -> Shape {
        let is_ssd = |leaf: &Leaf<'_>| matches!(leaf.of, Device::Ssd(_));
        match &self.store {
            _ if self.host_side.is_some() => Shape::Mixed,
            Store::Ssd(_) => Shape::Ssd,
            Store::Array(_) if self.leaves().iter().all(is_ssd) => Shape::Ssds,
            store if store.is_disks() => Shape::Disks,
            Store::Cached(cached) if cached.backing.is_disks() => Shape::CachedDisks,
            _ => Shape::Mixed,
        }
    }

    /// Whether its devices are told of one by one.
    pub fn has_members(&self) -> bool {
        matches!(self.shape(), Shape::Ssds | Shape::Mixed)
    }

    /// Where the disks of a trace (its volumes) lie in the addresses of the store, if requests go by them.
    pub fn volumes(&self) -> &[Disk] {
        self.store.volumes()
    }

    /// Its hard disks, in the order in which the store numbers them.
    pub fn disks(&self) -> Vec<DiskLeaf<'_>> {
        self.leaves().into_iter().filter_map(DiskLeaf::of).collect()
    }

    /// Requests that the store holds at once, of an array each of its members; none where it takes as many as come, and
    /// where the members of an array differ.
    pub fn slots(&self) -> Option<u32> {
        self.store.queue_depth().filter(|depth| *depth < u32::MAX)
    }

    /// Whether a flush changes anything: whether a device holds acknowledged data that is not durable.
    pub fn takes_flushes(&self) -> bool {
        let mut leaves = self.leaves().into_iter();
        self.has_buffer() || leaves.any(|leaf| leaf.of.plan().is_volatile())
    }

    /// The cached store, if the store is one.
    pub fn cached(&self) -> Option<&Cached> {
        if let Store::Cached(cached) = &self.store {
            return Some(cached);
        }
        None
    }

    /// Its SSDs, in the order in which the store numbers them.
    pub fn ssds(&self) -> impl Iterator<Item = &Ssd> {
        self.store.ssds().into_iter()
    }

    /// The first of its SSDs, if there is any.
    pub fn first(&self) -> Option<&Ssd> {
        self.store.ssds().first().copied()
    }

    /// Share of what the host can address of its SSDs that preconditioning fills; 0 without any. Ratio.
    pub fn fill_ratio(&self) -> f64 {
        let bytes = |of: fn(&Ssd) -> u32| -> u64 {
            let sizes = self
                .ssds()
                .map(|ssd| u64::from(of(ssd)) * u64::from(ssd.geometry.page_bytes));
            sizes.sum()
        };
        let user = bytes(|ssd| ssd.device.ftl.user_pages);
        bytes(|ssd| ssd.precondition.fill_pages) as f64 / user.max(1) as f64
    }

    /// The devices as the run tells of them, in the order in which the store numbers them.
    pub fn leaves(&self) -> Vec<Leaf<'_>> {
        let mut leaves = self.store.leaves();
        let is_in_array = |store: &Store| matches!(store, Store::Array(_));
        let alone = match &self.store {
            Store::Cached(cached) if !is_in_array(&cached.backing) => leaves.len(),
            store => usize::from(!is_in_array(store)),
        };
        // What stands in no array has the name of the store.
        for leaf in leaves.iter_mut().take(alone) {
            leaf.name.clone_from(&self.name);
        }
        leaves
    }

    /// The SSDs that are no caches: those that are in a state when the run begins.
    pub fn own_ssds(&self) -> Vec<(Leaf<'_>, &Ssd)> {
        let own = self.leaves().into_iter().filter_map(|leaf| {
            if let Device::Ssd(ssd) = leaf.of {
                return Some((leaf, ssd));
            }
            None
        });
        own.collect()
    }

    /// The SSDs in it, and the flash of caches, each with the place of its device ([`Plan::leaves`]).
    pub fn flash(&self) -> Vec<(u32, &Ssd)> {
        let leaves = (0..).zip(self.leaves());
        let flash = leaves.filter_map(|(place, leaf)| Some((place, leaf.of.ssd()?)));
        flash.collect()
    }

    /// Of what the host can address, what preconditioning fills. Bytes.
    pub fn filled_bytes(&self) -> u64 {
        let own = self.own_ssds().into_iter();
        let filled = own.map(|(_, ssd)| {
            u64::from(ssd.precondition.fill_pages) * u64::from(ssd.geometry.page_bytes)
        });
        let filled = filled.sum::<u64>().min(self.store.user_bytes());
        filled.saturating_sub(self.reserved_bytes())
    }

    /// Whether a device has a DRAM buffer.
    pub fn has_buffer(&self) -> bool {
        self.ssds().any(|ssd| ssd.device.buffer.is_some())
    }

    /// What the requests of a stream are generated from, if they are.
    pub fn load(&self, stream: usize) -> Option<&generate::Config> {
        let load = self.streams.get(stream).map(|stream| &stream.workload);
        load.unwrap_or(&self.workload).as_ref()
    }

    /// All pages of its flash, and all of the devices without flash that stand behind none. Bytes.
    pub fn capacity_bytes(&self) -> u64 {
        if self.first().is_none() {
            return self.store.user_bytes();
        }
        let leaves = self.leaves().into_iter();
        let sizes = leaves.map(|leaf| {
            let counts = leaf.of.ssd().is_some() || !leaf.is_behind;
            if counts {
                leaf.of.plan().capacity_bytes()
            } else {
                0
            }
        });
        sizes.sum()
    }

    /// What the host can address. Bytes.
    pub fn user_bytes(&self) -> u64 {
        self.store.user_bytes() - self.reserved_bytes()
    }

    /// Of the store, what the host keeps for itself. Bytes.
    fn reserved_bytes(&self) -> u64 {
        let side = self.host_side.as_ref();
        side.map_or(0, |side| side.reserved(self.store.user_bytes()))
    }
}

impl Store {
    /// Of the device that it is, or what is so of an array.
    fn of_device<T>(&self, of_array: T, of: fn(&dyn DevicePlan) -> T) -> T {
        self.device().map_or(of_array, |device| of(device.plan()))
    }

    /// What the host can address. Bytes.
    pub fn user_bytes(&self) -> u64 {
        match self {
            Self::Array(array) => array.layout.user_bytes(),
            other => other.of_device(0, |plan| plan.user_bytes()),
        }
    }

    /// The hard disks in it.
    pub fn disks(&self) -> Vec<DiskLeaf<'_>> {
        let leaves = self.leaves().into_iter();
        leaves.filter_map(DiskLeaf::of).collect()
    }

    /// The SSDs in it, and the flash of caches.
    pub fn ssds(&self) -> Vec<&Ssd> {
        let leaves = self.leaves().into_iter();
        leaves.filter_map(|leaf| leaf.of.ssd()).collect()
    }

    /// Whether it is a disk, or an array of disks and of nothing else.
    fn is_disks(&self) -> bool {
        let is_disk = |member: &Member| matches!(member.store, Self::Disk(_));
        match self {
            Self::Array(array) => array.members.iter().all(is_disk),
            other => matches!(other, Self::Disk(_)),
        }
    }

    /// Whether it completes writes that it may lose with the power, if they are neither FUA nor flushed.
    pub(crate) fn is_volatile(&self) -> bool {
        match self {
            Self::Array(array) => array.members.iter().any(|one| one.store.is_volatile()),
            other => other.of_device(false, |plan| plan.is_volatile()),
        }
    }

    fn volumes(&self) -> &[Disk] {
        match self {
            Self::Array(array) => &array.disks,
            Self::Cached(cached) => cached.backing.volumes(),
            _ => &[],
        }
    }

    /// Requests that it holds at once; of an array each of its members, none if they differ.
    fn queue_depth(&self) -> Option<u32> {
        match self {
            Self::Array(array) => {
                let mut depths = array.members.iter().map(|one| one.store.queue_depth());
                let first = depths.next()?;
                depths.all(|other| other == first).then_some(first)?
            }
            other => Some(other.device()?.plan().queue_depth()),
        }
    }

    /// How many numbers its devices have at most ([`wordline_array::Store`]); some may have none.
    pub(crate) fn numbers(&self) -> u64 {
        match self {
            Self::Cached(cached) => cached.backing.numbers().saturating_mul(2),
            Self::Array(array) => {
                let most = array.members.iter().map(|member| member.store.numbers());
                let most = most.max().unwrap_or_default();
                most.saturating_mul(array.members.len() as u64)
            }
            _ => 1,
        }
    }

    /// Its devices; what is in no array has no name.
    pub(crate) fn leaves(&self) -> Vec<Leaf<'_>> {
        let alone = |of| Leaf {
            name: String::new(),
            disks: &[],
            number: 0,
            is_behind: false,
            of,
        };
        match self {
            Self::Cached(cached) => {
                let behind = cached.backing.leaves().into_iter().map(|leaf| Leaf {
                    name: if leaf.name.is_empty() {
                        BEHIND.to_owned()
                    } else {
                        leaf.name
                    },
                    number: 1 + 2 * leaf.number,
                    is_behind: true,
                    ..leaf
                });
                let own = std::iter::once(alone(Device::Cached(cached)));
                own.chain(behind).collect()
            }
            Self::Array(array) => array.leaves(),
            other => other.device().map(alone).into_iter().collect(),
        }
    }
}

/// What a device is called that stands behind a cache without an array.
pub const BEHIND: &str = "disk";

/// A device, wherever it stands in a store.
#[derive(Clone, Debug, PartialEq)]
pub struct Leaf<'a> {
    /// Its name, and before it those of the arrays that it stands in: `mirror.ssd0`.
    pub name: String,
    /// The disks of a trace that it holds, all of each or its part of them.
    pub disks: &'a [u32],
    /// How the store numbers it ([`wordline_array::Store`]).
    pub number: u32,
    /// Whether it stands behind a cache.
    pub is_behind: bool,
    /// What it is.
    pub of: Device<'a>,
}

impl<'a> Device<'a> {
    /// Its flash, if it has any.
    pub fn ssd(self) -> Option<&'a Ssd> {
        self.plan().ssd()
    }
}

impl Array {
    /// Whether a member is an array itself.
    pub fn is_nested(&self) -> bool {
        let mut members = self.members.iter();
        members.any(|member| matches!(member.store, Store::Array(_)))
    }

    fn leaves(&self) -> Vec<Leaf<'_>> {
        let members = (0..).zip(&self.members);
        let leaves = members.flat_map(|(place, Member { name, disks, store })| {
            store.leaves().into_iter().map(move |inner| Leaf {
                name: if inner.name.is_empty() {
                    name.clone()
                } else {
                    format!("{name}.{}", inner.name)
                },
                disks,
                number: place + self.members.len() as u32 * inner.number,
                ..inner
            })
        });
        leaves.collect()
    }
}

impl DevicePlan for Ssd {
    fn name(&self) -> &str {
        &self.name
    }
    fn capacity_bytes(&self) -> u64 {
        u64::from(self.device.part.layout.pages()) * u64::from(self.geometry.page_bytes)
    }
    fn user_bytes(&self) -> u64 {
        u64::from(self.device.ftl.user_pages) * u64::from(self.geometry.page_bytes)
    }
    fn queue_depth(&self) -> u32 {
        self.device.queue_depth
    }
    fn is_volatile(&self) -> bool {
        let buffer = self.device.buffer.as_ref();
        buffer.is_some_and(|buffer| !buffer.write_through && !buffer.capacitors)
    }
    /// Of its own pages, whatever their size.
    fn page_us(&self, _page_bytes: u32, write: bool) -> f64 {
        let costs = of_flash(&self.device);
        if write {
            costs.program_us
        } else {
            costs.read_us
        }
    }
    fn ssd(&self) -> Option<&Ssd> {
        Some(self)
    }
}

impl Ssd {
    /// The device, which serves `streams`.
    pub fn device(&self, streams: &[Stream]) -> wordline_ssd::Plan {
        wordline_ssd::Plan {
            streams: streams.iter().map(Stream::at_the_interface).collect(),
            ..self.device.clone()
        }
    }
}
