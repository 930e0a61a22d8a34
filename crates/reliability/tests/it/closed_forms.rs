//! Tails, quantiles and rates compared with closed forms. Values given to twelve digits are exact
//! sums of binomial terms in 60-digit decimal arithmetic.
#![allow(clippy::unwrap_used, clippy::unreadable_literal)] // digits as printed

use proptest::prelude::*;
use wordline_kernel::Rng;
use wordline_reliability::binomial::{
    most_errors, page_fails, probability, quantile, rate_for, tail,
};
use wordline_reliability::ecc::{Correct, bch::Bch, ldpc::Ldpc};
use wordline_reliability::errors::analytic::{Analytic, Cells};
use wordline_reliability::errors::fitted::{Fitted, Reads};
use wordline_reliability::errors::{Err, acceleration, table::Table};
use wordline_reliability::program_step::{Shift, Step, error_rate, noise_for};
use wordline_reliability::{Age, Ecc, ProgramMode, SingleLevel};

fn close(found: f64, expected: f64, share: f64) {
    let off = (found / expected - 1.0).abs();
    assert!(
        off <= share,
        "{found:e} differs from {expected:e} by a ratio of {off:e}"
    );
}

#[test]
fn binomial_tails_match_exact_sums() {
    for (n, p, t, expected) in [
        (8752, 1e-3, 40, 2.379959717505e-15),
        (4408, 6.49e-4, 24, 1.014456596714e-15),
        (8752, 4e-3, 40, 1.749717444417e-1),
        (8752, 5e-3, 40, 6.825861507548e-1),
        (100, 0.3, 30, 4.508763992312e-1),
        (10, 0.5, 0, 9.990234375e-1),
        (9216, 4.57e-3, 44, 3.482769547905e-1),
    ] {
        close(tail(n, p, t), expected, 1e-9);
    }
}

#[test]
fn codes_fail_once_in_1e15_blocks_at_the_predicted_rates() {
    let code = |data_bits, correctable| Bch {
        data_bits,
        correctable,
        ..Bch::default()
    };
    for (data, t, bits, rate) in [(8192, 40, 8752, 9.74e-4), (4096, 24, 4408, 6.49e-4)] {
        assert_eq!(code(data, t).bits(), bits);
        close(rate_for(bits as u32, t, 1e-15), rate, 1e-3);
    }
}

proptest! {
    #[test]
    fn a_tail_and_its_complement_sum_to_one(n in 1_u32..400, p in 0.0_f64..1.0, t in 0_u32..400) {
        let within: f64 = (0..=t.min(n)).map(|k| probability(n, p, k)).sum();
        prop_assert!((tail(n, p, t) + within - 1.0).abs() < 1e-9);
    }
    #[test]
    fn a_quantile_is_the_smallest_number_with_that_tail(n in 1_u32..5000, p in 0.0_f64..0.6, above in 1e-16_f64..1.0) {
        let errors = quantile(n, p, above);
        prop_assert!(tail(n, p, errors) <= above);
        prop_assert!(errors == 0 || tail(n, p, errors - 1) > above);
    }
}

#[test]
fn sampled_errors_have_the_predicted_mean_and_tail() {
    let (n, p, count) = (8752, 1e-3, 200_000);
    let mut draws = Rng::new(3, "errors");
    let drawn: Vec<u32> = (0..count)
        .map(|_| most_errors(n, p, 1, draws.unit()))
        .collect();
    let mean = drawn.iter().map(|&e| f64::from(e)).sum::<f64>() / f64::from(count);
    // The tolerance is five standard errors.
    let error = 5.0 * (f64::from(n) * p * (1.0 - p) / f64::from(count)).sqrt();
    assert!((mean - f64::from(n) * p).abs() < error, "{mean}");
    let above = drawn.iter().filter(|&&e| e > 15).count() as f64 / f64::from(count);
    let expected = tail(n, p, 15);
    assert!((above - expected).abs() < 5.0 * (expected / f64::from(count)).sqrt());
}

