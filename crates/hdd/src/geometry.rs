//! Where sectors lie: zones, cylinders, heads, skew.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::Time;

use crate::error::PlanError;

/// How sectors are numbered within a zone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Numbering {
    /// The tracks of a cylinder from the first head to the last, then the next cylinder.
    #[default]
    Cylinder,
    /// The same, but every other cylinder from the last head to the first.
    Serpentine,
}

/// Cylinders whose tracks have the same number of sectors.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Zone {
    /// How many. Count.
    #[schemars(range(min = 1, max = 16_777_216))]
    pub cylinders: u32,
    /// Sectors of each track. Count.
    #[schemars(range(min = 1, max = 1_048_576))]
    pub sectors_per_track: u32,
    /// How far the first sector of a track lies behind that of the track before in the same cylinder. Sectors.
    #[schemars(range(min = 0.0), extend("exclusiveMaximum" = 1e6))]
    pub track_skew_sectors: f64,
    /// How far the first sector of a cylinder lies behind that of the last track of the cylinder before. Sectors.
    #[schemars(range(min = 0.0), extend("exclusiveMaximum" = 1e6))]
    pub cylinder_skew_sectors: f64,
    /// Sectors at its start that have no number. Count.
    #[schemars(range(min = 0, max = 1_000_000_000_000_000_000_u64))]
    pub reserved_sectors: u64,
    /// Sectors at its end that have no number. Count.
    #[schemars(range(min = 0, max = 1_000_000_000_000_000_000_u64))]
    pub spare_sectors: u64,
    /// Sectors at the end of each of its tracks that have no number; those before its start and at its end are counted without them. Count.
    #[schemars(range(min = 0, max = 1_048_575))]
    pub spare_sectors_per_track: u32,
}

/// A part of a revolution, in units of 2^-64 of it: sums wrap as the platter does.
type Angle = u64;

/// Cylinders with as many sectors on each track.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Band {
    first_cylinder: u32,
    first_lbn: u64,
    /// The first sector of the next zone.
    end_lbn: u64,
    /// Sectors before the first that has a number.
    reserved: u64,
    /// Sectors of a track that pass in a revolution, and those of them that have numbers.
    sectors_per_track: u32,
    numbered: u32,
    sectors_per_cylinder: u64,
    /// A turn of 2^64 by the sectors of a track, without the remainder, and the remainder.
    turn_per_sector: [u64; 2],
    /// Between the first sectors of a track and the next of the cylinder.
    track_skew: Angle,
    /// Between the first sectors of the last track of a cylinder and the first of the next.
    cylinder_skew: Angle,
}

/// A track, and a sector of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Where the arm has to be.
    pub cylinder: u32,
    /// Which head.
    pub head: u32,
    /// Sectors of the track with lower numbers.
    pub before: u32,
    /// Sectors of the track from this one on that have numbers.
    pub left: u32,
    /// Sectors of the track.
    pub sectors_per_track: u32,
    /// How far behind the index of the disk its first bit passes under the head.
    angle: Angle,
}

impl Place {
    /// Until it passes under the head, from an instant on, at so long a revolution; none if it passes just now, to within a millionth
    /// of a revolution, which is what sums of rounded times can be off by.
    #[inline]
    pub fn wait(&self, from: Time, revolution: Time) -> Time {
        let begins = ((u128::from(self.angle) * u128::from(revolution.0)) >> 64) as u64;
        let now = from.0 % revolution.0;
        let wait = (begins + revolution.0 - now) % revolution.0;
        if wait + (revolution.0 >> 20) >= revolution.0 {
            return Time::ZERO;
        }
        Time(wait)
    }
}

/// All sectors of a disk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Geometry {
    bands: Vec<Band>,
    heads: u32,
    cylinders: u32,
    sectors: u64,
    numbering: Numbering,
}

/// Quotient and remainder of a turn, 2^64, by the sectors of a track. On a track of one sector, which is at the start of the turn,
/// neither is used.
fn turn_per_sector(sectors_per_track: u32) -> [u64; 2] {
    let (turn, sectors) = (1_u128 << 64, u128::from(sectors_per_track.max(1)));
    [turn / sectors, turn % sectors].map(|part| part as u64)
}

fn angle(sectors: f64, sectors_per_track: u32) -> Angle {
    ((sectors / f64::from(sectors_per_track)).rem_euclid(1.0) * 2f64.powi(64)) as u64
}

