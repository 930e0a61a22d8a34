//! What a run has found out: a summary and tables.

use std::time::Duration;

use serde::Serialize;
use wordline_device::Ssd;
use wordline_device::precondition::Preconditioned;
use wordline_ftl::{Mapping, PageMap};
use wordline_kernel::Time;
use wordline_nand::Plane;
use wordline_observe::{Busy, Heading, Histogram, ObserveError, Table, Values};

use crate::config::Plan;
use crate::config::plan::Replay;
use crate::record::{FlashCounts, PartSums, Record};
use crate::simulation::InputCounts;

/// Version of the summary's format.
pub const SCHEMA: u32 = 1;

/// What the loop hands over.
#[derive(Debug)]
pub struct Outcome {
    /// What was simulated.
    pub plan: Plan,
    /// How it was driven.
    pub replay: Replay,
    /// What was recorded.
    pub record: Record,
    /// Requests by kind.
    pub counts: InputCounts,
    /// What happened before the run.
    pub preconditioned: Preconditioned,
    /// Digest of all events.
    pub digest: u64,
    /// When the first request was issued.
    pub first_arrival: Time,
    /// When the last event happened.
    pub end: Time,
    /// Why the run ended early, if it did.
    pub error: Option<String>,
    /// Whether the user ended it.
    pub interrupted: bool,
    /// What it cost.
    pub speed: Speed,
}

/// What simulating cost.
#[derive(Clone, Copy, Debug)]
pub struct Speed {
    /// Wall-clock time.
    pub wall: Duration,
    /// Processor time.
    pub cpu: Duration,
    /// Events.
    pub events: u64,
    /// Growth of the process's resident memory from the empty device on.
    pub resident_bytes: u64,
}

/// The results of a run.
#[derive(Debug)]
pub struct Results {
    /// The numbers.
    pub summary: Summary,
    /// Whether the user ended the run.
    pub interrupted: bool,
    outcome: Outcome,
    blocks: Vec<u32>,
    rows: Option<Table>,
}

/// The numbers of a run; `summary.json`. [`crate::metrics`] says what each one is.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct Summary {
    pub schema: u32,
    pub version: &'static str,
    pub partial: bool,
    pub error: Option<String>,
    pub seed: u64,
    pub digest: String,
    pub device: DeviceSummary,
    pub input: InputSummary,
    pub time: TimeSummary,
    pub latency: ByOp<LatencySummary>,
    pub breakdown: ByOp<Breakdown>,
    pub throughput: Throughput,
    pub flash: FlashSummary,
    pub utilisation: Utilisation,
    pub precondition: PreconditionSummary,
    pub verification: Option<VerificationSummary>,
    pub notes: Vec<String>,
    pub references: Vec<Reference>,
    pub speed: SpeedSummary,
}

#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct DeviceSummary {
    pub name: String,
    pub capacity_bytes: u64,
    pub user_bytes: u64,
    pub over_provisioning_ratio: f64,
    pub channels: u32,
    pub ways: u32,
    pub dies: u32,
    pub planes: u32,
    pub blocks: u32,
    pub pages_per_block: u32,
    pub page_bytes: u32,
}

