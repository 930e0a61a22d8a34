//! What a configuration means, checked.

use wordline_device::host::Class;
use wordline_device::{Composition, Interface, Scheduler};
use wordline_ftl::allocate::Dimensions;
use wordline_kernel::Time;
use wordline_nand::{Energy, Geometry, Layout, Part};
use wordline_workload::{Disk, generate};

use super::{Config, ConfigError, Nand, array, check};

/// A run that can be simulated: every number checked, nothing left to decide. With an array, what is
/// said of a device is that of its first member.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Name of the device.
    pub name: String,
    /// How a package is divided.
    pub geometry: Geometry,
    /// The whole array, and how it is driven.
    pub part: Part,
    /// How its planes are wired.
    pub dimensions: Dimensions,
    /// Voltages and currents.
    pub energy: Energy,
    /// Which operations of a die become one command.
    pub composition: Composition,
    /// Which operations of the host go to their dies next.
    pub scheduler: Scheduler,
    /// Whether collections move pages inside their planes.
    pub internal_data_move: bool,
    /// The translation layer.
    pub ftl: wordline_ftl::Plan,
    /// Requests the device holds at once.
    pub queue_depth: u32,
    /// How requests cross between the host and the device.
    pub interface: Interface,
    /// The DRAM buffer, if there is one.
    pub buffer: Option<wordline_buffer::Plan>,
    /// The devices, if there are several.
    pub array: Option<Array>,
    /// When the requests of a trace are issued; a generated workload has its own clock.
    pub replay: Replay,
    /// What happens before the run.
    pub precondition: Precondition,
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

/// Several devices as one.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// Where its bytes lie.
    pub layout: wordline_store::Layout,
    /// Where the disks of a trace lie in its addresses, if requests go by disk.
    pub disks: Vec<Disk>,
    /// The devices; one at least.
    pub members: Vec<Member>,
}

/// A device of an array.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// Its name, unlike all others.
    pub name: String,
    /// The disks of a trace that it holds, if requests go by disk.
    pub disks: Vec<u32>,
    /// What it would be by itself.
    pub plan: Plan,
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

/// One package by itself; of the configuration, only the `[nand]` tables are looked at.
pub fn part(config: &Config, seed: u64) -> Result<Part, ConfigError> {
    check::part(config)?;
    let layout = check::package(&config.nand.geometry)?;
    Ok(of_layout(&config.nand, layout, seed))
}

fn of_layout(nand: &Nand, layout: Layout, seed: u64) -> Part {
    Part {
        endurance_cycles: nand.endurance_cycles,
        partial_programs: nand.partial_programs,
        plane_rule: nand.plane_rule,
        arbitration: nand.arbitration.clone(),
        scheduler: nand.scheduler.clone(),
        suspend: nand.suspend.clone(),
        seed,
        ..Part::new(layout, &nand.geometry, &nand.timing, &nand.cell)
    }
}

impl Plan {
    /// Checks a configuration. The same configuration and seed give the same run.
    pub fn new(config: &Config, seed: u64) -> Result<Self, ConfigError> {
        let mut plan = match &config.array {
            Some(array) => array::plan(config, array, seed)?,
            None => Self::of_device(config, seed)?,
        };
        plan.streams = check::streams(config, &plan, seed)?;
        check::workloads(&plan)?;
        Ok(plan)
    }

    /// The device of a configuration, and all that is said of a run but its streams.
    pub(super) fn of_device(config: &Config, seed: u64) -> Result<Self, ConfigError> {
        check::ranges(config)?;
        let Config { nand, ssd, .. } = config;
        let layout = check::layout(&nand.geometry, ssd)?;
        let dimensions = Dimensions {
            channels: ssd.channels,
            ways: ssd.ways,
            dies: nand.geometry.dies_per_package,
            planes: nand.geometry.planes_per_die,
        };
        let page_bytes = nand.geometry.page_bytes;
        let ftl = wordline_ftl::Plan::of_pages(&config.ftl, layout, page_bytes, dimensions, seed)
            .map_err(|error| check::ftl(config, error))?;
        Ok(Self {
            name: config.name.clone(),
            geometry: nand.geometry.clone(),
            part: of_layout(nand, layout, seed),
            dimensions,
            energy: nand.energy.clone(),
            composition: ssd.composition.clone(),
            scheduler: check::scheduler(ssd)?,
            internal_data_move: check::internal_data_move(config)?,
            queue_depth: check::queue_depth(&config.host)?,
            interface: config.host.interface.clone(),
            buffer: check::buffer(&config.buffer, page_bytes)?,
            replay: check::replay(&config.replay.mode)?,
            precondition: check::precondition(&config.precondition, ftl.user_pages)?,
            series: check::series(&config.series)?,
            observe: check::observe(&config.observe)?,
            workload: config.workload.clone(),
            streams: Vec::new(),
            array: None,
            ftl,
            seed,
        })
    }

    /// The devices: the members of the array, or the single one.
    pub fn devices(&self) -> impl Iterator<Item = &Self> {
        let members = self.array.iter().flat_map(|array| &array.members);
        let single = self.array.is_none().then_some(self);
        members.map(|member| &member.plan).chain(single)
    }

    /// Whether a device has a DRAM buffer.
    pub fn has_buffer(&self) -> bool {
        self.devices().any(|device| device.buffer.is_some())
    }

    /// Whether the requests of a stream are generated.
    pub fn is_generated(&self, stream: usize) -> bool {
        let load = self.streams.get(stream).map(|stream| &stream.workload);
        load.unwrap_or(&self.workload).is_some()
    }

    /// All pages. Bytes.
    pub fn capacity_bytes(&self) -> u64 {
        let bytes = |device: &Self| {
            u64::from(device.part.layout.pages()) * u64::from(device.geometry.page_bytes)
        };
        self.devices().map(bytes).sum()
    }

    /// What the host can address. Bytes.
    pub fn user_bytes(&self) -> u64 {
        if let Some(array) = &self.array {
            return array.layout.user_bytes();
        }
        u64::from(self.ftl.user_pages) * u64::from(self.geometry.page_bytes)
    }
}
