//! Failures and variation compared with closed forms.
#![allow(clippy::unwrap_used)] // test code, also outside test functions

use wordline_kernel::{Rng, Time};
use wordline_reliability::ecc::{Correct, bch::Bch};
use wordline_reliability::errors::table::Table as Rates;
use wordline_reliability::failures::{Fail, table::Table, weibull::Weibull};
use wordline_reliability::{ErrorDraws, Errors, ProgramMode, Read, Reader, Variation};

/// A block that has endured n cycles has survived the hazards of all of them:
/// `exp(-(n/scale)^shape)`, for erases and for programs of all of its pages.
#[test]
fn survival_over_all_cycles_has_a_weibull_distribution() {
    for shape in [0.7, 1.0, 3.0, 8.0] {
        let model = Weibull {
            erase_cycles: 500.0,
            program_cycles: 300.0,
            shape,
        };
        let (mut erased, mut programmed) = (1.0, 1.0);
        for cycle in 0..1_000_u32 {
            erased *= 1.0 - model.erase(f64::from(cycle));
            programmed *= (1.0 - model.program(f64::from(cycle), 64)).powi(64);
            let cycles = f64::from(cycle + 1);
            for (found, scale) in [(erased, 500.0), (programmed, 300.0)] {
                let expected: f64 = (-(cycles / scale).powf(shape)).exp();
                assert!(
                    (found - expected).abs() < 1e-9,
                    "{shape}, {cycles}: {found}, {expected}"
                );
            }
        }
    }
}

#[test]
fn scale_zero_causes_no_failures_and_a_table_is_exact_at_its_points() {
    let never = Weibull {
        erase_cycles: 0.0,
        program_cycles: 0.0,
        shape: 2.0,
    };
    assert!(never.is_none());
    assert_eq!((never.erase(1e6), never.program(1e6, 64)), (0.0, 0.0));
    let table = Table {
        cycles: vec![0.0, 1000.0, 3000.0],
        erase: vec![1e-6, 1e-4, 1.0],
        program: Vec::new(),
    };
    assert!(table.fault().is_none());
    assert_eq!(table.erase(1000.0), 1e-4);
    assert!((table.erase(500.0) - 1e-5).abs() < 1e-15);
    assert_eq!((table.erase(1e9), table.program(1e9, 1)), (1.0, 0.0));
    let wrong = Table {
        erase: vec![0.1],
        ..table.clone()
    };
    assert_eq!(wrong.fault().unwrap().key, "erase");
    let wrong = Table {
        erase: vec![0.1, 0.2, 1.1],
        ..table
    };
    assert_eq!(wrong.fault().unwrap().key, "erase");
}

/// The factors of blocks are log-normal with mean 1 and the configured coefficient of variation. A
/// block always has the same factor.
#[test]
fn blocks_vary_with_the_configured_coefficient() {
    assert_eq!(Variation::new(0.0, 1), None);
    for coefficient in [0.1, 0.5, 1.0] {
        let variation = Variation::new(coefficient, 3).unwrap();
        let count = 200_000;
        let factors: Vec<f64> = (0..count).map(|block| variation.factor(block)).collect();
        assert_eq!(factors[7], variation.factor(7));
        let mean = factors.iter().sum::<f64>() / f64::from(count);
        let square = factors.iter().map(|one| (one - mean).powi(2)).sum::<f64>();
        let found = (square / f64::from(count)).sqrt();
        // The standard error of the mean is v / sqrt(n). That of the variance is derived from the
        // fourth moment.
        assert!(
            (mean - 1.0).abs() < 5.0 * coefficient / f64::from(count).sqrt(),
            "{mean}"
        );
        assert!(
            (found / coefficient - 1.0).abs() < 0.05,
            "{coefficient}: {found}"
        );
        // The logarithm is symmetric around -sigma^2 / 2.
        let median = (1.0 + coefficient * coefficient).powf(-0.5);
        let below = factors.iter().filter(|one| **one < median).count() as f64;
        assert!((below / f64::from(count) - 0.5).abs() < 0.005, "{below}");
    }
}

/// Errors of codewords over varying blocks are overdispersed: variance m + (m v)^2. A page-type
/// factor multiplies the errors of its pages.
#[test]
fn errors_are_overdispersed_and_scale_with_page_factors() {
    let code = Bch::default().code().unwrap();
    let (rate, coefficient) = (2e-3, 0.5);
    let reader = Reader {
        errors: Errors::Table(Rates {
            cycles: vec![0.0],
            rates: vec![rate],
            per_day: Vec::new(),
            per_read: Vec::new(),
        }),
        page_factors: vec![1.0, 3.0],
        variation: Variation::new(coefficient, 11),
        shift: None,
        single_level: None,
        words: 1,
        code: code.clone(),
        cycles: 0.0,
        retention_days: 0.0,
        acceleration: 1.0,
        expected: false,
        read_limit: 0,
        refresh_days: 0.0,
    };
    let mut draws = ErrorDraws::new(Rng::new(5, "errors"));
    let count = 100_000;
    for (page, factor) in [(0, 1.0), (1, 3.0)] {
        let mut errors = |block| {
            let read = Read {
                block,
                page,
                lain: Some(Time::ZERO),
                ..Read::default()
            };
            f64::from(
                reader
                    .read(&read, ProgramMode::default(), 0, &mut draws)
                    .errors,
            )
        };
        let found: Vec<f64> = (0..count).map(&mut errors).collect();
        let mean = found.iter().sum::<f64>() / f64::from(count);
        let variance = found.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / f64::from(count);
        let expected = f64::from(code.bits) * rate * factor;
        assert!(
            (mean / expected - 1.0).abs() < 0.01,
            "mean {mean}, expected {expected}"
        );
        let overdispersed = expected + (expected * coefficient).powi(2);
        assert!(
            (variance / overdispersed - 1.0).abs() < 0.06,
            "variance {variance}, expected {overdispersed}"
        );
    }
}