#[derive(Clone, Debug, Default, Serialize)]
#[allow(missing_docs)]
pub struct InputSummary {
    pub kind: &'static str,
    pub files: Vec<InputFile>,
    pub digest: Option<String>,
    pub replay: &'static str,
    pub queue_depth: u32,
    pub requests: u64,
    pub reads: u64,
    pub writes: u64,
    pub trims_ignored: u64,
    pub flushes_ignored: u64,
    pub lines_skipped: u64,
    pub requests_adjusted: u64,
    pub read_bytes: u64,
    pub written_bytes: u64,
    pub unwritten_pages_read: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct InputFile {
    pub path: String,
    pub format: String,
}

#[derive(Clone, Copy, Debug, Serialize)]
#[allow(missing_docs)]
pub struct TimeSummary {
    pub simulated_s: f64,
    pub first_arrival_s: f64,
    pub last_completion_s: f64,
}

#[derive(Clone, Copy, Debug, Serialize)]
#[allow(missing_docs)]
pub struct ByOp<T> {
    pub all: T,
    pub read: T,
    pub write: T,
}

#[derive(Clone, Copy, Debug, Serialize)]
#[allow(missing_docs)]
pub struct LatencySummary {
    pub count: u64,
    pub mean_us: Option<f64>,
    pub std_us: Option<f64>,
    pub min_us: Option<f64>,
    pub p50_us: Option<f64>,
    pub p90_us: Option<f64>,
    pub p95_us: Option<f64>,
    pub p99_us: Option<f64>,
    pub p99_9_us: Option<f64>,
    pub p99_99_us: Option<f64>,
    pub max_us: Option<f64>,
}

#[derive(Clone, Copy, Debug, Serialize)]
#[allow(missing_docs)]
pub struct Breakdown {
    pub host_queue_us: f64,
    pub die_wait_us: f64,
    pub bus_wait_us: f64,
    pub bus_us: f64,
    pub cell_us: f64,
    pub gc_us: f64,
}

#[derive(Clone, Copy, Debug, Serialize)]
#[allow(missing_docs)]
pub struct Throughput {
    pub iops: f64,
    pub read_iops: f64,
    pub write_iops: f64,
    pub read_mb_per_s: f64,
    pub write_mb_per_s: f64,
}

#[derive(Clone, Copy, Debug, Serialize)]
#[allow(missing_docs)]
pub struct FlashSummary {
    pub host_page_writes: u64,
    pub page_programs: u64,
    pub page_reads: u64,
    pub erases: u64,
    pub write_amplification: Option<f64>,
    pub read_modify_writes: u64,
    pub gc_runs: u64,
    pub gc_pages_moved: u64,
    pub gc_time_s: f64,
    pub erases_per_block_min: u32,
    pub erases_per_block_mean: f64,
    pub erases_per_block_max: u32,
    pub valid_pages: u64,
    pub free_blocks: u64,
}

#[derive(Clone, Copy, Debug, Serialize)]
#[allow(missing_docs)]
pub struct Utilisation {
    pub channel_mean: f64,
    pub channel_max: f64,
    pub die_mean: f64,
    pub die_max: f64,
}

#[derive(Clone, Copy, Debug, Serialize)]
#[allow(missing_docs)]
pub struct PreconditionSummary {
    pub pages_filled: u64,
    pub pages_overwritten: u64,
    pub pages_moved: u64,
    pub write_amplification: Option<f64>,
    pub erases: u64,
}

#[derive(Clone, Copy, Debug, Serialize)]
#[allow(missing_docs)]
pub struct VerificationSummary {
    pub reads_checked: u64,
    pub writes_followed: u64,
}

#[derive(Clone, Copy, Debug, Serialize)]
#[allow(missing_docs)]
pub struct Reference {
    pub family: &'static str,
    pub policy: &'static str,
    pub paper: &'static str,
}

#[derive(Clone, Copy, Debug, Serialize)]
#[allow(missing_docs)]
pub struct SpeedSummary {
    pub wall_s: f64,
    pub cpu_s: f64,
    pub events: u64,
    pub requests_per_cpu_s: f64,
    pub resident_bytes: u64,
    pub pages_touched: u64,
    pub resident_bytes_per_touched_page: f64,
}

fn us(time: Time) -> f64 {
    time.as_us()
}

impl LatencySummary {
    fn new(histogram: &Histogram) -> Self {
        let at = |q| histogram.percentile(q).map(us);
        Self {
            count: histogram.count(),
            mean_us: histogram.mean_us(),
            std_us: histogram.std_us(),
            min_us: histogram.min().map(us),
            p50_us: at(0.5),
            p90_us: at(0.9),
            p95_us: at(0.95),
            p99_us: at(0.99),
            p99_9_us: at(0.999),
            p99_99_us: at(0.9999),
            max_us: histogram.max().map(us),
        }
    }
}

impl Breakdown {
    fn new(sums: &PartSums) -> Self {
        let [
            host_queue_us,
            die_wait_us,
            bus_wait_us,
            bus_us,
            cell_us,
            gc_us,
        ] = sums.means_us();
        Self {
            host_queue_us,
            die_wait_us,
            bus_wait_us,
            bus_us,
            cell_us,
            gc_us,
        }
    }
}

fn share(busy: &Busy, span: Time) -> (f64, f64) {
    let totals = busy.totals();
    let span = span.0.max(1) as f64;
    let shares = totals.iter().map(|total| total.0 as f64 / span);
    let max = shares.clone().fold(0.0, f64::max);
    (shares.sum::<f64>() / totals.len().max(1) as f64, max)
}

fn ratio(programs: u64, host: u64) -> Option<f64> {
    (host > 0).then(|| programs as f64 / host as f64)
}

impl Results {
    /// Sums a run up.
    pub fn new(
        mut outcome: Outcome,
        rows: Result<Option<Table>, ObserveError>,
        ssd: &Ssd<PageMap>,
    ) -> Self {
        if let Err(error) = &rows {
            outcome.error.get_or_insert(error.to_string());
        }
        let blocks = ssd.array().erases().to_vec();
        let mut summary = Summary::new(&outcome, ssd, &blocks);
        summary.notes = notes(&outcome, &summary);
        let interrupted = outcome.interrupted;
        Self {
            summary,
            interrupted,
            outcome,
            blocks,
            rows: rows.ok().flatten(),
        }
    }
    /// Says where the requests came from.
    pub fn describe_input(&mut self, describe: impl FnOnce(&mut InputSummary, &mut Vec<String>)) {
        describe(&mut self.summary.input, &mut self.summary.notes);
    }
    /// The summary as JSON, indented.
    pub fn summary_json(&self) -> String {
        serde_json::to_string_pretty(&self.summary).unwrap_or_default()
    }
    /// Names of the tables that this run has.
    pub fn tables(&self) -> Vec<&'static str> {
        let mut names = vec!["series", "latency", "blocks"];
        if self.rows.is_some() {
            names.insert(0, "requests");
        }
        names
    }
    /// A table; `None` if this run has none of that name.
    pub fn table(&self, name: &str) -> Option<Result<Table, ObserveError>> {
        match name {
            "requests" => self.rows.clone().map(Ok),
            "series" => Some(self.series()),
            "latency" => Some(self.latency()),
            "blocks" => Some(self.blocks()),
            _ => None,
        }
    }

