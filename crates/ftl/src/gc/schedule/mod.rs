//! GC schedules, which decide when GC runs.
//!
//! A schedule only decides; the device executes GC. A schedule does not know the future, except for
//! commands whose tags have arrived ahead of their data (Jung 2013, section 7.4.1).

pub mod agc;
pub mod agc_dgc;
pub mod background;
pub mod dgc;
pub mod incremental;
pub mod on_demand;

use serde::{Deserialize, Serialize};
use wordline_kernel::Time;

use crate::job::SpaceRequest;

/// Reason why a GC run was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Trigger {
    /// A plane had too few free blocks while the device served the host (free-block reclaim on
    /// demand).
    FreeBlocks,
    /// A write needed room in its logical block (update-block reclaim on demand).
    UpdateBlock,
    /// An announced command needed the space (look-ahead, AGC).
    LookAhead,
    /// Blocks were full and few blocks were free in a long idle period (proactive block compaction,
    /// AGC).
    Compaction,
    /// The GC run had been delayed (retroactive block compaction, DGC).
    Retroactive,
    /// The device was idle (background GC).
    Background,
    /// The block had been read too often since its last erase (read disturb).
    ReadDisturb,
    /// The data of the block had been programmed too long ago (retention).
    Retention,
    /// A TRIM had invalidated the last valid page of the block (E-TRIM).
    Trim,
    /// The device was idle and blocks of the SLC cache were full.
    IdleFold,
}

impl Trigger {
    /// All triggers.
    pub const ALL: [Self; 10] = [
        Self::FreeBlocks,
        Self::UpdateBlock,
        Self::LookAhead,
        Self::Compaction,
        Self::Retroactive,
        Self::Background,
        Self::ReadDisturb,
        Self::Retention,
        Self::Trim,
        Self::IdleFold,
    ];
    /// Returns the name of the trigger.
    pub fn name(self) -> &'static str {
        match self {
            Self::FreeBlocks => "free-blocks",
            Self::UpdateBlock => "update-block",
            Self::LookAhead => "look-ahead",
            Self::Compaction => "compaction",
            Self::Retroactive => "retroactive",
            Self::Background => "background",
            Self::ReadDisturb => "read-disturb",
            Self::Retention => "retention",
            Self::Trim => "trim",
            Self::IdleFold => "idle-fold",
        }
    }
    /// Returns `true` if AGC started the GC run, by look-ahead or by compaction.
    pub fn is_advanced(self) -> bool {
        matches!(self, Self::LookAhead | Self::Compaction)
    }
    /// Returns `true` if the GC run was started on demand, for free blocks or for an update block.
    pub fn is_on_demand(self) -> bool {
        matches!(self, Self::FreeBlocks | Self::UpdateBlock)
    }
}

/// State of a GC run between two of its flash operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PreemptionPoint {
    /// Host requests in progress in the device. Count.
    pub requests: u32,
    /// Host operations committed to the die of the GC run. Count.
    pub on_die: u32,
    /// Free blocks of the plane. Count.
    pub free_blocks: u32,
    /// Free blocks that the host cannot take. Count.
    pub reserve_blocks: u32,
}

/// State of a plane without a GC run, on an idle device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Idle {
    /// Duration for which no command has been queued.
    pub since: Time,
    /// Time until the next command arrives, if known.
    pub left: Option<Time>,
    /// Free blocks of the plane. Count.
    pub free_blocks: u32,
    /// Free-block threshold: on-demand GC starts below it. Blocks.
    pub start_blocks: u32,
    /// Number of over-provisioned blocks of the plane ([`crate::Plan::spare_blocks`]).
    pub spare_blocks: u32,
    /// Space request of a delayed GC run, if any.
    pub delayed: Option<SpaceRequest>,
    /// Next GC candidate, if the plane is below its free-block threshold.
    pub reclaim: Option<SpaceRequest>,
    /// Next GC candidate, regardless of the number of free blocks.
    pub full: Option<SpaceRequest>,
    /// Least recently written GC candidate, if any.
    pub least_recent: Option<SpaceRequest>,
    /// GC run that announced commands will need, if any, and its duration.
    pub shortage: Option<(SpaceRequest, Time)>,
}

