//! Checked form of a configuration, from which a run is built.

use std::num::NonZeroU32;
use wordline_array::AddressMap;
use wordline_block::{PlanError, Specification};
use wordline_ftl::allocate::Dimensions;
use wordline_host_link::Class;
use wordline_kernel::Time;
use wordline_nand::{Energy, Geometry};
use wordline_workload::{Disk, generate};

use crate::Config;
use crate::costs::of_flash;

/// Run that can be simulated. All values are checked, and all choices are made.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Name of the device or store.
    pub name: String,
    /// Store that serves the requests.
    pub store: Store,
    /// Host side of the store; `None` if the host takes no time.
    pub host_side: Option<wordline_host_cpu::Config>,
    /// Rule by which the requests of a trace are issued. Generated workloads have their own
    /// arrivals.
    pub replay: Replay,
    /// Intervals of the time series in the results.
    pub series: Series,
    /// Measurements and warm-up.
    pub observe: Observe,
    /// Load to generate; `None` if the run replays a trace, or has `streams`.
    pub workload: Option<generate::Config>,
    /// Named streams. Empty if the run has a single stream, of `workload` or of a trace.
    pub streams: Vec<Stream>,
    /// Seed of all random streams.
    pub seed: u64,
}

/// Properties of a device of any kind.
pub trait DevicePlan {
    /// Returns the name of the configuration that describes the device.
    fn name(&self) -> &str;
    /// Returns the capacity of the medium. Bytes.
    fn capacity_bytes(&self) -> u64;
    /// Returns the capacity that the host can address. Bytes.
    fn user_bytes(&self) -> u64 {
        self.capacity_bytes()
    }
    /// Returns the maximum number of outstanding requests in the device; [`u32::MAX`] without a
    /// limit.
    fn queue_depth(&self) -> u32;
    /// Returns `true` if the device completes writes before they are durable, unless they are FUA
    /// or flushed.
    fn is_volatile(&self) -> bool;
    /// Returns the mean time in which the idle device reads or writes a page of `page_bytes`.
    /// Microseconds.
    fn page_us(&self, page_bytes: u32, write: bool) -> f64;
    /// Returns the flash of the device, if it has any.
    fn ssd(&self) -> Option<&Ssd> {
        None
    }
}

/// Device without flash: the plan of its kind, with a name.
#[derive(Clone, Debug, PartialEq)]
pub struct Named<P> {
    /// Name of the configuration that describes the device.
    pub name: String,
    /// Plan of the device.
    pub plan: P,
}

impl<P: Specification> DevicePlan for Named<P> {
    fn name(&self) -> &str {
        &self.name
    }
    fn capacity_bytes(&self) -> u64 {
        self.plan.capacity_bytes()
    }
    fn queue_depth(&self) -> u32 {
        self.plan.queue_depth()
    }
    fn is_volatile(&self) -> bool {
        self.plan.is_volatile()
    }
    fn page_us(&self, page_bytes: u32, write: bool) -> f64 {
        self.plan.page_us(page_bytes.into(), write)
    }
}

