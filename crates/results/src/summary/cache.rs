//! Flash in front of a disk.

use super::figures::ratio;
use super::latency::LatencySummary;
use crate::device::Device as Flash;
use crate::outcome::{CacheOutcome, LeafOutcome, Outcome};
use schemars::JsonSchema;
use serde::Serialize;
use wordline_config::plan::{Cached, Device};
use wordline_flash_cache::CacheStats;
use wordline_hdd::DiskStats;
use wordline_kernel::Time;
use wordline_miss_ratio::{Axis, Curve};
use wordline_recorder::{FlashCounts, Hits, Record};

section! {
    /// Flash in front of a disk. Pages are pages of the flash.
    #[derive(Clone, Debug, Serialize, JsonSchema)]
    #[schemars(rename = "Cache")]
    pub struct CacheSummary by of_run(of: &CacheOfRun<'_>);

    /// Pages that the cache can hold, at the start where its space moves. Null, as all of these, without one.
    capacity_pages: u64 = of.plan.cache.capacity.into();
    /// All pages of its flash.
    flash_pages: u64 = of.plan.cache.space.total_pages.into();
    /// How often its space was divided anew.
    divisions: u64 = of.stats.divisions;
    /// How often it was learned from small flashes how full the victims of collections are.
    trainings: u64 = of.cache.learned.map_or(0, |(trainings, _)| trainings);
    /// The mean share of valid pages that victims are taken to have at over-provisionings of 15, 25, ... 85 %, at the end; empty where
    /// the space is not divided by that.
    victim_utilisations: Vec<f64> = of.cache.learned.map_or_else(Vec::new, |(_, victims)| victims.to_vec());
    /// Pages that the list of what was read held at the end; zero where there is one list for all.
    read_list_pages: u64 = of.cache.pages.read_list;
    /// Pages that the list of what was written, or the only one, held at the end.
    write_list_pages: u64 = of.cache.pages.resident - of.cache.pages.read_list;
    /// Size that the policy of `cache.partition` chose last for the list of what is read; zero where there is one list for all. Pages, as the
    /// two that follow; with this one they are `cache.flash_pages`.
    read_size_pages: u64 = of.cache.pages.chosen.reads.into();
    /// Size that it chose last for the list of what is written, or for the only one.
    write_size_pages: u64 = of.cache.pages.chosen.writes.into();
    /// Pages that it left for over-provisioning: they hold nothing that is cached, so that collections gain from their victims.
    over_provisioning_pages: u64 = of.cache.pages.chosen.spare.into();
    /// Pages that it held at the end.
    resident_pages: u64 = of.cache.pages.resident;
    /// Evicted pages that could still be read at the end (suspected queue).
    suspected_pages: u64 = of.cache.pages.suspected;
    /// Evicted pages that could be read at most at a time.
    suspected_pages_most: u64 = of.plan.cache.most_suspected.into();
    /// Pages of reads.
    pages_read: u64 = of.stats.pages_read();
    /// Of these, pages that the cache held.
    resident_hits: u64 = of.stats.resident_hits;
    /// Pages that had been evicted and could still be read.
    suspected_hits: u64 = of.stats.suspected_hits;
    /// Pages that another request was reading from the disk.
    joined: u64 = of.stats.joined;
    /// Pages read from the disk and taken in.
    misses: u64 = of.stats.misses;
    /// Pages read from the disk and not taken in.
    bypassed: u64 = of.stats.bypassed;
    /// Pages of the hits that the flash could not correct, and that were read from the disk.
    hits_uncorrectable: u64 = of.stats.hits_uncorrectable;
    /// Pages whose newest content was lost: the flash could not read them, or a store below not take them, when they were destaged, or the
    /// rest of a page that was written in part could not be read below. Reads of them end with an error until they are written as a whole.
    pages_lost: u64 = of.stats.pages_lost;
    /// Pages of requests that ended with an error: of pages that are lost, or that only the flash holds and cannot correct, or that a store
    /// below could not read or write; and flushes while pages are lost.
    host_failures: u64 = of.stats.host_failures;
    /// Pages for which nothing was read from the disk, of all pages of reads.
    hit_ratio: Option<f64> = of.stats.hit_ratio();
    /// Reads that the flash served alone, of all.
    request_hit_ratio: Option<f64> = ratio(of.stats.reads_hit, of.stats.reads);
    /// Mean response time of reads that the flash served alone. Exact.
    hit_mean_us: Option<f64> = of.cache.hits.reads.flash.mean_us();
    /// Mean response time of the other reads. Exact.
    miss_mean_us: Option<f64> = of.cache.hits.reads.disk.mean_us();
    /// Standard deviation of the response time of all reads.
    read_deviation_us: Option<f64> = of.cache.hits.reads.all().std_us();
    /// Response times by what served the requests.
    by_tier: TiersSummary = TiersSummary::new(&of.cache.hits);
    /// Pages programmed because they were missed.
    fills: u64 = of.stats.fills;
    /// Pages programmed because they were written (write-through).
    updates: u64 = of.stats.updates;
    /// Pages of records programmed, which say what is dead in flash for the case that the power fails.
    records: u64 = of.stats.records;
    /// Pages of records of all pages programmed.
    record_ratio: Option<f64> = ratio(of.stats.records, of.flash.page_programs());
    /// Pages of block summaries programmed, which say what the other pages of their blocks are.
    summaries: u64 = of.stats.summaries;
    /// Pages of block summaries of all pages programmed.
    summary_ratio: Option<f64> = ratio(of.stats.summaries, of.flash.page_programs());
    /// Pages forgotten because they were written or trimmed.
    invalidated: u64 = of.stats.invalidated;
    /// Pages of reads that were in the list of what was written, or, with one list, newer than the disk: among the hits. Zero, as the figures of writes that follow, where all writes go to the disk.
    written_hits: u64 = of.stats.written_hits;
    /// Pages of writes that stayed in flash and were held already.
    write_hits: u64 = of.stats.write_hits;
    /// Of these, pages in the list of what was written; with one list, newer than the disk.
    write_hits_in_write_list: u64 = of.stats.write_hits_written;
    /// The others: pages in the list of what was read, which a write takes out of it; with one list, as the disk has them.
    write_hits_in_read_list: u64 = of.stats.write_hits - of.stats.write_hits_written;
    /// Pages of writes that stayed in flash and were not held.
    write_misses: u64 = of.stats.write_misses;
    /// Pages of writes that went to the disk.
    writes_bypassed: u64 = of.stats.writes_bypassed;
    /// Pages of writes that were held already, of those that stayed in flash.
    write_hit_ratio: Option<f64> = ratio(of.stats.write_hits, of.stats.pages_written());
    /// Pages read from the disk because a write left a part of them.
    rests: u64 = of.stats.rests;
    /// Pages that were newer than the disk at the end.
    dirty_pages: u64 = of.cache.pages.dirty;
    /// Pages destaged because another page needed the room.
    destaged_on_demand: u64 = of.stats.destages[0].pages;
    /// Pages destaged in idle time because many were dirty.
    destaged_to_clean: u64 = of.stats.destages[1].pages;
    /// Pages destaged because their list shrank.
    destaged_to_resize: u64 = of.stats.destages[2].pages;
    /// Pages destaged by one write to the disk, on average.
    destaged_per_write: Option<f64> = of.destaged_per_write();
    /// Mean time from the first read of a group of pages that another page waited for to its last write.
    destage_mean_us: Option<f64> = of.destage_mean_us();
    /// Time of all groups that were destaged because their list shrank.
    resize_destage_s: f64 = of.stats.destages[2].time.as_secs();
    /// Pages that left by the rule of the policy.
    evicted: u64 = of.cache.counts.evicted;
    /// Pages that collections have dropped in place of moving them.
    dropped: u64 = of.cache.counts.dropped;
    /// Evicted pages whose blocks were erased.
    suspected_lost: u64 = of.cache.counts.suspected_lost;
    /// Bytes programmed in the flash per byte that reads were served from it.
    bytes_programmed_per_byte_hit: Option<f64> = ratio(of.flash.page_programs(), of.hits());
    /// How long the flash lasts at this load, if its blocks wear evenly: endurance of all blocks over erases a year.
    lifetime_years: Option<f64> = of.lifetime_years();
    /// Requests that the disks served.
    disk_requests: u64 = of.disk_requests();
    /// Share of the time that the disks were at work, on average; null where requests do not wait for each other.
    disk_utilisation: Option<f64> = of.disk_utilisation();
    /// The same if the disks had served all reads and writes of the host, each in the mean time of those that they did
    /// serve: an estimate, above 1 where they could not keep up. Null as that one is, and where they served none.
    disk_utilisation_without: Option<f64> = of.disk_utilisation_without();
    /// Bytes that the host read per byte that the disk read.
    disk_read_savings: Option<f64> = of.disk_read_savings();
    /// Pages served, from flash or from the disk, that were compared with what was written; null without --verify.
    pages_checked: Option<u64> = of.cache.checked;
    /// Share of the pages of reads that an LRU cache of `capacity_pages` misses by the curve; null without one.
    lru_miss_ratio: Option<f64> = of.curve.as_ref().map(|curve| curve.miss_ratio(of.plan.cache.capacity.into()));
    /// The miss-ratio curve of the pages of reads under LRU, straight between its points, from a sample of the pages
    /// (`observe.miss_ratio_pages`).
    miss_ratio_curve: Vec<CurvePoint> = of.curve.as_ref().map(points).unwrap_or_default();
}

/// Response times of requests by what served them.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Tiers")]
pub struct TiersSummary {
    /// Of reads that the flash served alone.
    pub read_flash: LatencySummary,
    /// Of reads with the disk.
    pub read_disk: LatencySummary,
    /// Of writes that the flash served alone.
    pub write_flash: LatencySummary,
    /// Of writes with the disk.
    pub write_disk: LatencySummary,
}

/// A point of a miss-ratio curve.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct CurvePoint {
    /// Pages of the cache.
    pub size_pages: f64,
    /// Pages of reads that it misses, of all.
    pub miss_ratio: f64,
}

