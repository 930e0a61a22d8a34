//! What is counted in an interval and in a run.

use serde::{Deserialize, Serialize};
use wordline_block::{Op, PowerCut};
use wordline_flash_cache as flash_cache;
use wordline_ftl::GcKind;
use wordline_ftl::gc::schedule::Trigger;
use wordline_kernel::Time;
use wordline_nand::Operation;
use wordline_observe::{Merge, Tally};
use wordline_ssd::Programmed;

/// What is counted of the flash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlashCounts {
    /// Host writes of (parts of) pages.
    pub host_page_writes: u64,
    /// Bytes of writes that the device has completed without an error.
    pub host_written_bytes: u64,
    /// Bytes programmed, in the order of [`Programmed`].
    pub programmed: [u64; Programmed::ALL.len()],
    /// Pages, or blocks erased, of what dies have done, in the order of [`Operation`].
    pub(super) done: [u64; 4],
    /// Collections done.
    pub gc_runs: u64,
    /// Pages that collections moved.
    pub gc_pages_moved: u64,
    /// Time from start to end of collections, summed over planes.
    pub gc_time: Time,
    /// Time that dies were occupied for collections, summed over dies.
    pub gc_die_time: Time,
    /// Pages that dies read before anybody asked for them.
    pub read_ahead: u64,
    /// Those of them that were asked for then.
    pub read_ahead_used: u64,
    /// Reads that complete partial writes.
    pub read_modify_writes: u64,
    /// Reads of pages that were never written.
    pub unwritten_pages_read: u64,
    /// Pages that TRIMs covered as a whole.
    pub pages_trim_asked: u64,
    /// Pages discarded.
    pub pages_trimmed: u64,
    /// Pages that the mapping read for itself.
    pub own_page_reads: u64,
    /// Pages that the mapping programmed for itself.
    pub own_page_programs: u64,
    /// Free blocks that took the place of full update blocks.
    pub blocks_replaced: u64,
    /// Blocks that went bad.
    pub blocks_retired: u64,
    /// Of those, the ones whose place a spare block took.
    pub spares_taken: u64,
    /// Further reads of pages that could not be corrected at once.
    pub read_retries: u64,
    /// Blocks moved for the sake of their data.
    pub refreshes: u64,
}

/// Collections of one kind that were started for the same reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Collections {
    /// How they gained room.
    pub kind: GcKind,
    /// What they were started for.
    pub trigger: Trigger,
    /// How many.
    pub runs: u64,
    /// Pages moved.
    pub moved: u64,
    /// Blocks erased.
    pub erased: u64,
    /// Time from start to end, summed up.
    pub time: Time,
    /// The longest.
    pub longest: Time,
}

impl FlashCounts {
    pub(super) fn of(&self, operation: Operation) -> u64 {
        self.done[operation as usize]
    }
    /// Page reads done.
    pub fn page_reads(&self) -> u64 {
        self.of(Operation::Read) + self.of(Operation::Move)
    }
    /// Page programs done.
    pub fn page_programs(&self) -> u64 {
        self.of(Operation::Program) + self.of(Operation::Move)
    }
    /// Bytes programmed, for whatever.
    pub fn programmed_bytes(&self) -> u64 {
        self.programmed.iter().sum()
    }
    /// Block erases done.
    pub fn erases(&self) -> u64 {
        self.of(Operation::Erase)
    }
}

impl Merge for FlashCounts {
    fn merge(&mut self, other: &Self) {
        self.host_page_writes += other.host_page_writes;
        self.host_written_bytes += other.host_written_bytes;
        for (own, other) in self.programmed.iter_mut().zip(other.programmed) {
            *own += other;
        }
        for (own, other) in self.done.iter_mut().zip(other.done) {
            *own += other;
        }
        self.gc_runs += other.gc_runs;
        self.gc_pages_moved += other.gc_pages_moved;
        self.gc_time += other.gc_time;
        self.gc_die_time += other.gc_die_time;
        self.read_ahead += other.read_ahead;
        self.read_ahead_used += other.read_ahead_used;
        self.read_modify_writes += other.read_modify_writes;
        self.unwritten_pages_read += other.unwritten_pages_read;
        self.pages_trim_asked += other.pages_trim_asked;
        self.pages_trimmed += other.pages_trimmed;
        self.own_page_reads += other.own_page_reads;
        self.own_page_programs += other.own_page_programs;
        self.blocks_replaced += other.blocks_replaced;
        self.blocks_retired += other.blocks_retired;
        self.spares_taken += other.spares_taken;
        self.read_retries += other.read_retries;
        self.refreshes += other.refreshes;
    }
}

