//! Suspected queues under every policy, compared with sets built from the policy's notifications.
#![allow(clippy::unwrap_used)] // test code, also outside test functions

use std::collections::HashSet;

use wordline_cache::{Copies, Entry, Found, Replace, Replacement, Replacing, Suspecting};
use wordline_kernel::Rng;

/// Expected state of the entries, built from the notifications.
#[derive(Default)]
struct Observations {
    residents: HashSet<Entry>,
    suspected: HashSet<Entry>,
    /// Entries with a number in use.
    known: HashSet<Entry>,
}

impl Copies for Observations {
    fn evicted(&mut self, entry: Entry, suspect: bool) -> bool {
        assert!(
            self.residents.remove(&entry),
            "{entry:?} is evicted but was not resident"
        );
        if suspect {
            self.suspected.insert(entry);
        }
        suspect
    }
    fn revived(&mut self, entry: Entry) {
        assert!(
            self.suspected.remove(&entry),
            "{entry:?} is revived but was not suspected"
        );
        self.residents.insert(entry);
    }
    fn discarded(&mut self, entry: Entry) {
        assert!(
            self.suspected.remove(&entry),
            "{entry:?} is discarded but was not suspected"
        );
    }
    fn forgotten(&mut self, entry: Entry) {
        assert!(
            self.known.remove(&entry),
            "{entry:?} is forgotten but had no number"
        );
        assert!(!self.residents.contains(&entry) && !self.suspected.contains(&entry));
    }
}

fn policies() -> Vec<Replacement> {
    let names = [
        "lru", "fifo", "clock", "arc", "two-q", "lirs", "lfu", "sieve", "s3-fifo",
    ];
    let policy = |name| serde_json::from_value(serde_json::Value::from(name)).unwrap();
    names.map(policy).to_vec()
}

const CAPACITY: usize = 20;

/// Runs random requests, erases and removals. The sets must equal the queues after every step.
fn run(policy: &Replacement, most: usize, ghost: bool, seed: u64) {
    let mut random = Rng::new(seed, "suspected");
    let mut cache = Suspecting::new(Replacing::new(policy, CAPACITY), most, true);
    let mut observations = Observations::default();
    let mut revived = 0;
    for step in 0..20_000 {
        let entry = Entry((random.below(60) * random.below(60) / 60) as u32);
        match random.below(20) {
            0 if observations.residents.remove(&entry) | observations.suspected.remove(&entry) => {
                cache.erased(entry, ghost, &mut observations);
            }
            1 => {
                let known = observations.known.contains(&entry);
                cache.remove(entry, &mut observations);
                assert!(
                    !observations.known.contains(&entry),
                    "{policy:?} step {step}"
                );
                assert!(known || !cache.contains(entry));
            }
            _ => {
                let before = (
                    observations.residents.contains(&entry),
                    observations.suspected.contains(&entry),
                );
                observations.known.insert(entry);
                let found = cache.access(entry, false, &mut observations);
                let expected = match before {
                    (true, _) => Found::Resident,
                    (_, true) => Found::Suspected,
                    _ => Found::Nothing,
                };
                assert_eq!(found, expected, "{policy:?} step {step}");
                revived += u32::from(found == Found::Suspected);
                observations.residents.insert(entry);
            }
        }
        assert_eq!(
            cache.len(),
            observations.residents.len(),
            "{policy:?} step {step}"
        );
        assert_eq!(cache.suspected(), observations.suspected.len());
        assert!(cache.len() <= CAPACITY && cache.suspected() <= most);
        for entry in (0..60).map(Entry) {
            assert_eq!(
                cache.contains(entry),
                observations.residents.contains(&entry)
            );
            assert_eq!(
                cache.suspects(entry),
                observations.suspected.contains(&entry)
            );
        }
    }
    assert_eq!(revived > 0, most > 0, "{policy:?}");
}

#[test]
fn owner_is_notified_of_every_change_once() {
    for policy in policies() {
        for (seed, most) in (0..).zip([0, 1, 7, 30]) {
            run(&policy, most, true, seed);
            run(&policy, most, false, seed);
        }
    }
}

#[test]
fn without_a_suspected_queue_results_equal_those_of_the_policy() {
    for policy in policies() {
        let mut random = Rng::new(9, "plain");
        let mut plain = Replacing::new(&policy, CAPACITY);
        let mut cache = Suspecting::new(Replacing::new(&policy, CAPACITY), 0, false);
        let mut observations = Observations::default();
        for _ in 0..20_000 {
            let entry = Entry((random.below(60) * random.below(60) / 60) as u32);
            let hit = plain.access(entry, false, &mut ());
            observations.known.insert(entry);
            let found = cache.access(entry, false, &mut observations);
            observations.residents.insert(entry);
            assert_eq!(hit, found == Found::Resident, "{policy:?}");
        }
    }
}

/// Without erases, the resident queue of FLRU is that of LRU (Xia 2017, chapter 2).
#[test]
fn suspected_queue_does_not_change_the_residents_of_lru() {
    let mut random = Rng::new(4, "queue");
    let lru = Replacement::default();
    let mut plain = Replacing::new(&lru, CAPACITY);
    let mut cache = Suspecting::new(Replacing::new(&lru, CAPACITY), 15, false);
    let mut observations = Observations::default();
    let mut revived = 0;
    for step in 0..50_000 {
        let entry = Entry((random.below(80) * random.below(80) / 80) as u32);
        if step % 7 == 0 && observations.suspected.remove(&entry) {
            cache.erased(entry, true, &mut observations);
        }
        let hit = plain.access(entry, false, &mut ());
        observations.known.insert(entry);
        let found = cache.access(entry, false, &mut observations);
        observations.residents.insert(entry);
        assert_eq!(hit, found == Found::Resident, "step {step}");
        revived += u32::from(found == Found::Suspected);
    }
    assert!(revived > 5_000, "{revived} revivals");
}