#[test]
fn the_worst_of_several_codewords_has_the_predicted_distribution() {
    let (n, p, words, t, count) = (8752, 3e-3, 16, 40, 100_000);
    let mut draws = Rng::new(4, "errors");
    let failed = (0..count).filter(|_| most_errors(n, p, words, draws.unit()) > t);
    let share = failed.count() as f64 / f64::from(count);
    let expected = page_fails(n, p, t, words);
    let single = tail(n, p, t);
    close(expected, 1.0 - (1.0 - single).powf(f64::from(words)), 1e-9);
    assert!((share - expected).abs() < 5.0 * (expected / f64::from(count)).sqrt());
}

#[test]
fn error_rates_of_program_steps_match_the_integral() {
    // The expected rates are midpoint sums of 200,000 terms.
    for (distance, step, expected) in [
        (1.974, 0.75, 4.564588e-3),
        (1.974, 1.0, 8.920225e-3),
        (1.974, 4.0 / 3.0, 1.995608e-2),
        (1.5792, 0.8, 2.163766e-2),
    ] {
        close(error_rate(distance, step, 0.32), expected, 1e-5);
        close(noise_for(distance, step, expected), 0.32, 1e-5);
    }
}

#[test]
fn one_noise_level_gives_the_error_rates_of_all_program_modes() {
    let step = |step, voltage| Step { step, voltage };
    let steps = [
        step(1.0, 1.0),
        step(4.0 / 3.0, 1.0),
        step(0.75, 1.0),
        step(0.8, 0.8),
    ];
    let shift = Shift::new(1.974, &steps);
    for rate in [1e-6, 3.3e-5, 1e-3, 8.920225e-3, 0.1] {
        let noise = noise_for(1.974, 1.0, rate);
        for mode in ProgramMode::ALL {
            let Step { step, voltage } = steps[mode.index()];
            let expected = error_rate(1.974 * voltage, step, noise);
            close(shift.rate(mode, rate), expected, 5e-3);
        }
    }
}

fn age(cycles: f64, retention_days: f64, reads: f64) -> Age {
    Age {
        cycles,
        retention_days,
        reads,
        pages: 1,
    }
}

#[test]
fn published_fits_give_the_published_rates_up_to_their_limit() {
    let of = |cells, limit| Analytic { cells, limit };
    let mlc = of(Cells::Mlc, 0.5);
    close(mlc.rate(&age(3000.0, 30.0, 0.0)).rate, 1.335e-4, 1e-3);
    close(mlc.rate(&age(3000.0, 365.0, 0.0)).rate, 8.632e-2, 1e-3);
    let tlc = of(Cells::Tlc, 0.5);
    close(tlc.rate(&age(1000.0, 0.0, 10_000.0)).rate, 0.2542, 1e-3);
    let many_pages = Age {
        pages: 100,
        ..age(1000.0, 0.0, 1e6)
    };
    close(tlc.rate(&many_pages).rate, 0.2542, 1e-3);
    let limited = of(Cells::Mlc, 0.05).rate(&age(3000.0, 365.0, 0.0));
    assert!(limited.is_limited);
    assert_eq!(limited.rate, 0.05);
    assert!(
        !of(Cells::Mlc, 0.05)
            .rate(&age(3000.0, 30.0, 0.0))
            .is_limited
    );
}