/// How far the lines between the points may be from the curve.
const TOLERANCE: f64 = 0.002;

fn points(curve: &Curve) -> Vec<CurvePoint> {
    let points = curve.points(TOLERANCE, Axis::Linear).into_iter();
    let points = points.map(|point| CurvePoint {
        size_pages: point.size,
        miss_ratio: point.miss_ratio,
    });
    points.collect()
}

impl TiersSummary {
    fn new(hits: &Hits) -> Self {
        Self {
            read_flash: LatencySummary::new(&hits.reads.flash),
            read_disk: LatencySummary::new(&hits.reads.disk),
            write_flash: LatencySummary::new(&hits.writes.flash),
            write_disk: LatencySummary::new(&hits.writes.disk),
        }
    }
}

impl CacheSummary {
    /// Of the cache that the host talks to, if the store is one; `span` is the simulated time from the first arrival on.
    pub(crate) fn of_store(outcome: &Outcome, span: Time) -> Option<Self> {
        outcome.plan.cached()?;
        if let Some(first) = outcome.leaves().first() {
            return Self::of_member(first, span);
        }
        Some(Self::of_run(&CacheOfRun::new(
            outcome.plan.cached()?,
            outcome.caches.first()?,
            (&outcome.record, outcome.devices.first()?),
            &outcome.disks,
            span,
        )))
    }
    /// Of a device, if it is a cache.
    pub(crate) fn of_member(member: &LeafOutcome<'_>, span: Time) -> Option<Self> {
        let Device::Cached(plan) = member.leaf.of else {
            return None;
        };
        Some(Self::of_run(&CacheOfRun::new(
            plan,
            member.cache?,
            (member.record, member.device?),
            member.disks,
            span,
        )))
    }
}

