//! What a configuration means, checked.

use std::num::NonZeroU32;
use wordline_device::host::Class;
use wordline_ftl::allocate::Dimensions;
use wordline_kernel::Time;
use wordline_nand::{Energy, Geometry};
use wordline_store::AddressMap;
use wordline_workload::{Disk, generate};

/// A run that can be simulated: every number checked, nothing left to decide.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Name of what is simulated.
    pub name: String,
    /// What serves the requests.
    pub store: Store,
    /// When the requests of a trace are issued; a generated workload has its own clock.
    pub replay: Replay,
    /// The time series.
    pub series: Series,
    /// What is counted of slow requests.
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
    /// Flash in front of disks.
    Cached(Box<Cached>),
    /// Several stores as one: SSDs at any depth, or hard disks.
    Array(Array),
}

/// A hard disk.
#[derive(Clone, Debug, PartialEq)]
pub struct HardDisk {
    /// Name of the configuration that describes it.
    pub name: String,
    /// What it is.
    pub disk: wordline_disk::Plan,
}

/// Flash in front of disks.
#[derive(Clone, Debug, PartialEq)]
pub struct Cached {
    /// The flash of the cache.
    pub ssd: Ssd,
    /// The cache.
    pub cache: wordline_store::cached::Plan,
    /// What lies behind it: a disk, or an array of disks.
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
    pub disk: &'a wordline_disk::Plan,
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
    pub device: wordline_device::Plan,
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
    pub fn at_the_interface(&self) -> wordline_device::host::Stream {
        wordline_device::host::Stream { class: self.class }
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
}

/// What happens before the run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Precondition {
    /// Logical pages written once, in order, from the first.
    pub fill_pages: u32,
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
}

impl Plan {
    /// The array, if the store is one.
    pub fn array(&self) -> Option<&Array> {
        match &self.store {
            Store::Ssd(_) | Store::Disk(_) | Store::Cached(_) => None,
            Store::Array(array) => Some(array),
        }
    }

    /// The array of SSDs, if the store is one.
    pub fn array_of_ssds(&self) -> Option<&Array> {
        self.array().filter(|array| !array.is_of_disks())
    }

    /// Where the disks of a trace (its volumes) lie in the addresses of the store, if requests go by them.
    pub fn volumes(&self) -> &[Disk] {
        match &self.store {
            Store::Array(array) => &array.disks,
            Store::Cached(cached) => match &cached.backing {
                Store::Array(array) => &array.disks,
                _ => &[],
            },
            Store::Ssd(_) | Store::Disk(_) => &[],
        }
    }

    /// Its hard disks, in the order in which the store numbers them.
    pub fn disks(&self) -> Vec<DiskLeaf<'_>> {
        self.store.disks()
    }

    /// Requests that the store holds at once, of an array each of its devices; none where it takes as many as come, and
    /// where the devices of an array differ.
    pub fn slots(&self) -> Option<u32> {
        if let Store::Cached(cached) = &self.store {
            return Some(cached.cache.queue_depth).filter(|depth| *depth < u32::MAX);
        }
        let (ssds, disks) = (self.ssds(), self.disks());
        let of_disks = disks.iter().map(|leaf| leaf.disk.queue_depth);
        let mut depths = ssds.map(|ssd| ssd.device.queue_depth).chain(of_disks);
        let first = depths.next().filter(|depth| *depth < u32::MAX)?;
        depths.all(|other| other == first).then_some(first)
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

    /// The SSDs as the run tells of them.
    pub fn leaves(&self) -> Vec<Leaf<'_>> {
        match &self.store {
            Store::Ssd(ssd) => vec![Leaf {
                name: self.name.clone(),
                disks: &[],
                number: 0,
                ssd,
            }],
            Store::Cached(cached) => vec![Leaf {
                name: self.name.clone(),
                disks: &[],
                number: 0,
                ssd: &cached.ssd,
            }],
            Store::Disk(_) => Vec::new(),
            Store::Array(array) => array.leaves(),
        }
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

    /// All pages of its flash, or all sectors of disks without flash. Bytes.
    pub fn capacity_bytes(&self) -> u64 {
        if self.first().is_none() {
            return self.user_bytes();
        }
        self.ssds().map(Ssd::capacity_bytes).sum()
    }

    /// What the host can address. Bytes.
    pub fn user_bytes(&self) -> u64 {
        self.store.user_bytes()
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
        match self {
            Self::Ssd(_) => Vec::new(),
            Self::Disk(disk) => vec![DiskLeaf {
                name: disk.name.clone(),
                volumes: &[],
                disk: &disk.disk,
            }],
            Self::Cached(cached) => cached.backing.disks(),
            Self::Array(array) => {
                let members = array.members.iter();
                let disks = members.filter_map(|member| match &member.store {
                    Self::Disk(disk) => Some(DiskLeaf {
                        name: member.name.clone(),
                        volumes: &member.disks,
                        disk: &disk.disk,
                    }),
                    _ => None,
                });
                disks.collect()
            }
        }
    }

    /// The SSDs in it.
    pub fn ssds(&self) -> Vec<&Ssd> {
        match self {
            Self::Ssd(ssd) => vec![ssd],
            Self::Disk(_) => Vec::new(),
            Self::Cached(cached) => vec![&cached.ssd],
            Self::Array(array) => {
                let members = array.members.iter();
                members.flat_map(|member| member.store.ssds()).collect()
            }
        }
    }
}

/// An SSD, wherever it stands in a store.
#[derive(Clone, Debug, PartialEq)]
pub struct Leaf<'a> {
    /// Its name, and before it those of the arrays that it stands in: `mirror.ssd0`.
    pub name: String,
    /// The disks of a trace that it holds, all of each or its part of them.
    pub disks: &'a [u32],
    /// How the outermost array numbers it ([`wordline_block::Member`]).
    pub number: u32,
    /// What it is.
    pub ssd: &'a Ssd,
}

impl Array {
    /// Whether its members are hard disks.
    pub fn is_of_disks(&self) -> bool {
        let mut members = self.members.iter();
        members.any(|member| matches!(member.store, Store::Disk(_)))
    }
    /// Whether a member is an array itself.
    pub fn is_nested(&self) -> bool {
        let mut members = self.members.iter();
        members.any(|member| matches!(member.store, Store::Array(_)))
    }

    fn leaves(&self) -> Vec<Leaf<'_>> {
        let mut leaves = Vec::new();
        for (place, Member { name, disks, store }) in (0..).zip(&self.members) {
            let outside = |number: u32| place + self.members.len() as u32 * number;
            match store {
                Store::Cached(_) | Store::Disk(_) => {}
                Store::Ssd(ssd) => leaves.push(Leaf {
                    name: name.clone(),
                    disks,
                    number: outside(0),
                    ssd,
                }),
                Store::Array(array) => {
                    leaves.extend(array.leaves().into_iter().map(|inner| Leaf {
                        name: format!("{name}.{}", inner.name),
                        disks,
                        number: outside(inner.number),
                        ssd: inner.ssd,
                    }));
                }
            }
        }
        leaves
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
    pub fn device(&self, streams: &[Stream]) -> wordline_device::Plan {
        wordline_device::Plan {
            streams: streams.iter().map(Stream::at_the_interface).collect(),
            ..self.device.clone()
        }
    }
}