/// Defines stores and their devices from the list of the kinds of devices without flash. Each kind
/// has a crate and a table in a configuration. The crate exports `Plan`, which implements
/// [`Specification`] and is created from the table by `Plan::new`.
macro_rules! devices {
    ($($(#[$doc:meta])* $Kind:ident of $of:ident at $table:ident),+ $(,)?) => {
        /// Store, which serves requests. Stores nest: the members of an array are stores.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Store {
            /// An SSD.
            Ssd(Box<Ssd>),
            $($(#[$doc])* $Kind(Box<Named<$of::Plan>>),)+
            /// Flash in front of another store.
            Cached(Box<Cached>),
            /// Several stores as one.
            Array(Array),
        }

        /// Device of a store: an SSD, a device of another kind, or a cache with its flash.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum Device<'a> {
            /// An SSD.
            Ssd(&'a Ssd),
            $($(#[$doc])* $Kind(&'a Named<$of::Plan>),)+
            /// Cache with its flash.
            Cached(&'a Cached),
        }

        impl Store {
            /// Returns the device without flash that a table of `config` describes; `None` if there
            /// is no such table.
            pub(crate) fn of_table(config: &Config) -> Result<Option<Self>, PlanError> {
                $(
                    if let Some(table) = &config.$table {
                        let (name, plan) = (config.name.clone(), $of::Plan::new(table)?);
                        return Ok(Some(Self::$Kind(Box::new(Named { name, plan }))));
                    }
                )+
                Ok(None)
            }
            /// Returns the device or the cache that the store is; `None` for an array.
            pub fn device(&self) -> Option<Device<'_>> {
                match self {
                    Self::Ssd(ssd) => Some(Device::Ssd(ssd)),
                    $(Self::$Kind(device) => Some(Device::$Kind(device)),)+
                    Self::Cached(cached) => Some(Device::Cached(cached)),
                    Self::Array(_) => None,
                }
            }
        }

        impl<'a> Device<'a> {
            /// Returns the properties of the device.
            pub fn plan(self) -> &'a dyn DevicePlan {
                match self {
                    Self::Ssd(ssd) => ssd,
                    $(Self::$Kind(device) => device,)+
                    Self::Cached(cached) => cached,
                }
            }
        }

        $(
            impl<'a> TryFrom<Device<'a>> for &'a $of::Plan {
                /// Device of another kind.
                type Error = Device<'a>;
                fn try_from(device: Device<'a>) -> Result<Self, Device<'a>> {
                    match device {
                        Device::$Kind(device) => Ok(&device.plan),
                        other => Err(other),
                    }
                }
            }
        )+
    };
}

devices! {
    /// A hard disk.
    Disk of wordline_hdd at disk,
    /// A RAM disk.
    RamDisk of wordline_ram_disk at ram,
}

/// Composition of a store, by which a run selects its event loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Single SSD.
    Ssd,
    /// Array of SSDs, at any depth.
    Ssds,
    /// Hard disk, or an array of hard disks.
    Disks,
    /// Flash in front of a hard disk, or of an array of hard disks.
    CachedDisks,
    /// Any other store, such as RAM disks, devices of several kinds, caches in arrays or behind
    /// caches, and stores with a host side.
    Mixed,
}

/// Flash in front of another store.
#[derive(Clone, Debug, PartialEq)]
pub struct Cached {
    /// Flash of the cache.
    pub ssd: Ssd,
    /// Parameters of the cache.
    pub cache: wordline_flash_cache::Plan,
    /// Backing store: a disk, a RAM disk or an array.
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

/// Hard disk at any depth of a store.
#[derive(Clone, Debug, PartialEq)]
pub struct DiskLeaf<'a> {
    /// Name of the disk.
    pub name: String,
    /// Trace disks (volumes) that the disk holds.
    pub volumes: &'a [u32],
    /// Model of the disk.
    pub disk: &'a wordline_hdd::Plan,
}

impl<'a> DiskLeaf<'a> {
    /// Returns the leaf as a hard disk; `None` if it is another kind of device.
    fn of(leaf: Leaf<'a>) -> Option<Self> {
        let disk = leaf.of.try_into().ok()?;
        Some(Self {
            name: leaf.name,
            volumes: leaf.disks,
            disk,
        })
    }
}

/// An SSD.
#[derive(Clone, Debug, PartialEq)]
pub struct Ssd {
    /// Name of the configuration that describes the device.
    pub name: String,
    /// Geometry of a package.
    pub geometry: Geometry,
    /// Numbers of channels, ways, dies and planes.
    pub dimensions: Dimensions,
    /// Voltages and currents.
    pub energy: Energy,
    /// Device for a host with one stream; see [`Ssd::device`].
    pub device: wordline_ssd::Plan,
    /// Preconditioning.
    pub precondition: Precondition,
    /// Seed of the device's random streams.
    pub seed: u64,
}

/// Several stores as one.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// Mapping of addresses to members.
    pub layout: AddressMap,
    /// Address ranges of the trace disks. Empty unless requests address disks.
    pub disks: Vec<Disk>,
    /// Members; at least one.
    pub members: Vec<Member>,
}

/// Member of an array.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// Unique name of the member.
    pub name: String,
    /// Trace disks that the member holds. Empty unless requests address disks.
    pub disks: Vec<u32>,
    /// Store that serves the member's requests.
    pub store: Store,
}

/// Stream of requests.
#[derive(Clone, Debug, PartialEq)]
pub struct Stream {
    /// Unique name of the stream.
    pub name: String,
    /// NVMe priority class of the stream.
    pub class: Class,
    /// Load to generate; `None` if the stream replays a trace.
    pub workload: Option<generate::Config>,
    /// Rule by which the requests of the stream's trace are issued.
    pub replay: Replay,
    /// Disk of an array to which the stream's addresses refer; `None` for the whole store.
    pub disk: Option<Disk>,
    /// Seed of the load, derived from the seed of the run and the stream's name. Adding a stream
    /// therefore does not change the requests of another.
    pub seed: u64,
}

impl Stream {
    /// Returns the properties of the stream that the host interface needs.
    pub fn at_the_interface(&self) -> wordline_host_link::Stream {
        wordline_host_link::Stream { class: self.class }
    }
}

/// Rule by which requests are issued.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Replay {
    /// Requests are issued at their time stamps.
    OpenLoop {
        /// Factor by which arrival times are multiplied; positive and finite.
        time_scale: f64,
    },
    /// A request is issued when another one completes.
    ClosedLoop {
        /// Number of outstanding requests.
        queue_depth: u32,
    },
    /// A request is issued a recorded think time after the previous request completes.
    ThinkTime {
        /// Factor by which recorded think times are multiplied; finite and not negative.
        time_scale: f64,
    },
}

