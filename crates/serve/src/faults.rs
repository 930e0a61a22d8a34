//! Read errors on demand.

use wordline_kernel::Rng;

/// State of the read errors on demand.
#[derive(Debug)]
pub(crate) struct Faults {
    /// Byte ranges that cannot be read until they are written: begin and end, disjoint, ascending.
    ranges: Vec<(u64, u64)>,
    /// Share of the other reads that fail. Ratio.
    rate: f64,
    random: Rng,
}

impl Faults {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            ranges: Vec::new(),
            rate: 0.0,
            random: Rng::new(seed, "read errors on demand"),
        }
    }
    /// Makes a byte range unreadable.
    pub(crate) fn add(&mut self, begin: u64, end: u64) {
        self.remove(begin, end);
        let place = self.ranges.partition_point(|(other, _)| *other < begin);
        self.ranges.insert(place, (begin, end));
    }
    /// Makes a byte range readable.
    pub(crate) fn remove(&mut self, begin: u64, end: u64) {
        if !self.ranges.iter().any(|range| overlap(*range, begin, end)) {
            return;
        }
        let ranges = std::mem::take(&mut self.ranges).into_iter();
        self.ranges = ranges
            .flat_map(|(from, to)| [(from, to.min(begin)), (from.max(end), to)])
            .filter(|(from, to)| from < to)
            .collect();
    }
    /// Sets the share of reads that fail.
    pub(crate) fn set_rate(&mut self, rate: f64) {
        self.rate = rate;
    }
    /// Ends all read errors: makes all bytes readable and sets the share of failing reads to 0.
    pub(crate) fn clear(&mut self) {
        self.ranges.clear();
        self.rate = 0.0;
    }
    /// Returns `true` if a read of a range fails: if it touches an unreadable byte, or at random.
    pub(crate) fn fails(&mut self, offset: u64, bytes: u64) -> bool {
        let (begin, end) = (offset, offset + bytes);
        self.ranges.iter().any(|range| overlap(*range, begin, end))
            || self.rate > 0.0 && self.random.unit() < self.rate
    }
}

fn overlap((from, to): (u64, u64), begin: u64, end: u64) -> bool {
    from < end && begin < to
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_part_of_an_unreadable_range_is_readable() {
        let mut faults = Faults::new(1);
        faults.add(4096, 16_384);
        faults.add(8192, 12_288);
        faults.remove(8192, 12_288);
        assert!(!faults.fails(8192, 4096));
        assert!(faults.fails(4096, 4096) && faults.fails(12_288, 4096));
        assert!(faults.fails(0, 1 << 20));
        assert!(!faults.fails(0, 4096) && !faults.fails(16_384, 4096));
        faults.clear();
        assert!(!faults.fails(0, 1 << 20));
    }

    #[test]
    fn rate_is_the_share_of_failing_reads() {
        let mut faults = Faults::new(1);
        faults.set_rate(0.25);
        let failed = (0..10_000).filter(|_| faults.fails(0, 512)).count();
        assert!((2_300..2_700).contains(&failed), "{failed}");
    }
}
