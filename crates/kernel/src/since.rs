//! Differences of counters between two times.

use crate::time::Time;

/// Counters and sums that accumulate over simulated time.
pub trait Since {
    /// Returns the difference to `before`; 0 for a sum that became smaller.
    #[must_use]
    fn since(&self, before: &Self) -> Self;
}

macro_rules! integers {
    ($($integer:ty),*) => {$(
        impl Since for $integer {
            fn since(&self, before: &Self) -> Self {
                self.saturating_sub(*before)
            }
        }
    )*};
}
integers!(u32, u64, u128);

impl Since for Time {
    fn since(&self, before: &Self) -> Self {
        Time::since(*self, *before)
    }
}

impl<T: Since, const N: usize> Since for [T; N] {
    fn since(&self, before: &Self) -> Self {
        std::array::from_fn(|place| self[place].since(&before[place]))
    }
}

/// A value that was absent before counts in full.
impl<T: Since + Clone> Since for Option<T> {
    fn since(&self, before: &Self) -> Self {
        match (self, before) {
            (Some(now), Some(before)) => Some(now.since(before)),
            (now, _) => now.clone(),
        }
    }
}

/// Element by element; elements that were absent before count in full.
impl<T: Since + Clone> Since for Vec<T> {
    fn since(&self, before: &Self) -> Self {
        let counts = self.iter().enumerate();
        let since = counts.map(|(place, now)| match before.get(place) {
            Some(before) => now.since(before),
            None => now.clone(),
        });
        since.collect()
    }
}

/// Implements [`Since`] field by field. Fields after `but` are not counters and keep their later
/// value.
#[macro_export]
macro_rules! since {
    ($type:ty: $($count:ident),+ $(; but $($state:ident),+)?) => {
        impl $crate::Since for $type {
            fn since(&self, before: &Self) -> Self {
                Self {
                    $($count: $crate::Since::since(&self.$count, &before.$count),)+
                    $($($state: self.$state,)+)?
                }
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    struct Counts {
        reads: u64,
        by_kind: [u32; 2],
        busy: Time,
        by_die: Vec<u64>,
        errors: Option<u64>,
        held_most: u32,
    }
    since!(Counts: reads, by_kind, busy, by_die, errors; but held_most);

    #[test]
    fn counters_are_subtracted_and_states_keep_their_later_value() {
        let before = Counts {
            reads: 3,
            by_kind: [1, 5],
            busy: Time(10),
            by_die: vec![7],
            errors: None,
            held_most: 9,
        };
        let now = Counts {
            reads: 10,
            by_kind: [1, 4],
            busy: Time(25),
            by_die: vec![8, 2],
            errors: Some(6),
            held_most: 4,
        };
        let since = Counts {
            reads: 7,
            by_kind: [0, 0],
            busy: Time(15),
            by_die: vec![1, 2],
            errors: Some(6),
            held_most: 4,
        };
        assert_eq!(now.since(&before), since);
        assert_eq!(now.since(&Counts::default()), now);
    }
}