/// Preconditioning of an SSD.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Precondition {
    /// Number of logical pages written once, from the first page; sequentially unless `scattered`.
    pub fill_pages: u32,
    /// Whether the filled pages are written in a random order instead of sequentially.
    pub scattered: bool,
    /// Number of random page writes to the filled pages, after the fill.
    pub overwrite_pages: u64,
    /// Further random page writes until write amplification reaches steady state.
    pub settle: Settle,
}

/// Condition that ends the further random page writes of preconditioning.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Settle {
    /// No further page writes.
    No,
    /// Writes end when the write amplification of successive windows differs by less than a given
    /// share.
    Until {
        /// Maximum difference. Ratio.
        tolerance_ratio: f64,
        /// Number of page writes after which writes end without steady state; checked after each
        /// window.
        limit_pages: u64,
    },
}

/// Intervals of the time series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Series {
    /// The width is chosen so that the number of intervals is at most `intervals`.
    Automatic {
        /// Maximum number of intervals.
        intervals: u32,
    },
    /// The width is given.
    Fixed {
        /// Width of an interval.
        interval: Time,
    },
}

/// Measurements and warm-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Observe {
    /// Width of the intervals of the maximum response times; `None` for an automatic width.
    pub worst_case_interval: Option<Time>,
    /// Sampling interval of the die load; `None` if the load is not sampled.
    pub chip_load_interval: Option<Time>,
    /// Acceptable response time.
    pub marginal_response: Time,
    /// Sample size of a cache's miss-ratio curve; `None` for no curve.
    pub miss_ratio_pages: Option<NonZeroU32>,
    /// Warm-up, which is not measured; `None` for no warm-up.
    pub warm_up: Option<WarmUp>,
}

/// Warm-up: the start of a run, which is not measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarmUp {
    /// The warm-up ends at this simulated time.
    Until(Time),
    /// The warm-up ends when all streams together have issued this number of requests.
    Requests(u64),
    /// The warm-up ends when each stream with a trace has issued the requests of this number of its
    /// files.
    Files(u32),
}

impl Plan {
    /// Returns the array; `None` if the store is not an array.
    pub fn array(&self) -> Option<&Array> {
        if let Store::Array(array) = &self.store {
            return Some(array);
        }
        None
    }

    /// Returns the composition of the store.
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

    /// Returns `true` if the results list the devices separately.
    pub fn has_members(&self) -> bool {
        matches!(self.shape(), Shape::Ssds | Shape::Mixed)
    }

