//! What is counted in an interval and in a run.

use serde::{Deserialize, Serialize};
use wordline_block::{Op, PowerCut};
use wordline_dram_buffer::Observation as BufferObservation;
use wordline_flash_cache as flash_cache;
use wordline_ftl::GcKind;
use wordline_ftl::gc::schedule::Trigger;
use wordline_kernel::Time;
use wordline_nand::Operation;
use wordline_observe::{Merge, Tally};
use wordline_ssd::{Observation, Programmed};

use crate::{buffer_figures, flash_figures};

/// Makes the counters of a table of figures, what an observation adds to them, and their sum.
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
            /// Counts what has happened at `now`. In line always: where its kind is known, nothing is left of the others.
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
        /// What is counted of the flash.
        FlashCounts on Observation
    }
    counts now end
}

buffer_figures! {
    counts {
        /// What is counted of the DRAM buffer.
        BufferCounts on BufferObservation
    }
    counts now end
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
    /// Bytes programmed for a purpose.
    pub fn programmed(&self, purpose: Programmed) -> u64 {
        self.programmed[purpose as usize]
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

impl BufferCounts {
    /// Pages of requests that were in the buffer.
    pub fn hits(&self) -> u64 {
        self.read_hits + self.write_hits
    }
    /// Pages of reads.
    pub fn reads(&self) -> u64 {
        self.read_hits + self.read_misses
    }
    /// Pages of writes.
    pub fn writes(&self) -> u64 {
        self.write_hits + self.write_misses
    }
    /// Pages that left the buffer.
    pub fn evictions(&self) -> u64 {
        self.clean_evictions + self.dirty_evictions
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
        self.latency.merge(&other.latency);
        self.bytes.merge(&other.bytes);
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
