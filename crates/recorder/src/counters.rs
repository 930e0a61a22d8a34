//! Counters of an interval and of a run.

use serde::{Deserialize, Serialize};
use wordline_block::{Op, PowerCut};
use wordline_dram_buffer::Observation as BufferObservation;
use wordline_flash_cache as flash_cache;
use wordline_ftl::gc::schedule::Trigger;
use wordline_ftl::{GcKind, Programmed};
use wordline_kernel::Time;
use wordline_nand::Operation;
use wordline_observe::{Merge, Tally};
use wordline_ssd::Observation;

use crate::{buffer_figures, flash_figures};

/// Declares the counters of a table of metrics, their updates by observations, and their sum.
macro_rules! counts {
    (
        { $(#[$about:meta])* $name:ident on $observation:ident } $_counts:ident $now:ident $_end:ident;
        $(
            $(
                figure $figure:ident $(on $event:ident $fields:tt => $amount:expr,)?
                $(summary $sentence:literal)? $(series $words:literal)?
            )?
            $(
                count $count:ident: $type:ty $(, on $counted:ident $counted_fields:tt => $added:expr)?,
                $what:literal
            )?
            $(summary $_key:ident: $_type:ty = $_value:expr, $_sentence:literal)?
            $(series $_column:ident = $_shown:expr, $_words:literal)?
        ;)+
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        pub struct $name {
            $(
                $($(#[doc = $sentence])? $(#[doc = $words])? pub $figure: u64,)?
                $(#[doc = $what] pub $count: $type,)?
            )+
        }

        impl $name {
            /// Counts an observation at `now`. Inlined, so that only the code of its kind remains
            /// where the kind is known.
            #[inline(always)]
            pub(super) fn observe(&mut self, $now: Time, observation: &$observation) {
                let _ = $now;
                $(
                    $($(if let $observation::$event $fields = *observation {
                        self.$figure += $amount;
                    })?)?
                    $($(if let $observation::$counted $counted_fields = *observation {
                        self.$count += $added;
                    })?)?
                )+
            }
        }

        impl Merge for $name {
            fn merge(&mut self, other: &Self) {
                $($(self.$figure.merge(&other.$figure);)? $(self.$count.merge(&other.$count);)?)+
            }
        }
    };
}

flash_figures! {
    counts {
        /// Counters of the flash.
        FlashCounts on Observation
    }
    counts now end
}

buffer_figures! {
    counts {
        /// Counters of the DRAM buffer.
        BufferCounts on BufferObservation
    }
    counts now end
}

/// GC runs of one kind with the same trigger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Collections {
    /// Method by which the GC runs freed space.
    pub kind: GcKind,
    /// Trigger of the GC runs.
    pub trigger: Trigger,
    /// Number of GC runs.
    pub runs: u64,
    /// Pages that the GC runs moved.
    pub moved: u64,
    /// Blocks that the GC runs erased.
    pub erased: u64,
    /// Total time of the GC runs, from start to end.
    pub time: Time,
    /// Time of the longest GC run.
    pub longest: Time,
}

impl FlashCounts {
    pub(super) fn of(&self, operation: Operation) -> u64 {
        self.done[operation as usize]
    }
    /// Returns the number of page reads, including reads by internal data moves.
    pub fn page_reads(&self) -> u64 {
        self.of(Operation::Read) + self.of(Operation::Move)
    }
    /// Returns the number of page programs, including programs by internal data moves.
    pub fn page_programs(&self) -> u64 {
        self.of(Operation::Program) + self.of(Operation::Move)
    }
    /// Returns the bytes programmed for a purpose.
    pub fn programmed(&self, purpose: Programmed) -> u64 {
        self.programmed[purpose as usize]
    }
    /// Returns the bytes programmed for all purposes.
    pub fn programmed_bytes(&self) -> u64 {
        self.programmed.iter().sum()
    }
    /// Returns the number of block erases.
    pub fn erases(&self) -> u64 {
        self.of(Operation::Erase)
    }
}

impl BufferCounts {
    /// Returns the number of requested pages that were in the buffer.
    pub fn hits(&self) -> u64 {
        self.read_hits + self.write_hits
    }
    /// Returns the number of pages requested by reads.
    pub fn reads(&self) -> u64 {
        self.read_hits + self.read_misses
    }
    /// Returns the number of pages requested by writes.
    pub fn writes(&self) -> u64 {
        self.write_hits + self.write_misses
    }
    /// Returns the number of pages evicted from the buffer.
    pub fn evictions(&self) -> u64 {
        self.clean_evictions + self.dirty_evictions
    }
}

/// Pages requested from a cache by reads, for each look-up result.
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

/// Lengths of a cache's lists when the last request of an interval started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheLists(pub Option<flash_cache::Lists>);

impl Merge for CacheLists {
    fn merge(&mut self, later: &Self) {
        self.0 = later.0.or(self.0);
    }
}

/// Values of one interval of the series.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Cell {
    /// Response times of reads and of writes.
    pub latency: [Tally; 2],
    /// Bytes read and written.
    pub bytes: [u64; 2],
    /// Time in which the device held requests.
    pub busy: Time,
    /// Counters of the flash.
    pub flash: FlashCounts,
    /// Counters of the DRAM buffer.
    pub buffer: BufferCounts,
    /// Counters of the cache.
    pub cache: CacheCounts,
    /// Lengths of the cache's lists, with a partition policy.
    pub lists: CacheLists,
}

impl Merge for Cell {
    fn merge(&mut self, other: &Self) {
        self.latency.merge(&other.latency);
        self.bytes.merge(&other.bytes);
        self.busy.merge(&other.busy);
        self.flash.merge(&other.flash);
        self.buffer.merge(&other.buffer);
        self.cache.merge(&other.cache);
        self.lists.merge(&other.lists);
    }
}

/// Longest response times of the reads and of the writes that ended in an interval; `None` if none
/// ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Longest(pub [Option<Time>; 2]);

impl Merge for Longest {
    fn merge(&mut self, other: &Self) {
        for (own, other) in self.0.iter_mut().zip(other.0) {
            *own = (*own).max(other);
        }
    }
}

/// Power cuts and the recoveries from them. Devices that fail at the same time count as one cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Power {
    /// Number of power cuts.
    pub cuts: u64,
    /// Time of the last power cut.
    pub(super) last: Option<Time>,
    /// Sums over all power cuts and devices. Of devices that fail at the same time, only the
    /// recovery time of the first is added.
    pub cost: PowerCut,
    /// Time of the longest recovery.
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
