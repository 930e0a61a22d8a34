//! Tails and quantiles of the binomial distribution.
//!
//! The functions are computed in software (`libm`), so that their values are the same on every
//! machine.

/// Relative precision at which the continued fraction ends.
const PRECISION: f64 = 1e-15;
const MAX_TERMS: u32 = 10_000;
/// Half the distance between two draws, so that no draw maps to an impossible event.
pub(crate) const HALF: f64 = 1.0 / (1_u64 << 54) as f64;

/// Returns the natural logarithm of the binomial coefficient `n` over `k`.
fn ln_choose(n: f64, k: f64) -> f64 {
    libm::lgamma(n + 1.0) - libm::lgamma(k + 1.0) - libm::lgamma(n - k + 1.0)
}

/// Returns the probability of exactly `k` errors in `n` bits with bit error rate `p`.
pub fn probability(n: u32, p: f64, k: u32) -> f64 {
    if k > n {
        return 0.0;
    }
    if p <= 0.0 || p >= 1.0 {
        let certain = if p <= 0.0 { 0 } else { n };
        return f64::from(u8::from(k == certain));
    }
    let (n, k) = (f64::from(n), f64::from(k));
    libm::exp(ln_choose(n, k) + k * libm::log(p) + (n - k) * libm::log1p(-p))
}

/// Returns the probability of more than `t` errors in `n` bits with bit error rate `p`: the
/// regularised incomplete beta function `I_p(t + 1, n - t)`. Small values keep their relative
/// precision.
pub fn tail(n: u32, p: f64, t: u32) -> f64 {
    if t >= n || p <= 0.0 {
        return 0.0;
    }
    if p >= 1.0 {
        return 1.0;
    }
    let (a, b) = (f64::from(t) + 1.0, f64::from(n) - f64::from(t));
    // The fraction converges fast on the near side of the mean.
    if p < (a + 1.0) / (a + b + 2.0) {
        beta_fraction(a, b, p)
    } else {
        1.0 - beta_fraction(b, a, 1.0 - p)
    }
}

/// Returns `x^a (1 - x)^b / (a B(a, b))` times its continued fraction (Lentz's method; Press et
/// al., Numerical Recipes, section 6.4).
fn beta_fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let away = |value: f64| if value.abs() < TINY { TINY } else { value };
    let ln_front = a * libm::log(x) + b * libm::log1p(-x) + libm::lgamma(a + b)
        - libm::lgamma(a)
        - libm::lgamma(b);
    let mut c = 1.0;
    let mut d = 1.0 / away(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = d;
    for m in 1..MAX_TERMS {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for term in [even, odd] {
            d = 1.0 / away(1.0 + term * d);
            c = away(1.0 + term / c);
            change = c * d;
            fraction *= change;
        }
        if (change - 1.0).abs() < PRECISION {
            break;
        }
    }
    libm::exp(ln_front) * fraction / a
}

/// Returns the maximum number of errors among `words` codewords of `n` bits each, sampled with
/// `draw`, which is uniform in `[0, 1)`: the smallest `e` for which the probability that at least
/// one codeword has more than `e` errors is at most `draw`.
pub fn most_errors(n: u32, p: f64, words: u32, draw: f64) -> u32 {
    if p <= 0.0 {
        return 0;
    }
    let above = -libm::expm1(libm::log1p(-(draw + HALF)) / f64::from(words.max(1)));
    quantile(n, p, above)
}

/// Returns the smallest `e` for which the probability of more than `e` errors is at most `above`.
pub fn quantile(n: u32, p: f64, above: f64) -> u32 {
    if above >= 1.0 {
        return 0;
    }
    let (mut low, mut high) = (0, n);
    // The search starts near the mean, where most draws are, in steps that double.
    let mean = f64::from(n) * p;
    let mut width = libm::sqrt(mean * (1.0 - p)).max(1.0);
    let mut probe = mean as u32;
    while low < high {
        let probed = probe.clamp(low, high - 1);
        if tail(n, p, probed) <= above {
            high = probed;
            probe = probed.saturating_sub(width as u32);
        } else {
            low = probed + 1;
            probe = probed.saturating_add(width as u32);
        }
        width *= 2.0;
        if f64::from(high - low) < width {
            probe = low.midpoint(high);
        }
    }
    low
}

/// Returns the probability that at least one of `words` codewords of `n` bits has more than `t`
/// errors.
pub fn page_fails(n: u32, p: f64, t: u32, words: u32) -> f64 {
    -libm::expm1(f64::from(words) * libm::log1p(-tail(n, p, t)))
}

/// Returns the bit error rate, between 0 and 1, at which a codeword of `n` bits has more than `t`
/// errors with probability `failure`.
pub fn rate_for(n: u32, t: u32, failure: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if tail(n, middle, t) < failure {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}
