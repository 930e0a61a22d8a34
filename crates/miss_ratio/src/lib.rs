//! Miss-ratio curves: the share of requests that an LRU cache misses, for all sizes at once, from
//! one pass over the requests.
//!
//! | method | result | memory | counts |
//! |---|---|---|---|
//! | [`Exact`] | exact curve | every key | every request |
//! | [`ShardsRate`] | estimate | a fixed share of the keys | requests for these keys |
//! | [`ShardsSize`] | estimate | a fixed number of keys | requests for these keys |
//! | [`Aet`], [`AetRate`] | model | every key; a share of them | times between requests |
//!
//! Reads and writes count equally: both bring their key into the cache, and the curve covers all
//! requests. A curve of reads only would not describe any cache.

mod accuracy;
mod aet;
mod buckets;
mod exact;
mod sample;
mod shards;
mod stack;

pub use accuracy::{Accuracy, Interval, Method, accuracy};
pub use aet::{Aet, AetRate};
pub use exact::Exact;
pub use sample::{Rate, RateError};
pub use shards::{ShardsRate, ShardsSize};

/// Maximum number of sizes at which two curves are compared.
const COMPARED: u64 = 1 << 20;

/// Miss-ratio curve, stored as hits by cache size.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Corners in strictly ascending order of size. The curve is linear between two corners, has no
    /// hits at size 0, and is constant after the last corner.
    corners: Vec<Corner>,
    requests: u64,
    footprint: u64,
}

/// Corner of a curve: cache size in entries, and hits at that size.
#[derive(Copy, Clone, Debug, PartialEq)]
struct Corner {
    size: f64,
    hits: f64,
}

const ORIGIN: Corner = Corner {
    size: 0.0,
    hits: 0.0,
};

/// Point of a plotted curve.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Point {
    /// Cache size. Entries.
    pub size: f64,
    /// Misses per request, 0 to 1.
    pub miss_ratio: f64,
}

/// Scale of the axis of cache sizes.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Axis {
    /// Linear scale.
    Linear,
    /// Logarithmic scale.
    Logarithmic,
}

/// Difference between the miss ratios of two curves, over the sizes from 1 to the footprint.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct Difference {
    /// Mean of the absolute differences.
    pub mean: f64,
    /// Mean of the signed differences. Positive if the other curve has more misses.
    pub signed: f64,
    /// Largest absolute difference.
    pub largest: f64,
    /// Size with the largest difference; 0 if the curves do not differ. Entries.
    pub at: u64,
}

