//! Arbitration: selects the next die for the bus of a channel.

pub mod commands_first;
pub mod first_come;
pub mod round_robin;

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use wordline_kernel::Time;

use crate::Die;

/// Bus request of a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asking {
    /// Requesting die.
    pub die: Die,
    /// Time of the request.
    pub since: Time,
    /// Bus time that the die needs.
    pub hold: Time,
    /// Whether the bus grant starts an array operation at its end.
    pub starts_array: bool,
    /// Whether the grant suspends or resumes an array operation.
    pub urgent: bool,
}

/// Selects the next die for a bus.
pub trait Arbitrate {
    /// Returns the index in `line` of the die that gets the bus. `line` is in order of request and
    /// is not empty; `last` is the previous bus holder.
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

    /// Returns the order in which a policy serves a queue that receives no further requests.
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
    fn every_policy_serves_every_die_once() {
        for policy in Arbitration::defaults() {
            let name = policy.name();
            let mut served = order(policy, &line());
            served.sort_unstable();
            assert_eq!(served, [0, 1, 2, 3], "{name}");
        }
    }

    #[test]
    fn policies_serve_dies_in_their_documented_order() {
        let policies = Arbitration::defaults();
        let orders: Vec<_> = policies
            .into_iter()
            .map(|policy| order(policy, &line()))
            .collect();
        assert_eq!(orders[0], [3, 0, 2, 1], "first come, first served");
        assert_eq!(
            orders[1],
            [0, 1, 2, 3],
            "array starts before data, short grants before long ones"
        );
        assert_eq!(
            orders[2],
            [2, 3, 0, 1],
            "round robin from the die after the last holder, die 1"
        );
    }
}
