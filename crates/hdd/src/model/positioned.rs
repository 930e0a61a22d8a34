//! Disk model with arm, heads and platters.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::Time;
use wordline_kernel::slot::Cited;

use super::{Access, Mechanism, milliseconds};
use crate::extent::Extent;
use crate::geometry::{Geometry, Numbering, Place, Zone};
use crate::seek::{Curve, Point};
use wordline_block::PlanError;

/// The arm moves along a measured seek curve, the platter rotates, and sectors pass under the head
/// at the rate of their zone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Positioned {
    /// Speed of the platters. Revolutions per minute.
    #[schemars(range(min = 1, max = 100_000))]
    pub rpm: f64,
    /// Number of surfaces, each with a head. Count.
    #[schemars(range(min = 1, max = 256))]
    pub heads: u32,
    /// Order in which the sectors of a zone are numbered. `cylinder`: along the tracks of a
    /// cylinder from the first head to the last, then along the next cylinder. `serpentine`: the
    /// same, but from the last head to the first in every other cylinder.
    pub numbering: Numbering,
    /// Zones, from the outermost inwards.
    pub zones: Vec<Zone>,
    /// Seek curve: pairs of a distance in cylinders and a time in milliseconds, starting at 1
    /// cylinder, with linear interpolation.
    pub seek: Vec<Point>,
    /// Time of a head switch, during which the arm can also move. Milliseconds.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub head_switch_ms: f64,
    /// Additional settling time of a write after an arm movement or head switch. Milliseconds.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub write_settle_ms: f64,
    /// Whether a read can start with any of its sectors on a track, whichever passes first.
    pub zero_latency_reads: bool,
    /// Whether a write can start with any of its sectors on a track, whichever passes first.
    pub zero_latency_writes: bool,
}

impl Default for Positioned {
    fn default() -> Self {
        Self {
            rpm: 7_200.0,
            heads: 1,
            numbering: Numbering::default(),
            zones: Vec::new(),
            seek: Vec::new(),
            head_switch_ms: 0.0,
            write_settle_ms: 0.0,
            zero_latency_reads: false,
            zero_latency_writes: false,
        }
    }
}

impl Cited for Positioned {
    const PAPER: &'static str =
        "C. Ruemmler, J. Wilkes, An introduction to disk drive modeling, IEEE Computer 27(3), 1994";
}

/// Model with times in picoseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timed {
    geometry: Geometry,
    curve: Curve,
    revolution: Time,
    head_switch: Time,
    write_settle: Time,
    /// Whether reads, and whether writes, are zero-latency accesses.
    zero_latency: [bool; 2],
    /// Position of the arm.
    cylinder: u32,
    /// Active head.
    head: u32,
}

impl Timed {
    pub(super) fn new(model: &Positioned) -> Result<Self, PlanError> {
        Ok(Self {
            geometry: Geometry::new(&model.zones, model.heads, model.numbering)?,
            curve: Curve::new("disk.model.positioned.seek", &model.seek)?,
            revolution: Time((6e13 / model.rpm).round() as u64),
            head_switch: milliseconds(model.head_switch_ms),
            write_settle: milliseconds(model.write_settle_ms),
            zero_latency: [model.zero_latency_reads, model.zero_latency_writes],
            cylinder: 0,
            head: 0,
        })
    }
    /// Returns the time of the arm movement and head switch to a place, including the settling of a
    /// write.
    #[inline]
    fn move_to(&self, place: &Place, write: bool) -> Time {
        let arm = self.curve.time(place.cylinder.abs_diff(self.cylinder));
        let moved = if place.head == self.head {
            arm
        } else {
            arm.max(self.head_switch)
        };
        if write && moved > Time::ZERO {
            return moved + self.write_settle;
        }
        moved
    }
    fn stand(&mut self, place: &Place) {
        (self.cylinder, self.head) = (place.cylinder, place.head);
    }
    /// Returns the time in which `sectors` sectors of a track pass under the head.
    #[inline]
    fn sweep(&self, sectors: u64, place: &Place) -> Time {
        Time(sectors * self.revolution.0 / u64::from(place.sectors_per_track))
    }
    /// Returns the number of sectors of a track that pass under the head in a given time.
    #[inline]
    fn passed(&self, time: Time, place: &Place) -> u64 {
        let sectors = u64::from(place.sectors_per_track);
        // `time` is at most a revolution. For a track of a million sectors, 64 bits suffice up to
        // 18 s.
        if let Some(turned) = time.0.checked_mul(sectors) {
            return turned / self.revolution.0;
        }
        let turned = u128::from(time.0) * u128::from(sectors);
        (turned / u128::from(self.revolution.0)) as u64
    }
    /// Returns `true` if the head reaches the track among the requested sectors, so that the
    /// earlier ones are accessed in the next revolution.
    fn lands_within(&self, wait: Time, sectors: Time, write: bool) -> bool {
        self.zero_latency[usize::from(write)] && wait + sectors > self.revolution
    }
}

