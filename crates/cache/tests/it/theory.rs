//! Theory of replacement: bounds, approximations and cyclic traces.
#![allow(clippy::unwrap_used)] // test code, also outside test functions

use std::collections::BTreeSet;

use wordline_cache::{Entry, Replace, Replacement, Replacing, Requests};
use wordline_kernel::Rng;

/// Parses a policy in the syntax of a configuration.
fn policy(text: &str) -> Replacement {
    serde_json::from_str(text).unwrap()
}

fn hits(policy: &Replacement, capacity: usize, requests: &Requests) -> u64 {
    Replacing::new(policy, capacity).replay(requests).hits
}

fn hits_of(name: &str, capacity: usize, requests: &Requests) -> u64 {
    hits(&policy(&format!("{name:?}")), capacity, requests)
}

/// Returns the probabilities of keys by rank, proportional to 1 / rank^alpha.
fn zipf(keys: u32, alpha: f64) -> Vec<f64> {
    let weights: Vec<f64> = (1..=keys)
        .map(|rank| f64::from(rank).powf(-alpha))
        .collect();
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / sum).collect()
}

/// Draws independent requests for keys with these probabilities.
fn independent(probabilities: &[f64], count: usize, seed: u64) -> Requests {
    let mut random = Rng::new(seed, "theory.independent");
    let mut sum = 0.0;
    let bounds: Vec<f64> = probabilities
        .iter()
        .map(|p| {
            sum += p;
            sum
        })
        .collect();
    let last = bounds.len() as u64 - 1;
    let keys = (0..count).map(|_| {
        let u = random.unit();
        (bounds.partition_point(|&bound| bound <= u) as u64).min(last)
    });
    Requests::from_keys(keys).unwrap()
}

/// Returns `rounds` sequential passes over the keys below `keys`.
fn cycle(keys: u64, rounds: u64) -> Requests {
    Requests::from_keys((0..keys * rounds).map(|place| place % keys)).unwrap()
}

/// Returns a random walk with jumps and scans.
fn walk(keys: u64, count: usize, seed: u64) -> Requests {
    let mut random = Rng::new(seed, "theory.walk");
    let mut at = 0;
    let keys = (0..count).map(|_| {
        at = match random.below(50) {
            0 => random.below(keys),
            1..20 => at + 1,
            _ => at + keys - random.below(6),
        } % keys;
        at
    });
    Requests::from_keys(keys).unwrap()
}

/// Returns traces of different kinds, each with at most a few hundred keys.
fn traces() -> Vec<Requests> {
    vec![
        independent(&zipf(300, 1.0), 6_000, 1),
        independent(&zipf(300, 0.3), 6_000, 2),
        cycle(97, 40),
        walk(250, 6_000, 3),
        walk(40, 3_000, 4),
    ]
}

#[test]
fn belady_has_the_fewest_misses_and_at_least_one_per_key() {
    for requests in traces() {
        let most = hits_of("unbounded", 1, &requests);
        assert_eq!(
            most,
            requests.len() as u64 - u64::from(requests.footprint())
        );
        for capacity in [1, 2, 3, 5, 10, 30, 60, 90, 150, 299] {
            let ceiling = hits_of("belady", capacity, &requests);
            assert!(ceiling <= most);
            for policy in Replacement::defaults() {
                if policy.name() != "unbounded" {
                    let hits = hits(&policy, capacity, &requests);
                    assert!(
                        hits <= ceiling,
                        "{policy:?} with {capacity}: {hits} > {ceiling}"
                    );
                }
            }
        }
    }
}

#[test]
fn policies_miss_each_key_once_if_all_keys_fit() {
    for requests in traces() {
        let keys = requests.footprint();
        for policy in Replacement::defaults() {
            let counts = Replacing::new(&policy, keys as usize).replay(&requests);
            assert_eq!(counts.misses(), u64::from(keys), "{policy:?}");
            assert_eq!(counts.evictions, 0, "{policy:?}");
        }
    }
}