    fn series(&self) -> Result<Table, ObserveError> {
        let record = &self.outcome.record;
        let cells: Vec<_> = record.series.iter().collect();
        let column = |name, unit, description| Heading::new(name, unit, description);
        let f64s = |value: &dyn Fn(usize) -> f64| {
            Values::from((0..cells.len()).map(value).collect::<Vec<f64>>())
        };
        let u64s = |value: &dyn Fn(usize) -> u64| {
            Values::from((0..cells.len()).map(value).collect::<Vec<u64>>())
        };
        let maybe = |value: &dyn Fn(usize) -> Option<f64>| {
            Values::from((0..cells.len()).map(value).collect::<Vec<Option<f64>>>())
        };
        let seconds = |i: usize| cells[i].until.since(cells[i].from).as_secs().max(1e-12);
        let latency = |i: usize, op: usize| &cells[i].value.latency[op];
        let bytes = |i: usize, op: usize| cells[i].value.bytes[op];
        let flash = |i: usize| &cells[i].value.flash;
        let requests = |i: usize| latency(i, 0).count() + latency(i, 1).count();
        Table::new(vec![
            (
                column("start_s", "s", "Start of the interval"),
                f64s(&|i| cells[i].from.as_secs()),
            ),
            (
                column("end_s", "s", "End of the interval"),
                f64s(&|i| cells[i].until.as_secs()),
            ),
            (
                column("reads", "", "Read requests completed"),
                u64s(&|i| latency(i, 0).count()),
            ),
            (
                column("writes", "", "Write requests completed"),
                u64s(&|i| latency(i, 1).count()),
            ),
            (
                column("read_bytes", "B", "Bytes of reads completed"),
                u64s(&|i| bytes(i, 0)),
            ),
            (
                column("write_bytes", "B", "Bytes of writes completed"),
                u64s(&|i| bytes(i, 1)),
            ),
            (
                column("read_mean_us", "us", "Mean response time of reads"),
                maybe(&|i| latency(i, 0).mean_us()),
            ),
            (
                column("read_max_us", "us", "Longest response time of a read"),
                maybe(&|i| latency(i, 0).max().map(us)),
            ),
            (
                column("write_mean_us", "us", "Mean response time of writes"),
                maybe(&|i| latency(i, 1).mean_us()),
            ),
            (
                column("write_max_us", "us", "Longest response time of a write"),
                maybe(&|i| latency(i, 1).max().map(us)),
            ),
            (
                column("iops", "1/s", "Requests completed a second"),
                f64s(&|i| requests(i) as f64 / seconds(i)),
            ),
            (
                column(
                    "mb_per_s",
                    "MB/s",
                    "Bytes of completed requests a second, in 10^6 bytes",
                ),
                f64s(&|i| (bytes(i, 0) + bytes(i, 1)) as f64 / 1e6 / seconds(i)),
            ),
            (
                column(
                    "host_page_writes",
                    "",
                    "Pages that the host wrote, whole or in part",
                ),
                u64s(&|i| flash(i).host_page_writes),
            ),
            (
                column("page_programs", "", "Pages programmed"),
                u64s(&|i| flash(i).page_programs),
            ),
            (
                column("page_reads", "", "Pages read from flash"),
                u64s(&|i| flash(i).page_reads),
            ),
            (
                column(
                    "write_amplification",
                    "",
                    "Pages programmed per page that the host wrote",
                ),
                maybe(&|i| ratio(flash(i).page_programs, flash(i).host_page_writes)),
            ),
            (
                column("gc_runs", "", "Collections finished"),
                u64s(&|i| flash(i).gc_runs),
            ),
            (
                column("gc_pages_moved", "", "Pages moved by collections finished"),
                u64s(&|i| flash(i).gc_pages_moved),
            ),
            (
                column(
                    "gc_time_ms",
                    "ms",
                    "Duration of collections finished, summed over planes",
                ),
                f64s(&|i| flash(i).gc_time.as_secs() * 1e3),
            ),
            (
                column("erases", "", "Blocks erased"),
                u64s(&|i| flash(i).erases),
            ),
            (
                column(
                    "channel_utilisation",
                    "",
                    "Share of the interval in which each channel's bus was held",
                ),
                lanes(&record.channels, cells.len()),
            ),
            (
                column(
                    "die_utilisation",
                    "",
                    "Share of the interval in which each die was occupied",
                ),
                lanes(&record.dies, cells.len()),
            ),
        ])
    }

