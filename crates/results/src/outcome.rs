//! Output of a run's event loop, from which the results are computed.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use wordline_array::StoreStats;
use wordline_block::BlockDevice;
use wordline_flash_cache as flash_cache;
use wordline_ftl::precondition::Preconditioned;
use wordline_ftl::untimed::FlashOps;
use wordline_kernel::{Plus, Time, plus, since};

use crate::device::Device;
use wordline_config::Plan;
use wordline_config::plan::{self, Leaf, Replay, Ssd};
use wordline_recorder::chip_load::ChipLoads;
use wordline_recorder::{Hits, Record};

/// Output of a run's event loop.
#[derive(Debug)]
pub struct Outcome {
    /// Plan of the simulation.
    pub plan: Plan,
    /// Observations since measuring began.
    pub record: Record,
    /// Observations of each device since measuring began, if the results list the devices
    /// separately ([`Plan::has_members`]). Their requests are parts of the host's requests, or come
    /// from a cache.
    pub members: Vec<Record>,
    /// Samples of the load of the dies, if enabled.
    pub chip_loads: Option<ChipLoads>,
    /// State of the SSDs at the end of the run: of a single device, of members, and of the flash of
    /// caches.
    pub devices: Vec<Device>,
    /// Statistics of the devices without flash: a single device, members, or the devices behind a
    /// cache.
    pub stats: StoreStats,
    /// Results of each cache, in the order of the devices.
    pub caches: Vec<CacheOutcome>,
    /// Counts of the host CPU model, if there is one.
    pub host_side: Option<wordline_host_cpu::HostStats>,
    /// Requests issued per stream; one unnamed entry if the plan has no streams.
    pub streams: Vec<Issued>,
    /// Interval in which all streams issued requests, if there was one.
    pub contention: Option<ContentionWindow>,
    /// Digest of all events.
    pub digest: u64,
    /// End of the warm-up, if there was one.
    pub measured_from: Option<Time>,
    /// Time of the last event.
    pub end: Time,
    /// Error that ended the run early, if any.
    pub error: Option<String>,
    /// Whether the user ended the run.
    pub interrupted: bool,
    /// Cost of the simulation.
    pub speed: Speed,
}

impl Outcome {
    /// Returns the requests of all streams, by kind.
    pub fn counts(&self) -> InputCounts {
        let streams = self.streams.iter();
        streams.fold(InputCounts::default(), |sum, issued| {
            sum.plus(issued.counts)
        })
    }
    /// Sums the preconditioning of all devices. The write amplification is the mean over the
    /// devices whose last window has one.
    pub fn preconditioned(&self) -> Preconditioned {
        let all = || self.devices.iter().map(|device| &device.preconditioned);
        let windows: Vec<f64> = all()
            .filter_map(|done| done.last_write_amplification)
            .collect();
        Preconditioned {
            fill: all().fold(FlashOps::default(), |sum, done| sum.plus(done.fill)),
            overwrites: all().fold(FlashOps::default(), |sum, done| sum.plus(done.overwrites)),
            last_write_amplification: (!windows.is_empty())
                .then(|| windows.iter().sum::<f64>() / windows.len() as f64),
            unsettled: all().any(|done| done.unsettled),
            stopped: all().any(|done| done.stopped),
        }
    }
    /// Pairs each SSD with its plan and its observations.
    pub(crate) fn ssds(&self) -> impl Iterator<Item = SsdOutcome<'_>> {
        let single = self.members.is_empty().then_some(&self.record);
        let members = self.plan.leaves().into_iter().zip(&self.members);
        let members = members.filter_map(|(leaf, record)| leaf.of.ssd().map(|_| record));
        let records = members.chain(single);
        let devices = self.plan.ssds().zip(&self.devices).zip(records);
        devices.map(|((plan, device), record)| SsdOutcome {
            plan,
            record,
            device,
        })
    }
    /// Pairs each member of a multi-device store with its plan and its observations.
    pub(crate) fn leaves(&self) -> Vec<LeafOutcome<'_>> {
        let (mut devices, mut caches) = (self.devices.iter(), self.caches.iter());
        let mut disks = &self.stats.disks[..];
        let leaves = self.plan.leaves().into_iter().zip(&self.members);
        let leaves = leaves.map(|(leaf, record)| {
            let mut of = LeafOutcome {
                record,
                device: leaf.of.ssd().and_then(|_| devices.next()),
                cache: None,
                disks: &[],
                leaf,
            };
            if let plan::Device::Disk(_) = of.leaf.of {
                (of.disks, disks) = disks.split_at(1);
            } else if let plan::Device::Cached(cached) = of.leaf.of {
                of.cache = caches.next();
                of.disks = &disks[..cached.backing.disks().len()];
            }
            of
        });
        leaves.collect()
    }
    /// Returns the time at which the first measured request was issued.
    pub fn first_arrival(&self) -> Time {
        first_arrival(&self.streams)
    }
    /// Returns the time at which measuring began: the end of the warm-up, or the first arrival.
    pub fn measured_from(&self) -> Time {
        self.measured_from.unwrap_or_else(|| self.first_arrival())
    }
}

