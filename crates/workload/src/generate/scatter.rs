//! Fixed bijection that scatters small numbers over a range.

use wordline_kernel::random::splitmix;

const ROUNDS: u64 = 4;

/// Bijection of `0..size` onto itself that looks random and depends only on the size. It is a
/// Feistel network over the next even power of two, iterated until the value is in the range (Black
/// and Rogaway, CT-RSA 2002).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scatter {
    size: u64,
    half_bits: u32,
}

impl Scatter {
    /// Creates the bijection for a range of `size` numbers, 1 to 2^62.
    pub(crate) fn new(size: u64) -> Self {
        let bits = u64::BITS - (size - 1).leading_zeros();
        Self {
            size,
            half_bits: bits.div_ceil(2).max(1),
        }
    }

    /// Returns the image of `index`, which must be below the size.
    pub(crate) fn place(&self, index: u64) -> u64 {
        let mut place = self.permuted(index);
        while place >= self.size {
            place = self.permuted(place);
        }
        place
    }

    fn permuted(&self, value: u64) -> u64 {
        let mask = (1 << self.half_bits) - 1;
        let (mut left, mut right) = (value >> self.half_bits, value & mask);
        for round in 0..ROUNDS {
            let mixed = splitmix(right ^ splitmix(round ^ self.size)) & mask;
            (left, right) = (right, left ^ mixed);
        }
        left << self.half_bits | right
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scatter_is_a_bijection() {
        for size in [1, 2, 3, 5, 16, 17, 1000, 65_537] {
            let scatter = Scatter::new(size);
            let mut places: Vec<u64> = (0..size).map(|index| scatter.place(index)).collect();
            places.sort_unstable();
            assert!(places.into_iter().eq(0..size), "{size}");
        }
    }

    #[test]
    fn neighbouring_numbers_are_scattered() {
        let scatter = Scatter::new(1 << 20);
        let near = (0..1000).filter(|&i| scatter.place(i).abs_diff(scatter.place(i + 1)) < 1000);
        assert!(near.count() < 20);
    }
}