#[test]
fn a_user_defined_fit_is_the_sum_of_its_terms() {
    let own = Fitted {
        e: 1e-6,
        a: 2e-9,
        k: 2.0,
        b: 3e-8,
        m: 1.0,
        n: 0.5,
        g: 4e-10,
        p: 1.0,
        q: 1.0,
        ..Fitted::default()
    };
    // The sum is 1e-6 + 2e-9 x 10^2 + 3e-8 x 10 x 9^0.5 + 4e-10 x 10 x 50.
    close(own.rate(&age(10.0, 9.0, 50.0)).rate, 2.3e-6, 1e-12);
    close(own.rate(&age(10.0, 0.0, 0.0)).rate, 1.2e-6, 1e-12);
    let by_page = Fitted {
        reads: Reads::Page,
        ..own.clone()
    };
    let of_ten_pages = Age {
        pages: 10,
        ..age(10.0, 0.0, 50.0)
    };
    close(by_page.rate(&of_ten_pages).rate, 1.22e-6, 1e-12);
    close(own.rate(&of_ten_pages).rate, 1.4e-6, 1e-12);
    // A stress of zero adds no errors, whatever its exponent.
    let flat = Fitted { n: 0.0, ..own };
    close(flat.rate(&age(10.0, 0.0, 0.0)).rate, 1.2e-6, 1e-12);
    assert_eq!(Fitted::default().rate(&age(1e5, 1e5, 1e9)).rate, 0.0);
}

#[test]
fn an_error_rate_table_is_exact_at_its_points_and_logarithmic_in_between() {
    let table = Table {
        cycles: vec![0.0, 1000.0],
        rates: vec![1e-5, 1e-3],
        per_day: vec![1e-6, 3e-6],
        per_read: Vec::new(),
    };
    assert_eq!(table.fault(), None);
    let rate = |cycles, days| table.rate(&age(cycles, days, 1e6)).rate;
    close(rate(0.0, 0.0), 1e-5, 1e-12);
    close(rate(500.0, 0.0), 1e-4, 1e-9);
    close(rate(9999.0, 10.0), 1e-3 + 3e-5, 1e-12);
    let crooked = Table {
        rates: vec![1e-5],
        ..table
    };
    assert_eq!(crooked.fault().unwrap().key, "rates");
}

#[test]
fn temperature_acceleration_follows_arrhenius() {
    // The factor is exp(1.1 eV / k (1/303.15 K - 1/328.15 K)).
    close(acceleration(1.1, 55.0, 30.0), 24.728749, 1e-6);
    assert_eq!(acceleration(1.1, 40.0, 40.0), 1.0);
}

#[test]
fn read_retry_continues_while_there_are_too_many_errors() {
    let code = Ldpc::default().code().unwrap();
    let most = |level: usize| code.ladder[level].correctable;
    assert_eq!([most(0), most(1), most(2)], [44, 180, 201]);
    let level = |errors| code.corrects(0, errors);
    assert_eq!(level(44), Some(0));
    assert_eq!(level(45), Some(1));
    assert_eq!(level(181), Some(2));
    assert_eq!(level(202), None);
    assert_eq!(code.corrects(2, 0), Some(2));
    assert_eq!(code.words(4096), 4);
}

#[test]
fn every_code_is_valid_by_default() {
    for ecc in Ecc::defaults() {
        let code = ecc.code().unwrap();
        assert!(
            !code.ladder.is_empty() && code.bits >= code.data_bits,
            "{}",
            ecc.name()
        );
    }
}

/// Two states instead of `2^b` are `2^b - 1` times as far apart, with the same noise.
#[test]
fn single_level_error_rate_matches_the_larger_state_distance() {
    // Cells of one bit are always in single-level mode.
    let one = SingleLevel::new(1);
    for rate in [1e-9, 1e-4, 0.03] {
        close(one.rate(rate), rate, 1e-9);
    }
    // Two bits per cell: there are three boundaries between four states, and each boundary is next
    // to half of the cells. In normal mode, 3/4 Q(x) of the bits are wrong, and in single-level
    // mode Q(3 x). Values of Q are those of Abramowitz and Stegun, table 26.1.
    let two = SingleLevel::new(2);
    for (from, to) in [
        (0.158_655_253_931, 0.001_349_898_032),
        (0.022_750_131_948, 9.865_876_450e-10),
    ] {
        close(two.rate(0.75 * from), to, 1e-2);
    }
    // With three bits per cell, the states are seven times as far apart, so the rate is negligible.
    assert!(SingleLevel::new(3).rate(1e-2) < 1e-40);
    assert_eq!(two.rate(0.0), 0.0);
}
