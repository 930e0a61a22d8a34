//! Tests of foreign policies. A foreign policy with the rules of a built-in policy gives the same
//! cache, and faults are reported.
#![allow(clippy::unwrap_used)] // test code, also outside test functions

use std::collections::VecDeque;

use wordline_cache::replacement::foreign::{Fault, Foreign, Make, Maker, View};
use wordline_cache::{Cache, Entry, Owner, Replace, Replacement, Replacing};
use wordline_kernel::Rng;

/// Fault of a foreign policy, with the number of the call (from 1) at which it happens.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Wrong {
    Nothing,
    Make,
    Hit(u32),
    Admit(u32),
    Evict(u32),
    Removed(u32),
    /// Names a victim that was never in the cache.
    Stranger(u32),
    /// Names the previous victim again.
    Again(u32),
}

/// LRU that prefers clean victims within a window at the end of the list. `window` is the size of
/// the window in pages; with 0 the policy is LRU.
#[derive(Debug)]
struct CleanFirst {
    wrong: Wrong,
    calls: [u32; 4],
    /// Keys of the residents, the least recently used first.
    order: VecDeque<u64>,
    window: usize,
    before: u64,
}

fn failed(what: &str) -> Fault {
    Fault::Failed(format!("{what} failed"))
}

impl CleanFirst {
    fn count(&mut self, place: usize) -> u32 {
        self.calls[place] += 1;
        self.calls[place]
    }
    fn forget(&mut self, key: u64) {
        self.order.retain(|other| *other != key);
    }
}

impl Foreign for CleanFirst {
    fn hit(&mut self, key: u64, _write: bool) -> Result<(), Fault> {
        if Wrong::Hit(self.count(0)) == self.wrong {
            return Err(failed("hit"));
        }
        self.forget(key);
        self.order.push_back(key);
        Ok(())
    }
    fn admit(&mut self, key: u64, _write: bool) -> Result<(), Fault> {
        if Wrong::Admit(self.count(1)) == self.wrong {
            return Err(failed("admit"));
        }
        self.order.push_back(key);
        Ok(())
    }
    fn evict(&mut self, view: &dyn View) -> Result<u64, Fault> {
        let call = self.count(2);
        match self.wrong {
            Wrong::Evict(at) if at == call => return Err(failed("evict")),
            Wrong::Stranger(at) if at == call => return Ok(1 << 60),
            Wrong::Again(at) if at <= call && call > 1 => return Ok(self.before),
            _ => {}
        }
        assert_eq!(view.is_dirty(1 << 60), None, "unknown keys have no state");
        let mut window = self.order.iter().take(self.window);
        let clean = window.find(|key| view.is_dirty(**key) == Some(false));
        let key = *clean.or(self.order.front()).unwrap();
        self.forget(key);
        self.before = key;
        Ok(key)
    }
    fn removed(&mut self, key: u64) -> Result<(), Fault> {
        if Wrong::Removed(self.count(3)) == self.wrong {
            return Err(failed("removed"));
        }
        self.forget(key);
        Ok(())
    }
}

#[derive(Debug)]
struct Kind {
    wrong: Wrong,
    window_ratio: f64,
}

impl Make for Kind {
    fn name(&self) -> &'static str {
        "CleanFirst"
    }
    fn make(&self, capacity: usize) -> Result<Box<dyn Foreign>, Fault> {
        if self.wrong == Wrong::Make {
            return Err(failed("make"));
        }
        Ok(Box::new(CleanFirst {
            wrong: self.wrong,
            calls: [0; 4],
            order: VecDeque::new(),
            window: (capacity as f64 * self.window_ratio) as usize,
            before: 0,
        }))
    }
}

fn maker(wrong: Wrong, window_ratio: f64) -> Maker {
    Maker::new(Kind {
        wrong,
        window_ratio,
    })
}

fn parsed(text: &str) -> Replacement {
    serde_json::from_str(text).unwrap()
}

/// Returns the evicted keys of a random run with their dirty bits, and whether each request hit.
fn lived(policy: Replacing, seed: u64) -> (Vec<(u64, bool)>, Vec<bool>) {
    let mut random = Rng::new(seed, "foreign");
    let mut cache = Cache::new(policy);
    let (mut left, mut hits) = (Vec::new(), Vec::new());
    for _ in 0..4_000 {
        let bound = 1 + random.below(200);
        let key = random.below(bound) << 33;
        match random.below(12) {
            0 => drop(cache.remove(key)),
            1 => cache.cleaned(key),
            2..6 => hits.push(cache.get(key).is_some()),
            _ => {
                let write = random.below(2) == 0;
                let evicted = |who: wordline_cache::Evicted<()>| left.push((who.key, who.dirty));
                hits.push(cache.put(key, (), write, evicted).unwrap());
            }
        }
    }
    assert_eq!(cache.policy().fault(), None);
    (left, hits)
}