/// Results of a flash cache.
#[derive(Clone, Debug)]
pub struct CacheOutcome {
    /// Look-ups and other operations of the cache.
    pub figures: flash_cache::CacheStats,
    /// Pages that left the cache, by reason.
    pub counts: flash_cache::residents::Counts,
    /// Pages in the cache at the end of the run.
    pub pages: CachePages,
    /// Response times by the tier that served the request.
    pub hits: Hits,
    /// Pages served whose content was compared with the content written; `None` without `--verify`.
    pub checked: Option<u64>,
    /// Number of trainings of the victim model, and the share of valid pages in GC victims that it
    /// predicts at over-provisioning ratios of 15, 25, ... 85 %. `None` if the partition policy
    /// does not use the model.
    pub learned: Option<(u64, [f64; 8])>,
}

/// Pages in a flash cache. Counts.
#[derive(Clone, Copy, Debug)]
pub struct CachePages {
    /// Resident pages.
    pub resident: u64,
    /// Evicted pages that can still be read.
    pub suspected: u64,
    /// Pages that are newer than in the backing store, including evicted ones.
    pub dirty: u64,
    /// Pages in the read list; 0 if the cache has a single list.
    pub read_list: u64,
    /// List sizes that the partition policy chose last.
    pub chosen: flash_cache::Chosen,
}

impl CacheOutcome {
    /// Collects the results of a flash cache. `hits` has the response times of its requests.
    pub fn of<B: BlockDevice>(store: &flash_cache::Cached<B>, hits: Hits) -> Self {
        let residents = store.residents();
        Self {
            figures: store.figures(),
            counts: store.page_counts(),
            pages: CachePages {
                resident: residents.len() as u64,
                suspected: residents.suspected() as u64,
                dirty: residents.dirty().into(),
                read_list: match residents.lens().collect::<Vec<_>>()[..] {
                    [reads, _] => reads as u64,
                    _ => 0,
                },
                chosen: store.chosen(),
            },
            hits,
            checked: store.checked(),
            learned: store
                .learned()
                .map(|learned| (learned.trainings.into(), learned.victims)),
        }
    }
}

/// Member of a multi-device store, with its results.
pub(crate) struct LeafOutcome<'a> {
    pub leaf: Leaf<'a>,
    pub record: &'a Record,
    /// State of the member's flash, if it has flash.
    pub device: Option<&'a Device>,
    /// Results of the member as a cache, if it is one.
    pub cache: Option<&'a CacheOutcome>,
    /// Statistics of the member if it is a disk, or of the disks behind it if it is a cache.
    pub disks: &'a [wordline_hdd::DiskStats],
}

