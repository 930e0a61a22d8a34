//! Generated workloads: the `[workload]` table and the source of requests that it describes.

pub mod arrival;
pub mod pattern;
mod scatter;
mod sizes;

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::{Rng, Time};

pub use arrival::Arrival;
pub use pattern::Pattern;
pub use sizes::{Share, Sizes};

use crate::{Op, Request, Source, WorkloadError};
use arrival::Clock;
use pattern::{Places, Walk};
use sizes::Mix;
use wordline_trace_format::SECTOR;

/// Generated workload: number, kinds, sizes, addresses and arrivals of its requests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Number of requests to generate.
    #[schemars(range(min = 1, max = 1_000_000_000_000_000_u64))]
    pub requests: u64,
    /// Duration of the load from its start; 0 for no limit. The load ends earlier if it has issued
    /// all requests. Requests in progress are completed. Seconds.
    #[schemars(range(min = 0.0, max = 8_640_000.0))]
    pub duration_s: f64,
    /// Share of reads among the requests that are not TRIMs. The others are writes.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub read_ratio: f64,
    /// Share of TRIMs among all requests. TRIMs follow the access pattern like writes.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub trim_ratio: f64,
    /// Size of a request, or a list of sizes with weights. A multiple of 512. Bytes.
    pub request_bytes: Sizes,
    /// Size of a write, in the form of `request_bytes`, which is then the size of a read. By
    /// default, reads and writes have the same sizes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_bytes: Option<Sizes>,
    /// Size of a TRIM, in the form of `request_bytes`. By default, TRIMs have the sizes of
    /// `request_bytes`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trim_bytes: Option<Sizes>,
    /// Alignment of requests, relative to the start of the working set; a multiple of 512. Bytes.
    #[schemars(range(min = 512, max = 1_000_000_000_000_000_000_u64))]
    pub align_bytes: u64,
    /// Share of the writes that are durable on completion (FUA). Without a DRAM buffer or a disk's
    /// write cache, all writes are durable.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub fua_ratio: f64,
    /// Interval between flushes, in requests; 0 for no flushes. The other requests have the same
    /// operations, addresses and sizes as without flushes.
    #[schemars(range(min = 0, max = 1_000_000_000_000_000_u64))]
    pub flush_every_requests: u64,
    /// Access pattern: the addresses of requests within the working set.
    pub pattern: Pattern,
    /// Size of the working set as a share of the user capacity.
    #[schemars(range(max = 1.0), extend("exclusiveMinimum" = 0.0))]
    pub working_set_ratio: f64,
    /// Start of the working set, relative to the start of the device; a multiple of 512. Bytes.
    #[schemars(range(min = 0, max = 1_000_000_000_000_000_000_u64))]
    pub offset_bytes: u64,
    /// Arrival process of the requests.
    pub arrival: Arrival,
    /// Number of requests between two pauses of the host; 0 for no pauses.
    #[schemars(range(min = 0, max = 1_000_000_000_000_000_u64))]
    pub idle_every_requests: u64,
    /// Length of a pause. Milliseconds.
    #[schemars(range(min = 0.0, max = 1e9))]
    pub idle_ms: f64,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            requests: 100_000,
            duration_s: 0.0,
            read_ratio: 0.5,
            trim_ratio: 0.0,
            request_bytes: Sizes::One(4096),
            write_bytes: None,
            trim_bytes: None,
            align_bytes: 4096,
            fua_ratio: 0.0,
            flush_every_requests: 0,
            pattern: Pattern::Uniform(pattern::Uniform {}),
            working_set_ratio: 1.0,
            offset_bytes: 0,
            arrival: Arrival::ClosedLoop(arrival::ClosedLoop::default()),
            idle_every_requests: 0,
            idle_ms: 0.0,
        }
    }
}

/// Returns an error of the configuration. `key` is relative to the `[workload]` table.
pub(crate) fn fault<T>(
    key: &str,
    reason: impl Into<String>,
    remedy: impl Into<String>,
) -> Result<T, WorkloadError> {
    let key = format!("workload.{key}");
    Err(WorkloadError::new(Path::new(&key), reason, remedy))
}

fn whole_sectors(key: &str, bytes: u64) -> Result<(), WorkloadError> {
    if bytes.is_multiple_of(SECTOR) {
        return Ok(());
    }
    let reason = format!("{bytes} is not a multiple of {SECTOR} bytes");
    fault(key, reason, "choose a multiple of 512")
}

