//! Blocks that err more than others of the same age.

use serde::{Deserialize, Serialize};
use wordline_kernel::Rng;

/// The raw bit error rate of a block over the mean of all: log-normal with mean 1. Errors of codewords are then overdispersed, as
/// those of real blocks are (V. Taranalli, H. Uchikawa, P. H. Siegel, Channel models for multi-level cell flash memories based on
/// empirical error analysis, IEEE Trans. Commun. 64, 2016): their variance is `m + (m v)^2` of a mean m and a coefficient of
/// variation v, up to terms of the order of the rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Variation {
    /// Standard deviation of the logarithm.
    sigma: f64,
    seed: u64,
}

impl Variation {
    /// With this coefficient of variation; none if it is zero.
    pub fn new(coefficient: f64, seed: u64) -> Option<Self> {
        let sigma = libm::sqrt(libm::log1p(coefficient * coefficient));
        (sigma > 0.0).then_some(Self { sigma, seed })
    }
    /// That of a block: always the same.
    pub fn factor(&self, block: u32) -> f64 {
        // Weyl's sequence: seeds of neighbours are far apart.
        let seed = self
            .seed
            .wrapping_add(u64::from(block).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut draws = Rng::new(seed, "nand.block_variation");
        // Box and Muller; 1 - unit is never zero.
        let radius = libm::sqrt(-2.0 * libm::log(1.0 - draws.unit()));
        let normal = radius * libm::cos(std::f64::consts::TAU * draws.unit());
        libm::exp(self.sigma * normal - self.sigma * self.sigma / 2.0)
    }
}