/// Returns the fewest misses over all choices of victims, by exploring every reachable set of
/// residents.
fn fewest_misses(numbers: &[u32], capacity: usize) -> usize {
    let mut reached: Vec<(BTreeSet<u32>, usize)> = vec![(BTreeSet::new(), 0)];
    for &number in numbers {
        let mut next: Vec<(BTreeSet<u32>, usize)> = Vec::new();
        let mut reach = |set: BTreeSet<u32>, misses: usize| match next
            .iter_mut()
            .find(|(other, _)| *other == set)
        {
            Some((_, least)) => *least = misses.min(*least),
            None => next.push((set, misses)),
        };
        for (set, misses) in reached {
            let with = |set: &BTreeSet<u32>| set.iter().copied().chain([number]).collect();
            if set.contains(&number) {
                reach(set, misses);
            } else if set.len() < capacity {
                reach(with(&set), misses + 1);
            } else {
                for victim in &set {
                    let mut left = set.clone();
                    left.remove(victim);
                    reach(with(&left), misses + 1);
                }
            }
        }
        reached = next;
    }
    reached.iter().map(|&(_, misses)| misses).min().unwrap_or(0)
}

#[test]
fn belady_matches_an_exhaustive_search() {
    let mut random = Rng::new(1, "theory.search");
    for _ in 0..300 {
        let keys = 2 + random.below(6);
        let capacity = 1 + random.below(4) as usize;
        let trace: Vec<u64> = (0..25).map(|_| random.below(keys)).collect();
        let requests = Requests::from_keys(trace).unwrap();
        let misses = requests.len() as u64 - hits_of("belady", capacity, &requests);
        assert_eq!(misses as usize, fewest_misses(requests.numbers(), capacity));
    }
}

#[test]
fn larger_lru_cache_hits_at_least_as_often_as_a_smaller_one() {
    for requests in traces() {
        let sizes = [1, 2, 3, 7, 20, 60, 61, 200];
        let mut caches = sizes.map(|size| Replacing::new(&Replacement::default(), size));
        for &number in requests.numbers() {
            let hits = caches
                .each_mut()
                .map(|cache| cache.access(Entry(number), false, &mut ()));
            assert!(hits.is_sorted(), "{hits:?} with {sizes:?} entries");
        }
    }
}

/// MIN is a stack algorithm (Mattson et al., IBM Systems Journal 9(2), 1970).
#[test]
fn larger_belady_cache_misses_no_more_often_than_a_smaller_one() {
    for requests in traces() {
        let hits = (1..=120).map(|capacity| hits_of("belady", capacity, &requests));
        assert!(hits.is_sorted());
    }
}

/// In repeated passes over more keys than fit, the least recently used entry is always the next one
/// requested. MIN keeps all but one of its entries for the next `keys - 1` requests. LIRS keeps its
/// LIR entries and misses the others.
#[test]
fn cyclic_trace_never_hits_in_lru_but_hits_in_belady_and_lirs() {
    for (keys, capacity) in [(10, 3), (100, 99), (150, 149), (400, 120)] {
        let rounds = 200;
        let requests = cycle(keys, rounds);
        let size = capacity as usize;
        for name in ["lru", "fifo", "clock"] {
            assert_eq!(hits_of(name, size, &requests), 0, "{name}");
        }
        let expected = (capacity - 1) as f64 / (keys - 1) as f64;
        let ratio = hits_of("belady", size, &requests) as f64 / (keys * rounds) as f64;
        let first_round = 1.0 / rounds as f64;
        assert!(
            (ratio - expected).abs() < first_round,
            "{ratio}, not {expected}"
        );
        let hir = (capacity / 100).max(1);
        let lirs = hits_of("lirs", size, &requests);
        assert_eq!(lirs, (capacity - hir) * (rounds - 1));
    }
}

/// Returns the time `t` at which the mean number of keys for which `occupies` holds equals the
/// capacity.
fn characteristic_time(p: &[f64], capacity: f64, occupies: fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (0.0, 1e12);
    for _ in 0..200 {
        let t = f64::midpoint(low, high);
        let mean: f64 = p.iter().map(|p| occupies(p * t)).sum();
        if mean < capacity {
            low = t;
        } else {
            high = t;
        }
    }
    low
}

