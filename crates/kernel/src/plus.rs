//! Sums of counters.

use crate::time::Time;

/// Counters and sums that can be added to those of another source.
pub trait Plus {
    /// Returns the sum of both: each counter plus its counterpart in `other`.
    #[must_use]
    fn plus(self, other: Self) -> Self;
}

macro_rules! numbers {
    ($($number:ty),*) => {$(
        impl Plus for $number {
            #[inline]
            fn plus(self, other: Self) -> Self {
                self + other
            }
        }
    )*};
}
numbers!(u32, u64, u128, f64, Time);

impl<T: Plus + Copy, const N: usize> Plus for [T; N] {
    #[inline]
    fn plus(self, other: Self) -> Self {
        std::array::from_fn(|place| self[place].plus(other[place]))
    }
}

/// Implements [`Plus`] field by field.
#[macro_export]
macro_rules! plus {
    ($type:ty: $($count:tt),+ $(,)?) => {
        impl $crate::Plus for $type {
            fn plus(self, other: Self) -> Self {
                Self {
                    $($count: $crate::Plus::plus(self.$count, other.$count),)+
                }
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    struct Counts {
        reads: u64,
        by_kind: [u32; 2],
        busy: Time,
        energy_mj: f64,
    }
    plus!(Counts: reads, by_kind, busy, energy_mj);

    #[test]
    fn every_field_of_a_sum_is_the_sum_of_the_field() {
        let one = Counts {
            reads: 3,
            by_kind: [1, 5],
            busy: Time(10),
            energy_mj: 0.25,
        };
        let other = Counts {
            reads: 4,
            by_kind: [2, 0],
            busy: Time(7),
            energy_mj: 1.5,
        };
        let sum = Counts {
            reads: 7,
            by_kind: [3, 5],
            busy: Time(17),
            energy_mj: 1.75,
        };
        assert_eq!(one.plus(other), sum);
        assert_eq!(one.plus(Counts::default()), one);
    }
}
