//! Tests of miss-ratio curves. The exact curve is compared with a naive list, the LRU policy and
//! other simulators; estimates are compared with the exact curve and with theory.
#![allow(clippy::unwrap_used)] // test code, also outside test functions

#[path = "../../cache/tests/it/zipf.rs"]
mod zipf;

use std::num::NonZeroU32;

use wordline_cache::{Entry, Replace, Replacement, Replacing, Requests};
use wordline_kernel::Rng;
use wordline_miss_ratio::{
    Aet, AetRate, Axis, Curve, Exact, Interval, Method, Rate, ShardsRate, ShardsSize, accuracy,
};

/// Draws keys below `keys`. Smaller keys are drawn more often; a higher `power` increases the skew.
fn draws(name: &str, count: usize, keys: u64, power: i32) -> Vec<u64> {
    let mut stream = Rng::new(1, name);
    (0..count)
        .map(|_| (stream.unit().powi(power) * keys as f64) as u64)
        .collect()
}

fn requests(keys: &[u64]) -> Requests {
    Requests::from_keys(keys.iter().copied()).unwrap()
}

fn rate(rate: f64) -> Rate {
    Rate::new(rate).unwrap()
}

fn count(count: u32) -> NonZeroU32 {
    NonZeroU32::new(count).unwrap()
}

fn shards_rate(keys: &[u64], share: f64, seed: u64) -> Curve {
    let mut shards = ShardsRate::new(rate(share), seed);
    shards.extend(keys.iter().copied());
    shards.curve()
}

fn shards_size(keys: &[u64], room: u32, seed: u64) -> ShardsSize {
    let mut shards = ShardsSize::new(count(room), seed);
    shards.extend(keys.iter().copied());
    shards
}

/// Returns a trace with phases: skewed draws, scans, uniform draws.
fn phases() -> Vec<u64> {
    let mut keys = draws("phases, skewed", 15_000, 1_000, 3);
    keys.extend((0..3).flat_map(|_| 5_000..8_000));
    keys.extend(draws("phases, uniform", 15_000, 3_000, 1));
    keys.extend(draws("phases, skewed again", 15_000, 200, 3));
    keys
}

/// Naive LRU stack: a list of keys.
struct List(Vec<u64>);

impl List {
    fn touch(&mut self, key: u64) -> Option<u32> {
        let place = self.0.iter().rposition(|&other| other == key);
        let above = place.map(|place| {
            self.0.remove(place);
            (self.0.len() - place) as u32
        });
        self.0.push(key);
        above
    }
}

#[test]
fn stack_distances_match_those_of_a_list() {
    for (name, keys) in [
        ("phases", phases()),
        ("few keys", draws("few", 20_000, 3, 1)),
        ("one key", vec![u64::MAX; 10_000]),
        (
            "no reuse, then all",
            (0..9_000).chain((0..9_000).rev()).collect(),
        ),
    ] {
        let (mut list, mut exact) = (List(Vec::new()), Exact::default());
        let mut distances = Vec::new();
        for (place, (&key, &number)) in keys.iter().zip(requests(&keys).numbers()).enumerate() {
            let found = exact.request(Entry(number));
            assert_eq!(found, list.touch(key), "request {place} of {name}");
            distances.push(found);
        }
        let curve = exact.curve();
        assert_eq!(curve.footprint(), list.0.len() as u64);
        for size in (0..300).chain([1_000, 2_999, 3_000, 8_999, 9_000, u64::MAX]) {
            let hit = |distance: &&Option<u32>| distance.is_some_and(|d| u64::from(d) < size);
            let hits = distances.iter().filter(hit).count() as u64;
            assert_eq!(curve.hits(size), hits, "size {size} of {name}");
        }
    }
}

#[test]
fn exact_curve_equals_the_misses_of_lru_at_every_size() {
    let keys = draws("every size", 6_000, 150, 2);
    let requests = requests(&keys);
    let curve = Exact::of(&requests);
    for size in 1..=u64::from(requests.footprint()) + 2 {
        let mut lru = Replacing::new(&Replacement::default(), size as usize);
        let hit = |&&number: &&u32| lru.access(Entry(number), false, &mut ());
        let hits = requests.numbers().iter().filter(hit).count() as u64;
        assert_eq!(curve.hits(size), hits, "size {size}");
    }
}