    fn latency(&self) -> Result<Table, ObserveError> {
        let [read, write] = &self.outcome.record.latency;
        let mut all = read.clone();
        all.merge(write);
        let points: Vec<_> = [&all, read, write]
            .into_iter()
            .enumerate()
            .flat_map(|(op, histogram)| {
                histogram
                    .cdf()
                    .into_iter()
                    .map(move |point| (op as u8, point))
            })
            .collect();
        Table::new(vec![
            (
                Heading::new("op", "", "all, read or write"),
                Values::Words {
                    words: &["all", "read", "write"],
                    codes: points.iter().map(|(op, _)| *op).collect(),
                },
            ),
            (
                Heading::new("latency_us", "us", "A response time"),
                points
                    .iter()
                    .map(|(_, point)| us(point.at))
                    .collect::<Vec<f64>>()
                    .into(),
            ),
            (
                Heading::new(
                    "fraction_below",
                    "",
                    "Share of requests that took no longer",
                ),
                points
                    .iter()
                    .map(|(_, point)| point.fraction)
                    .collect::<Vec<f64>>()
                    .into(),
            ),
            (
                Heading::new(
                    "count",
                    "",
                    "Requests longer than the row before and no longer than this one",
                ),
                points
                    .iter()
                    .map(|(_, point)| point.count)
                    .collect::<Vec<u64>>()
                    .into(),
            ),
        ])
    }

