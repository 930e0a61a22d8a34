//! Compares the numbers of errors from brackets with those from one tail evaluation per draw.

use proptest::prelude::*;
use wordline_reliability::binomial::{most_errors, page_fails};
use wordline_reliability::brackets::Brackets;

/// Returns draws over the whole range, and draws on both sides of the thresholds of rate `p`.
fn draws(n: u32, p: f64, words: u32) -> Vec<f64> {
    let mean = (f64::from(n) * p) as u32;
    let thresholds =
        (0..12).map(|step| page_fails(n, p, (mean / 2) + step * (1 + mean / 8), words));
    let near = thresholds
        .flat_map(|at| [-1e-2, -1e-5, -1e-8, 0.0, 1e-8, 1e-5, 1e-2].map(|off| at * (1.0 + off)));
    let even = (0..50).map(|draw| f64::from(draw) / 50.0);
    let ends = [
        0.0,
        1e-16,
        1e-9,
        1e-4,
        0.999_98,
        0.999_999_9,
        1.0 - f64::EPSILON / 2.0,
    ];
    let all = even.chain(ends).chain(near);
    all.filter(|draw| (0.0..1.0).contains(draw)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn a_bracketed_number_of_errors_equals_the_exact_one(
        n in prop_oneof![1_u32..40, 4000_u32..40_000, 1_000_000_u32..1_048_576],
        exponent in -14.0_f64..-0.3,
        words in 1_u32..20,
    ) {
        let p = 10_f64.powf(exponent);
        let mut brackets = Brackets::default();
        // The rates are in the same cell of the grid and in neighbouring cells.
        for rate in [p, p * 1.000_01, p * 1.01] {
            for draw in draws(n, rate, words) {
                let exact = most_errors(n, rate, words, draw);
                prop_assert_eq!(brackets.most(n, rate, words, draw), exact, "{} {}", rate, draw);
            }
        }
    }
}