/// Working set, and the offsets at which requests can start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Space {
    pub(crate) length: u64,
    pub(crate) align: u64,
    /// Number of offsets at which a request of any size can start. They are multiples of the
    /// alignment that leave space for the largest request.
    pub(crate) places: u64,
}

impl Space {
    /// Returns the offset of place `index`, relative to the working set. Bytes.
    pub(crate) fn byte(&self, index: u64) -> u64 {
        index * self.align
    }
}

impl Config {
    fn space(&self, user_bytes: u64) -> Result<Space, WorkloadError> {
        whole_sectors("align_bytes", self.align_bytes)?;
        whole_sectors("offset_bytes", self.offset_bytes)?;
        let length = (user_bytes as f64 * self.working_set_ratio) as u64;
        let length = length.min(user_bytes) / SECTOR * SECTOR;
        let end = self.offset_bytes.checked_add(length);
        if end.is_none_or(|end| end > user_bytes) {
            let reason = format!(
                "offset {} plus the working set of {length} bytes exceeds the device's {user_bytes} bytes",
                self.offset_bytes
            );
            return fault(
                "offset_bytes",
                reason,
                "lower workload.offset_bytes or workload.working_set_ratio",
            );
        }
        let mut largest = 0;
        for (key, sizes) in self.sizes() {
            largest = largest.max(sizes.largest());
            if largest > length {
                let reason = format!(
                    "a request of {largest} bytes does not fit into the working set of {length} bytes"
                );
                let remedy = "lower the size, or raise workload.working_set_ratio";
                return fault(key, reason, remedy);
            }
        }
        Ok(Space {
            length,
            align: self.align_bytes,
            places: (length - largest) / self.align_bytes + 1,
        })
    }

    /// Returns the sizes of reads, writes and TRIMs, each with the key that gives it.
    fn sizes<'a>(&'a self) -> [(&'static str, &'a Sizes); 3] {
        let all = ("request_bytes", &self.request_bytes);
        let own = |key, sizes: Option<&'a Sizes>| sizes.map_or(all, |own| (key, own));
        [
            all,
            own("write_bytes", self.write_bytes.as_ref()),
            own("trim_bytes", self.trim_bytes.as_ref()),
        ]
    }

    fn until(&self) -> Time {
        if self.duration_s == 0.0 {
            return Time::MAX;
        }
        Time::from_ps((self.duration_s * 1e12).round() as u64)
    }

    fn pause(&self) -> Result<Time, WorkloadError> {
        if self.idle_every_requests == 0 || self.idle_ms == 0.0 {
            return Ok(Time::ZERO);
        }
        if self.arrival.queue_depth().is_some() {
            let reason = "a closed loop has no arrivals to pause between";
            return fault(
                "idle_ms",
                reason,
                "set workload.arrival to \"poisson\", \"constant\" or \"idle-mix\", or workload.idle_ms to 0",
            );
        }
        Ok(Time::from_ps((self.idle_ms * 1e9).round() as u64))
    }
}

/// Generator of the requests of a [`Config`]. The same configuration, capacity and seed give the
/// same requests on every machine.
#[derive(Clone, Debug)]
pub struct Generator {
    requests: u64,
    generated: u64,
    until: Time,
    read_ratio: f64,
    /// Whether every request is a read, if the read ratio is 0 or 1; `None` for other ratios.
    certain: Option<bool>,
    trim_ratio: f64,
    fua_ratio: f64,
    flush_every: u64,
    start: u64,
    space: Space,
    reads: Mix,
    writes: Mix,
    trims: Mix,
    walk: Walk,
    clock: Clock,
    queue_depth: Option<u32>,
    idle_every: u64,
    pause: Time,
    paused: Time,
    op_random: Rng,
    trim_random: Rng,
    fua_random: Rng,
    size_random: Rng,
    offset_random: Rng,
    arrival_random: Rng,
}

