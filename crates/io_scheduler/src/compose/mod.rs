//! Composition of multi-plane commands.
//!
//! A multi-plane command works on several planes of its die at once (Jung 2013, section 3.2: plane
//! sharing). It is composed when the die becomes free, from all operations that wait for the die at
//! that time, regardless of their requests. Interleaving of the dies of a package does not depend
//! on composition.

use serde::{Deserialize, Serialize};

pub mod greedy;
pub mod in_order;
pub mod off;
mod queues;

pub use queues::{Look, MAX_IN_LINE, MAX_PLANES, PlaneQueues};

/// Operation that waits for a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    /// Number of the plane within the die.
    pub plane: u32,
    /// Whether the operation is of the same kind as the first operation in the queue, and the plane
    /// rule allows both in one command if their planes differ.
    pub fits: bool,
}

/// Composition policy.
pub trait Compose {
    /// Returns `true` if a command may contain several operations.
    fn joins(&self) -> bool;
    /// Returns `true` if only operations that fit and are the first of their planes affect the
    /// choice.
    fn skips(&self) -> bool {
        false
    }
    /// Picks up to `most` operations to execute with the first operation, as ascending indices into
    /// `line`. All picked operations have different planes, and none overtakes another operation of
    /// its plane.
    fn pick(&self, line: &[Waiting], most: usize, picked: &mut Vec<usize>);
}

macro_rules! members {
    ($($tag:literal => $Variant:ident($file:ident)),+ $(,)?) => {
        wordline_kernel::family! {
            /// Which operations waiting for a die become one command?
            pub enum Composition at "ssd.composition" {
                $($tag => $Variant($file::$Variant)),+
            }
        }

        wordline_kernel::forward! {
            impl Compose for Composition by [$($Variant),+] {
                fn joins(&self) -> bool;
                fn skips(&self) -> bool;
                fn pick(&self, line: &[Waiting], most: usize, picked: &mut Vec<usize>);
            }
        }
    };
}

members! {
    "off" => Off(off),
    "in-order" => InOrder(in_order),
    "greedy" => Greedy(greedy),
}

impl Default for Composition {
    fn default() -> Self {
        Self::Off(off::Off::default())
    }
}

/// Planes that a command does not use yet, one bit each.
#[derive(Clone, Copy, Debug)]
struct Open(u64);

impl Open {
    /// Creates the set of all planes except that of the first operation.
    fn beside(first: Waiting) -> Self {
        Self(!(1 << first.plane))
    }
    /// Returns `true` if the plane was unused, and marks it as used.
    fn close(&mut self, plane: u32) -> bool {
        let open = self.0 >> plane & 1 == 1;
        self.0 &= !(1 << plane);
        open
    }
}

#[cfg(test)]
mod tests {
    use wordline_kernel::Rng;

    use super::*;

    fn picks(policy: &Composition, line: &[(u32, bool)], most: usize) -> Vec<usize> {
        let line: Vec<_> = line
            .iter()
            .map(|&(plane, fits)| Waiting { plane, fits })
            .collect();
        let mut picked = Vec::new();
        policy.pick(&line, most, &mut picked);
        picked
    }

    /// Returns up to 12 operations on four planes, of which two thirds fit.
    fn line(random: &mut Rng) -> Vec<(u32, bool)> {
        let length = 1 + random.below(12);
        (0..length)
            .map(|_| (random.below(4) as u32, random.below(3) > 0))
            .collect()
    }

    #[test]
    fn every_policy_keeps_the_order_within_a_plane() {
        let mut random = Rng::new(1, "lines");
        for _ in 0..2_000 {
            let line = line(&mut random);
            let most = random.below(4) as usize;
            for policy in Composition::defaults() {
                let picked = picks(&policy, &line, most);
                let name = policy.name();
                assert!(picked.len() <= most, "{name} picks more than {most}");
                assert!(
                    picked.is_sorted() && !picked.contains(&0),
                    "{name}: {picked:?}"
                );
                for &place in &picked {
                    let (plane, fits) = line[place];
                    assert!(fits, "{name} picks an operation that does not fit");
                    let passed = line[..place].iter().any(|other| other.0 == plane);
                    assert!(
                        !passed,
                        "{name}: operation {place} overtakes another on its plane: {line:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn only_fitting_first_operations_of_planes_matter_to_policies_that_skip() {
        let mut random = Rng::new(1, "skipped");
        for _ in 0..2_000 {
            let line = line(&mut random);
            // Indices of the first operation in the line, and of the fitting operations that are
            // the first of their planes.
            let is_first = |place: usize| line[..place].iter().all(|one| one.0 != line[place].0);
            let matters = |place: usize| place == 0 || line[place].1 && is_first(place);
            let firsts: Vec<_> = (0..line.len()).filter(|&place| matters(place)).collect();
            let short: Vec<_> = firsts.iter().map(|&place| line[place]).collect();
            for policy in Composition::defaults().iter().filter(|one| one.skips()) {
                let picked: Vec<_> = picks(policy, &short, 3)
                    .iter()
                    .map(|&at| firsts[at])
                    .collect();
                assert_eq!(
                    picked,
                    picks(policy, &line, 3),
                    "{}: {line:?}",
                    policy.name()
                );
            }
        }
    }

    #[test]
    fn policies_differ_in_the_operations_they_skip() {
        // The second operation does not fit, and the fourth is on a plane that is used.
        let line = [(0, true), (1, false), (2, true), (0, true), (3, true)];
        let all = Composition::defaults();
        let picked: Vec<_> = all.iter().map(|policy| picks(policy, &line, 3)).collect();
        assert_eq!(picked[0], [0_usize; 0], "off");
        assert_eq!(
            picked[1], [0_usize; 0],
            "in-order stops at the second operation"
        );
        assert_eq!(picked[2], [2, 4], "greedy skips operations that do not fit");
        let line = [(0, true), (1, true), (2, true), (0, true), (3, true)];
        assert_eq!(
            picks(&all[1], &line, 3),
            [1, 2],
            "in-order stops at the fourth operation"
        );
        assert_eq!(picks(&all[2], &line, 3), [1, 2, 4]);
        assert_eq!(picks(&all[2], &line, 2), [1, 2], "at most two are picked");
    }
}
