//! How long an access takes.

pub mod average;
pub mod constant;
pub mod positioned;

use serde::{Deserialize, Serialize};
use wordline_kernel::Time;

use crate::error::PlanError;
use crate::extent::Extent;

/// Where the time of an access goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Access {
    /// The arm moves, heads are switched, writes settle.
    pub seek: Time,
    /// Until sectors are under the head.
    pub rotation: Time,
    /// Sectors pass under the head.
    pub transfer: Time,
    /// How far the arm has moved to the first sector. Cylinders.
    pub distance: u32,
    /// Sectors that have passed before the first: the head came down behind it.
    pub wrapped: u64,
}

impl Access {
    /// All of it.
    pub fn total(&self) -> Time {
        self.seek + self.rotation + self.transfer
    }
}

/// A model with its times in picoseconds, and where its arm is.
pub trait Mechanism {
    /// An access that begins at an instant; the data of a write is there at `ready`, before which no sector is written.
    fn access(&mut self, now: Time, extent: Extent, write: bool, ready: Time) -> Access;
    /// How long until the first sector is under the head.
    fn positioning(&self, now: Time, extent: Extent, write: bool) -> Time;
    /// Sectors that have passed under the head behind an access that ended at `since` right before `from`, up to `now` and to `most`;
    /// and when the last of them had. The arm is there.
    fn pass(&mut self, since: Time, now: Time, from: u64, most: u64) -> (u64, Time);
    /// Sectors directly before the first one that pass under the head before it does, if an access begins at `now`. Count.
    fn lead(&self, _now: Time, _extent: Extent) -> u64 {
        0
    }
    /// Of the track of a sector, how many sectors there are before it, and how many from it on; none, if the model knows no tracks.
    fn track(&self, _lbn: u64) -> Option<(u64, u64)> {
        None
    }
    /// Sectors in all, if the model says.
    fn sectors(&self) -> Option<u64> {
        None
    }
}

/// Milliseconds as time.
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

        /// A model that can be asked.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[allow(missing_docs)]
        pub enum Timed { $($Variant($file::Timed)),+ }

        impl Model {
            /// The model in integer time.
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
