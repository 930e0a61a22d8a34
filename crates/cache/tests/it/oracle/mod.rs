//! Compares every policy with a naive implementation written from its paper, under random
//! operations.
#![allow(clippy::unwrap_used, clippy::print_stdout)] // test code, also outside test functions

mod arc;
mod belady;
mod lfu;
mod lirs;
mod naive;
mod queues;
mod s3_fifo;
mod sieve;
mod two_q;
mod window;

use naive::{Naive, World};
use window::{Rule, Window};
use wordline_cache::replacement::arc::Adaptation;
use wordline_cache::{Entry, Owner, Replace, Replacement, Replacing};
use wordline_kernel::Rng;

/// Policies with parameters other than the defaults.
const VARIANTS: &[&str] = &[
    r#"{ "arc": { "p": "integer" } }"#,
    r#"{ "two-q": { "in_ratio": 0.6, "out_ratio": 1.5 } }"#,
    r#"{ "two-q": { "in_ratio": 0.0, "out_ratio": 0.0 } }"#,
    r#"{ "lirs": { "hir_ratio": 0.3, "ghost_ratio": 0.4 } }"#,
    r#"{ "lirs": { "hir_ratio": 1.0, "ghost_ratio": 9.0 } }"#,
    r#"{ "lfu": { "aging": true } }"#,
    r#"{ "s3-fifo": { "small_ratio": 0.35, "promotion_hits": 1 } }"#,
    r#"{ "s3-fifo": { "small_ratio": 1.0, "promotion_hits": 3 } }"#,
    r#"{ "cflru": { "window_ratio": 1.0 } }"#,
    r#"{ "gcar-cflru": { "window_ratio": 0.7 } }"#,
    r#"{ "lcr": { "window_ratio": 1.0 } }"#,
];

fn policies() -> impl Iterator<Item = Replacement> {
    let variants = VARIANTS
        .iter()
        .map(|text| serde_json::from_str(text).unwrap());
    Replacement::defaults().into_iter().chain(variants)
}

/// Returns the naive twin of a policy; `None` if it has none.
fn twin(policy: &Replacement, capacity: usize) -> Option<Box<dyn Naive>> {
    #[allow(unreachable_patterns)] // a new policy has no twin yet
    Some(match policy {
        Replacement::Lru(_) => Box::new(queues::Queue::lru(capacity)),
        Replacement::Fifo(_) => Box::new(queues::Queue::fifo(capacity)),
        Replacement::Clock(_) => Box::new(queues::Clock::new(capacity)),
        Replacement::Arc(arc) => Box::new(arc::Arc::new(capacity, arc.p == Adaptation::Integer)),
        Replacement::TwoQ(two_q) => {
            Box::new(two_q::TwoQ::new(capacity, two_q.in_ratio, two_q.out_ratio))
        }
        Replacement::Lirs(lirs) => {
            Box::new(lirs::Lirs::new(capacity, lirs.hir_ratio, lirs.ghost_ratio))
        }
        Replacement::Lfu(lfu) => Box::new(lfu::Lfu::new(capacity, lfu.aging)),
        Replacement::Sieve(_) => Box::new(sieve::Sieve::new(capacity)),
        Replacement::S3Fifo(s3) => {
            let hits = s3.promotion_hits.into();
            Box::new(s3_fifo::S3Fifo::new(capacity, s3.small_ratio, hits))
        }
        Replacement::Belady(_) => Box::new(belady::Belady::new(capacity)),
        Replacement::Unbounded(_) => Box::new(belady::Unbounded::default()),
        Replacement::Cflru(cflru) => {
            Box::new(Window::new(capacity, cflru.window_ratio, Rule::Cflru))
        }
        Replacement::GcarCflru(gcar) => {
            Box::new(Window::new(capacity, gcar.window_ratio, Rule::GcarCflru))
        }
        Replacement::Lcr(lcr) => Box::new(Window::new(capacity, lcr.window_ratio, Rule::Lcr)),
        _ => return None,
    })
}

/// Owner of a policy's entries. Answers queries from the world and records evictions.
struct Keeper {
    world: World,
    evicted: Vec<Entry>,
}

impl Owner for Keeper {
    fn is_dirty(&self, entry: Entry) -> bool {
        self.world.dirty[entry.index()]
    }
    fn load(&self, entry: Entry) -> u64 {
        self.world.load[entry.index()]
    }
    fn is_collecting(&self, entry: Entry) -> bool {
        self.world.collecting[entry.index()]
    }
    fn evicted(&mut self, entry: Entry) {
        self.evicted.push(entry);
    }
}

/// Policy and its twin, which process the same operations.
struct Pair {
    policy: Replacing,
    twin: Box<dyn Naive>,
    keeper: Keeper,
    random: Rng,
    keys: u32,
    /// Writes per ten requests.
    writes: u64,
    now: u32,
    /// Number of keys that remain in the current sequential run.
    scan: u32,
}

