//! Physical geometry of a disk: zones, cylinders, heads and skew.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::Time;

use wordline_block::PlanError;

/// Numbering of the sectors of a zone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Numbering {
    /// Along the tracks of a cylinder from the first head to the last, then along the next
    /// cylinder.
    #[default]
    Cylinder,
    /// Like `cylinder`, but from the last head to the first in every other cylinder.
    Serpentine,
}

/// Cylinders whose tracks have the same number of sectors.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Zone {
    /// Cylinders of the zone. Count.
    #[schemars(range(min = 1, max = 16_777_216))]
    pub cylinders: u32,
    /// Sectors per track. Count.
    #[schemars(range(min = 1, max = 1_048_576))]
    pub sectors_per_track: u32,
    /// Angular offset of the first sector of a track from that of the previous track of the
    /// cylinder. Sectors.
    #[schemars(range(min = 0.0), extend("exclusiveMaximum" = 1e6))]
    pub track_skew_sectors: f64,
    /// Angular offset of the first sector of a cylinder from that of the last track of the previous
    /// cylinder. Sectors.
    #[schemars(range(min = 0.0), extend("exclusiveMaximum" = 1e6))]
    pub cylinder_skew_sectors: f64,
    /// Sectors at the start of the zone that have no number. Count.
    #[schemars(range(min = 0, max = 1_000_000_000_000_000_000_u64))]
    pub reserved_sectors: u64,
    /// Sectors at the end of the zone that have no number. Count.
    #[schemars(range(min = 0, max = 1_000_000_000_000_000_000_u64))]
    pub spare_sectors: u64,
    /// Sectors at the end of each track that have no number. `reserved_sectors` and `spare_sectors`
    /// do not include them. Count.
    #[schemars(range(min = 0, max = 1_048_575))]
    pub spare_sectors_per_track: u32,
}

/// Fraction of a revolution in units of 2^-64, so that sums wrap like the platter.
type Angle = u64;

/// Zone, prepared for the computation of positions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Band {
    first_cylinder: u32,
    first_lbn: u64,
    /// First sector of the next zone.
    end_lbn: u64,
    /// Sectors before the first numbered one of the zone. Count.
    reserved: u64,
    /// Sectors that pass under the head per revolution. Count.
    sectors_per_track: u32,
    /// Sectors per track that have numbers. Count.
    numbered: u32,
    sectors_per_cylinder: u64,
    /// Quotient and remainder of 2^64 divided by the sectors per track.
    turn_per_sector: [u64; 2],
    /// Angle between the first sectors of successive tracks of a cylinder.
    track_skew: Angle,
    /// Angle between the first sectors of the last track of a cylinder and of the next cylinder.
    cylinder_skew: Angle,
}

/// Physical position of a sector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Cylinder of the sector.
    pub cylinder: u32,
    /// Head of the sector.
    pub head: u32,
    /// Numbered sectors of the track before this one. Count.
    pub before: u32,
    /// Numbered sectors of the track from this one to its end. Count.
    pub left: u32,
    /// Sectors per track. Count.
    pub sectors_per_track: u32,
    /// Angle from the index of the disk to the first bit of the sector.
    angle: Angle,
}

impl Place {
    /// Returns the time from `from` until the sector passes under the head. Returns zero if it
    /// passed at most a millionth of a revolution ago, which is the rounding error of summed times.
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

/// Geometry of all sectors of a disk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Geometry {
    bands: Vec<Band>,
    heads: u32,
    cylinders: u32,
    sectors: u64,
    numbering: Numbering,
}

/// Returns quotient and remainder of a turn, 2^64, divided by the sectors per track. A track of one
/// sector uses neither, because its sector is at angle 0.
fn turn_per_sector(sectors_per_track: u32) -> [u64; 2] {
    let (turn, sectors) = (1_u128 << 64, u128::from(sectors_per_track.max(1)));
    [turn / sectors, turn % sectors].map(|part| part as u64)
}

fn angle(sectors: f64, sectors_per_track: u32) -> Angle {
    ((sectors / f64::from(sectors_per_track)).rem_euclid(1.0) * 2f64.powi(64)) as u64
}

impl Geometry {
    /// Builds the geometry of `zones`, from the outermost inwards, with `heads` heads.
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
                        "reserved and spare sectors would fill a surface of zone {place}, or the zones have 2^32 cylinders or more"
                    ),
                    remedy: "lower reserved_sectors, spare_sectors and spare_sectors_per_track, or the cylinders of the zone"
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
                reason: "the disk has no zones or no heads".into(),
                remedy: "set heads, and zones with cylinders and sectors_per_track, as in the disk presets".into(),
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
    /// Returns the number of sectors of the disk.
    pub fn sectors(&self) -> u64 {
        self.sectors
    }
    /// Returns the number of cylinders of the disk.
    pub fn cylinders(&self) -> u32 {
        self.cylinders
    }
    /// Returns the physical position of a sector.
    #[inline]
    pub fn place(&self, lbn: u64) -> Place {
        let band = self.bands.partition_point(|band| band.first_lbn <= lbn) - 1;
        let band = &self.bands[band];
        let within = lbn - band.first_lbn + band.reserved;
        let cylinder = (within / band.sectors_per_cylinder) as u32; // relative to the zone
        let rest = (within % band.sectors_per_cylinder) as u32;
        let (track, sector) = (rest / band.numbered, rest % band.numbered);
        let backwards = self.numbering == Numbering::Serpentine && cylinder % 2 == 1;
        let tracks = u64::from(cylinder) * u64::from(self.heads - 1) + u64::from(track);
        let skew = (band.track_skew.wrapping_mul(tracks))
            .wrapping_add(band.cylinder_skew.wrapping_mul(cylinder.into()));
        // The angle is the integer part of 2^64 × sector / sectors_per_track, computed in 64 bits.
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

    /// The angle of a sector is the integer part of 2^64 × sector / sectors_per_track. Computed
    /// directly, this takes 128 bits.
    #[test]
    fn sector_angles_match_128_bit_arithmetic() {
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