/// A cache and what a run has done to it, its flash and the disks behind it.
pub(super) struct CacheOfRun<'a> {
    plan: &'a Cached,
    cache: &'a CacheOutcome,
    stats: &'a CacheStats,
    flash: FlashCounts,
    /// Blocks of the flash.
    blocks: u64,
    disks: &'a [DiskStats],
    span: Time,
    curve: Option<Curve>,
}

impl<'a> CacheOfRun<'a> {
    fn new(
        plan: &'a Cached,
        cache: &'a CacheOutcome,
        (record, device): (&Record, &Flash),
        disks: &'a [DiskStats],
        span: Time,
    ) -> Self {
        Self {
            plan,
            cache,
            stats: &cache.figures,
            flash: record.flash(),
            blocks: device.erases.len() as u64,
            disks,
            span,
            curve: cache.hits.curve(),
        }
    }
    /// Pages of reads that came from the flash or from another request.
    fn hits(&self) -> u64 {
        let stats = self.stats;
        stats.resident_hits + stats.suspected_hits + stats.joined - stats.hits_uncorrectable
    }
    fn destaged_per_write(&self) -> Option<f64> {
        let destages = || self.stats.destages.iter();
        let pages = destages().map(|one| one.pages).sum();
        ratio(pages, destages().map(|one| one.writes).sum())
    }
    fn destage_mean_us(&self) -> Option<f64> {
        let [demand, ..] = self.stats.destages;
        (demand.groups > 0).then(|| demand.time.as_secs() * 1e6 / demand.groups as f64)
    }
    fn lifetime_years(&self) -> Option<f64> {
        let erases = self.flash.erases();
        let cycles = self.blocks * u64::from(self.plan.ssd.device.part.endurance_cycles);
        let years = self.span.as_secs() / (365.25 * 24.0 * 3600.0);
        (erases > 0).then(|| cycles as f64 / erases as f64 * years)
    }
    fn disk_requests(&self) -> u64 {
        self.disks.iter().map(|disk| disk.reads + disk.writes).sum()
    }
    fn disk_utilisation(&self) -> Option<f64> {
        let leaves = self.plan.backing.disks();
        let is_serial = leaves.iter().all(|leaf| leaf.disk.serial);
        (is_serial && self.span > Time::ZERO && !self.disks.is_empty()).then(|| {
            let busy: f64 = self.disks.iter().map(|disk| disk.busy().as_secs()).sum();
            busy / self.span.as_secs() / self.disks.len() as f64
        })
    }
    fn disk_utilisation_without(&self) -> Option<f64> {
        let hits = &self.cache.hits;
        let asked = hits.reads.all().count() + hits.writes.all().count();
        let served = self.disk_requests();
        let busy = self.disk_utilisation().filter(|_| served > 0)?;
        Some(busy * asked as f64 / served as f64)
    }
    fn disk_read_savings(&self) -> Option<f64> {
        let bytes = self.stats.pages_read() * u64::from(self.plan.cache.page_bytes);
        ratio(bytes, self.disks.iter().map(|disk| disk.bytes_read).sum())
    }
}
