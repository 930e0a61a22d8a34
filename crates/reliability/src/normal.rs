//! Upper tail of the normal distribution.

/// Returns `Q(x)`, the probability that a standard normal variable exceeds `x`.
pub fn tail(x: f64) -> f64 {
    libm::erfc(x / core::f64::consts::SQRT_2) / 2.0
}

/// Returns the `x` for which [`tail`] is `probability`, which must be between 2^-1000 and one half.
pub fn quantile(probability: f64) -> f64 {
    let (mut low, mut high) = (0.0, 38.0);
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if tail(middle) > probability {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

/// Returns the integral of [`tail`] from `x` to infinity: `phi(x) - x Q(x)`.
pub fn tail_integral(x: f64) -> f64 {
    let density = libm::exp(-x * x / 2.0) / libm::sqrt(2.0 * core::f64::consts::PI);
    density - x * tail(x)
}