    /// Erases of runs of blocks: every block of its own while there are no more than 2^20 blocks,
    /// else runs of equal length.
    fn blocks(&self) -> Result<Table, ObserveError> {
        let plan = &self.outcome.plan;
        let layout = plan.layout;
        let run = self.blocks.len().div_ceil(MOST_BLOCK_ROWS).max(1) as u32;
        let runs: Vec<BlockRun> = (0..layout.planes())
            .flat_map(|plane| {
                (0..layout.blocks_per_plane)
                    .step_by(run as usize)
                    .map(move |first| (plane, first))
            })
            .map(|(plane, first)| {
                let last = layout.blocks_per_plane.min(first + run);
                let erases = |block| self.blocks[layout.block(Plane(plane), block).index()];
                BlockRun {
                    plane,
                    first,
                    erases: (first..last).map(erases).collect(),
                }
            })
            .collect();
        let dimensions = plan.dimensions;
        let u32s = |value: &dyn Fn(&BlockRun) -> u32| {
            Values::from(runs.iter().map(value).collect::<Vec<u32>>())
        };
        let die = |run: &BlockRun| run.plane / dimensions.planes;
        let way = |run: &BlockRun| die(run) / dimensions.dies;
        Table::new(vec![
            (
                Heading::new("channel", "", "Channel"),
                u32s(&|run| way(run) / dimensions.ways),
            ),
            (
                Heading::new("way", "", "Package on the channel"),
                u32s(&|run| way(run) % dimensions.ways),
            ),
            (
                Heading::new("die", "", "Die in the package"),
                u32s(&|run| die(run) % dimensions.dies),
            ),
            (
                Heading::new("plane", "", "Plane in the die"),
                u32s(&|run| run.plane % dimensions.planes),
            ),
            (
                Heading::new("block", "", "First block, in the plane"),
                u32s(&|run| run.first),
            ),
            (
                Heading::new(
                    "blocks",
                    "",
                    "Blocks from there on that this row stands for",
                ),
                u32s(&|run| run.erases.len() as u32),
            ),
            (
                Heading::new("erases_min", "", "Fewest erases of one of them"),
                u32s(&|run| run.erases.iter().copied().min().unwrap_or(0)),
            ),
            (
                Heading::new("erases", "", "Mean erases of these blocks"),
                runs.iter()
                    .map(|run| mean(&run.erases))
                    .collect::<Vec<f64>>()
                    .into(),
            ),
            (
                Heading::new("erases_max", "", "Most erases of one of them"),
                u32s(&|run| run.erases.iter().copied().max().unwrap_or(0)),
            ),
        ])
    }
}

/// Neighbouring blocks of a plane, as one row.
struct BlockRun {
    plane: u32,
    first: u32,
    erases: Vec<u32>,
}

/// Rows of the table of blocks at most, about.
const MOST_BLOCK_ROWS: usize = 1 << 20;

fn mean(values: &[u32]) -> f64 {
    values.iter().map(|&value| u64::from(value)).sum::<u64>() as f64 / values.len().max(1) as f64
}

fn lanes(busy: &Busy, rows: usize) -> Values {
    let mut values: Vec<f32> = Vec::with_capacity(rows * busy.lanes());
    for row in busy.iter().take(rows) {
        values.extend(row.utilisation().map(|share| share as f32));
    }
    values.resize(rows * busy.lanes(), 0.0);
    Values::Lists {
        lanes: busy.lanes(),
        values,
    }
}