impl Pair {
    fn new(policy: &Replacement, seed: u64) -> Option<Self> {
        let mut random = Rng::new(seed, "oracle");
        let capacity = 1 + random.below(40) as usize;
        let keys = 2 + random.below(3 * capacity as u64) as u32;
        let none = keys as usize;
        Some(Self {
            policy: Replacing::new(policy, capacity),
            twin: twin(policy, capacity)?,
            keeper: Keeper {
                world: World {
                    dirty: vec![false; none],
                    load: vec![0; none],
                    collecting: vec![false; none],
                },
                evicted: Vec::new(),
            },
            keys,
            writes: random.below(11),
            random,
            now: 0,
            scan: 0,
        })
    }
    /// Draws a key: from a sequential run, with small keys more often, or uniformly.
    fn draw(&mut self) -> u32 {
        self.now += 1;
        match self.now / 64 % 4 {
            0 => {
                self.scan += 1;
                self.scan % self.keys
            }
            1 => self.random.below(self.keys.into()) as u32,
            _ => {
                let bound = 1 + self.random.below(self.keys.into());
                self.random.below(bound) as u32
            }
        }
    }
    fn access(&mut self) {
        let key = self.draw();
        let write = self.random.below(10) < self.writes;
        let next = match self.random.below(4) {
            0 => u32::MAX,
            _ => self.now + 1 + self.random.below(60) as u32,
        };
        self.policy.set_next_use(next);
        self.twin.set_next_use(next);
        let hit = self.policy.access(Entry(key), write, &mut self.keeper);
        assert_eq!(
            hit,
            self.twin.access(key, &self.keeper.world),
            "policy and twin agree on whether the request hits"
        );
        self.keeper.world.dirty[key as usize] |= write;
    }
    fn remove(&mut self) {
        let key = self.draw();
        self.policy.remove(Entry(key), &mut self.keeper);
        self.twin.remove(key);
        self.keeper.world.dirty[key as usize] = false;
    }
    fn resize(&mut self) {
        let capacity = 1 + self.random.below(40) as usize;
        self.policy.resize(capacity, &mut self.keeper);
        self.twin.resize(capacity, &self.keeper.world);
    }
    /// Marks some dirty residents as written back.
    fn clean(&mut self) {
        for key in 0..self.keys {
            if self.random.below(8) == 0
                && std::mem::take(&mut self.keeper.world.dirty[key as usize])
            {
                self.policy.cleaned(Entry(key));
            }
        }
    }
    /// Changes the loads of entries and the state of GC.
    fn disturb(&mut self) {
        for key in 0..self.keys as usize {
            match self.random.below(6) {
                0 => self.keeper.world.load[key] = self.random.below(5),
                1 => self.keeper.world.collecting[key] ^= true,
                _ => {}
            }
        }
    }
    fn step(&mut self) {
        match self.random.below(200) {
            0 => self.resize(),
            1..6 => self.remove(),
            6..20 => self.disturb(),
            20..26 => self.clean(),
            _ => self.access(),
        }
        for entry in self.keeper.evicted.drain(..) {
            self.keeper.world.dirty[entry.index()] = false;
        }
    }
    fn compare(&self) {
        let all = || (0..self.keys).map(Entry);
        let sorted = |mut keys: Vec<u32>| {
            keys.sort_unstable();
            keys.into_iter().map(Entry).collect::<Vec<_>>()
        };
        let residents = all().filter(|&entry| self.policy.contains(entry));
        let ghosts = all().filter(|&entry| self.policy.remembers(entry));
        let residents: Vec<_> = residents.collect();
        assert_eq!(self.policy.len(), residents.len());
        assert_eq!(residents, sorted(self.twin.residents()), "residents");
        let ghosts: Vec<_> = ghosts.collect();
        assert_eq!(ghosts, sorted(self.twin.ghosts()), "ghosts");
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
fn every_policy_follows_its_paper() {
    for policy in policies() {
        for seed in 0..200 {
            let _under = Under(&policy, seed);
            let Some(mut pair) = Pair::new(&policy, seed) else {
                continue; // the next test reports it
            };
            for _ in 0..1_000 {
                pair.step();
                pair.compare();
            }
        }
    }
}

#[test]
fn every_policy_has_a_naive_reference_implementation() {
    let missing = Replacement::defaults();
    let missing = missing.iter().filter(|policy| twin(policy, 1).is_none());
    let missing: Vec<&str> = missing.map(Replacement::name).collect();
    assert!(
        missing.is_empty(),
        "{missing:?}: write each from its paper in tests/it/oracle and add it to `twin`"
    );
}
