//! Invariants that every replacement policy must keep.
#![allow(clippy::unwrap_used, clippy::print_stdout)] // test code, also outside test functions

use std::collections::{BTreeMap, BTreeSet};

use wordline_cache::{Entry, Owner, Replace, Replacement, Replacing};
use wordline_kernel::Rng;

/// Policies with parameters other than the defaults.
const VARIANTS: &[&str] = &[
    r#"{"arc": {"p": "integer"}}"#,
    r#"{"cflru": {"window_ratio": 1.0}}"#,
    r#"{"gcar-cflru": {"window_ratio": 1.0}}"#,
    r#"{"lcr": {"window_ratio": 1.0}}"#,
    r#"{"lcr": {"window_ratio": 0.0}}"#,
];

fn policies() -> Vec<Replacement> {
    let variants = VARIANTS
        .iter()
        .map(|text| serde_json::from_str(text).unwrap());
    Replacement::defaults()
        .into_iter()
        .chain(variants)
        .collect()
}

/// Owner that panics if a policy breaks an invariant.
#[derive(Debug, Default)]
struct Strict {
    resident: BTreeSet<Entry>,
    /// Entries that were accessed and not forgotten since.
    known: BTreeSet<Entry>,
    dirty: BTreeSet<Entry>,
    /// Entry being accessed.
    newcomer: Option<Entry>,
    loads: BTreeMap<Entry, u64>,
    collecting: BTreeSet<Entry>,
    /// Whether evictions are allowed.
    evicts: bool,
    written_back: u64,
}

impl Owner for Strict {
    fn is_dirty(&self, entry: Entry) -> bool {
        assert!(
            self.resident.contains(&entry),
            "query about an absent entry"
        );
        self.dirty.contains(&entry)
    }
    fn load(&self, entry: Entry) -> u64 {
        assert!(
            self.resident.contains(&entry),
            "query about an absent entry"
        );
        self.loads.get(&entry).copied().unwrap_or(0)
    }
    fn is_collecting(&self, entry: Entry) -> bool {
        assert!(
            self.resident.contains(&entry),
            "query about an absent entry"
        );
        self.collecting.contains(&entry)
    }
    fn evicted(&mut self, entry: Entry) {
        assert!(self.evicts, "unnecessary eviction");
        assert_ne!(self.newcomer, Some(entry), "the new entry is not evicted");
        assert!(self.resident.remove(&entry), "only residents are evicted");
        self.written_back += u64::from(self.dirty.remove(&entry));
    }
    fn forgotten(&mut self, entry: Entry) {
        assert_ne!(self.newcomer, Some(entry), "the new entry is not forgotten");
        assert!(
            !self.resident.contains(&entry),
            "a resident is not forgotten"
        );
        assert!(
            self.known.remove(&entry),
            "an entry is forgotten at most once"
        );
    }
}

/// Policy under test with its owner.
struct Bench {
    policy: Replacing,
    owner: Strict,
    random: Rng,
    keys: u32,
}

impl Bench {
    fn new(policy: &Replacement, seed: u64) -> Self {
        let mut random = Rng::new(seed, "laws");
        let keys = 1 + random.below(60) as u32;
        let capacity = 1 + random.below(if seed.is_multiple_of(2) { 4 } else { 40 }) as usize;
        Self {
            policy: Replacing::new(policy, capacity),
            owner: Strict::default(),
            random,
            keys,
        }
    }
    /// Draws a key; small keys are drawn more often.
    fn draw(&mut self) -> Entry {
        let bound = 1 + self.random.below(self.keys.into());
        Entry(self.random.below(bound) as u32)
    }
    fn access(&mut self) {
        let entry = self.draw();
        let write = self.random.below(3) == 0;
        if self.policy.needs_next_use() {
            self.policy.set_next_use(self.random.bits() as u32);
        }
        let resident = self.owner.resident.contains(&entry);
        let full = self.policy.len() == self.policy.capacity();
        self.owner.evicts = !resident && full;
        self.owner.newcomer = Some(entry);
        let hit = self.policy.access(entry, write, &mut self.owner);
        assert_eq!(
            hit, resident,
            "a request hits if and only if the entry is resident"
        );
        self.owner.newcomer = None;
        self.owner.resident.insert(entry);
        self.owner.known.insert(entry);
        if write {
            self.owner.dirty.insert(entry);
        }
    }
    fn remove(&mut self) {
        let entry = self.draw();
        self.owner.evicts = false;
        self.owner.resident.remove(&entry);
        self.owner.dirty.remove(&entry);
        self.policy.remove(entry, &mut self.owner);
        assert!(
            !self.owner.known.contains(&entry),
            "a removed entry is forgotten"
        );
    }
    fn resize(&mut self) {
        let capacity = 1 + self.random.below(50) as usize;
        self.owner.evicts = capacity < self.owner.resident.len();
        self.policy.resize(capacity, &mut self.owner);
        assert!([capacity, usize::MAX].contains(&self.policy.capacity()));
    }
    fn disturb(&mut self) {
        let (one, other) = (self.draw(), self.draw());
        let load = self.random.below(4);
        self.owner.loads.insert(one, load);
        if !self.owner.collecting.remove(&other) {
            self.owner.collecting.insert(other);
        }
    }
    /// Marks a dirty resident as written back.
    fn clean(&mut self) {
        let entry = self.draw();
        if self.owner.dirty.remove(&entry) {
            self.policy.cleaned(entry);
        }
    }
    fn step(&mut self) {
        match self.random.below(40) {
            0 => self.resize(),
            1 | 2 => self.remove(),
            3..6 => self.disturb(),
            6 => self.clean(),
            _ => self.access(),
        }
    }
    fn check(&self) {
        assert_eq!(self.policy.len(), self.owner.resident.len());
        assert!(self.policy.len() <= self.policy.capacity());
        assert_eq!(self.policy.is_empty(), self.owner.resident.is_empty());
        for entry in (0..self.keys).map(Entry) {
            let resident = self.owner.resident.contains(&entry);
            let ghost = !resident && self.owner.known.contains(&entry);
            let said = (self.policy.contains(entry), self.policy.remembers(entry));
            assert_eq!(said, (resident, ghost), "{entry:?} resident, ghost");
        }
    }
}

