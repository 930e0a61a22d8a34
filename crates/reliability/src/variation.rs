//! Variation of error rates between blocks of the same age.

use serde::{Deserialize, Serialize};
use wordline_kernel::Rng;

/// Raw bit error rate of a block relative to the mean of all: log-normal with mean 1. The errors of
/// codewords are then overdispersed, like those of real blocks (V. Taranalli, H. Uchikawa, P. H.
/// Siegel, Channel models for multi-level cell flash memories based on empirical error analysis,
/// IEEE Trans. Commun. 64, 2016): their variance is `m + (m v)^2` for mean m and coefficient of
/// variation v, up to terms of the order of the rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Variation {
    /// Standard deviation of the logarithm.
    sigma: f64,
    seed: u64,
}

impl Variation {
    /// Creates the variation with this coefficient of variation; `None` if it is zero.
    pub fn new(coefficient: f64, seed: u64) -> Option<Self> {
        let sigma = libm::sqrt(libm::log1p(coefficient * coefficient));
        (sigma > 0.0).then_some(Self { sigma, seed })
    }
    /// Returns the factor of a block, which is the same on every call.
    pub fn factor(&self, block: u32) -> f64 {
        // Weyl sequence: the seeds of neighbouring blocks are far apart.
        let seed = self
            .seed
            .wrapping_add(u64::from(block).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut draws = Rng::new(seed, "nand.block_variation");
        // Box-Muller transform; 1 - unit is never zero.
        let radius = libm::sqrt(-2.0 * libm::log(1.0 - draws.unit()));
        let normal = radius * libm::cos(std::f64::consts::TAU * draws.unit());
        libm::exp(self.sigma * normal - self.sigma * self.sigma / 2.0)
    }
}