    /// Returns the address ranges of the trace disks (volumes) in the store. Empty unless requests
    /// address disks.
    pub fn volumes(&self) -> &[Disk] {
        self.store.volumes()
    }

    /// Returns the hard disks in the order in which the store numbers them.
    pub fn disks(&self) -> Vec<DiskLeaf<'_>> {
        self.leaves().into_iter().filter_map(DiskLeaf::of).collect()
    }

    /// Returns the queue depth of the store, or of each member of an array. `None` if it is
    /// unlimited, or if the members of an array differ.
    pub fn slots(&self) -> Option<u32> {
        self.store.queue_depth().filter(|depth| *depth < u32::MAX)
    }

    /// Returns `true` if a flush has an effect, which is the case if a device has a DRAM buffer, or
    /// completes writes before they are durable.
    pub fn takes_flushes(&self) -> bool {
        let mut leaves = self.leaves().into_iter();
        self.has_buffer() || leaves.any(|leaf| leaf.of.plan().is_volatile())
    }

    /// Returns `true` if data that a flush or FUA has made durable survives a power cut.
    pub fn keeps_flushed_data(&self) -> bool {
        let ignores_flush = self.ssds().any(|ssd| {
            let buffer = ssd.device.buffer.as_ref();
            buffer.is_some_and(|buffer| buffer.ignores_flush)
        });
        let cache = self.cached().map(|cached| &cached.cache);
        let loses_writes =
            cache.is_some_and(|cache| cache.mode.keeps_writes() && cache.journal.is_none());
        !ignores_flush && !loses_writes
    }

    /// Returns the cache; `None` if the store is not a cache.
    pub fn cached(&self) -> Option<&Cached> {
        if let Store::Cached(cached) = &self.store {
            return Some(cached);
        }
        None
    }

    /// Returns the SSDs, including the flash of caches, in the order in which the store numbers
    /// them.
    pub fn ssds(&self) -> impl Iterator<Item = &Ssd> {
        self.store.ssds().into_iter()
    }

    /// Returns the first SSD; `None` if there is none.
    pub fn first(&self) -> Option<&Ssd> {
        self.store.ssds().first().copied()
    }

    /// Returns the share of the user pages of SSDs and caches that preconditioning fills; 0 without
    /// flash. Ratio.
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

    /// Returns the devices with their names in the results, in the order in which the store numbers
    /// them.
    pub fn leaves(&self) -> Vec<Leaf<'_>> {
        let mut leaves = self.store.leaves();
        let is_in_array = |store: &Store| matches!(store, Store::Array(_));
        let alone = match &self.store {
            Store::Cached(cached) if !is_in_array(&cached.backing) => leaves.len(),
            store => usize::from(!is_in_array(store)),
        };
        // A device outside any array has the name of the store.
        for leaf in leaves.iter_mut().take(alone) {
            leaf.name.clone_from(&self.name);
        }
        leaves
    }

    /// Returns the SSDs that are not the flash of a cache, which are those that can be
    /// preconditioned.
    pub fn own_ssds(&self) -> Vec<(Leaf<'_>, &Ssd)> {
        let own = self.leaves().into_iter().filter_map(|leaf| {
            if let Device::Ssd(ssd) = leaf.of {
                return Some((leaf, ssd));
            }
            None
        });
        own.collect()
    }

    /// Returns the SSDs and the flash of caches, each with the index of its device in
    /// [`Plan::leaves`].
    pub fn flash(&self) -> Vec<(u32, &Ssd)> {
        let leaves = (0..).zip(self.leaves());
        let flash = leaves.filter_map(|(place, leaf)| Some((place, leaf.of.ssd()?)));
        flash.collect()
    }

    /// Returns the part of the user capacity that preconditioning fills. Bytes.
    pub fn filled_bytes(&self) -> u64 {
        let own = self.own_ssds().into_iter();
        let filled = own.map(|(_, ssd)| {
            u64::from(ssd.precondition.fill_pages) * u64::from(ssd.geometry.page_bytes)
        });
        let filled = filled.sum::<u64>().min(self.store.user_bytes());
        filled.saturating_sub(self.reserved_bytes())
    }

    /// Returns `true` if a device has a DRAM buffer.
    pub fn has_buffer(&self) -> bool {
        self.ssds().any(|ssd| ssd.device.buffer.is_some())
    }

    /// Returns the generated load of a stream; `None` if it replays a trace.
    pub fn load(&self, stream: usize) -> Option<&generate::Config> {
        let load = self.streams.get(stream).map(|stream| &stream.workload);
        load.unwrap_or(&self.workload).as_ref()
    }

    /// Returns the capacity of all flash and of all devices without flash that are not behind a
    /// cache. Without flash, the capacity of the store, including what the host side reserves.
    /// Bytes.
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

    /// Returns the capacity that the host can address. Bytes.
    pub fn user_bytes(&self) -> u64 {
        self.store.user_bytes() - self.reserved_bytes()
    }

    /// Returns the capacity that the host side reserves. Bytes.
    fn reserved_bytes(&self) -> u64 {
        let side = self.host_side.as_ref();
        side.map_or(0, |side| side.reserved(self.store.user_bytes()))
    }
}