/// A key is in an LRU cache if it was requested within the characteristic time (Che et al., IEEE
/// JSAC 20(7), 2002). A key stays in a FIFO cache for the characteristic time after each miss. Its
/// hit probability is the share of time in which it is in the cache (Martina et al., INFOCOM 2014).
#[test]
fn lru_and_fifo_match_the_characteristic_time_approximation() {
    let p = zipf(20_000, 0.9);
    let requests = independent(&p, 2_000_000, 5);
    let lru: fn(f64) -> f64 = |x| 1.0 - (-x).exp();
    let fifo: fn(f64) -> f64 = |x| x / (1.0 + x);
    for capacity in [200, 1_000, 5_000] {
        for (name, occupies) in [("lru", lru), ("fifo", fifo)] {
            let t = characteristic_time(&p, f64::from(capacity), occupies);
            let expected: f64 = p.iter().map(|p| p * occupies(p * t)).sum();
            let hits = hits_of(name, capacity as usize, &requests);
            let ratio = hits as f64 / requests.len() as f64;
            let difference = (ratio - expected).abs();
            assert!(
                difference < 0.005,
                "{name} {capacity}: {ratio}, not {expected}"
            );
        }
    }
}

/// On independent requests, no policy without knowledge of the future hits more often than a cache
/// of the most popular keys (Aho, Denning and Ullman, JACM 18(1), 1971).
#[test]
fn no_online_policy_hits_more_often_than_a_cache_of_the_most_popular_keys() {
    let p = zipf(2_000, 0.8);
    let requests = independent(&p, 1_000_000, 6);
    let count = requests.len() as f64;
    for capacity in [50, 200, 800] {
        let best: f64 = p[..capacity].iter().sum();
        let noise = 4.0 * (best * (1.0 - best) / count).sqrt();
        for policy in Replacement::defaults() {
            if ["belady", "unbounded"].contains(&policy.name()) {
                continue;
            }
            let ratio = hits(&policy, capacity, &requests) as f64 / count;
            assert!(
                ratio < best + noise,
                "{policy:?} {capacity}: {ratio} > {best}"
            );
        }
    }
}

/// Fifty keys get nine in ten requests, and a thousand keys get the rest. The counts of the fifty
/// soon exceed those of the others; after that, evictions affect only the remaining places.
#[test]
fn lfu_keeps_keys_that_are_far_more_popular() {
    let popular = std::iter::repeat_n(0.9 / 50.0, 50);
    let p: Vec<f64> = popular
        .chain(std::iter::repeat_n(0.1 / 1000.0, 1000))
        .collect();
    let requests = independent(&p, 200_000, 7);
    let ratio = hits_of("lfu", 55, &requests) as f64 / requests.len() as f64;
    assert!((ratio - 0.9).abs() < 0.005, "{ratio}");
}

fn misses_of(name: &str, capacity: usize, keys: &[u64]) -> u64 {
    let requests = Requests::from_keys(keys.iter().copied()).unwrap();
    requests.len() as u64 - hits_of(name, capacity, &requests)
}

/// The example of Silberschatz, Galvin and Gagne, Operating System Concepts, section on page
/// replacement.
#[test]
fn textbook_reference_string_has_the_published_faults() {
    let keys = [7, 0, 1, 2, 0, 3, 0, 4, 2, 3, 0, 3, 2, 1, 2, 0, 1, 7, 0, 1];
    let misses = ["fifo", "lru", "belady"].map(|name| misses_of(name, 3, &keys));
    assert_eq!(misses, [15, 12, 9]);
}

/// A larger cache can have more misses (Belady, Nelson and Shedler, CACM 12(6), 1969).
#[test]
fn larger_fifo_cache_misses_more_often_in_beladys_example() {
    let keys = [1, 2, 3, 4, 1, 2, 5, 1, 2, 3, 4, 5];
    let misses = [3, 4].map(|capacity| misses_of("fifo", capacity, &keys));
    assert_eq!(misses, [9, 10]);
}
