//! Section `cache` of the summary: flash in front of a disk.

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
    /// Flash in front of a disk. All page counts are in pages of the flash.
    #[derive(Clone, Debug, Serialize, JsonSchema)]
    #[schemars(rename = "Cache")]
    pub struct CacheSummary by of_run(of: &CacheOfRun<'_>);

    /// Pages that the cache can hold. If a partition policy changes this capacity, its value at the
    /// start of the run. The whole table is null without a cache.
    capacity_pages: u64 = of.plan.cache.capacity.into();
    /// All pages of the cache's flash.
    flash_pages: u64 = of.plan.cache.space.total_pages.into();
    /// Number of times that the partition policy chose new list sizes.
    divisions: u64 = of.stats.divisions;
    /// Number of times that the victim model was trained on small simulated flash devices. The
    /// model predicts the share of valid pages in GC victims.
    trainings: u64 = of.cache.learned.map_or(0, |(trainings, _)| trainings);
    /// Share of valid pages in GC victims that the model predicts at over-provisioning ratios of
    /// 15, 25, ... 85 %, at the end of the run. Empty if the partition policy does not use the
    /// model.
    victim_utilisations: Vec<f64> = of.cache.learned.map_or_else(Vec::new, |(_, victims)| victims.to_vec());
    /// Pages in the read list at the end of the run; 0 if the cache has a single list.
    read_list_pages: u64 = of.cache.pages.read_list;
    /// Pages in the write list, or in the only list, at the end of the run.
    write_list_pages: u64 = of.cache.pages.resident - of.cache.pages.read_list;
    /// Last size that the policy of `cache.partition` chose for the read list; 0 if the cache has a
    /// single list, or if the policy has not divided it yet. Pages. `read_size_pages`,
    /// `write_size_pages` and `over_provisioning_pages` add up to `cache.flash_pages`.
    read_size_pages: u64 = of.cache.pages.chosen.reads.into();
    /// Last size that the policy of `cache.partition` chose for the write list, or for the only
    /// list. Before the policy divides the cache, size of both lists together. Pages.
    write_size_pages: u64 = of.cache.pages.chosen.writes.into();
    /// Pages that the policy of `cache.partition` left for over-provisioning. They hold no cached
    /// data, so that GC victims have fewer valid pages.
    over_provisioning_pages: u64 = of.cache.pages.chosen.spare.into();
    /// Pages in the cache at the end of the run.
    resident_pages: u64 = of.cache.pages.resident;
    /// Evicted pages that could still be read at the end of the run (suspected queue).
    suspected_pages: u64 = of.cache.pages.suspected;
    /// Maximum number of evicted pages that are kept readable (length of the suspected queue).
    suspected_pages_most: u64 = of.plan.cache.most_suspected.into();
    /// Pages requested by reads.
    pages_read: u64 = of.stats.pages_read();
    /// Pages requested by reads and found in the cache.
    resident_hits: u64 = of.stats.resident_hits;
    /// Pages requested by reads that had been evicted but could still be read from flash.
    suspected_hits: u64 = of.stats.suspected_hits;
    /// Pages requested by reads while another request was already reading them from the disk.
    joined: u64 = of.stats.joined;
    /// Pages requested by reads, read from the disk and admitted.
    misses: u64 = of.stats.misses;
    /// Pages requested by reads, read from the disk and not admitted.
    bypassed: u64 = of.stats.bypassed;
    /// Pages that hit in the cache but were uncorrectable in flash, and were therefore read from
    /// the disk.
    hits_uncorrectable: u64 = of.stats.hits_uncorrectable;
    /// Pages whose newest content was lost, for one of two reasons. Destaging failed, because the
    /// flash could not read the page or the backing store could not write it. Or a partially
    /// written page could not be completed from the backing store. Reads of a lost page end with an
    /// error until it is written as a whole.
    pages_lost: u64 = of.stats.pages_lost;
    /// Pages of requests that ended with an error. The page was lost, was uncorrectable and only in
    /// flash, or could not be read or written by the backing store. Flushes issued while pages are
    /// lost are counted as well.
    host_failures: u64 = of.stats.host_failures;
    /// Share of the pages requested by reads that needed no new read of the disk.
    hit_ratio: Option<f64> = of.stats.hit_ratio();
    /// Share of the reads that needed no new read of the disk.
    request_hit_ratio: Option<f64> = ratio(of.stats.reads_hit, of.stats.reads);
    /// Mean response time of reads that needed no new read of the disk. Exact.
    hit_mean_us: Option<f64> = of.cache.hits.reads.flash.mean_us();
    /// Mean response time of reads that needed a new read of the disk. Exact.
    miss_mean_us: Option<f64> = of.cache.hits.reads.disk.mean_us();
    /// Standard deviation of the response time of all reads.
    read_deviation_us: Option<f64> = of.cache.hits.reads.all().std_us();
    /// Response times by the tier that served the request.
    by_tier: TiersSummary = TiersSummary::new(&of.cache.hits);
    /// Pages programmed in the cache's flash after a read miss.
    fills: u64 = of.stats.fills;
    /// Cached pages programmed with the data of a write (write-through).
    updates: u64 = of.stats.updates;
    /// Record pages programmed. A record page lists pages in flash that are dead, for recovery
    /// after a power failure.
    records: u64 = of.stats.records;
    /// Record pages per page programmed.
    record_ratio: Option<f64> = ratio(of.stats.records, of.flash.page_programs());
    /// Pages of block summaries programmed. A summary lists the pages of its block.
    summaries: u64 = of.stats.summaries;
    /// Pages of block summaries per page programmed.
    summary_ratio: Option<f64> = ratio(of.stats.summaries, of.flash.page_programs());
    /// Pages removed from the cache because they were written or trimmed.
    invalidated: u64 = of.stats.invalidated;
    /// Pages of read hits that were in the write list. With a single list, pages of read hits that
    /// were newer than on the disk. This metric, and the metrics of writes below, are 0 if all
    /// writes go to the disk.
    written_hits: u64 = of.stats.written_hits;
    /// Pages written to flash that the cache already held.
    write_hits: u64 = of.stats.write_hits;
    /// Pages of write hits that were in the write list. With a single list, pages of write hits
    /// that were newer than on the disk.
    write_hits_in_write_list: u64 = of.stats.write_hits_written;
    /// Pages of write hits that were in the read list; the write removes them from it. With a
    /// single list, pages of write hits that were the same as on the disk.
    write_hits_in_read_list: u64 = of.stats.write_hits - of.stats.write_hits_written;
    /// Pages written to flash that the cache did not hold.
    write_misses: u64 = of.stats.write_misses;
    /// Pages written to the disk, past the cache.
    writes_bypassed: u64 = of.stats.writes_bypassed;
    /// Share of the pages written to flash that were in the cache.
    write_hit_ratio: Option<f64> = ratio(of.stats.write_hits, of.stats.pages_written());
    /// Pages read from the disk because a write covered only a part of them.
    rests: u64 = of.stats.rests;
    /// Pages that were newer than on the disk at the end of the run.
    dirty_pages: u64 = of.cache.pages.dirty;
    /// Pages destaged to make room for other pages.
    destaged_on_demand: u64 = of.stats.destages[0].pages;
    /// Pages destaged in idle time because many pages were dirty.
    destaged_to_clean: u64 = of.stats.destages[1].pages;
    /// Pages destaged because their list shrank.
    destaged_to_resize: u64 = of.stats.destages[2].pages;
    /// Mean number of pages destaged per write to the disk.
    destaged_per_write: Option<f64> = of.destaged_per_write();
    /// Mean time to destage a group of pages whose space another page needed, until the space of
    /// the whole group is released.
    destage_mean_us: Option<f64> = of.destage_mean_us();
    /// Total time of destaging groups of pages because their list shrank.
    resize_destage_s: f64 = of.stats.destages[2].time.as_secs();
    /// Pages evicted by the replacement policy.
    evicted: u64 = of.cache.counts.evicted;
    /// Pages that GC dropped instead of moving them.
    dropped: u64 = of.cache.counts.dropped;
    /// Evicted pages that could no longer be read because their blocks were erased.
    suspected_lost: u64 = of.cache.counts.suspected_lost;
    /// Bytes programmed in flash per byte of reads that the cache served.
    bytes_programmed_per_byte_hit: Option<f64> = ratio(of.flash.page_programs(), of.hits());
    /// Lifetime of the flash at this load and with even wear: total endurance of the blocks divided
    /// by erases per year.
    lifetime_years: Option<f64> = of.lifetime_years();
    /// Requests that the disks served.
    disk_requests: u64 = of.disk_requests();
    /// Share of the time in which the disks were busy, mean over the disks. Null if requests do not
    /// wait for each other.
    disk_utilisation: Option<f64> = of.disk_utilisation();
    /// Estimate of the disks' utilisation without the cache: every read and write of the host takes
    /// the mean time of a request that the disks served. Above 1 if the disks could not keep up.
    /// Null if `cache.disk_utilisation` is null, or if the disks served no request.
    disk_utilisation_without: Option<f64> = of.disk_utilisation_without();
    /// Bytes of the pages requested by reads, per byte that the disks read.
    disk_read_savings: Option<f64> = of.disk_read_savings();
    /// Pages served from flash or disk whose content was compared with the content written. Null
    /// without --verify.
    pages_checked: Option<u64> = of.cache.checked;
    /// Share of the pages requested by reads that an LRU cache of `capacity_pages` misses, from the
    /// miss-ratio curve. Null without a curve.
    lru_miss_ratio: Option<f64> = of.curve.as_ref().map(|curve| curve.miss_ratio(of.plan.cache.capacity.into()));
    /// Miss-ratio curve of the pages requested by reads under LRU, linear between its points, from
    /// a sample of the pages (`observe.miss_ratio_pages`).
    miss_ratio_curve: Vec<CurvePoint> = of.curve.as_ref().map(points).unwrap_or_default();
}

