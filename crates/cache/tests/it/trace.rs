//! Tests of reading traces and of runs over traces.
#![allow(clippy::unwrap_used)] // test code, also outside test functions

use std::collections::{BTreeSet, HashMap};
use std::io::{self, Read};

use wordline_cache::trace::one_by_one;
use wordline_cache::{Entry, Intake, Owner, Replace, Replacement, Replacing, Requests};
use wordline_cache::{TraceError, Width};
use wordline_kernel::Rng;

/// Returns keys of all kinds: dense, scattered, and at the border between the two tables.
fn keys() -> Vec<u64> {
    let mut random = Rng::new(1, "trace.keys");
    let draw = |_| match random.below(4) {
        0 => random.below(100),
        1 => u64::MAX - random.below(50),
        2 => (1 << 24) - 3 + random.below(6),
        _ => random.below(50) << 32,
    };
    (0..20_000).map(draw).collect()
}

/// Returns the numbers in order of first appearance, computed with a map.
fn numbered(keys: &[u64]) -> Vec<u32> {
    let mut numbers = HashMap::new();
    let mut number = |&key: &u64| {
        let next = numbers.len() as u32;
        *numbers.entry(key).or_insert(next)
    };
    keys.iter().map(&mut number).collect()
}

#[test]
fn keys_are_numbered_in_order_of_first_appearance() {
    let keys = keys();
    let requests = Requests::from_keys(keys.iter().copied()).unwrap();
    assert_eq!(requests.numbers(), numbered(&keys));
    let distinct: BTreeSet<u64> = keys.iter().copied().collect();
    assert_eq!(requests.footprint() as usize, distinct.len());
    let mut intake = Intake::default();
    for key in &keys {
        intake.push(*key, false).unwrap();
    }
    let (same, of_numbers) = intake.finish_with_keys();
    assert_eq!(same, requests);
    let back = requests
        .numbers()
        .iter()
        .map(|number| of_numbers[*number as usize]);
    assert!(back.eq(keys));
}

/// Reader that returns a few bytes at a time, and occasionally fails with `Interrupted`.
struct Trickle<'a>(&'a [u8], u64);

impl Read for Trickle<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.1 += 1;
        if self.1.is_multiple_of(5) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let most = buffer.len().min(1 + self.1 as usize % 13);
        self.0.read(&mut buffer[..most])
    }
}

#[test]
fn binary_trace_is_read_in_chunks_of_any_size() {
    let keys = keys();
    let eight: Vec<u8> = keys.iter().flat_map(|key| key.to_le_bytes()).collect();
    let four: Vec<u8> = keys
        .iter()
        .flat_map(|&key| (key as u32).to_le_bytes())
        .collect();
    let wide = Requests::from_keys(keys.iter().copied()).unwrap();
    let narrow = Requests::from_keys(keys.iter().map(|&key| u64::from(key as u32))).unwrap();
    for (bytes, width, expected) in [(eight, Width::Eight, wide), (four, Width::Four, narrow)] {
        assert_eq!(Requests::read(&bytes[..], width).unwrap(), expected);
        assert_eq!(Requests::read(Trickle(&bytes, 0), width).unwrap(), expected);
    }
}

#[test]
fn trace_with_an_incomplete_key_is_rejected() {
    let error = Requests::read(&[0; 21][..], Width::Eight).unwrap_err();
    assert!(
        matches!(error, TraceError::Torn { over: 5, width: 8 }),
        "{error}"
    );
    assert!(Requests::read(&[][..], Width::Four).unwrap().is_empty());
}

#[test]
fn next_request_of_each_key_is_found() {
    let requests = Requests::from_keys([7, 8, 7, 7, 9, 8]).unwrap();
    let none = u32::MAX;
    assert_eq!(requests.next(), [2, 5, 3, none, none, none]);
}

/// Returns a trace with some popular keys and some scans.
fn mixed(seed: u64, writes: bool) -> Requests {
    let mut random = Rng::new(seed, "trace.mixed");
    let mut intake = Intake::default();
    let mut scan = 1_000;
    for _ in 0..3_000 {
        let bound = 1 + random.below(200);
        let key = if random.below(4) == 0 {
            scan
        } else {
            random.below(bound)
        };
        scan = if random.below(50) == 0 {
            1_000
        } else {
            scan + 1
        };
        intake.push(key, writes && random.below(3) == 0).unwrap();
    }
    intake.finish()
}

/// Owner that tracks dirty residents and counts evictions.
#[derive(Default)]
struct Book {
    dirty: BTreeSet<Entry>,
    evictions: u64,
    write_backs: u64,
}

impl Owner for Book {
    fn is_dirty(&self, entry: Entry) -> bool {
        self.dirty.contains(&entry)
    }
    fn evicted(&mut self, entry: Entry) {
        self.evictions += 1;
        self.write_backs += u64::from(self.dirty.remove(&entry));
    }
}

fn policies() -> Vec<Replacement> {
    let others = [
        r#"{"arc": {"p": "integer"}}"#,
        r#"{"lfu": {"aging": true}}"#,
    ];
    let others = others.map(|policy| serde_json::from_str(policy).unwrap());
    Replacement::defaults().into_iter().chain(others).collect()
}

#[test]
fn replay_counts_equal_those_of_single_requests() {
    for policy in policies() {
        for (seed, capacity) in [1, 2, 3, 10, 60, 150, 5_000].into_iter().enumerate() {
            let requests = mixed(seed as u64, seed % 3 != 0);
            let mut book = Book::default();
            let (mut hits, mut writes, mut write_hits) = (0, 0, 0);
            let mut cache = Replacing::new(&policy, capacity);
            let next = requests.next();
            for (place, &number) in requests.numbers().iter().enumerate() {
                let (entry, write) = (Entry(number), requests.is_write(place));
                cache.set_next_use(next[place]);
                let hit = cache.access(entry, write, &mut book);
                hits += u64::from(hit);
                if write {
                    writes += 1;
                    write_hits += u64::from(hit);
                    book.dirty.insert(entry);
                }
            }
            let counts = Replacing::new(&policy, capacity).replay(&requests);
            assert_eq!(
                counts,
                one_by_one(&mut Replacing::new(&policy, capacity), &requests)
            );
            let said = (
                counts.requests,
                counts.hits,
                counts.writes,
                counts.write_hits,
            );
            assert_eq!(
                said,
                (3_000, hits, writes, write_hits),
                "{policy:?} {capacity}"
            );
            let left = (counts.evictions, counts.write_backs);
            assert_eq!(
                left,
                (book.evictions, book.write_backs),
                "{policy:?} {capacity}"
            );
        }
    }
}
