//! Disk models, which determine the duration of an access.

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
    /// Time of arm movement, head switches and write settling.
    pub seek: Time,
    /// Time in which the head waits for sectors, or for the data of a write.
    pub rotation: Time,
    /// Time in which sectors pass under the head.
    pub transfer: Time,
    /// Distance of the arm to the first sector. Cylinders.
    pub distance: u32,
    /// Sectors accessed before the first one, because the head reached the track in the middle of
    /// the extent. Count.
    pub wrapped: u64,
}

impl Access {
    /// Returns the total duration.
    pub fn total(&self) -> Time {
        self.seek + self.rotation + self.transfer
    }
}

/// Model of the mechanism: times in picoseconds, and the position of the arm.
pub trait Mechanism {
    /// Performs an access that starts at `now`. The data of a write arrives by `ready`; no sector
    /// is written before.
    fn access(&mut self, now: Time, extent: Extent, write: bool, ready: Time) -> Access;
    /// Returns the positioning time to the first sector of an extent.
    fn positioning(&self, now: Time, extent: Extent, write: bool) -> Time;
    /// Lets sectors pass under the head after an access that ended at `since`, directly before
    /// sector `from`. Returns how many have passed by `now`, at most `most`, and the time at which
    /// the last of them had passed. The arm follows them.
    fn pass(&mut self, since: Time, now: Time, from: u64, most: u64) -> (u64, Time);
    /// Returns the number of sectors directly before the extent that pass under the head first, if
    /// an access starts at `now`.
    fn lead(&self, _now: Time, _extent: Extent) -> u64 {
        0
    }
    /// Returns the numbered sectors of a sector's track before the sector, and from the sector to
    /// the end of the track. `None` if the model has no tracks.
    fn track(&self, _lbn: u64) -> Option<(u64, u64)> {
        None
    }
    /// Returns the number of sectors of the disk; `None` if the model does not define it.
    fn sectors(&self) -> Option<u64> {
        None
    }
}

/// Converts milliseconds to a time, rounded to picoseconds.
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

        /// Model with times in picoseconds.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[allow(missing_docs)]
        pub enum Timed { $($Variant($file::Timed)),+ }

        impl Model {
            /// Converts the times of the model to picoseconds. Fails if the parameters are invalid.
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