/// SSD of a run, with its results.
#[derive(Clone, Copy)]
pub(crate) struct SsdOutcome<'a> {
    pub plan: &'a Ssd,
    pub record: &'a Record,
    pub device: &'a Device,
}

/// Returns the time at which the first measured request of any stream was issued.
pub fn first_arrival(streams: &[Issued]) -> Time {
    let arrivals = streams.iter().filter_map(|issued| issued.first_arrival);
    arrivals.min().unwrap_or_default()
}

/// Requests issued by a stream.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Issued {
    /// Whether the clients of a live run issued the requests.
    pub is_live: bool,
    /// Replay mode of the stream.
    pub replay: Replay,
    /// Measured requests, by kind.
    pub counts: InputCounts,
    /// Requests issued before measuring began.
    pub unmeasured: u64,
    /// Time at which the first measured request was issued, if there was one.
    pub first_arrival: Option<Time>,
    /// Time stamps of the first and the last measured request in the source, multiplied by the time
    /// scale of an open loop. `None` if the source has no time stamps.
    pub recorded: Option<(Time, Time)>,
    /// 90th percentile of the sampled response times in each quarter of the requests, in the order
    /// of completion. `None` for a closed loop, or with few requests.
    pub response_quarters: Option<[Time; 4]>,
}

impl Issued {
    /// Returns the time from the first to the last request by the source's time stamps, without the
    /// time scale. Seconds.
    pub(crate) fn recorded_s(&self) -> Option<f64> {
        let (first, last) = self.recorded?;
        Some(last.since(first).as_secs() / self.time_scale().unwrap_or(1.0))
    }
    /// Returns the factor by which an open loop multiplies time stamps; `None` for other replay
    /// modes.
    pub(crate) fn time_scale(&self) -> Option<f64> {
        match self.replay {
            Replay::OpenLoop { time_scale } => Some(time_scale),
            Replay::ClosedLoop { .. } | Replay::ThinkTime { .. } => None,
        }
    }
}

/// Interval that begins when every stream with requests has issued its first one, and ends when one
/// of them has issued its last one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContentionWindow {
    /// Latest time at which a stream issued its first request.
    pub from: Time,
    /// Earliest time at which a stream had no more requests.
    pub until: Time,
    /// Bytes served in the interval, per stream; `None` for a stream without requests.
    pub bytes: Vec<Option<u64>>,
}

/// Cost of a simulation.
#[derive(Clone, Copy, Debug)]
pub struct Speed {
    /// Wall-clock time.
    pub wall: Duration,
    /// Processor time.
    pub cpu: Duration,
    /// Processor time of preconditioning, which is part of `cpu`.
    pub precondition_cpu: Duration,
    /// Events simulated.
    pub events: u64,
    /// Growth of the process's resident memory since the devices were created empty.
    pub resident_bytes: u64,
}

/// Requests of a source, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputCounts {
    /// Read requests admitted.
    pub reads: u64,
    /// Write requests admitted.
    pub writes: u64,
    /// Writes that are durable on completion (FUA); part of `writes`.
    pub durable_writes: u64,
    /// TRIMs admitted.
    pub trims: u64,
    /// Flushes admitted.
    pub flushes: u64,
    /// Requests of any kind that a power cut lost.
    pub lost: u64,
    /// Flushes dropped because no device has a DRAM buffer or a write cache.
    pub flushes_ignored: u64,
}

since!(InputCounts: reads, writes, durable_writes, trims, flushes, lost, flushes_ignored);
plus!(InputCounts: reads, writes, durable_writes, trims, flushes, lost, flushes_ignored);

impl InputCounts {
    /// Returns the number of reads and writes.
    pub fn requests(&self) -> u64 {
        self.reads + self.writes
    }
    /// Returns the number of requests of all kinds.
    pub fn issued(&self) -> u64 {
        self.requests() + self.trims + self.flushes
    }
}