/// Other simulators report these LRU hits, and errors of about 0.002 for SHARDS and 0.003 for AET
/// on the same trace.
#[test]
fn ten_million_requests_agree_with_other_simulators() {
    let keys = zipf::keys(10_000_000);
    let requests = requests(&keys);
    let exact = Exact::of(&requests);
    assert_eq!(exact.footprint(), 763_274);
    for (size, hits) in [
        (7_632, 5_632_348),
        (76_327, 7_538_588),
        (381_637, 8_889_420),
        (763_274, 10_000_000 - 763_274),
    ] {
        assert_eq!(exact.hits(size), hits, "{size} entries");
    }
    let shards = accuracy(&requests, &exact, Method::ShardsRate(rate(0.01)), 20).error;
    assert!((0.001..0.004).contains(&shards.mean), "SHARDS: {shards:?}");
    let aet = exact.difference(&Aet::of(&requests)).mean;
    assert!((0.002..0.004).contains(&aet), "AET: {aet}");
}

#[test]
fn sample_of_all_keys_gives_the_exact_curve() {
    let keys = phases();
    let exact = Exact::of(&requests(&keys));
    assert_eq!(shards_rate(&keys, 1.0, 5), exact);
    let room = exact.footprint() as u32;
    let shards = shards_size(&keys, room, 5);
    assert_eq!(shards.rate(), 1.0);
    assert_eq!(shards.curve(), exact);

    let scan: Vec<u64> = (0..20_000).chain((0..20_000).rev()).collect();
    let exact = Exact::of(&requests(&scan));
    let curve = shards_size(&scan, 20_000, 5).curve();
    let apart = exact.difference(&curve);
    assert!(
        apart.largest <= 4.0 / 40_000.0,
        "buckets of at most 4: {apart:?}"
    );

    let mut aet = AetRate::new(Rate::ALL, 5);
    aet.extend(keys.iter().copied());
    assert_eq!(aet.curve(), Aet::of(&requests(&keys)));
}

/// Uniform draws have a linear curve, which the noise of the distances cannot bend. The mean over
/// many hashes must be the exact curve. Keys and seeds are small numbers.
#[test]
fn estimates_of_linear_curves_are_unbiased() {
    let keys = draws("no bias", 40_000, 2_000, 1);
    let exact = Exact::of(&requests(&keys));
    let sizes = [200, 500, 1_000, 1_500, 3_000];
    for kind in ["rate", "size"] {
        let curves: Vec<Curve> = (0..200)
            .map(|seed| match kind {
                "rate" => shards_rate(&keys, 0.05, seed),
                _ => shards_size(&keys, 100, seed).curve(),
            })
            .collect();
        for size in sizes {
            let off = |curve: &Curve| curve.miss_ratio(size) - exact.miss_ratio(size);
            let found = Interval::of(&curves.iter().map(off).collect::<Vec<_>>());
            // Chance exceeds twice the 95 % interval once in 10,000 times. Draws and seeds are
            // fixed.
            assert!(
                found.mean.abs() < 2.0 * found.half_width,
                "fixed {kind}, {size} entries: {found:?}"
            );
        }
    }
}

/// Every key is sampled with probability R, independently of other keys and seeds, so the number of
/// sampled keys is binomial. If a seed only permuted small keys, the number would be the same for
/// all seeds.
#[test]
fn samples_of_different_seeds_are_independent() {
    let (keys, share, seeds) = (1 << 14, 0.05, 300);
    let every: Vec<u64> = (0..keys).collect();
    let footprints: Vec<f64> = (0..seeds)
        .map(|seed| shards_rate(&every, share, seed).footprint() as f64)
        .collect();
    let found = Interval::of(&footprints);
    let deviation = (keys as f64 * (1.0 - share) / share).sqrt();
    let standard_error = deviation / f64::from(seeds as u32).sqrt();
    assert!(
        (found.mean - keys as f64).abs() < 4.0 * standard_error,
        "{found:?}"
    );
    // The standard deviation of 300 samples is within 17 % of the true one, which is four standard
    // errors.
    let spread = found.half_width / 1.968 / standard_error;
    assert!(
        (0.83..1.17).contains(&spread),
        "the standard deviation is {spread} times that of a binomial distribution"
    );
}