impl Curve {
    /// Creates the curve through `corners`, which are in ascending order of size. If several
    /// corners have the same size, the last one counts. Hits are limited to the range from 0 to the
    /// number of requests.
    fn new(requests: u64, footprint: u64, corners: impl IntoIterator<Item = Corner>) -> Self {
        let most = requests as f64;
        let mut kept = vec![ORIGIN];
        for corner in corners {
            let hits = corner.hits.clamp(0.0, most);
            while kept.last().is_some_and(|last| corner.size <= last.size) {
                kept.pop();
            }
            if kept.is_empty() {
                kept.push(ORIGIN);
                continue;
            }
            if let [.., before, last] = &kept[..]
                && before.hits == last.hits
                && last.hits == hits
            {
                kept.pop();
            }
            kept.push(Corner { hits, ..corner });
        }
        while let [.., before, last] = &kept[..]
            && before.hits == last.hits
        {
            kept.pop();
        }
        Self {
            corners: kept,
            requests,
            footprint,
        }
    }
    /// Returns the number of requests.
    pub fn requests(&self) -> u64 {
        self.requests
    }
    /// Returns the number of distinct keys. An estimate if keys were sampled.
    pub fn footprint(&self) -> u64 {
        self.footprint
    }
    /// Returns the hits in a cache of `size` entries, rounded to the nearest integer.
    pub fn hits(&self, size: u64) -> u64 {
        let after = self.after(size as f64, 0);
        self.between(size as f64, after).round() as u64
    }
    /// Returns the misses per request in a cache of `size` entries, from 0 to 1; 1 if there are no
    /// requests.
    pub fn miss_ratio(&self, size: u64) -> f64 {
        let after = self.after(size as f64, 0);
        self.ratio(self.between(size as f64, after))
    }
    /// Returns the points that a plot needs, in ascending order of size, from size 1 to the last
    /// corner. On an axis of the given scale, the lines between these points pass every omitted
    /// corner within `tolerance` of its miss ratio.
    pub fn points(&self, tolerance: f64, axis: Axis) -> Vec<Point> {
        let first = Point {
            size: 1.0,
            miss_ratio: self.miss_ratio(1),
        };
        let mut cone = Cone::new(first, tolerance, axis);
        let mut kept = vec![first];
        for corner in self.corners.iter().filter(|corner| corner.size > 1.0) {
            let point = Point {
                size: corner.size,
                miss_ratio: self.ratio(corner.hits),
            };
            kept.extend(cone.pass(point));
        }
        if cone.last != first {
            kept.push(cone.last);
        }
        kept
    }
    /// Compares `other` with this curve over the sizes from 1 to this curve's footprint. Compares
    /// at every size if there are at most 2^20 sizes, otherwise at 2^20 equidistant sizes, the last
    /// of which is the footprint.
    pub fn difference(&self, other: &Self) -> Difference {
        let count = self.footprint.min(COMPARED);
        let mut found = Difference::default();
        let (mut mine, mut others) = (0, 0);
        for step in 1..=count {
            let size = (u128::from(step) * u128::from(self.footprint) / u128::from(count)) as u64;
            mine = self.after(size as f64, mine);
            others = other.after(size as f64, others);
            let apart = other.ratio(other.between(size as f64, others))
                - self.ratio(self.between(size as f64, mine));
            found.signed += apart;
            found.mean += apart.abs();
            if apart.abs() > found.largest {
                found.largest = apart.abs();
                found.at = size;
            }
        }
        found.signed /= count.max(1) as f64;
        found.mean /= count.max(1) as f64;
        found
    }
    fn ratio(&self, hits: f64) -> f64 {
        if self.requests == 0 {
            return 1.0;
        }
        1.0 - hits / self.requests as f64
    }
    /// Returns the index of the first corner whose size exceeds `size`, starting with corner
    /// `from`.
    fn after(&self, size: f64, from: usize) -> usize {
        let rest = &self.corners[from..];
        let near = rest.iter().take(4).take_while(|c| c.size <= size).count();
        if near < 4 {
            return from + near;
        }
        from + rest.partition_point(|corner| corner.size <= size)
    }
    /// Returns the hits at `size`, which is between corner `after` and the corner before it.
    fn between(&self, size: f64, after: usize) -> f64 {
        let Some(low) = after.checked_sub(1).map(|index| self.corners[index]) else {
            return 0.0;
        };
        let Some(high) = self.corners.get(after) else {
            return low.hits;
        };
        low.hits + (high.hits - low.hits) * (size - low.size) / (high.size - low.size)
    }
}

/// Selects the points that a plot needs. Omits points while one line passes all of them within the
/// tolerance. The tolerance is a range of slopes from the last kept point (Williams, "An efficient
/// algorithm for the piecewise linear approximation of planar curves", 1978).
struct Cone {
    axis: Axis,
    tolerance: f64,
    kept: Point,
    last: Point,
    least: f64,
    most: f64,
}

impl Cone {
    fn new(first: Point, tolerance: f64, axis: Axis) -> Self {
        Self {
            axis,
            tolerance,
            kept: first,
            last: first,
            least: f64::NEG_INFINITY,
            most: f64::INFINITY,
        }
    }
    /// Adds a point; returns the previous point if it must be kept.
    fn pass(&mut self, point: Point) -> Option<Point> {
        let slope = (point.miss_ratio - self.kept.miss_ratio) / self.run(point);
        let turned = !(self.least..=self.most).contains(&slope);
        let corner = self.last;
        if turned {
            *self = Self::new(corner, self.tolerance, self.axis);
        }
        let run = self.run(point);
        let rise = point.miss_ratio - self.kept.miss_ratio;
        self.least = self.least.max((rise - self.tolerance) / run);
        self.most = self.most.min((rise + self.tolerance) / run);
        self.last = point;
        turned.then_some(corner)
    }
    fn run(&self, point: Point) -> f64 {
        match self.axis {
            Axis::Linear => point.size - self.kept.size,
            Axis::Logarithmic => (point.size / self.kept.size).ln(),
        }
    }
}
