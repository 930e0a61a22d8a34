//! What a configuration means, checked.

use std::num::NonZeroU32;
use wordline_array::AddressMap;
use wordline_ftl::allocate::Dimensions;
use wordline_host_link::Class;
use wordline_kernel::Time;
use wordline_nand::{Energy, Geometry};
use wordline_workload::{Disk, generate};

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

/// What serves requests. Stores nest: the members of an array are stores.
#[derive(Clone, Debug, PartialEq)]
pub enum Store {
    /// A solid-state disk.
    Ssd(Box<Ssd>),
    /// A hard disk.
    Disk(Box<HardDisk>),
    /// Flash in front of another store.
    Cached(Box<Cached>),
    /// Several stores as one.
    Array(Array),
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
        match leaf.of {
            Device::Disk(disk) => Some(Self {
                name: leaf.name,
                volumes: leaf.disks,
                disk: &disk.disk,
            }),
            Device::Ssd(_) | Device::Cached(_) => None,
        }
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
        match &self.store {
            Store::Ssd(_) | Store::Disk(_) | Store::Cached(_) => None,
            Store::Array(array) => Some(array),
        }
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
        let mut disks = self.disks().into_iter();
        self.has_buffer() || disks.any(|leaf| leaf.disk.buffer.write_cache)
    }

    /// The cached store, if the store is one.
    pub fn cached(&self) -> Option<&Cached> {
        match &self.store {
            Store::Cached(cached) => Some(cached),
            Store::Ssd(_) | Store::Disk(_) | Store::Array(_) => None,
        }
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
        let own = self.leaves().into_iter().filter_map(|leaf| match leaf.of {
            Device::Ssd(ssd) => Some((leaf, ssd)),
            Device::Cached(_) | Device::Disk(_) => None,
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

    /// All pages of its flash, and all sectors of disks that stand behind none. Bytes.
    pub fn capacity_bytes(&self) -> u64 {
        if self.first().is_none() {
            return self.store.user_bytes();
        }
        let leaves = self.leaves().into_iter();
        let sizes = leaves.map(|leaf| match leaf.of {
            Device::Disk(disk) if !leaf.is_behind => disk.disk.capacity_bytes,
            Device::Disk(_) => 0,
            Device::Ssd(ssd) => ssd.capacity_bytes(),
            Device::Cached(cached) => cached.ssd.capacity_bytes(),
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
    /// What the host can address. Bytes.
    pub fn user_bytes(&self) -> u64 {
        match self {
            Self::Ssd(ssd) => ssd.user_bytes(),
            Self::Disk(disk) => disk.disk.capacity_bytes,
            Self::Cached(cached) => cached.backing.user_bytes(),
            Self::Array(array) => array.layout.user_bytes(),
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
            Self::Disk(_) => true,
            Self::Array(array) => array.members.iter().all(is_disk),
            Self::Ssd(_) | Self::Cached(_) => false,
        }
    }

    /// Whether it completes writes that it may lose with the power, if they are neither FUA nor flushed.
    pub(crate) fn is_volatile(&self) -> bool {
        match self {
            Self::Ssd(ssd) => {
                let buffer = ssd.device.buffer.as_ref();
                buffer.is_some_and(|buffer| !buffer.write_through && !buffer.capacitors)
            }
            Self::Disk(disk) => disk.disk.buffer.write_cache,
            Self::Cached(cached) => cached.backing.is_volatile(),
            Self::Array(array) => array.members.iter().any(|one| one.store.is_volatile()),
        }
    }

    fn volumes(&self) -> &[Disk] {
        match self {
            Self::Array(array) => &array.disks,
            Self::Cached(cached) => cached.backing.volumes(),
            Self::Ssd(_) | Self::Disk(_) => &[],
        }
    }

    /// Requests that it holds at once; of an array each of its members, none if they differ.
    fn queue_depth(&self) -> Option<u32> {
        match self {
            Self::Ssd(ssd) => Some(ssd.device.queue_depth),
            Self::Disk(disk) => Some(disk.disk.queue_depth),
            Self::Cached(cached) => Some(cached.cache.queue_depth),
            Self::Array(array) => {
                let mut depths = array.members.iter().map(|one| one.store.queue_depth());
                let first = depths.next()?;
                depths.all(|other| other == first).then_some(first)?
            }
        }
    }

    /// How many numbers its devices have at most ([`wordline_array::Store`]); some may have none.
    pub(crate) fn numbers(&self) -> u64 {
        match self {
            Self::Ssd(_) | Self::Disk(_) => 1,
            Self::Cached(cached) => cached.backing.numbers().saturating_mul(2),
            Self::Array(array) => {
                let most = array.members.iter().map(|member| member.store.numbers());
                let most = most.max().unwrap_or_default();
                most.saturating_mul(array.members.len() as u64)
            }
        }
    }

    /// Its devices; what is in no array has no name.
    fn leaves(&self) -> Vec<Leaf<'_>> {
        let alone = |of| Leaf {
            name: String::new(),
            disks: &[],
            number: 0,
            is_behind: false,
            of,
        };
        match self {
            Self::Ssd(ssd) => vec![alone(Device::Ssd(ssd))],
            Self::Disk(disk) => vec![alone(Device::Disk(disk))],
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

/// What has no members.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Device<'a> {
    /// An SSD.
    Ssd(&'a Ssd),
    /// A hard disk.
    Disk(&'a HardDisk),
    /// A cache, with its flash.
    Cached(&'a Cached),
}

impl<'a> Device<'a> {
    /// Its flash, if it has any.
    pub fn ssd(self) -> Option<&'a Ssd> {
        match self {
            Self::Ssd(ssd) => Some(ssd),
            Self::Cached(cached) => Some(&cached.ssd),
            Self::Disk(_) => None,
        }
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

impl Ssd {
    /// All pages. Bytes.
    pub fn capacity_bytes(&self) -> u64 {
        u64::from(self.device.part.layout.pages()) * u64::from(self.geometry.page_bytes)
    }

    /// What the host can address. Bytes.
    pub fn user_bytes(&self) -> u64 {
        u64::from(self.device.ftl.user_pages) * u64::from(self.geometry.page_bytes)
    }

    /// The device, which serves `streams`.
    pub fn device(&self, streams: &[Stream]) -> wordline_ssd::Plan {
        wordline_ssd::Plan {
            streams: streams.iter().map(Stream::at_the_interface).collect(),
            ..self.device.clone()
        }
    }
}