impl Mechanism for Timed {
    fn access(&mut self, now: Time, extent: Extent, write: bool, ready: Time) -> Access {
        let mut access = Access::default();
        let (mut at, mut lbn) = (now, extent.lbn);
        while lbn < extent.end() {
            let place = self.geometry.place(lbn);
            if lbn == extent.lbn {
                access.distance = place.cylinder.abs_diff(self.cylinder);
            }
            let seek = self.move_to(&place, write);
            self.stand(&place);
            let sectors = u64::from(place.left).min(extent.end() - lbn);
            let under = (at + seek).max(ready);
            let transfer = self.sweep(sectors, &place);
            let mut turns = place.wait(under, self.revolution);
            if self.lands_within(turns, transfer, write) {
                if lbn == extent.lbn {
                    access.wrapped = self.passed(turns + transfer - self.revolution, &place);
                }
                turns = self.revolution - transfer;
            }
            let rotation = under.since(at + seek) + turns;
            access.seek += seek;
            access.rotation += rotation;
            access.transfer += transfer;
            at = at + seek + rotation + transfer;
            lbn += sectors;
        }
        access
    }
    #[inline]
    fn positioning(&self, now: Time, extent: Extent, write: bool) -> Time {
        let place = self.geometry.place(extent.lbn);
        let seek = self.move_to(&place, write);
        seek + place.wait(now + seek, self.revolution)
    }
    fn pass(&mut self, since: Time, now: Time, from: u64, most: u64) -> (u64, Time) {
        let end = from.saturating_add(most).min(self.geometry.sectors());
        let (mut at, mut lbn) = (since, from);
        while lbn < end {
            let place = self.geometry.place(lbn);
            let seek = self.move_to(&place, false);
            if at + seek > now {
                break;
            }
            self.stand(&place);
            at += seek;
            let begins = at + place.wait(at, self.revolution);
            if begins >= now {
                break;
            }
            let sectors = u64::from(place.left).min(end - lbn);
            let over = begins + self.sweep(sectors, &place);
            if over > now {
                let passed = self.passed(now - begins, &place).min(sectors);
                if passed > 0 {
                    (lbn, at) = (lbn + passed, begins + self.sweep(passed, &place));
                }
                break;
            }
            (lbn, at) = (lbn + sectors, over);
        }
        (lbn - from, at)
    }
    fn lead(&self, now: Time, extent: Extent) -> u64 {
        let place = self.geometry.place(extent.lbn);
        let wait = place.wait(now + self.move_to(&place, false), self.revolution);
        self.passed(wait, &place).min(place.before.into())
    }
    fn track(&self, lbn: u64) -> Option<(u64, u64)> {
        let place = self.geometry.place(lbn);
        Some((place.before.into(), place.left.into()))
    }
    fn sectors(&self) -> Option<u64> {
        Some(self.geometry.sectors())
    }
}
