//! Dies that are slower than their part.

use serde::{Deserialize, Serialize};
use wordline_kernel::Time;

use crate::Die;

/// Factor of the array times of a die of normal speed, in thousandths.
const NORMAL: u32 = 1000;

/// Factors of the array times, indexed by die, in thousandths. Dies beyond the end have [`NORMAL`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Slowness(Vec<u32>);

impl Slowness {
    /// Sets the factor of a die, in thousandths.
    pub(crate) fn set(&mut self, die: Die, slowness: u32) {
        if self.0.len() <= die.index() {
            self.0.resize(die.index() + 1, NORMAL);
        }
        self.0[die.index()] = slowness;
    }
    /// Converts an array time of the part to that of a die.
    #[cold]
    pub(crate) fn time(&self, die: Die, time: Time) -> Time {
        let slowness = self.0.get(die.index()).copied().unwrap_or(NORMAL);
        Time((u128::from(time.0) * u128::from(slowness) / u128::from(NORMAL)) as u64)
    }
    /// Returns `true` if every die has normal speed.
    #[inline]
    pub(crate) const fn is_normal(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_array_times_of_the_slow_die_change() {
        let mut slowness = Slowness::default();
        slowness.set(Die(2), 2_500);
        let times = [0, 1, 2, 3].map(|die| slowness.time(Die(die), Time(10)).0);
        assert_eq!(times, [10, 10, 25, 10]);
    }
}
