//! What a configuration means, checked.

use wordline_device::host::Class;
use wordline_ftl::allocate::Dimensions;
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
    /// Several stores as one.
    Array(Array),
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
    pub layout: wordline_store::Layout,
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
}

impl Plan {
    /// The array, if the store is one.
    pub fn array(&self) -> Option<&Array> {
        match &self.store {
            Store::Ssd(_) => None,
            Store::Array(array) => Some(array),
        }
    }

    /// Its SSDs, in the order in which the store numbers them.
    pub fn ssds(&self) -> impl Iterator<Item = &Ssd> {
        self.store.ssds().into_iter()
    }

    /// What stands for all SSDs where sums say nothing, such as the bytes of a page: the first.
    pub fn first(&self) -> &Ssd {
        self.store.ssds()[0]
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
            Store::Array(array) => array.leaves(),
        }
    }

    /// Whether a device has a DRAM buffer.
    pub fn has_buffer(&self) -> bool {
        self.ssds().any(|ssd| ssd.device.buffer.is_some())
    }

    /// Whether the requests of a stream are generated.
    pub fn is_generated(&self, stream: usize) -> bool {
        let load = self.streams.get(stream).map(|stream| &stream.workload);
        load.unwrap_or(&self.workload).is_some()
    }

    /// All pages. Bytes.
    pub fn capacity_bytes(&self) -> u64 {
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
            Self::Array(array) => array.layout.user_bytes(),
        }
    }

    /// The SSDs in it, one at least.
    pub fn ssds(&self) -> Vec<&Ssd> {
        match self {
            Self::Ssd(ssd) => vec![ssd],
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
