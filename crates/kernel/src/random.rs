//! Named random number generators.

use rand_pcg::Pcg64;
use rand_pcg::rand_core::{Rng as _, SeedableRng};
use serde::{Deserialize, Serialize};

/// Random number generator determined by a seed and a name.
///
/// Each consumer owns one, so adding a consumer does not change the numbers of another. The
/// algorithm (PCG XSL RR 128/64) is fixed: a digest must hold on any machine and in any later
/// version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rng(Pcg64);

impl Rng {
    /// Creates the generator that `seed` and `name` determine.
    pub fn new(seed: u64, name: &str) -> Self {
        let mut key = [0_u8; 32];
        let mut state = splitmix(seed ^ 0x7770_6c6e_6b65_7931);
        for chunk in name.as_bytes().chunks(8) {
            let mut word = [0_u8; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            state = splitmix(state ^ u64::from_le_bytes(word)).wrapping_add(chunk.len() as u64);
        }
        for chunk in key.chunks_mut(8) {
            state = splitmix(state);
            chunk.copy_from_slice(&state.to_le_bytes());
        }
        Self(Pcg64::from_seed(key))
    }
    /// Returns 64 uniform random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }
    /// Returns a uniform integer in `0..bound` without bias (Lemire 2019). `bound` must not be
    /// zero.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        debug_assert!(bound > 0, "a draw needs a non-empty range");
        let mut product = u128::from(self.bits()) * u128::from(bound);
        if (product as u64) < bound {
            let threshold = bound.wrapping_neg() % bound;
            while (product as u64) < threshold {
                product = u128::from(self.bits()) * u128::from(bound);
            }
        }
        (product >> 64) as u64
    }
    /// Returns a uniform number in `[0, 1)` with 53 random bits.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }
    /// Returns an exponentially distributed number with the given mean. The logarithm is computed
    /// in software, so that the result is the same on every machine.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log(1.0 - self.unit())
    }
}

/// Computes one step of splitmix64 (Steele, Lea and Flood 2014), a bijection that scatters its
/// input.
pub const fn splitmix(input: u64) -> u64 {
    let mut z = input.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generators_differ_by_seed_and_by_name() {
        let first = |seed, name| Rng::new(seed, name).bits();
        assert_eq!(first(1, "gc"), first(1, "gc"));
        let all = [
            first(1, "gc"),
            first(2, "gc"),
            first(1, "gd"),
            first(1, "gc\0"),
            first(1, ""),
        ];
        for (i, a) in all.iter().enumerate() {
            assert!(!all[i + 1..].contains(a));
        }
    }

    #[test]
    fn draws_below_a_bound_are_uniform() {
        let mut stream = Rng::new(7, "uniform");
        let mut counts = [0_u32; 6];
        for _ in 0..60_000 {
            counts[stream.below(6) as usize] += 1;
        }
        let chi: f64 = counts
            .iter()
            .map(|&n| (f64::from(n) - 10_000.0).powi(2) / 10_000.0)
            .sum();
        assert!(
            chi < 20.5,
            "chi-squared {chi} exceeds the 0.1 % point of 5 degrees of freedom"
        );
    }
}
