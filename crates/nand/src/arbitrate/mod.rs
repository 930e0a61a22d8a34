//! Which die gets the bus next.

pub mod commands_first;
pub mod first_come;
pub mod round_robin;

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use wordline_kernel::Time;

use crate::Die;

/// A die that asks for the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asking {
    /// The die.
    pub die: Die,
    /// Since when it asks.
    pub since: Time,
    /// How long it would hold the bus.
    pub hold: Time,
    /// Whether its array starts to work at the end of the hold.
    pub starts_array: bool,
    /// Whether it interrupts the array, or lets it go on (suspend, resume).
    pub urgent: bool,
}

/// Grants a bus.
pub trait Arbitrate {
    /// The place in `line` of the die that gets the bus. The line is in the order of asking and not
    /// empty; `last` held the bus before.
    fn choose(&mut self, line: &VecDeque<Asking>, last: Die) -> usize;
}

macro_rules! members {
    ($($tag:literal => $Variant:ident($file:ident)),+ $(,)?) => {
        wordline_kernel::family! {
            /// Which requesting die gets the bus of its channel?
            pub enum Arbitration at "nand.arbitration" {
                $($tag => $Variant($file::$Variant)),+
            }
        }

        wordline_kernel::forward! {
            impl Arbitrate for Arbitration by [$($Variant),+] {
                #[inline]
                fn choose(&mut self, line: &VecDeque<Asking>, last: Die) -> usize;
            }
        }
    };
}

members! {
    "first-come" => FirstCome(first_come),
    "commands-first" => CommandsFirst(commands_first),
    "round-robin" => RoundRobin(round_robin),
}

impl Default for Arbitration {
    fn default() -> Self {
        Self::FirstCome(first_come::FirstCome::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asking(die: u32, since: u64, hold: u64, starts_array: bool) -> Asking {
        Asking {
            die: Die(die),
            since: Time(since),
            hold: Time(hold),
            starts_array,
            urgent: false,
        }
    }

    /// The order in which a line is served when nobody else comes.
    fn order(mut policy: Arbitration, line: &[Asking]) -> Vec<u32> {
        let mut line: VecDeque<_> = line.iter().copied().collect();
        let mut served = Vec::new();
        let mut last = Die(1);
        while !line.is_empty() {
            let place = policy.choose(&line, last);
            last = line.remove(place).unwrap().die;
            served.push(last.0);
        }
        served
    }

    fn line() -> [Asking; 4] {
        [
            asking(3, 0, 50, false),
            asking(0, 1, 2, true),
            asking(2, 2, 50, true),
            asking(1, 3, 2, true),
        ]
    }

    #[test]
    fn every_member_serves_everybody_once() {
        for policy in Arbitration::defaults() {
            let name = policy.name();
            let mut served = order(policy, &line());
            served.sort_unstable();
            assert_eq!(served, [0, 1, 2, 3], "{name}");
        }
    }

    #[test]
    fn members_differ_as_they_say() {
        let policies = Arbitration::defaults();
        let orders: Vec<_> = policies
            .into_iter()
            .map(|policy| order(policy, &line()))
            .collect();
        assert_eq!(orders[0], [3, 0, 2, 1], "first come, first served");
        assert_eq!(
            orders[1],
            [0, 1, 2, 3],
            "arrays to work first, short holds before long ones"
        );
        assert_eq!(
            orders[2],
            [2, 3, 0, 1],
            "round from the die after the last, 1"
        );
    }
}