impl Generator {
    /// Creates a generator for a device of `user_bytes` bytes of user capacity.
    ///
    /// Every number of the configuration must be in the range of its field. This function checks
    /// what ranges cannot express; errors name the key, such as `workload.request_bytes`.
    pub fn new(config: &Config, user_bytes: u64, seed: u64) -> Result<Self, WorkloadError> {
        if config.flush_every_requests == 1 {
            return fault(
                "flush_every_requests",
                "if every request is a flush, none reads or writes",
                "give at least 2, or 0 for no flushes",
            );
        }
        let [reads, writes, trims] = config.sizes().map(|(key, sizes)| Mix::new(key, sizes));
        let (reads, writes, trims) = (reads?, writes?, trims?);
        let space = config.space(user_bytes)?;
        Ok(Self {
            requests: config.requests,
            generated: 0,
            until: config.until(),
            read_ratio: config.read_ratio,
            certain: match config.read_ratio {
                0.0 => Some(false),
                1.0 => Some(true),
                _ => None,
            },
            trim_ratio: config.trim_ratio,
            fua_ratio: config.fua_ratio,
            flush_every: config.flush_every_requests,
            start: config.offset_bytes,
            space,
            reads,
            writes,
            trims,
            walk: Walk::new(&config.pattern, &space)?,
            clock: Clock::new(&config.arrival)?,
            queue_depth: config.arrival.queue_depth(),
            idle_every: config.idle_every_requests,
            pause: config.pause()?,
            paused: Time::ZERO,
            op_random: Rng::new(seed, "workload.op"),
            trim_random: Rng::new(seed, "workload.trim"),
            fua_random: Rng::new(seed, "workload.fua"),
            size_random: Rng::new(seed, "workload.size"),
            offset_random: Rng::new(seed, "workload.offset"),
            arrival_random: Rng::new(seed, "workload.arrival"),
        })
    }

    /// Returns the number of requests to generate.
    pub fn requests(&self) -> u64 {
        self.requests
    }
    /// Returns the number of outstanding requests of a closed loop; `None` if requests arrive by
    /// the clock.
    pub fn queue_depth(&self) -> Option<u32> {
        self.queue_depth
    }

    /// Draws the operation of the next request. Also draws between read and write for a TRIM, so
    /// that the other requests do not depend on the share of TRIMs. Draws nothing for a share of
    /// reads of 0 or 1, nor for a share of TRIMs of 0.
    fn op(&mut self) -> Op {
        let reads = match self.certain {
            Some(reads) => reads,
            None => self.op_random.unit() < self.read_ratio,
        };
        let trims = self.trim_ratio > 0.0 && self.trim_random.unit() < self.trim_ratio;
        match (trims, reads) {
            (true, _) => Op::Trim,
            (false, true) => Op::Read,
            (false, false) => Op::Write,
        }
    }

    fn arrival(&mut self) -> Option<Time> {
        let busy = self.clock.next(&mut self.arrival_random)?;
        let begun = self.idle_every > 0 && self.generated > 0;
        if begun && self.generated.is_multiple_of(self.idle_every) {
            self.paused = self.paused.checked_add(self.pause)?;
        }
        busy.checked_add(self.paused)
    }
}

impl Source for Generator {
    fn next_request(&mut self) -> Result<Option<Request>, WorkloadError> {
        if self.generated == self.requests {
            return Ok(None);
        }
        let Some(arrival) = self.arrival() else {
            let reason = format!(
                "request {} arrives after 213 days, which is the range of the clock",
                self.generated + 1
            );
            self.requests = self.generated;
            return fault(
                "requests",
                reason,
                "generate fewer requests, or raise their rate",
            );
        };
        if arrival >= self.until {
            self.requests = self.generated;
            if self.generated > 0 {
                return Ok(None);
            }
            return fault(
                "duration_s",
                format!(
                    "the load ends before the first request, which arrives at {} s",
                    arrival.as_secs()
                ),
                "raise workload.duration_s, or the rate of workload.arrival",
            );
        }
        self.generated += 1;
        if self.flush_every > 0 && self.generated.is_multiple_of(self.flush_every) {
            return Ok(Some(Request {
                arrival,
                offset: 0,
                bytes: 0,
                volume: 0,
                op: Op::Flush,
                fua: false,
            }));
        }
        let op = self.op();
        let mix = match op {
            Op::Read => &self.reads,
            Op::Trim => &self.trims,
            _ => &self.writes,
        };
        let bytes = mix.next(&mut self.size_random);
        let offset = self.walk.next(bytes, &self.space, &mut self.offset_random);
        let durable = self.fua_ratio > 0.0 && self.fua_random.unit() < self.fua_ratio;
        Ok(Some(Request {
            arrival,
            offset: self.start + offset,
            bytes,
            volume: 0,
            op,
            fua: durable && op == Op::Write,
        }))
    }

    fn fraction(&self) -> Option<f64> {
        Some(self.generated as f64 / self.requests as f64)
    }

    fn timed(&self) -> bool {
        self.queue_depth.is_none()
    }

    fn until(&self) -> Time {
        self.until
    }
}