/// Policy and seed of a run, printed if the run panics.
struct Under<'a>(&'a Replacement, u64);

impl Drop for Under<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            println!("under {:?}, seed {}", self.0, self.1);
        }
    }
}

#[test]
fn owner_and_policy_agree_on_residents_and_ghosts() {
    for policy in policies() {
        for seed in 0..60 {
            let _under = Under(&policy, seed);
            let mut bench = Bench::new(&policy, seed);
            for _ in 0..1_500 {
                bench.step();
                bench.check();
            }
        }
    }
}

/// Assigns the lowest free number to a key, and frees numbers when they are forgotten.
#[derive(Default)]
struct Numbers {
    keys: BTreeMap<u64, Entry>,
    free: BTreeSet<Entry>,
    dirty: BTreeSet<Entry>,
}

impl Numbers {
    fn of(&mut self, key: u64) -> Entry {
        if let Some(&entry) = self.keys.get(&key) {
            return entry;
        }
        let entry = self.free.pop_first();
        let entry = entry.unwrap_or(Entry(self.keys.len() as u32));
        self.keys.insert(key, entry);
        entry
    }
}

impl Owner for Numbers {
    fn is_dirty(&self, entry: Entry) -> bool {
        self.dirty.contains(&entry)
    }
    fn evicted(&mut self, entry: Entry) {
        self.dirty.remove(&entry);
    }
    fn forgotten(&mut self, entry: Entry) {
        self.dirty.remove(&entry);
        self.keys.retain(|_, number| *number != entry);
        self.free.insert(entry);
    }
}

/// Accesses or removes a key.
fn touch(
    policy: &mut Replacing,
    numbers: &mut Numbers,
    key: u64,
    (kind, next): (u64, u32),
) -> Option<bool> {
    let entry = numbers.of(key);
    if kind == 0 {
        policy.remove(entry, numbers);
        if numbers.keys.remove(&key).is_some() {
            numbers.free.insert(entry); // the policy had not tracked the entry
        }
        return None;
    }
    policy.set_next_use(next);
    let hit = policy.access(entry, kind == 1, numbers);
    if kind == 1 {
        numbers.dirty.insert(entry);
    }
    Some(hit)
}

/// Owner whose entries have their keys as numbers, which are never reused.
#[derive(Default)]
struct Plain(BTreeSet<Entry>);

impl Owner for Plain {
    fn is_dirty(&self, entry: Entry) -> bool {
        self.0.contains(&entry)
    }
    fn evicted(&mut self, entry: Entry) {
        self.0.remove(&entry);
    }
}

#[test]
fn reused_number_behaves_like_a_new_one() {
    for policy in policies() {
        for seed in 0..40 {
            let _under = Under(&policy, seed);
            let mut random = Rng::new(seed, "laws.numbers");
            let capacity = 1 + random.below(12) as usize;
            let (mut used, mut fresh) = (
                Replacing::new(&policy, capacity),
                Replacing::new(&policy, capacity),
            );
            let (mut numbers, mut plain) = (Numbers::default(), Plain::default());
            for place in 0..2_000 {
                let (key, kind) = (random.below(40), random.below(20));
                let next = place + 1 + random.below(100) as u32;
                let hit = touch(&mut used, &mut numbers, key, (kind, next));
                let entry = Entry(key as u32);
                if hit.is_none() {
                    plain.0.remove(&entry);
                    fresh.remove(entry, &mut plain);
                    continue;
                }
                fresh.set_next_use(next);
                assert_eq!(hit, Some(fresh.access(entry, kind == 1, &mut plain)));
                if kind == 1 {
                    plain.0.insert(entry);
                }
            }
        }
    }
}