impl Store {
    /// Applies `of` to the device of the store. Returns `of_array` if the store is an array.
    fn of_device<T>(&self, of_array: T, of: fn(&dyn DevicePlan) -> T) -> T {
        self.device().map_or(of_array, |device| of(device.plan()))
    }

    /// Returns the capacity that the host can address. Bytes.
    pub fn user_bytes(&self) -> u64 {
        match self {
            Self::Array(array) => array.layout.user_bytes(),
            other => other.of_device(0, |plan| plan.user_bytes()),
        }
    }

    /// Returns the hard disks of the store.
    pub fn disks(&self) -> Vec<DiskLeaf<'_>> {
        let leaves = self.leaves().into_iter();
        leaves.filter_map(DiskLeaf::of).collect()
    }

    /// Returns the SSDs and the flash of caches.
    pub fn ssds(&self) -> Vec<&Ssd> {
        let leaves = self.leaves().into_iter();
        leaves.filter_map(|leaf| leaf.of.ssd()).collect()
    }

    /// Returns `true` if the store is a hard disk, or an array of hard disks only.
    fn is_disks(&self) -> bool {
        let is_disk = |member: &Member| matches!(member.store, Self::Disk(_));
        match self {
            Self::Array(array) => array.members.iter().all(is_disk),
            other => matches!(other, Self::Disk(_)),
        }
    }

    /// Returns `true` if the store completes writes before they are durable, unless they are FUA or
    /// flushed.
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

    /// Returns the queue depth of the store, or of each member of an array; `None` if the members
    /// differ.
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

    /// Returns an upper bound of the device numbers ([`wordline_array::Store`]). Some numbers may
    /// be unused.
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

    /// Returns the devices. A device that is not in an array has an empty name, or behind a cache
    /// the name [`BEHIND`].
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

/// Name of a device behind a cache without an array.
pub const BEHIND: &str = "disk";

/// Device at any depth of a store.
#[derive(Clone, Debug, PartialEq)]
pub struct Leaf<'a> {
    /// Name of the device, preceded by the names of the members that contain it: `mirror.ssd0`.
    pub name: String,
    /// Trace disks that the device holds, in whole or in part.
    pub disks: &'a [u32],
    /// Number of the device in the store ([`wordline_array::Store`]).
    pub number: u32,
    /// Whether the device is behind a cache.
    pub is_behind: bool,
    /// Plan of the device.
    pub of: Device<'a>,
}

impl<'a> Device<'a> {
    /// Returns the flash of the device, if it has any.
    pub fn ssd(self) -> Option<&'a Ssd> {
        self.plan().ssd()
    }
}

impl Array {
    /// Returns `true` if a member is itself an array.
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
    /// Returns the mean time in which the idle SSD reads or writes a page of its own size.
    /// `page_bytes` is ignored. Microseconds.
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
    /// Returns the plan of the device for these streams.
    pub fn device(&self, streams: &[Stream]) -> wordline_ssd::Plan {
        wordline_ssd::Plan {
            streams: streams.iter().map(Stream::at_the_interface).collect(),
            ..self.device.clone()
        }
    }
}