#[test]
fn foreign_policy_with_built_in_rules_gives_the_same_cache() {
    for capacity in [1, 2, 8, 40, 100] {
        for (window, member) in [
            (0.0, r#""lru""#),
            (0.5, r#"{"cflru": {"window_ratio": 0.5}}"#),
            (1.0, r#"{"cflru": {"window_ratio": 1.0}}"#),
        ] {
            let member = Replacing::new(&parsed(member), capacity);
            let foreign = Replacing::foreign(&maker(Wrong::Nothing, window), capacity);
            assert_eq!(
                lived(foreign, capacity as u64),
                lived(member, capacity as u64)
            );
        }
    }
}

/// Owner that checks, over requests, removals and a capacity change, that no entry is lost.
struct Strict {
    resident: Vec<bool>,
}

impl Owner for Strict {
    fn evicted(&mut self, entry: Entry) {
        assert!(self.resident[entry.index()], "only residents are evicted");
        self.resident[entry.index()] = false;
    }
    fn forgotten(&mut self, entry: Entry) {
        assert!(!self.resident[entry.index()], "a resident is not forgotten");
    }
}

fn fault_of(wrong: Wrong) -> Option<Fault> {
    let mut random = Rng::new(5, "faults");
    let mut cache = Replacing::foreign(&maker(wrong, 0.0), 6);
    let mut owner = Strict {
        resident: vec![false; 20],
    };
    for step in 0..500 {
        let entry = Entry(random.below(20) as u32);
        if random.below(10) == 0 {
            owner.resident[entry.index()] = false;
            cache.remove(entry, &mut owner);
        } else {
            let was = owner.resident[entry.index()];
            let hit = cache.access(entry, false, &mut owner);
            owner.resident[entry.index()] = true;
            assert_eq!(
                hit, was,
                "a request hits if and only if the entry is resident"
            );
        }
        if step == 300 {
            cache.resize(3, &mut owner);
        }
        let count = owner.resident.iter().filter(|resident| **resident).count();
        assert_eq!(cache.len(), count);
        assert!(cache.len() <= cache.capacity());
    }
    cache.fault().cloned()
}

#[test]
fn fault_of_a_foreign_policy_is_reported_and_the_cache_stays_consistent() {
    assert_eq!(fault_of(Wrong::Nothing), None);
    for (wrong, said) in [
        (Wrong::Make, "make failed"),
        (Wrong::Hit(3), "hit failed"),
        (Wrong::Admit(1), "admit failed"),
        (Wrong::Admit(9), "admit failed"),
        (Wrong::Evict(1), "evict failed"),
        (Wrong::Removed(2), "removed failed"),
    ] {
        assert_eq!(fault_of(wrong), Some(Fault::Failed(said.to_owned())));
    }
    for wrong in [Wrong::Stranger(1), Wrong::Stranger(40), Wrong::Again(2)] {
        let said = fault_of(wrong).unwrap().to_string();
        assert!(said.starts_with("policy CleanFirst: evict names page "));
    }
}

#[test]
fn unused_cache_can_be_copied_but_the_copy_of_a_used_one_reports_a_fault() {
    let mut cache = Replacing::foreign(&maker(Wrong::Nothing, 0.0), 2);
    let mut copy = cache.clone();
    for number in [0, 1, 2] {
        assert!(!cache.access(Entry(number), false, &mut ()));
        assert!(!copy.access(Entry(number), false, &mut ()));
    }
    assert_eq!((cache.fault(), copy.fault()), (None, None));
    let late = cache.clone();
    assert!(late.contains(Entry(2)) && late.len() == 2);
    assert_eq!(late.fault(), Some(&Fault::Copied("CleanFirst".to_owned())));
}

#[test]
fn policy_maker_equals_its_clones_but_no_other_maker() {
    let one = maker(Wrong::Nothing, 0.0);
    assert_eq!(one, one.clone());
    assert_ne!(one, maker(Wrong::Nothing, 0.0));
}
