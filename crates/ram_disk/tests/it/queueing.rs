//! Open loops of Poisson arrivals, compared with queueing theory.

use wordline_block::Op;
use wordline_kernel::{Rng, Time};

use crate::shared::{PAGE, SERVICE, disk, request, serve};

const REQUESTS: u32 = 1_000_000;

/// Returns the mean wait of Poisson arrivals at a utilisation, in service times.
fn mean_wait(channels: u32, utilisation: f64, seed: u64) -> f64 {
    let mut random = Rng::new(seed, "test.arrivals");
    let between = SERVICE.ps() as f64 / f64::from(channels) / utilisation;
    let mut at = 0.0;
    let asked = (0..REQUESTS).map(move |_| {
        at += random.exponential(between);
        request(Op::Read, PAGE, Time(at as u64))
    });
    let mut disk = disk(channels);
    serve(&mut disk, asked);
    let stats = disk.figures();
    assert_eq!(stats.response.count(), u64::from(REQUESTS));
    let mean = stats.response.sum_ps() as f64 / f64::from(REQUESTS);
    mean / SERVICE.ps() as f64 - 1.0
}

/// Returns the mean wait of an M/D/1 queue, rho / 2(1 - rho) (Pollaczek-Khinchine), in service
/// times.
fn m_d_1(utilisation: f64) -> f64 {
    utilisation / (2.0 * (1.0 - utilisation))
}

/// Returns the exact mean wait of an M/D/c queue, in service times, by Crommelin's sum. `a` is the
/// load c rho of all channels:
///
/// W = sum over n >= 1 of exp(-n a) (sum over k >= nc of (n a)^k / k! - (c/a) sum over k > nc of (n
/// a)^k / k!).
fn m_d_c(channels: u32, utilisation: f64) -> f64 {
    let load = f64::from(channels) * utilisation;
    let mut wait = 0.0;
    for n in 1..2000_u32 {
        let mean = f64::from(n) * load;
        let first = n * channels;
        // exp(-mean) mean^k / k!, from the logarithm.
        let log_factorial: f64 = (1..=first).map(|k| f64::from(k).ln()).sum();
        let mut term = (f64::from(first) * mean.ln() - mean - log_factorial).exp();
        let (mut from, mut above) = (term, 0.0);
        for k in first + 1.. {
            term *= mean / f64::from(k);
            from += term;
            above += term;
            if term < 1e-18 {
                break;
            }
        }
        let part = from - above * f64::from(channels) / load;
        wait += part;
        if part.abs() < 1e-12 {
            break;
        }
    }
    wait
}

/// For one channel, Crommelin's sum equals the Pollaczek-Khinchine formula.
#[test]
fn m_d_c_formula_equals_m_d_1_formula_for_one_channel() {
    for utilisation in [0.1, 0.3, 0.5, 0.8] {
        let (exact, sum) = (m_d_1(utilisation), m_d_c(1, utilisation));
        assert!(
            (sum / exact - 1.0).abs() < 1e-6,
            "{utilisation}: {sum} {exact}"
        );
    }
}

/// The measured deviations from theory are below 0.8 %.
#[test]
fn waits_of_one_channel_match_an_m_d_1_queue() {
    for utilisation in [0.1, 0.3, 0.5, 0.7] {
        let (wait, theory) = (mean_wait(1, utilisation, 1), m_d_1(utilisation));
        println!("rho {utilisation}: wait {wait:.5}, theory {theory:.5} service times");
        assert!((wait / theory - 1.0).abs() < 0.02, "{wait} {theory}");
    }
}

#[test]
fn waits_of_several_channels_match_an_m_d_c_queue() {
    for (channels, utilisation) in [(2, 0.3), (2, 0.7), (4, 0.5), (4, 0.8), (8, 0.8)] {
        let (wait, theory) = (
            mean_wait(channels, utilisation, 2),
            m_d_c(channels, utilisation),
        );
        println!(
            "c {channels}, rho {utilisation}: wait {wait:.5}, theory {theory:.5} service times"
        );
        assert!((wait / theory - 1.0).abs() < 0.03, "{wait} {theory}");
    }
}
