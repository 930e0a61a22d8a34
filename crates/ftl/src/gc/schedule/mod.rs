//! When collections run.
//!
//! A schedule decides; the device acts. It never sees the future, except for commands whose tags
//! have come ahead of their data (Jung 2013, section 7.4.1).

pub mod agc;
pub mod agc_dgc;
pub mod background;
pub mod dgc;
pub mod incremental;
pub mod on_demand;

use serde::{Deserialize, Serialize};
use wordline_kernel::Time;

use crate::job::SpaceRequest;

/// What a collection was started for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Trigger {
    /// The host was being served and free blocks were few (free-block reclaim on demand).
    FreeBlocks,
    /// A write needed room in its logical block (update-block reclaim on demand).
    UpdateBlock,
    /// A queued command was going to need it (look-ahead, AGC).
    LookAhead,
    /// Blocks were full and free blocks were becoming few in a long idle period (proactive block
    /// compaction, AGC).
    Compaction,
    /// It had been put off (retroactive block compaction, DGC).
    Retroactive,
    /// The device was idle (background).
    Background,
    /// The block was read too often since its erase (read disturb).
    ReadDisturb,
    /// Its data had lain too long (retention).
    Retention,
    /// A TRIM has left nothing in the block (E-TRIM).
    Trim,
    /// The device was idle, and blocks of the SLC cache were full.
    IdleFold,
}

impl Trigger {
    /// All of them.
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
    /// In a word.
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
    /// Whether it was started while the host was being served.
    pub fn is_on_demand(self) -> bool {
        matches!(self, Self::FreeBlocks | Self::UpdateBlock)
    }
}

/// A collection at a checkpoint: one of its flash operations is done, the next is not begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PreemptionPoint {
    /// Requests of the host that the device has begun with.
    pub requests: u32,
    /// Operations of the host that are committed to the collection's die.
    pub on_die: u32,
    /// Free blocks of its plane.
    pub free_blocks: u32,
    /// Free blocks that the host cannot take.
    pub reserve_blocks: u32,
}

/// A plane without a collection, on an idle device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Idle {
    /// For how long the device has been idle: no command is queued.
    pub since: Time,
    /// In how long the next command comes, if one is known to come.
    pub left: Option<Time>,
    /// Free blocks of the plane.
    pub free_blocks: u32,
    /// On demand, collection begins below as many.
    pub start_blocks: u32,
    /// Blocks of the plane that the host's pages do not fill: its share of over-provisioning.
    pub spare_blocks: u32,
    /// A collection that has been put off.
    pub delayed: Option<SpaceRequest>,
    /// What gains free blocks, if they are fewer than they should be.
    pub reclaim: Option<SpaceRequest>,
    /// Something that could be collected.
    pub full: Option<SpaceRequest>,
    /// What was written least recently of what would gain a block.
    pub least_recent: Option<SpaceRequest>,
    /// A collection that the commands to come will need, and how long it will take.
    pub shortage: Option<(SpaceRequest, Time)>,
}

impl Idle {
    /// Whether less than `ratio` of the plane's spare blocks is free.
    pub fn below(&self, ratio: f64) -> bool {
        f64::from(self.free_blocks) < ratio * f64::from(self.spare_blocks)
    }
}

/// When a device looks at whether it is idle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attention {
    /// Whether it looks as soon as nothing is queued.
    pub at_once: bool,
    /// After how long without a command it looks again.
    pub after: Option<Time>,
    /// Commands whose tags are examined before their data arrives (look-ahead).
    pub tags: u32,
    /// How long before its data a tag comes at most.
    pub ahead: Time,
}

/// When collections run.
pub trait Schedule {
    /// Whether a plane is collected while the host is being served, as soon as its free blocks are
    /// below the threshold; if not, only when a write cannot go on.
    fn at_threshold(&self) -> bool {
        true
    }
    /// Whether a free block takes the place of a full update block, and the collection waits.
    fn replaces(&self) -> bool {
        false
    }
    /// Whether a write that finds free blocks below the threshold puts the collection of its logical
    /// block off.
    fn puts_off(&self) -> bool {
        self.replaces() && !self.at_threshold()
    }
    /// Whether in idle periods what was written least recently may be collected, however many blocks are free.
    fn compacts_least_recent(&self) -> bool {
        false
    }
    /// Whether a collection goes one flash operation at a time, with a checkpoint after each.
    fn stepwise(&self) -> bool {
        false
    }
    /// Whether a collection that no write waits for stops at a checkpoint. It goes on as soon as
    /// the answer would be no.
    fn yields(&self, _checkpoint: &PreemptionPoint) -> bool {
        false
    }
    /// When the device is to look at whether it is idle; never, if `None`.
    fn attention(&self) -> Option<Attention> {
        None
    }
    /// What an idle plane is collected for.
    fn idle(&self, _idle: &Idle) -> Option<(SpaceRequest, Trigger)> {
        None
    }
}

macro_rules! members {
    ($($tag:literal => $Variant:ident($file:ident)),+ $(,)?) => {
        wordline_kernel::family! {
            /// When do collections run?
            pub enum Scheduling at "ftl.gc.schedule" {
                $($tag => $Variant($file::$Variant)),+
            }
        }

        impl Scheduling {
            /// The member, as a schedule.
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

/// Milliseconds as the clock counts them; what is not a length of time counts as none.
fn milliseconds(ms: f64) -> Time {
    Time::from_ps((ms * 1e9).round().max(0.0) as u64)
}
