//! What the loop of a run hands over to be summed up.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use wordline_block::BlockDevice;
use wordline_flash_cache as flash_cache;
use wordline_ftl::untimed::FlashOps;
use wordline_kernel::{Time, since};
use wordline_ssd::precondition::Preconditioned;

use crate::device::Device;
use wordline_config::Plan;
use wordline_config::plan::{self, Leaf, Replay, Ssd};
use wordline_recorder::chip_load::ChipLoads;
use wordline_recorder::{Hits, Record};

/// What the loop hands over.
#[derive(Debug)]
pub struct Outcome {
    /// What was simulated.
    pub plan: Plan,
    /// What was recorded.
    pub record: Record,
    /// What was recorded of each device of several, whose requests are parts of those above, or come from a cache.
    pub members: Vec<Record>,
    /// The load of the dies, if it was looked at.
    pub chip_loads: Option<ChipLoads>,
    /// The flash at the end: the single SSD, the members, the flash of caches.
    pub devices: Vec<Device>,
    /// What each disk has done: the single one, the members, or those behind the cache.
    pub disks: Vec<wordline_hdd::DiskStats>,
    /// What each cache has done, in the order of the devices.
    pub caches: Vec<CacheOutcome>,
    /// What the host side has done, if there is one.
    pub host_side: Option<wordline_host_cpu::HostStats>,
    /// What was issued of each stream; one of no name if the plan has no streams.
    pub streams: Vec<Issued>,
    /// The time in which all streams issued, if there was one.
    pub contention: Option<ContentionWindow>,
    /// Digest of all events.
    pub digest: u64,
    /// When the warm-up was over, if there was one.
    pub measured_from: Option<Time>,
    /// When the last event happened.
    pub end: Time,
    /// Why the run ended early, if it did.
    pub error: Option<String>,
    /// Whether the user ended it.
    pub interrupted: bool,
    /// What it cost.
    pub speed: Speed,
}

impl Outcome {
    /// Requests of all streams by kind.
    pub fn counts(&self) -> InputCounts {
        let streams = self.streams.iter();
        streams.fold(InputCounts::default(), |sum, issued| {
            sum.plus(&issued.counts)
        })
    }
    /// What happened to all devices before the run. The write amplification of their last windows is
    /// the mean of those that had one.
    pub fn preconditioned(&self) -> Preconditioned {
        let all = || self.devices.iter().map(|device| &device.preconditioned);
        let windows: Vec<f64> = all()
            .filter_map(|done| done.last_write_amplification)
            .collect();
        Preconditioned {
            fill: all().fold(FlashOps::default(), |sum, done| plus(sum, done.fill)),
            overwrites: all().fold(FlashOps::default(), |sum, done| plus(sum, done.overwrites)),
            last_write_amplification: (!windows.is_empty())
                .then(|| windows.iter().sum::<f64>() / windows.len() as f64),
            unsettled: all().any(|done| done.unsettled),
            stopped: all().any(|done| done.stopped),
        }
    }
    /// Each device with what was planned and recorded of it.
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
    /// Each device of several with what was planned and recorded of it.
    pub(crate) fn leaves(&self) -> Vec<LeafOutcome<'_>> {
        let (mut devices, mut caches) = (self.devices.iter(), self.caches.iter());
        let mut disks = &self.disks[..];
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
    /// When the first measured request was issued.
    pub fn first_arrival(&self) -> Time {
        first_arrival(&self.streams)
    }
    /// Where what is measured begins: after the warm-up, or at the first arrival.
    pub fn measured_from(&self) -> Time {
        self.measured_from.unwrap_or_else(|| self.first_arrival())
    }
}

/// What flash in front of a disk has done.
#[derive(Clone, Debug)]
pub struct CacheOutcome {
    /// What was found of the pages asked for.
    pub figures: flash_cache::CacheStats,
    /// What became of the pages held.
    pub counts: flash_cache::residents::Counts,
    /// Pages at the end.
    pub pages: CachePages,
    /// Reads by what served them.
    pub hits: Hits,
    /// Pages served that were compared, if the run was verified.
    pub checked: Option<u64>,
    /// How often it was learned how full victims are, and how full they are taken to be at over-provisionings of 15, 25, ... 85 %,
    /// where space is divided by that.
    pub learned: Option<(u64, [f64; 8])>,
}

/// Pages in flash in front of a disk.
#[derive(Clone, Copy, Debug)]
pub struct CachePages {
    /// Held.
    pub resident: u64,
    /// Evicted, and still readable.
    pub suspected: u64,
    /// Newer than the disk.
    pub dirty: u64,
    /// Held in the list of what was read, if it has one.
    pub read_list: u64,
    /// The sizes that were chosen last.
    pub chosen: flash_cache::Chosen,
}