impl Summary {
    fn new(outcome: &Outcome, ssd: &Ssd<PageMap>, blocks: &[u32]) -> Self {
        let Outcome {
            plan,
            record,
            counts,
            preconditioned,
            end,
            error,
            speed,
            ..
        } = outcome;
        let flash = record.flash();
        let [read, write] = &record.latency;
        let mut all = read.clone();
        all.merge(write);
        let served = record.last_completion.since(outcome.first_arrival);
        let seconds = served.as_secs().max(1e-12);
        let rate = |count: u64| count as f64 / seconds;
        let (channel_mean, channel_max) = share(&record.channels, *end);
        let (die_mean, die_max) = share(&record.dies, *end);
        let pages_touched =
            u64::from(ssd.mapping().user_pages()).min(pages_programmed(preconditioned, &flash));
        let (replay, queue_depth) = match outcome.replay {
            Replay::OpenLoop { .. } => ("open-loop", plan.queue_depth),
            Replay::ClosedLoop { queue_depth } => ("closed-loop", queue_depth),
        };
        Self {
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION"),
            partial: error.is_some(),
            error: error.clone(),
            seed: plan.seed,
            digest: format!("{:016x}", outcome.digest),
            device: DeviceSummary {
                name: plan.name.clone(),
                capacity_bytes: plan.capacity_bytes(),
                user_bytes: plan.user_bytes(),
                over_provisioning_ratio: plan.ftl.config.over_provisioning_ratio,
                channels: plan.dimensions.channels,
                ways: plan.dimensions.ways,
                dies: plan.layout.dies,
                planes: plan.layout.planes(),
                blocks: plan.layout.blocks(),
                pages_per_block: plan.layout.pages_per_block,
                page_bytes: plan.geometry.page_bytes,
            },
            input: InputSummary {
                replay,
                queue_depth,
                requests: counts.reads + counts.writes,
                reads: counts.reads,
                writes: counts.writes,
                trims_ignored: counts.trims_ignored,
                flushes_ignored: counts.flushes_ignored,
                read_bytes: record.bytes[0],
                written_bytes: record.bytes[1],
                unwritten_pages_read: flash.unwritten_pages_read,
                ..InputSummary::default()
            },
            time: TimeSummary {
                simulated_s: end.as_secs(),
                first_arrival_s: outcome.first_arrival.as_secs(),
                last_completion_s: record.last_completion.as_secs(),
            },
            latency: ByOp {
                all: LatencySummary::new(&all),
                read: LatencySummary::new(read),
                write: LatencySummary::new(write),
            },
            breakdown: ByOp {
                all: Breakdown::new(&record.parts[0].plus(&record.parts[1])),
                read: Breakdown::new(&record.parts[0]),
                write: Breakdown::new(&record.parts[1]),
            },
            throughput: Throughput {
                iops: rate(all.count()),
                read_iops: rate(read.count()),
                write_iops: rate(write.count()),
                read_mb_per_s: rate(record.bytes[0]) / 1e6,
                write_mb_per_s: rate(record.bytes[1]) / 1e6,
            },
            flash: flash_summary(&flash, ssd, blocks),
            utilisation: Utilisation {
                channel_mean,
                channel_max,
                die_mean,
                die_max,
            },
            precondition: PreconditionSummary {
                pages_filled: preconditioned.fill.written,
                pages_overwritten: preconditioned.overwrites.written,
                pages_moved: preconditioned.fill.moved + preconditioned.overwrites.moved,
                write_amplification: preconditioned.last_write_amplification,
                erases: preconditioned.fill.erased + preconditioned.overwrites.erased,
            },
            verification: ssd.shadow().map(|shadow| VerificationSummary {
                reads_checked: shadow.reads_checked,
                writes_followed: shadow.writes_followed,
            }),
            notes: Vec::new(),
            references: references(plan),
            speed: SpeedSummary {
                wall_s: speed.wall.as_secs_f64(),
                cpu_s: speed.cpu.as_secs_f64(),
                events: speed.events,
                requests_per_cpu_s: all.count() as f64 / speed.cpu.as_secs_f64().max(1e-9),
                resident_bytes: speed.resident_bytes,
                pages_touched,
                resident_bytes_per_touched_page: speed.resident_bytes as f64
                    / pages_touched.max(1) as f64,
            },
        }
    }
}

