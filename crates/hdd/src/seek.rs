//! Seek time as a function of the distance.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::Time;

use wordline_block::PlanError;

/// Point of a seek curve: distance in cylinders and time in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Point(
    #[schemars(range(min = 1, max = 4_294_967_295_u32))] pub u32,
    #[schemars(range(min = 0.0, max = 10_000.0))] pub f64,
);

/// Seek curve with linear interpolation. Beyond the last point, the time of that point applies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// Points in ascending distance, in cylinders. The first is at one cylinder.
    points: Vec<(u32, Time)>,
}

impl Curve {
    /// Builds a curve through `points`. Errors name the configuration key `key`.
    pub(crate) fn new(key: &'static str, points: &[Point]) -> Result<Self, PlanError> {
        let ascends = points.windows(2).all(|pair| pair[0].0 < pair[1].0);
        let starts = points.first().is_some_and(|first| first.0 == 1);
        if !(ascends && starts) {
            return Err(PlanError {
                key,
                reason:
                    "the points of a seek curve must start at 1 cylinder, with ascending distances"
                        .into(),
                remedy: "set points such as [[1, 0.5], [100, 1.2], [10000, 8.0]]".into(),
            });
        }
        let point = |&Point(cylinders, ms): &Point| (cylinders, Time((ms * 1e9).round() as u64));
        Ok(Self {
            points: points.iter().map(point).collect(),
        })
    }
    /// Returns the seek time over `distance` cylinders; zero for no distance.
    #[inline]
    pub fn time(&self, distance: u32) -> Time {
        if distance == 0 {
            return Time::ZERO;
        }
        let next = self.points.partition_point(|(far, _)| *far < distance);
        let Some(&(far, above)) = self.points.get(next) else {
            return self.points.last().map_or(Time::ZERO, |(_, time)| *time);
        };
        let Some(&(near, below)) = next.checked_sub(1).and_then(|next| self.points.get(next))
        else {
            return above;
        };
        let (step, span) = (i128::from(distance - near), i128::from(far - near));
        let rise = i128::from(above.0) - i128::from(below.0);
        Time((i128::from(below.0) + rise * step / span) as u64)
    }
}