/// What is counted of the DRAM buffer. Reads come first in every pair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BufferCounts {
    /// Pages of requests that were there.
    pub hits: [u64; 2],
    /// Pages of requests that were not.
    pub misses: [u64; 2],
    /// Pages that left: like those in the flash, and newer.
    pub evictions: [u64; 2],
    /// Of both, those at which the dies were unbalanced, where somebody watches.
    pub unbalanced: u64,
    /// Pages that went to the flash.
    pub destaged: u64,
    /// Of those: pages that had to be completed from the flash.
    pub destaged_partial: u64,
    /// Pages that went there in idle time.
    pub flushed_idly: u64,
    /// Pages that were read before anybody asked for them.
    pub read_ahead: u64,
    /// Those of them that a read asked for then.
    pub read_ahead_used: u64,
    /// Batches that went there.
    pub batches: u64,
}

impl BufferCounts {
    #[inline]
    pub(super) fn hear(&mut self, heard: wordline_dram_buffer::Observation) {
        use wordline_dram_buffer::Observation;
        match heard {
            Observation::Accessed { op, hit } => {
                let counts = if hit {
                    &mut self.hits
                } else {
                    &mut self.misses
                };
                counts[usize::from(op != Op::Read)] += 1;
            }
            Observation::Evicted { dirty, unbalanced } => {
                self.evictions[usize::from(dirty)] += 1;
                self.unbalanced += u64::from(unbalanced);
            }
            Observation::Destaged { partial } => {
                self.destaged += 1;
                self.destaged_partial += u64::from(partial);
            }
            Observation::ReadAhead => self.read_ahead += 1,
            Observation::ReadAheadUsed => self.read_ahead_used += 1,
            Observation::BatchSent { .. } => self.batches += 1,
            Observation::FlushedIdly => self.flushed_idly += 1,
        }
    }
}

impl Merge for BufferCounts {
    fn merge(&mut self, other: &Self) {
        for kind in 0..2 {
            self.hits[kind] += other.hits[kind];
            self.misses[kind] += other.misses[kind];
            self.evictions[kind] += other.evictions[kind];
        }
        self.unbalanced += other.unbalanced;
        self.destaged += other.destaged;
        self.destaged_partial += other.destaged_partial;
        self.flushed_idly += other.flushed_idly;
        self.batches += other.batches;
        self.read_ahead += other.read_ahead;
        self.read_ahead_used += other.read_ahead_used;
    }
}

/// Pages of reads by what a cache found of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheCounts(pub flash_cache::Pages);

impl Merge for CacheCounts {
    fn merge(&mut self, other: &Self) {
        self.0.resident += other.0.resident;
        self.0.suspected += other.0.suspected;
        self.0.joined += other.0.joined;
        self.0.missed += other.0.missed;
    }
}

/// What the lists of a cache held when the last request of an interval began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheLists(pub Option<flash_cache::Lists>);

impl Merge for CacheLists {
    fn merge(&mut self, later: &Self) {
        self.0 = later.0.or(self.0);
    }
}

/// What one interval of the series keeps.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Cell {
    /// Response times of reads and of writes.
    pub latency: [Tally; 2],
    /// Bytes read and written.
    pub bytes: [u64; 2],
    /// Time in which requests were in the device.
    pub busy: Time,
    /// The flash.
    pub flash: FlashCounts,
    /// The DRAM buffer.
    pub buffer: BufferCounts,
    /// The cache.
    pub cache: CacheCounts,
    /// Its lists, where its space moves.
    pub lists: CacheLists,
}

impl Merge for Cell {
    fn merge(&mut self, other: &Self) {
        for op in 0..2 {
            self.latency[op].merge(&other.latency[op]);
            self.bytes[op].merge(&other.bytes[op]);
        }
        self.busy.merge(&other.busy);
        self.flash.merge(&other.flash);
        self.buffer.merge(&other.buffer);
        self.cache.merge(&other.cache);
        self.lists.merge(&other.lists);
    }
}

/// The longest response times of reads and of writes that ended in an interval; none without any.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Longest(pub [Option<Time>; 2]);

impl Merge for Longest {
    fn merge(&mut self, other: &Self) {
        for (own, other) in self.0.iter_mut().zip(other.0) {
            *own = (*own).max(other);
        }
    }
}

/// Power cuts and the recoveries from them. Devices that fail at the same time fail together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Power {
    /// How many.
    pub cuts: u64,
    /// When the last one was.
    pub(super) last: Option<Time>,
    /// What they cost, all of them together; the time is the sum of the recoveries.
    pub cost: PowerCut,
    /// The longest recovery.
    pub longest: Time,
}

impl Power {
    pub(super) fn add(&mut self, now: Time, cut: &PowerCut) {
        let together = self.last == Some(now);
        let time = self.cost.time;
        self.cost.join(cut);
        self.cost.time = if together { time } else { time + cut.time };
        self.cuts += u64::from(!together);
        self.last = Some(now);
        self.longest = self.longest.max(cut.time);
    }
}