/// The number of distinct keys follows from the smallest hashes. The relative standard error of
/// this k-minimum-values estimate is 1/sqrt(k - 2) (Beyer et al., SIGMOD 2007).
#[test]
fn fixed_size_sample_never_exceeds_its_size_and_estimates_the_footprint() {
    let keys = draws("footprint", 50_000, 30_000, 2);
    let exact = Exact::of(&requests(&keys));
    for room in [1, 2, 3, 50, 1_000] {
        let mut shards = ShardsSize::new(count(room), 3);
        let mut before = 1.0;
        for &key in &keys {
            shards.extend([key]);
            assert!(shards.keys() <= room as usize);
            assert!(shards.rate() <= before);
            before = shards.rate();
        }
        assert!(room < 50 || shards.keys() + 1 >= room as usize);
    }
    let estimates: Vec<f64> = (0..100)
        .map(|seed| shards_size(&keys, 400, seed).curve().footprint() as f64)
        .collect();
    let found = Interval::of(&estimates);
    let exact = exact.footprint() as f64;
    let standard_error = exact / 398.0_f64.sqrt() / 10.0;
    assert!(
        (found.mean - exact).abs() < 4.0 * standard_error,
        "{found:?}, {exact}"
    );
}

/// Caches smaller than the footprint have no hits. From the footprint on, every request after the
/// first pass hits.
#[test]
fn cyclic_scan_hits_only_in_caches_of_at_least_its_footprint() {
    let (footprint, rounds) = (5_000, 8);
    let keys: Vec<u64> = (0..rounds).flat_map(|_| 0..footprint).collect();
    let requests = requests(&keys);
    let exact = Exact::of(&requests);
    for size in [1, 2, 2_500, 4_999] {
        assert_eq!(exact.hits(size), 0);
        assert_eq!(exact.miss_ratio(size), 1.0);
    }
    for size in [5_000, 5_001, 1 << 40] {
        assert_eq!(exact.hits(size), footprint * (rounds - 1));
        assert_eq!(exact.miss_ratio(size), 1.0 / rounds as f64);
    }
    assert_eq!(Aet::of(&requests), exact);

    let share = 0.1;
    let deviation = (footprint as f64 * (1.0 - share) / share).sqrt();
    let margin = (4.0 * deviation) as u64;
    for seed in 0..20 {
        let estimate = shards_rate(&keys, share, seed);
        // The adjustment adds or removes requests only at the smallest sizes.
        let (below, above) = (footprint - margin, footprint + margin);
        let adjusted = 4.0 * deviation / footprint as f64;
        assert!((estimate.miss_ratio(below) - 1.0).abs() < adjusted);
        assert!((estimate.miss_ratio(above) - 1.0 / rounds as f64).abs() < adjusted);
    }
}

/// On independent draws with known probabilities, AET equals Che's approximation. Its
/// characteristic time t solves size = sum of 1 - (1 - p)^t, and its hit ratio is the sum of p (1 -
/// (1 - p)^t).
#[test]
fn aet_of_independent_draws_equals_ches_approximation() {
    let keys: u64 = 1_000;
    let weights: Vec<f64> = (1..=keys).map(|i| 1.0 / i as f64).collect();
    let sum: f64 = weights.iter().sum();
    let mut below = 0.0;
    let sums: Vec<f64> = (weights.iter())
        .map(|weight| {
            below += weight / sum;
            below
        })
        .collect();
    let mut stream = Rng::new(1, "che");
    let trace: Vec<u64> = (0..1_000_000)
        .map(|_| {
            let unit = stream.unit();
            sums.partition_point(|&below| below <= unit) as u64
        })
        .collect();
    let requests = requests(&trace);
    let (aet, exact) = (Aet::of(&requests), Exact::of(&requests));
    for time in [1, 10, 100, 1_000, 5_000] {
        let seen = |weight: &f64| 1.0 - (1.0 - weight / sum).powi(time);
        let size: f64 = weights.iter().map(seen).sum();
        let hits: f64 = weights
            .iter()
            .map(|weight| weight / sum * seen(weight))
            .sum();
        let size = size.round().max(1.0) as u64;
        let found = aet.miss_ratio(size);
        // Sizes are rounded to whole entries, which matters most for small sizes.
        let step = aet.miss_ratio(size - 1) - aet.miss_ratio(size + 1);
        assert!(
            (found - (1.0 - hits)).abs() < 0.003 + step / 2.0,
            "{size}: {found}, {hits}"
        );
    }
    let apart = exact.difference(&aet);
    assert!(apart.largest < 0.01, "{apart:?}");
}