impl CacheOutcome {
    /// The results of a flash cache and of the hits of its requests.
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

/// A device among several.
pub(crate) struct LeafOutcome<'a> {
    pub leaf: Leaf<'a>,
    pub record: &'a Record,
    /// Its flash, if it has any.
    pub device: Option<&'a Device>,
    /// What it has done, if it is a cache.
    pub cache: Option<&'a CacheOutcome>,
    /// The disk that it is, or those behind it.
    pub disks: &'a [wordline_hdd::DiskStats],
}

/// A device of a run.
#[derive(Clone, Copy)]
pub(crate) struct SsdOutcome<'a> {
    pub plan: &'a Ssd,
    pub record: &'a Record,
    pub device: &'a Device,
}

fn plus(one: FlashOps, other: FlashOps) -> FlashOps {
    FlashOps {
        written: one.written + other.written,
        moved: one.moved + other.moved,
        metadata: one.metadata + other.metadata,
        erased: one.erased + other.erased,
    }
}

/// When the first request of all streams was issued.
pub fn first_arrival(streams: &[Issued]) -> Time {
    let arrivals = streams.iter().filter_map(|issued| issued.first_arrival);
    arrivals.min().unwrap_or_default()
}

/// What was issued of a stream.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Issued {
    /// How it was driven.
    pub replay: Replay,
    /// Requests by kind, since measuring began.
    pub counts: InputCounts,
    /// Requests before that.
    pub unmeasured: u64,
    /// When the first of them was issued, if there was one.
    pub first_arrival: Option<Time>,
    /// When the source has the first and the last of them, multiplied by the time scale of an open
    /// loop; none if the source has no times.
    pub recorded: Option<(Time, Time)>,
    /// 90th percentile of the response time in each quarter of the requests, in the order of completion; none for a closed loop, or with
    /// few requests.
    pub response_quarters: Option<[Time; 4]>,
}

impl Issued {
    /// From the first to the last request in the times of the source. Seconds.
    pub(crate) fn recorded_s(&self) -> Option<f64> {
        let (first, last) = self.recorded?;
        Some(last.since(first).as_secs() / self.time_scale().unwrap_or(1.0))
    }
    /// What an open loop multiplies times by.
    pub(crate) fn time_scale(&self) -> Option<f64> {
        match self.replay {
            Replay::OpenLoop { time_scale } => Some(time_scale),
            Replay::ClosedLoop { .. } | Replay::ThinkTime { .. } => None,
        }
    }
}

/// The time in which every stream with requests had begun, and none had issued its last one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContentionWindow {
    /// When the last stream began.
    pub from: Time,
    /// When the first stream had nothing more to ask.
    pub until: Time,
    /// Bytes served meanwhile, by stream; none to a stream without requests.
    pub bytes: Vec<Option<u64>>,
}

/// What simulating cost.
#[derive(Clone, Copy, Debug)]
pub struct Speed {
    /// Wall-clock time.
    pub wall: Duration,
    /// Processor time.
    pub cpu: Duration,
    /// Of that, the part for bringing the devices into their state before the run.
    pub precondition_cpu: Duration,
    /// Events.
    pub events: u64,
    /// Growth of the process's resident memory from the empty device on.
    pub resident_bytes: u64,
}

/// Requests of a source by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputCounts {
    /// Read requests admitted.
    pub reads: u64,
    /// Write requests admitted.
    pub writes: u64,
    /// Of the writes, those that are durable when they are done (FUA).
    pub durable_writes: u64,
    /// Trims admitted.
    pub trims: u64,
    /// Flushes admitted.
    pub flushes: u64,
    /// Of all these, requests that a power cut took.
    pub lost: u64,
    /// Flushes left out.
    pub flushes_ignored: u64,
}

since!(InputCounts: reads, writes, durable_writes, trims, flushes, lost, flushes_ignored);

impl InputCounts {
    /// Reads and writes.
    pub fn requests(&self) -> u64 {
        self.reads + self.writes
    }
    /// Everything the device was asked for.
    pub fn issued(&self) -> u64 {
        self.requests() + self.trims + self.flushes
    }
    /// Those of two sources.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            reads: self.reads + other.reads,
            writes: self.writes + other.writes,
            durable_writes: self.durable_writes + other.durable_writes,
            trims: self.trims + other.trims,
            flushes: self.flushes + other.flushes,
            lost: self.lost + other.lost,
            flushes_ignored: self.flushes_ignored + other.flushes_ignored,
        }
    }
}
