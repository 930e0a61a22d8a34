//! Miss-ratio curves: which share of its requests an LRU cache would miss, for every size at once,
//! from one pass over the requests.
//!
//! | method | finds | memory | counts |
//! |---|---|---|---|
//! | [`Exact`] | the curve itself | every key | every request |
//! | [`ShardsRate`] | an estimate | a fixed share of the keys | the requests for these |
//! | [`ShardsSize`] | an estimate | a fixed number of keys | the requests for these |
//! | [`Aet`], [`AetRate`] | what a model says | every key; a share of them | the times between requests |
//!
//! Reads and writes count alike: both bring their key into the cache, and the curve is that of all
//! requests together. A curve of the reads alone would not be that of any cache.

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

/// Sizes at which two curves are compared at most.
const COMPARED: u64 = 1 << 20;

/// Misses by cache size.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// In ascending order of size, none twice. Straight between two of them; no hits at size 0;
    /// level behind the last.
    corners: Vec<Corner>,
    requests: u64,
    footprint: u64,
}

/// A size, in entries, and the requests that hit at it.
#[derive(Copy, Clone, Debug, PartialEq)]
struct Corner {
    size: f64,
    hits: f64,
}

const ORIGIN: Corner = Corner {
    size: 0.0,
    hits: 0.0,
};

/// A point to plot.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Point {
    /// Entries of the cache.
    pub size: f64,
    /// Misses by requests, 0 to 1.
    pub miss_ratio: f64,
}

/// How the axis of the sizes is drawn.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Axis {
    /// Equal steps are equal differences.
    Linear,
    /// Equal steps are equal ratios.
    Logarithmic,
}

/// How far the miss ratios of a curve are from those of another, over the sizes from 1 to the
/// footprint.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct Difference {
    /// Mean of the absolute differences.
    pub mean: f64,
    /// Mean of the differences: above zero where the other curve misses more.
    pub signed: f64,
    /// The largest absolute difference.
    pub largest: f64,
    /// The size at which it is.
    pub at: u64,
}

impl Curve {
    /// The curve through `corners`, in ascending order of size. Of corners of one size the last
    /// counts, and more hits than requests, or fewer than none, are the nearest possible number.
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
    /// The requests it is about.
    pub fn requests(&self) -> u64 {
        self.requests
    }
    /// The number of different keys among the requests; an estimate where keys were sampled.
    pub fn footprint(&self) -> u64 {
        self.footprint
    }
    /// The requests that hit in a cache of `size` entries, to the nearest whole number.
    pub fn hits(&self, size: u64) -> u64 {
        let after = self.after(size as f64, 0);
        self.between(size as f64, after).round() as u64
    }
    /// Misses by requests of a cache of `size` entries, 0 to 1; 1 if there are no requests.
    pub fn miss_ratio(&self, size: u64) -> f64 {
        let after = self.after(size as f64, 0);
        self.ratio(self.between(size as f64, after))
    }
    /// The corners that a plot needs, in ascending order of size, from size 1 to the last at which
    /// anything changes. The straight line between two neighbours, on an axis drawn as said, passes
    /// every corner left out between them within `tolerance` of its miss ratio.
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
    /// How far `other` is from this curve over the sizes from 1 to this curve's footprint: at every
    /// size if they are at most 2^20, otherwise at 2^20 sizes in equal steps, the last of which is
    /// the footprint.
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
    /// The first corner from `from` on whose size is more than `size`.
    fn after(&self, size: f64, from: usize) -> usize {
        let rest = &self.corners[from..];
        let near = rest.iter().take(4).take_while(|c| c.size <= size).count();
        if near < 4 {
            return from + near;
        }
        from + rest.partition_point(|corner| corner.size <= size)
    }
    /// Hits at `size`, which lies before corner `after` and not before the one in front of it.
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

/// Points left out as long as one straight line passes all of them closely enough: the slopes from
/// the last point kept that do (Williams, "An efficient algorithm for the piecewise linear
/// approximation of planar curves", 1978).
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
    /// The point in front of this one, if it has to be kept.
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
