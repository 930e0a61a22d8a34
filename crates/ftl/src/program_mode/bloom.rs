//! Read and write hotness of pages, measured with pairs of Bloom filters (Xia 2017, section 5.3.1).

use serde::{Deserialize, Serialize};
use wordline_kernel::random::splitmix;

use crate::lpn::Lpn;

/// Number of pairs of filters. A pair has a filter of reads and a filter of writes.
pub const PAIRS: usize = 4;
/// Number of bits per filter.
pub const BITS: usize = 2048;
/// Number of bits that a page sets in a filter.
const HASHES: u64 = 2;
const WORDS: usize = BITS / 64;
/// Weight of a filter that contains a page, in units of one half, by the number of pairs cleared
/// after it.
const WEIGHTS: [u32; PAIRS] = [4, 3, 2, 1];

type Filter = Vec<u64>;

/// Bloom filters of reads and writes. Accesses are entered in the pairs in turn. At regular
/// intervals, the pair cleared the longest time ago is cleared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Separator {
    /// Filters of reads and of writes, per pair.
    pairs: [[Filter; 2]; PAIRS],
    /// Index of the pair that takes accesses.
    turn: usize,
    /// Index of the pair that is cleared next.
    oldest: usize,
    /// Number of steps until the pair `oldest` is cleared.
    left: u32,
    decay: u32,
}

/// Read and write hotness of a page, each from 0 to 10, in units of one half.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hotness {
    /// Read hotness.
    pub read: u32,
    /// Write hotness.
    pub write: u32,
}

/// Iterates over the positions of a page's bits in a filter.
fn places(page: Lpn) -> impl Iterator<Item = usize> {
    (0..HASHES).map(move |hash| {
        let scattered = splitmix(u64::from(page.0) | (hash + 1) << 32);
        (scattered % BITS as u64) as usize
    })
}