#[test]
fn larger_caches_never_have_fewer_hits() {
    let keys = phases();
    let requests = requests(&keys);
    for method in [
        Method::ShardsRate(rate(0.02)),
        Method::ShardsSize(count(40)),
        Method::Aet,
        Method::AetRate(rate(0.02)),
    ] {
        for seed in 0..10 {
            let curve = method.curve(&requests, seed);
            assert_eq!(curve.miss_ratio(0), 1.0);
            for size in 0..9_000 {
                let (less, more) = (curve.miss_ratio(size), curve.miss_ratio(size + 1));
                assert!(less >= more, "{method}, seed {seed}, {size} entries");
                assert!((0.0..=1.0).contains(&more));
            }
        }
    }
}

#[test]
fn empty_and_short_traces_have_curves() {
    let empty = Exact::default().curve();
    assert_eq!(
        (empty.requests(), empty.footprint(), empty.hits(9)),
        (0, 0, 0)
    );
    assert_eq!(empty.miss_ratio(9), 1.0);
    assert_eq!(empty.difference(&empty).mean, 0.0);
    assert_eq!(Aet::default().curve(), empty);
    assert_eq!(ShardsRate::new(rate(0.5), 1).curve(), empty);
    assert_eq!(ShardsSize::new(count(1), 1).curve(), empty);
    assert_eq!(AetRate::new(rate(0.5), 1).curve(), empty);
    let points = empty.points(0.0, Axis::Logarithmic);
    assert_eq!(points.len(), 1);

    let one = requests(&[7]);
    for curve in [Exact::of(&one), Aet::of(&one)] {
        assert_eq!((curve.requests(), curve.footprint()), (1, 1));
        assert_eq!(curve.miss_ratio(1), 1.0);
    }
    // The only key is not in the sample.
    let same = vec![7; 1_000];
    let unseen = (0..1_000).find(|&seed| {
        let mut shards = ShardsRate::new(rate(0.1), seed);
        shards.extend([7]);
        shards.sampled() == 0
    });
    assert_eq!(shards_rate(&same, 0.1, unseen.unwrap()).miss_ratio(10), 0.0);
}

#[test]
fn invalid_sampling_rates_are_rejected() {
    for wrong in [0.0, -0.1, 1.000_001, f64::NAN, f64::INFINITY] {
        let message = Rate::new(wrong).unwrap_err().to_string();
        assert!(message.contains("above 0 and at most 1"), "{message}");
    }
    assert_eq!(rate(0.25).get(), 0.25);
    // The rate is so low that no key is likely to be sampled.
    assert_eq!(shards_rate(&phases(), 1e-300, 1).requests(), 60_000 - 6_000);
}

#[test]
fn plotted_points_deviate_by_at_most_the_tolerance() {
    let mut keys = phases();
    keys.extend((0..6).flat_map(|_| 10_000..15_000));
    let curve = Exact::of(&requests(&keys));
    for axis in [Axis::Linear, Axis::Logarithmic] {
        for tolerance in [0.0, 0.001, 0.01] {
            let points = curve.points(tolerance, axis);
            assert_eq!(points[0].size, 1.0);
            for pair in points.windows(2) {
                let [low, high] = pair else { continue };
                let run = |from: f64, to: f64| match axis {
                    Axis::Linear => to - from,
                    Axis::Logarithmic => (to / from).ln(),
                };
                for size in low.size as u64..=high.size as u64 {
                    let share = run(low.size, size as f64) / run(low.size, high.size);
                    let drawn = low.miss_ratio + share * (high.miss_ratio - low.miss_ratio);
                    let off = (drawn - curve.miss_ratio(size)).abs();
                    assert!(off <= tolerance + 1e-12, "{axis:?}, {size} entries: {off}");
                }
            }
            let last = points[points.len() - 1];
            assert_eq!(last.miss_ratio, curve.miss_ratio(u64::MAX));
            assert!(
                tolerance == 0.0 || points.len() < 250,
                "{} points",
                points.len()
            );
        }
    }
    let cliff: Vec<u64> = (0..8).flat_map(|_| 0..5_000).collect();
    let cliff = Exact::of(&requests(&cliff)).points(0.001, Axis::Linear);
    let at: Vec<(f64, f64)> = cliff.iter().map(|p| (p.size, p.miss_ratio)).collect();
    assert_eq!(at, [(1.0, 1.0), (4_999.0, 1.0), (5_000.0, 0.125)]);
}