impl Geometry {
    /// Zones from the outermost inwards, with so many heads.
    pub(crate) fn new(zones: &[Zone], heads: u32, numbering: Numbering) -> Result<Self, PlanError> {
        let (mut cylinder, mut lbn) = (0_u32, 0_u64);
        let mut bands = Vec::with_capacity(zones.len());
        for (place, zone) in zones.iter().enumerate() {
            let without = zone.reserved_sectors.saturating_add(zone.spare_sectors);
            let numbered = (zone.sectors_per_track).saturating_sub(zone.spare_sectors_per_track);
            let sound = without < u64::from(zone.cylinders) * u64::from(numbered);
            let Some(end) = cylinder.checked_add(zone.cylinders).filter(|_| sound) else {
                return Err(PlanError {
                    key: "disk.model.positioned.zones",
                    reason: format!(
                        "zone {place} keeps back all its sectors, or has more cylinders than can be counted"
                    ),
                    remedy: "lower its reserved_sectors, spare_sectors and spare_sectors_per_track, or its cylinders"
                        .into(),
                });
            };
            let sectors_per_cylinder = u64::from(numbered) * u64::from(heads);
            let end_lbn = lbn + u64::from(zone.cylinders) * sectors_per_cylinder - without;
            bands.push(Band {
                first_cylinder: cylinder,
                first_lbn: lbn,
                end_lbn,
                reserved: zone.reserved_sectors,
                sectors_per_track: zone.sectors_per_track,
                numbered,
                sectors_per_cylinder,
                turn_per_sector: turn_per_sector(zone.sectors_per_track),
                track_skew: angle(zone.track_skew_sectors, zone.sectors_per_track),
                cylinder_skew: angle(zone.cylinder_skew_sectors, zone.sectors_per_track),
            });
            cylinder = end;
            lbn = end_lbn;
        }
        if bands.is_empty() || heads == 0 {
            return Err(PlanError {
                key: "disk.model.positioned.zones",
                reason: "there is no zone, or no head".into(),
                remedy: "give heads, and zones with cylinders and sectors_per_track; the presets of disks have them".into(),
            });
        }
        Ok(Self {
            bands,
            heads,
            cylinders: cylinder,
            sectors: lbn,
            numbering,
        })
    }
    /// Sectors in all.
    pub fn sectors(&self) -> u64 {
        self.sectors
    }
    /// Cylinders in all.
    pub fn cylinders(&self) -> u32 {
        self.cylinders
    }
    /// Where a sector lies.
    #[inline]
    pub fn place(&self, lbn: u64) -> Place {
        let band = self.bands.partition_point(|band| band.first_lbn <= lbn) - 1;
        let band = &self.bands[band];
        let within = lbn - band.first_lbn + band.reserved;
        let cylinder = (within / band.sectors_per_cylinder) as u32; // of the zone
        let rest = (within % band.sectors_per_cylinder) as u32;
        let (track, sector) = (rest / band.numbered, rest % band.numbered);
        let backwards = self.numbering == Numbering::Serpentine && cylinder % 2 == 1;
        let tracks = u64::from(cylinder) * u64::from(self.heads - 1) + u64::from(track);
        let skew = (band.track_skew.wrapping_mul(tracks))
            .wrapping_add(band.cylinder_skew.wrapping_mul(cylinder.into()));
        // 2^64 sector / sectors_per_track to the integer, in 64 bits.
        let [whole, remainder] = band.turn_per_sector;
        let turned = u64::from(sector) * whole
            + u64::from(sector) * remainder / u64::from(band.sectors_per_track);
        Place {
            cylinder: band.first_cylinder + cylinder,
            head: if backwards {
                self.heads - 1 - track
            } else {
                track
            },
            before: u64::from(sector).min(lbn - band.first_lbn) as u32,
            left: u64::from(band.numbered - sector).min(band.end_lbn - lbn) as u32,
            sectors_per_track: band.sectors_per_track,
            angle: skew.wrapping_add(turned),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The angle of a sector is 2^64 sector / sectors_per_track to the integer, which takes 128 bits.
    #[test]
    fn sectors_lie_where_a_turn_divided_in_128_bits_has_them() {
        for sectors_per_track in [1, 2, 3, 62, 107, 921, 1_048_573, 1_048_576] {
            let zone = Zone {
                cylinders: 1,
                sectors_per_track,
                ..Zone::default()
            };
            let geometry = Geometry::new(&[zone], 1, Numbering::Cylinder);
            let geometry = geometry.unwrap_or_else(|error| unreachable!("{error}"));
            for sector in (0..sectors_per_track).step_by(1 + sectors_per_track as usize / 50) {
                let turned = (u128::from(sector) << 64) / u128::from(sectors_per_track);
                assert_eq!(u128::from(geometry.place(sector.into()).angle), turned);
            }
        }
    }
}