impl Idle {
    /// Returns `true` if the plane has fewer free blocks than `ratio` of its over-provisioned
    /// blocks.
    pub fn below(&self, ratio: f64) -> bool {
        f64::from(self.free_blocks) < ratio * f64::from(self.spare_blocks)
    }
}

/// Idle detection of a GC schedule: when the device checks whether it is idle, and how far it looks
/// ahead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attention {
    /// Whether the device checks for idleness as soon as no command is queued.
    pub at_once: bool,
    /// Idle time after which the device checks again, if it does.
    pub after: Option<Time>,
    /// Number of commands whose tags are examined before their data arrives (look-ahead).
    pub lookahead_depth: u32,
    /// Maximum time between the arrival of a tag and that of its data.
    pub ahead: Time,
}

/// Schedule of GC runs.
pub trait Schedule {
    /// Returns `true` if GC of a plane runs while the device serves the host, as soon as the free
    /// blocks are below the threshold. Otherwise GC runs only when a write cannot proceed.
    fn at_threshold(&self) -> bool {
        true
    }
    /// Returns `true` if a free block replaces a full update block, so that GC of the logical block
    /// is delayed.
    fn replaces(&self) -> bool {
        false
    }
    /// Returns `true` if a write to a plane below its free-block threshold delays GC of the logical
    /// block that it writes.
    fn puts_off(&self) -> bool {
        self.replaces() && !self.at_threshold()
    }
    /// Returns `true` if GC may reclaim the least recently written candidate in idle periods,
    /// regardless of the number of free blocks.
    fn compacts_least_recent(&self) -> bool {
        false
    }
    /// Returns `true` if a GC run executes one flash operation at a time, with a preemption point
    /// after each.
    fn stepwise(&self) -> bool {
        false
    }
    /// Returns `true` if every GC run pauses while the device serves a request, regardless of the
    /// state of its plane.
    fn yields_to_requests(&self) -> bool {
        false
    }
    /// Returns `true` if a GC run pauses at a preemption point. The run continues as soon as the
    /// result is `false`. Not called for a GC run that a write waits for.
    fn yields(&self, checkpoint: &PreemptionPoint) -> bool {
        self.yields_to_requests() && checkpoint.requests > 0
    }
    /// Returns the times at which the device checks whether it is idle, or `None` if it never does.
    fn attention(&self) -> Option<Attention> {
        None
    }
    /// Returns the GC run to start on an idle plane, if any.
    fn idle(&self, _idle: &Idle) -> Option<(SpaceRequest, Trigger)> {
        None
    }
}

macro_rules! members {
    ($($tag:literal => $Variant:ident($file:ident)),+ $(,)?) => {
        wordline_kernel::family! {
            /// When does GC run?
            pub enum Scheduling at "ftl.gc.schedule" {
                $($tag => $Variant($file::$Variant)),+
            }
        }

        impl Scheduling {
            /// Returns the selected policy as a trait object.
            pub fn policy(&self) -> &dyn Schedule {
                match self { $(Self::$Variant(policy) => policy),+ }
            }
        }
    };
}

members! {
    "on-demand" => OnDemand(on_demand),
    "incremental" => Incremental(incremental),
    "background" => Background(background),
    "agc" => Agc(agc),
    "dgc" => Dgc(dgc),
    "agc-dgc" => AgcDgc(agc_dgc),
}

impl Default for Scheduling {
    fn default() -> Self {
        Self::OnDemand(on_demand::OnDemand::default())
    }
}

/// Converts milliseconds to simulated time. A negative number or NaN counts as zero.
fn milliseconds(ms: f64) -> Time {
    Time::from_ps((ms * 1e9).round().max(0.0) as u64)
}
