//! Spans of time beyond a bound.

use crate::{Merge, Tally};
use serde::{Deserialize, Serialize};
use wordline_kernel::Time;

/// Steps of 1, 2 and 5 in each power of ten from a microsecond to a thousand seconds.
const STEPS: [Time; 28] = steps();

const fn steps() -> [Time; 28] {
    let mut steps = [Time::from_us(1); 28];
    let mut place = 1;
    while place < steps.len() {
        let before = steps[place - 1].0;
        steps[place] = Time(if place % 3 == 2 {
            before / 2 * 5
        } else {
            before * 2
        });
        place += 1;
    }
    steps
}

/// Excess of spans beyond a bound. The excess of a response time is the excess waiting time. All
/// counts are exact; a span within the bound costs one comparison.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Excess {
    bound: Time,
    tally: Tally,
    /// Number of excesses above no step, above only the first step, and so on.
    reached: [u64; STEPS.len() + 1],
}

/// Number of excesses that are longer than a given length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Above {
    /// Length that the counted excesses exceed.
    pub than: Time,
    /// Number of excesses longer than `than`.
    pub count: u64,
}

impl Excess {
    /// Creates an empty record of excesses beyond `bound`.
    pub const fn beyond(bound: Time) -> Self {
        Self {
            bound,
            tally: Tally::EMPTY,
            reached: [0; STEPS.len() + 1],
        }
    }
    /// Records the excess of `span`, if it is longer than the bound.
    #[inline]
    pub fn record(&mut self, span: Time) {
        if span > self.bound {
            self.add(span - self.bound);
        }
    }
    /// Returns count, sum and extremes of the excesses.
    pub const fn tally(&self) -> &Tally {
        &self.tally
    }
    /// Returns the number of excesses longer than 0, 1, 2, 5, 10 us and so on to 1000 s, up to the
    /// first length that none exceeds.
    pub fn above(&self) -> Vec<Above> {
        let lengths = std::iter::once(Time::ZERO).chain(STEPS);
        let counts = self.reached.iter().scan(self.tally.count(), |left, &here| {
            let count = *left;
            *left -= here;
            Some(count)
        });
        let all: Vec<Above> = lengths
            .zip(counts)
            .map(|(than, count)| Above { than, count })
            .collect();
        let shown = all.iter().position(|above| above.count == 0);
        all[..shown.map_or(all.len(), |zero| zero + 1)].to_vec()
    }

    #[cold]
    #[inline(never)]
    fn add(&mut self, excess: Time) {
        self.tally.record(excess);
        self.reached[STEPS.partition_point(|&step| step < excess)] += 1;
    }
}

impl Merge for Excess {
    /// Adds the excesses of `other`.
    fn merge(&mut self, other: &Self) {
        self.tally.merge(&other.tally);
        for (sum, part) in self.reached.iter_mut().zip(other.reached) {
            *sum += part;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn excess_steps_follow_the_1_2_5_series() {
        let us: Vec<u64> = STEPS.iter().map(|step| step.0 / 1_000_000).collect();
        assert_eq!(us[..7], [1, 2, 5, 10, 20, 50, 100]);
        assert_eq!(STEPS[27], Time::from_ms(1_000_000));
    }

    proptest! {
        #[test]
        fn excess_counts_match_the_spans(
            spans in prop::collection::vec((0_u32..50, any::<u64>()).prop_map(|(shift, bits)| bits >> shift >> 10), 0..200),
            bound in 0_u64..40_000_000_000,
            at in 0_usize..200,
        ) {
            let (mut first, mut second) = (Excess::beyond(Time(bound)), Excess::beyond(Time(bound)));
            for (place, &span) in spans.iter().enumerate() {
                let half = if place < at { &mut first } else { &mut second };
                half.record(Time(span));
            }
            first.merge(&second);
            let excesses: Vec<u64> = spans.iter().filter(|&&span| span > bound).map(|span| span - bound).collect();
            prop_assert_eq!(first.tally().count(), excesses.len() as u64);
            prop_assert_eq!(first.tally().sum_ps(), excesses.iter().map(|&one| u128::from(one)).sum::<u128>());
            let above = first.above();
            for step in &above {
                let longer = excesses.iter().filter(|&&one| one > step.than.0).count();
                prop_assert_eq!(step.count, longer as u64);
            }
            prop_assert!(above.last().unwrap().count == 0 || above.len() == STEPS.len() + 1);
        }
    }

    #[test]
    fn span_at_the_bound_has_no_excess() {
        let mut excess = Excess::beyond(Time::from_ms(30));
        excess.record(Time::from_ms(30));
        assert_eq!(excess.tally().count(), 0);
        let none = Above {
            than: Time::ZERO,
            count: 0,
        };
        assert_eq!(excess.above(), [none]);
        excess.record(Time::from_ms(31));
        assert_eq!(excess.tally().max(), Some(Time::from_ms(1)));
        assert_eq!(excess.above().last().unwrap().than, Time::from_ms(1));
    }
}