impl Separator {
    /// Creates empty filters. One pair is cleared every `decay` steps.
    pub fn new(decay: u32) -> Self {
        let filter = || vec![0; WORDS];
        Self {
            pairs: std::array::from_fn(|_| [filter(), filter()]),
            turn: 0,
            oldest: 0,
            left: decay,
            decay,
        }
    }
    /// Advances by one step: the next pair takes accesses, and the oldest pair may be cleared.
    pub fn step(&mut self) {
        self.turn = (self.turn + 1) % PAIRS;
        self.left -= 1;
        if self.left == 0 {
            self.left = self.decay;
            for filter in &mut self.pairs[self.oldest] {
                filter.fill(0);
            }
            self.oldest = (self.oldest + 1) % PAIRS;
        }
    }
    /// Enters an access to a page into the current pair.
    pub fn enter(&mut self, page: Lpn, write: bool) {
        let filter = &mut self.pairs[self.turn][usize::from(write)];
        for place in places(page) {
            filter[place / 64] |= 1 << (place % 64);
        }
    }
    /// Returns the hotness of a page.
    pub fn hotness(&self, page: Lpn) -> Hotness {
        let mut hotness = Hotness::default();
        for (place, [reads, writes]) in self.pairs.iter().enumerate() {
            // The oldest pair was cleared before all others.
            let since = (PAIRS + self.oldest - place - 1) % PAIRS;
            let weight = WEIGHTS[since];
            let holds =
                |filter: &Filter| places(page).all(|at| filter[at / 64] >> (at % 64) & 1 == 1);
            hotness.read += weight * u32::from(holds(reads));
            hotness.write += weight * u32::from(holds(writes));
        }
        hotness
    }
    /// Returns the total size of the filters. Bytes.
    pub const fn bytes() -> u32 {
        (PAIRS * 2 * BITS / 8) as u32
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use wordline_kernel::Rng;

    use super::*;

    #[test]
    fn filters_take_2_kib() {
        assert_eq!(Separator::bytes(), 2048);
    }

    #[test]
    fn weights_depend_on_the_order_in_which_pairs_were_cleared() {
        let mut separator = Separator::new(512);
        let seen = |separator: &Separator| separator.hotness(Lpn(7)).write;
        // The first access goes to the pair that is cleared first.
        separator.enter(Lpn(7), true);
        let mut found = Vec::new();
        for _ in 0..PAIRS {
            found.push(seen(&separator));
            (0..512).for_each(|_| separator.step());
        }
        // The pair is cleared at the first decay.
        assert_eq!(found, [1, 0, 0, 0]);
        // An access entered in a pair that was just cleared loses weight with each pair that is
        // cleared after it.
        let mut separator = Separator::new(512);
        (0..512).for_each(|_| separator.step());
        separator.enter(Lpn(7), true);
        let mut found = Vec::new();
        for _ in 0..=PAIRS {
            found.push(seen(&separator));
            (0..512).for_each(|_| separator.step());
        }
        assert_eq!(found, [4, 3, 2, 1, 0]);
    }

    /// Returns the expected share of unwritten pages that falsely have write hotness, and the mean
    /// write hotness of unwritten pages, for writes to distinct pages, one per step, in steady
    /// state. Each pair is cleared every 2048 steps and takes every fourth write. A filter with i
    /// pages falsely contains another page with probability (1 - (1 - 1/2048)^2i)^2.
    fn theory() -> (f64, f64) {
        let holds =
            |pages: u32| (1.0 - (1.0 - 1.0 / 2048.0_f64).powf(f64::from(2 * pages))).powi(2);
        let (mut unseen, mut hotness) = (0.0, 0.0);
        for step in 0..512 {
            let mut none = 1.0;
            for age in 0..4 {
                let held = holds((age * 512 + step) / 4);
                none *= 1.0 - held;
                hotness += held * f64::from(4 - age) / 2.0;
            }
            unseen += 1.0 - none;
        }
        (unseen / 512.0, hotness / 512.0)
    }

    #[test]
    fn false_positive_rate_of_unseen_pages_matches_theory() {
        let (expected, mean) = theory();
        assert!((expected - 0.2165).abs() < 2e-3 && (mean - 0.190).abs() < 2e-3);
        let mut separator = Separator::new(512);
        let (mut hot, mut sum, mut looks) = (0_u32, 0.0, 0_u32);
        for page in 0..400_000_u32 {
            separator.step();
            separator.enter(Lpn(page), true);
            if page > 4096 {
                let found = separator.hotness(Lpn(u32::MAX - page));
                assert_eq!(found.read, 0);
                hot += u32::from(found.write > 0);
                sum += f64::from(found.write) / 2.0;
                looks += 1;
            }
        }
        let share = f64::from(hot) / f64::from(looks);
        assert!(
            (share - expected).abs() < 0.005,
            "{share}, expected {expected}"
        );
        let found = sum / f64::from(looks);
        assert!((found - mean).abs() < 0.005, "{found}, expected {mean}");
    }

    /// Reference implementation with exact sets instead of filters. Each pair of sets has the step
    /// at which it was last cleared.
    struct Sets {
        pairs: [([HashSet<u32>; 2], u32); PAIRS],
        steps: u32,
    }

    impl Sets {
        fn step(&mut self) {
            self.steps += 1;
            if self.steps.is_multiple_of(512) {
                let oldest = self.pairs.iter_mut().min_by_key(|(_, emptied)| *emptied);
                *oldest.unwrap() = (Default::default(), self.steps);
            }
        }
        fn hotness(&self, page: u32) -> Hotness {
            let mut order: Vec<_> = self.pairs.iter().collect();
            order.sort_by_key(|(_, emptied)| std::cmp::Reverse(*emptied));
            let mut hotness = Hotness::default();
            for (([reads, writes], _), weight) in order.into_iter().zip(WEIGHTS) {
                hotness.read += weight * u32::from(reads.contains(&page));
                hotness.write += weight * u32::from(writes.contains(&page));
            }
            hotness
        }
    }

    #[test]
    fn filters_match_exact_sets_except_for_rare_false_positives() {
        let mut separator = Separator::new(512);
        // Before the first decay, the pairs count as cleared one after the other.
        let mut sets = Sets {
            pairs: std::array::from_fn(|place| (Default::default(), place as u32)),
            steps: 0,
        };
        let mut random = Rng::new(5, "accesses");
        let (mut equal, mut looks) = (0, 0);
        for turn in 0..20_000_u32 {
            separator.step();
            sets.step();
            let (page, write) = (random.below(60) as u32, random.below(3) == 0);
            separator.enter(Lpn(page), write);
            sets.pairs[(turn as usize + 1) % PAIRS].0[usize::from(write)].insert(page);
            for page in 0..120 {
                let (found, exact) = (separator.hotness(Lpn(page)), sets.hotness(page));
                assert!(found.read >= exact.read && found.write >= exact.write);
                equal += u32::from(found == exact);
                looks += 1;
            }
        }
        // Sixty pages fill a twentieth of a filter, so at most one look-up in a hundred is a false
        // positive.
        assert!(
            f64::from(equal) > 0.97 * f64::from(looks),
            "{equal} of {looks}"
        );
    }
}