/// The curves of two passes over four keys and of two passes over each of two pairs are calculated
/// by hand.
#[test]
fn difference_of_small_curves_covers_every_size() {
    let four = Exact::of(&requests(&[1, 2, 3, 4, 1, 2, 3, 4]));
    let pairs = Exact::of(&requests(&[1, 2, 1, 2, 3, 4, 3, 4]));
    // Miss ratios at 1, 2, 3, 4 entries: 1, 1, 1, 1/2 and 1, 1/2, 1/2, 1/2.
    let found = four.difference(&pairs);
    assert_eq!((found.mean, found.signed), (0.25, -0.25));
    assert_eq!((found.largest, found.at), (0.5, 2));
    assert_eq!(pairs.difference(&four).signed, 0.25);
    assert_eq!(four.difference(&four).largest, 0.0);
}

#[test]
fn confidence_intervals_follow_students_t_distribution() {
    // Mean 3, standard deviation sqrt(2.5); t is 2.776 at 4 degrees of freedom.
    let found = Interval::of(&[1.0, 2.0, 3.0, 4.0, 5.0]);
    assert_eq!(found.mean, 3.0);
    assert!((found.half_width - 2.776 * (2.5_f64 / 5.0).sqrt()).abs() < 1e-12);
    assert_eq!(Interval::of(&[1.0]).half_width, f64::INFINITY);
    // Many samples of alternating zeros and ones; t is 1.9840 at 100 degrees of freedom and 1.9602
    // at 10,000.
    for (samples, t) in [(101_u32, 1.9840), (10_001, 1.9602)] {
        let values: Vec<f64> = (0..samples).map(|i| f64::from(i % 2)).collect();
        let n = f64::from(samples);
        let ones = f64::from(samples / 2);
        let variance = ones * (n - ones) / n / (n - 1.0);
        let found = Interval::of(&values).half_width / (variance / n).sqrt();
        assert!((found - t).abs() < 1e-4, "{found}");
    }
}

#[test]
fn curve_can_be_computed_after_any_request() {
    let keys = phases();
    let numbered = requests(&keys);
    let mut exact = Exact::default();
    for (place, &number) in numbered.numbers().iter().enumerate() {
        exact.request(Entry(number));
        if place % 20_000 == 19_999 {
            let part = Exact::of(&requests(&keys[..=place]));
            assert_eq!(exact.curve(), part, "after request {place}");
        }
    }
    let mut shards = ShardsRate::new(rate(0.1), 2);
    let (first, second) = keys.split_at(10_000);
    shards.extend(first.iter().copied());
    assert_eq!(shards.curve(), shards_rate(first, 0.1, 2));
    shards.extend(second.iter().copied());
    assert_eq!(shards.curve(), shards_rate(&keys, 0.1, 2));
}

/// Requests before the reset are not counted, but their keys are still known.
#[test]
fn resetting_the_counters_keeps_the_keys() {
    let keys = phases();
    let (before, after) = keys.split_at(20_000);
    let mut shards = ShardsRate::new(Rate::ALL, 1);
    let mut sized = ShardsSize::new(count(1 << 20), 1);
    let mut list: Vec<u64> = Vec::new();
    shards.extend(before.iter().copied());
    sized.extend(before.iter().copied());
    shards.forget_requests();
    sized.forget_requests();
    shards.extend(after.iter().copied());
    sized.extend(after.iter().copied());
    let mut distances = Vec::new();
    for (place, &key) in keys.iter().enumerate() {
        let above = list.iter().rev().position(|&other| other == key);
        list.retain(|&other| other != key);
        list.push(key);
        if place >= before.len() {
            distances.extend(above);
        }
    }
    for size in (1..8_000).step_by(97) {
        let hits = distances.iter().filter(|&&above| above < size).count() as u64;
        assert_eq!(shards.curve().hits(size as u64), hits, "size {size}");
        assert_eq!(sized.curve().hits(size as u64), hits, "size {size}");
    }
    assert_eq!(shards.curve().requests(), after.len() as u64);
}

/// AET keeps the times of requests before the reset, so the curve of a steady load does not change.
#[test]
fn aet_keeps_request_times_when_counters_are_reset() {
    let keys = draws("aet.again", 400_000, 5_000, 3);
    let mut whole = AetRate::new(Rate::ALL, 1);
    whole.extend(keys.iter().copied());
    let mut half = AetRate::new(Rate::ALL, 1);
    half.extend(keys[..200_000].iter().copied());
    half.forget_requests();
    half.extend(keys[200_000..].iter().copied());
    let apart = whole.curve().difference(&half.curve());
    assert_eq!(half.curve().requests(), 200_000);
    assert!(apart.largest < 0.03, "{apart:?}"); // first requests are 1.3 % of all
}