fn pages_programmed(preconditioned: &Preconditioned, flash: &FlashCounts) -> u64 {
    let before = preconditioned.fill.written + preconditioned.overwrites.written;
    before + flash.host_page_writes
}

fn flash_summary(flash: &FlashCounts, ssd: &Ssd<PageMap>, blocks: &[u32]) -> FlashSummary {
    FlashSummary {
        host_page_writes: flash.host_page_writes,
        page_programs: flash.page_programs,
        page_reads: flash.page_reads,
        erases: flash.erases,
        write_amplification: ratio(flash.page_programs, flash.host_page_writes),
        read_modify_writes: flash.read_modify_writes,
        gc_runs: flash.gc_runs,
        gc_pages_moved: flash.gc_pages_moved,
        gc_time_s: flash.gc_time.as_secs(),
        erases_per_block_min: blocks.iter().copied().min().unwrap_or(0),
        erases_per_block_mean: mean(blocks),
        erases_per_block_max: blocks.iter().copied().max().unwrap_or(0),
        valid_pages: ssd.mapping().blocks().valid_pages(),
        free_blocks: ssd.mapping().free_blocks(),
    }
}

fn references(plan: &Plan) -> Vec<Reference> {
    let ftl = &plan.ftl.config;
    let all = [
        Reference {
            family: "ftl.mapping",
            policy: ftl.mapping.name(),
            paper: ftl.mapping.paper(),
        },
        Reference {
            family: "ftl.allocate",
            policy: ftl.allocate.name(),
            paper: ftl.allocate.paper(),
        },
        Reference {
            family: "ftl.gc.victim",
            policy: ftl.gc.victim.name(),
            paper: ftl.gc.victim.paper(),
        },
        Reference {
            family: "ftl.wear",
            policy: ftl.wear.name(),
            paper: ftl.wear.paper(),
        },
    ];
    all.into_iter()
        .filter(|reference| !reference.paper.is_empty())
        .collect()
}

/// Sentences that a careful reader of the numbers needs.
fn notes(outcome: &Outcome, summary: &Summary) -> Vec<String> {
    let mut notes = Vec::new();
    let Outcome {
        preconditioned,
        counts,
        record,
        ..
    } = outcome;
    let filled = preconditioned.fill.written;
    if filled > 0 {
        notes.push(format!(
            "Before the run {filled} pages were written in order and {} at random, without timing; none of that is in the results.",
            preconditioned.overwrites.written
        ));
    } else {
        notes.push("The device was empty at the start (precondition.fill_ratio = 0).".into());
    }
    if preconditioned.unsettled {
        notes.push("Preconditioning reached precondition.settle_limit_ratio before write amplification settled.".into());
    }
    let unwritten = summary.input.unwritten_pages_read;
    if unwritten > 0 {
        notes.push(format!(
            "{unwritten} pages were read that were never written; such a read takes no flash operation and no time. Raise precondition.fill_ratio to have them on flash."
        ));
    }
    if counts.trims_ignored > 0 {
        notes.push(format!(
            "{} trims of the input were left out: this version does not model TRIM.",
            counts.trims_ignored
        ));
    }
    if counts.flushes_ignored > 0 {
        notes.push(format!(
            "{} flushes of the input were left out: without a write buffer they change nothing.",
            counts.flushes_ignored
        ));
    }
    let waited: u128 = record.parts.iter().map(|parts| parts.sums[0]).sum();
    let total: u128 = record.latency.iter().map(Histogram::sum_ps).sum();
    if matches!(outcome.replay, Replay::OpenLoop { .. }) && waited * 2 > total {
        notes.push("More than half of the response time was spent waiting for the device queue: the input offers more than this device serves. Lower the rate (replay.mode.open-loop.time_scale) or replay closed loop.".into());
    }
    notes
}
