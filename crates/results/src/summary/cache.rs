//! Flash in front of a disk.

use super::figures::ratio;
use super::latency::LatencySummary;
use crate::device::Device as Flash;
use crate::outcome::{CacheOutcome, LeafOutcome, Outcome};
use schemars::JsonSchema;
use serde::Serialize;
use wordline_config::plan::{Cached, Device};
use wordline_hdd::DiskStats;
use wordline_kernel::Time;
use wordline_miss_ratio::{Axis, Curve};
use wordline_recorder::{Hits, Record};

/// Flash in front of a disk. Pages are pages of the flash.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Cache")]
pub struct CacheSummary {
    /// Pages that the cache can hold, at the start where its space moves. Null, as all of these, without one.
    pub capacity_pages: u64,
    /// All pages of its flash.
    pub flash_pages: u64,
    /// How often its space was divided anew.
    pub divisions: u64,
    /// How often it was learned from small flashes how full the victims of collections are.
    pub trainings: u64,
    /// The mean share of valid pages that victims are taken to have at over-provisionings of 15, 25, ... 85 %, at the end; empty where
    /// the space is not divided by that.
    pub victim_utilisations: Vec<f64>,
    /// Pages that the list of what was read held at the end; zero where there is one list for all.
    pub read_list_pages: u64,
    /// Pages that the list of what was written, or the only one, held at the end.
    pub write_list_pages: u64,
    /// Size that the policy of `cache.partition` chose last for the list of what is read; zero where there is one list for all. Pages, as the
    /// two that follow; with this one they are `cache.flash_pages`.
    pub read_size_pages: u64,
    /// Size that it chose last for the list of what is written, or for the only one.
    pub write_size_pages: u64,
    /// Pages that it left for over-provisioning: they hold nothing that is cached, so that collections gain from their victims.
    pub over_provisioning_pages: u64,
    /// Pages that it held at the end.
    pub resident_pages: u64,
    /// Evicted pages that could still be read at the end (suspected queue).
    pub suspected_pages: u64,
    /// Evicted pages that could be read at most at a time.
    pub suspected_pages_most: u64,
    /// Pages of reads.
    pub pages_read: u64,
    /// Of these, pages that the cache held.
    pub resident_hits: u64,
    /// Pages that had been evicted and could still be read.
    pub suspected_hits: u64,
    /// Pages that another request was reading from the disk.
    pub joined: u64,
    /// Pages read from the disk and taken in.
    pub misses: u64,
    /// Pages read from the disk and not taken in.
    pub bypassed: u64,
    /// Pages of the hits that the flash could not correct, and that were read from the disk.
    pub hits_uncorrectable: u64,
    /// Pages whose newest content was lost: the flash could not read them, or a store below not take them, when they were destaged, or the
    /// rest of a page that was written in part could not be read below. Reads of them end with an error until they are written as a whole.
    pub pages_lost: u64,
    /// Pages of requests that ended with an error: of pages that are lost, or that only the flash holds and cannot correct, or that a store
    /// below could not read or write; and flushes while pages are lost.
    pub host_failures: u64,
    /// Pages for which nothing was read from the disk, of all pages of reads.
    pub hit_ratio: Option<f64>,
    /// Reads that the flash served alone, of all.
    pub request_hit_ratio: Option<f64>,
    /// Mean response time of reads that the flash served alone. Exact.
    pub hit_mean_us: Option<f64>,
    /// Mean response time of the other reads. Exact.
    pub miss_mean_us: Option<f64>,
    /// Standard deviation of the response time of all reads.
    pub read_deviation_us: Option<f64>,
    /// Response times by what served the requests.
    pub by_tier: TiersSummary,
    /// Pages programmed because they were missed.
    pub fills: u64,
    /// Pages programmed because they were written (write-through).
    pub updates: u64,
    /// Pages of records programmed, which say what is dead in flash for the case that the power fails.
    pub records: u64,
    /// Pages of records of all pages programmed.
    pub record_ratio: Option<f64>,
    /// Pages of block summaries programmed, which say what the other pages of their blocks are.
    pub summaries: u64,
    /// Pages of block summaries of all pages programmed.
    pub summary_ratio: Option<f64>,
    /// Pages forgotten because they were written or trimmed.
    pub invalidated: u64,
    /// Pages of reads that were in the list of what was written, or, with one list, newer than the disk: among the hits. Zero, as the figures of writes that follow, where all writes go to the disk.
    pub written_hits: u64,
    /// Pages of writes that stayed in flash and were held already.
    pub write_hits: u64,
    /// Of these, pages in the list of what was written; with one list, newer than the disk.
    pub write_hits_in_write_list: u64,
    /// The others: pages in the list of what was read, which a write takes out of it; with one list, as the disk has them.
    pub write_hits_in_read_list: u64,
    /// Pages of writes that stayed in flash and were not held.
    pub write_misses: u64,
    /// Pages of writes that went to the disk.
    pub writes_bypassed: u64,
    /// Pages of writes that were held already, of those that stayed in flash.
    pub write_hit_ratio: Option<f64>,
    /// Pages read from the disk because a write left a part of them.
    pub rests: u64,
    /// Pages that were newer than the disk at the end.
    pub dirty_pages: u64,
    /// Pages destaged because another page needed the room.
    pub destaged_on_demand: u64,
    /// Pages destaged in idle time because many were dirty.
    pub destaged_to_clean: u64,
    /// Pages destaged because their list shrank.
    pub destaged_to_resize: u64,
    /// Pages destaged by one write to the disk, on average.
    pub destaged_per_write: Option<f64>,
    /// Mean time from the first read of a group of pages that another page waited for to its last write.
    pub destage_mean_us: Option<f64>,
    /// Time of all groups that were destaged because their list shrank.
    pub resize_destage_s: f64,
    /// Pages that left by the rule of the policy.
    pub evicted: u64,
    /// Pages that collections have dropped in place of moving them.
    pub dropped: u64,
    /// Evicted pages whose blocks were erased.
    pub suspected_lost: u64,
    /// Bytes programmed in the flash per byte that reads were served from it.
    pub bytes_programmed_per_byte_hit: Option<f64>,
    /// How long the flash lasts at this load, if its blocks wear evenly: endurance of all blocks over erases a year.
    pub lifetime_years: Option<f64>,
    /// Requests that the disks served.
    pub disk_requests: u64,
    /// Share of the time that the disks were at work, on average; null where requests do not wait for each other.
    pub disk_utilisation: Option<f64>,
    /// The same if the disks had served all reads and writes of the host, each in the mean time of those that they did
    /// serve: an estimate, above 1 where they could not keep up. Null as that one is, and where they served none.
    pub disk_utilisation_without: Option<f64>,
    /// Bytes that the host read per byte that the disk read.
    pub disk_read_savings: Option<f64>,
    /// Pages served, from flash or from the disk, that were compared with what was written; null without --verify.
    pub pages_checked: Option<u64>,
    /// Share of the pages of reads that an LRU cache of `capacity_pages` misses by the curve; null without one.
    pub lru_miss_ratio: Option<f64>,
    /// The miss-ratio curve of the pages of reads under LRU, straight between its points, from a sample of the pages
    /// (`observe.miss_ratio_pages`).
    pub miss_ratio_curve: Vec<CurvePoint>,
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
        Some(Self::new(
            outcome.plan.cached()?,
            outcome.caches.first()?,
            &outcome.record,
            outcome.devices.first()?,
            &outcome.disks,
            span,
        ))
    }
    /// Of a device, if it is a cache.
    pub(crate) fn of_member(member: &LeafOutcome<'_>, span: Time) -> Option<Self> {
        let Device::Cached(plan) = member.leaf.of else {
            return None;
        };
        let (record, disks) = (member.record, member.disks);
        Some(Self::new(
            plan,
            member.cache?,
            record,
            member.device?,
            disks,
            span,
        ))
    }
    /// Of a cache with its flash and the disks behind it.
    fn new(
        plan: &Cached,
        cache: &CacheOutcome,
        record: &Record,
        device: &Flash,
        disks: &[DiskStats],
        span: Time,
    ) -> Self {
        let CacheOutcome {
            figures,
            counts,
            pages,
            hits,
            checked,
            learned,
        } = cache;
        let serial = plan.backing.disks().iter().all(|leaf| leaf.disk.serial);
        let flash = record.flash();
        let [demand, clean, resize] = figures.destages;
        let hit = figures.resident_hits + figures.suspected_hits + figures.joined
            - figures.hits_uncorrectable;
        let erases = flash.erases();
        let endurance = u64::from(plan.ssd.device.part.endurance_cycles);
        let cycles = device.erases.len() as u64 * endurance;
        let years = span.as_secs() / (365.25 * 24.0 * 3600.0);
        let page_bytes = u64::from(plan.cache.page_bytes);
        let curve = hits.curve();
        let served: u64 = disks.iter().map(|disk| disk.reads + disk.writes).sum();
        let utilisation = (serial && span > Time::ZERO && !disks.is_empty()).then(|| {
            let busy: f64 = disks.iter().map(|disk| disk.busy().as_secs()).sum();
            busy / span.as_secs() / disks.len() as f64
        });
        let asked = hits.reads.all().count() + hits.writes.all().count();
        Self {
            capacity_pages: plan.cache.capacity.into(),
            flash_pages: plan.cache.space.total_pages.into(),
            divisions: figures.divisions,
            trainings: learned.map_or(0, |(trainings, _)| trainings),
            victim_utilisations: learned.map_or_else(Vec::new, |(_, victims)| victims.to_vec()),
            read_list_pages: pages.read_list,
            write_list_pages: pages.resident - pages.read_list,
            read_size_pages: pages.chosen.reads.into(),
            write_size_pages: pages.chosen.writes.into(),
            over_provisioning_pages: pages.chosen.spare.into(),
            resident_pages: pages.resident,
            suspected_pages: pages.suspected,
            suspected_pages_most: plan.cache.most_suspected.into(),
            pages_read: figures.pages_read(),
            resident_hits: figures.resident_hits,
            suspected_hits: figures.suspected_hits,
            joined: figures.joined,
            misses: figures.misses,
            bypassed: figures.bypassed,
            hits_uncorrectable: figures.hits_uncorrectable,
            pages_lost: figures.pages_lost,
            host_failures: figures.host_failures,
            hit_ratio: figures.hit_ratio(),
            request_hit_ratio: ratio(figures.reads_hit, figures.reads),
            hit_mean_us: hits.reads.flash.mean_us(),
            miss_mean_us: hits.reads.disk.mean_us(),
            read_deviation_us: hits.reads.all().std_us(),
            by_tier: TiersSummary::new(hits),
            fills: figures.fills,
            updates: figures.updates,
            records: figures.records,
            record_ratio: ratio(figures.records, flash.page_programs()),
            summaries: figures.summaries,
            summary_ratio: ratio(figures.summaries, flash.page_programs()),
            invalidated: figures.invalidated,
            written_hits: figures.written_hits,
            write_hits: figures.write_hits,
            write_hits_in_write_list: figures.write_hits_written,
            write_hits_in_read_list: figures.write_hits - figures.write_hits_written,
            write_misses: figures.write_misses,
            writes_bypassed: figures.writes_bypassed,
            write_hit_ratio: ratio(figures.write_hits, figures.pages_written()),
            rests: figures.rests,
            dirty_pages: pages.dirty,
            destaged_on_demand: demand.pages,
            destaged_to_clean: clean.pages,
            destaged_to_resize: resize.pages,
            destaged_per_write: ratio(
                demand.pages + clean.pages + resize.pages,
                demand.writes + clean.writes + resize.writes,
            ),
            destage_mean_us: (demand.groups > 0)
                .then(|| demand.time.as_secs() * 1e6 / demand.groups as f64),
            resize_destage_s: resize.time.as_secs(),
            evicted: counts.evicted,
            dropped: counts.dropped,
            suspected_lost: counts.suspected_lost,
            bytes_programmed_per_byte_hit: ratio(flash.page_programs(), hit),
            lifetime_years: (erases > 0).then(|| cycles as f64 / erases as f64 * years),
            disk_requests: served,
            disk_utilisation: utilisation,
            disk_utilisation_without: utilisation
                .filter(|_| served > 0)
                .map(|busy| busy * asked as f64 / served as f64),
            disk_read_savings: ratio(
                figures.pages_read() * page_bytes,
                disks.iter().map(|disk| disk.bytes_read).sum(),
            ),
            pages_checked: *checked,
            lru_miss_ratio: curve
                .as_ref()
                .map(|curve| curve.miss_ratio(plan.cache.capacity.into())),
            miss_ratio_curve: curve.as_ref().map(points).unwrap_or_default(),
        }
    }
}