/// Response times of requests by the tier that served them.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Tiers")]
pub struct TiersSummary {
    /// Response times of reads that needed no new read of the disk.
    pub read_flash: LatencySummary,
    /// Response times of reads that needed a new read of the disk.
    pub read_disk: LatencySummary,
    /// Response times of writes that did not themselves access the disk.
    pub write_flash: LatencySummary,
    /// Response times of writes that themselves accessed the disk.
    pub write_disk: LatencySummary,
}

/// Point of a miss-ratio curve.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct CurvePoint {
    /// Size of the cache. Pages.
    pub size_pages: f64,
    /// Share of the pages requested by reads that a cache of this size misses.
    pub miss_ratio: f64,
}

/// Maximum difference of the miss ratio between the curve and the lines through its points.
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
    /// Returns the summary of the cache that the host addresses, if there is one. `span` is the
    /// simulated time since measuring began.
    pub(crate) fn of_store(outcome: &Outcome, span: Time) -> Option<Self> {
        outcome.plan.cached()?;
        if let Some(first) = outcome.leaves().first() {
            return Self::of_member(first, span);
        }
        Some(Self::of_run(&CacheOfRun::new(
            outcome.plan.cached()?,
            outcome.caches.first()?,
            (&outcome.record, outcome.devices.first()?),
            &outcome.stats.disks,
            span,
        )))
    }
    /// Returns the summary of a member, if it is a cache.
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

/// Cache with its results and the results of its flash and its disks.
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
    /// Returns the number of pages requested by reads that came from the flash or from another
    /// request.
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
