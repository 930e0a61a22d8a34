//! Duration of an access.

pub mod average;
pub mod constant;
pub mod positioned;

use serde::{Deserialize, Serialize};
use wordline_kernel::Time;

use crate::extent::Extent;
use wordline_block::PlanError;

/// Components of an access time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Access {
    /// Arm movement, head switches and write settling.
    pub seek: Time,
    /// Wait for sectors to reach the head.
    pub rotation: Time,
    /// Time in which sectors pass under the head.
    pub transfer: Time,
    /// Distance of the arm to the first sector. Cylinders.
    pub distance: u32,
    /// Sectors that passed before the first one, because the head started reading after it. Count.
    pub wrapped: u64,
}

impl Access {
    /// Total duration.
    pub fn total(&self) -> Time {
        self.seek + self.rotation + self.transfer
    }
}

/// Mechanism model: times in picoseconds, and the position of the arm.
pub trait Mechanism {
    /// Performs an access that starts at `now`. The data of a write arrives by `ready`, before
    /// which no sector is written.
    fn access(&mut self, now: Time, extent: Extent, write: bool, ready: Time) -> Access;
    /// Positioning time to the first sector.
    fn positioning(&self, now: Time, extent: Extent, write: bool) -> Time;
    /// Sectors that have passed under the head after an access that ended at `since` directly
    /// before `from`, up to `now` and at most `most`; and the time at which the last of them had
    /// passed. The arm moves along.
    fn pass(&mut self, since: Time, now: Time, from: u64, most: u64) -> (u64, Time);
    /// Sectors directly before the first one that pass under the head before it, if an access
    /// starts at `now`. Count.
    fn lead(&self, _now: Time, _extent: Extent) -> u64 {
        0
    }
    /// Numbered sectors of a sector's track before it and from it on; `None` if the model has no
    /// tracks.
    fn track(&self, _lbn: u64) -> Option<(u64, u64)> {
        None
    }
    /// Sectors of the disk, if the model defines them.
    fn sectors(&self) -> Option<u64> {
        None
    }
}

/// Converts milliseconds.
fn milliseconds(value: f64) -> Time {
    Time((value * 1e9).round() as u64)
}

macro_rules! members {
    ($($tag:literal => $Variant:ident($file:ident)),+ $(,)?) => {
        wordline_kernel::family! {
            /// How long does an access of a disk take?
            pub enum Model at "disk.model" {
                $($tag => $Variant($file::$Variant)),+
            }
        }

        /// Model in integer time.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[allow(missing_docs)]
        pub enum Timed { $($Variant($file::Timed)),+ }

        impl Model {
            /// Converts the model to integer time.
            pub fn timed(&self) -> Result<Timed, PlanError> {
                match self { $(Self::$Variant(model) => Ok(Timed::$Variant($file::Timed::new(model)?))),+ }
            }
        }

        wordline_kernel::forward! {
            impl Mechanism for Timed by [$($Variant),+] {
                #[inline]
                fn access(&mut self, now: Time, extent: Extent, write: bool, ready: Time) -> Access;
                fn positioning(&self, now: Time, extent: Extent, write: bool) -> Time;
                fn pass(&mut self, since: Time, now: Time, from: u64, most: u64) -> (u64, Time);
                fn lead(&self, now: Time, extent: Extent) -> u64;
                fn track(&self, lbn: u64) -> Option<(u64, u64)>;
                fn sectors(&self) -> Option<u64>;
            }
        }
    };
}

members! {
    "constant" => Constant(constant),
    "average" => Average(average),
    "positioned" => Positioned(positioned),
}

impl Default for Model {
    fn default() -> Self {
        Self::Constant(constant::Constant::default())
    }
}
