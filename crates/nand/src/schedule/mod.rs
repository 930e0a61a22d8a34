//! Distribution of the pages of a stream over a package, and the planes that one command uses.

pub mod die_first;
pub mod plane_first;

macro_rules! members {
    ($($tag:literal => $Variant:ident($file:ident)),+ $(,)?) => {
        wordline_kernel::family! {
            /// Does a package use its dies or its planes first?
            pub enum Scheduler at "nand.scheduler" {
                $($tag => $Variant($file::$Variant)),+
            }
        }

        wordline_kernel::forward! {
            impl Schedule for Scheduler by [$($Variant),+] {
                fn place(&self, page: u64, dies: u32, planes: u32) -> Place;
                fn planes(&self, planes: u32) -> u32;
            }
        }
    };
}

/// Location of a page of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Die in the package.
    pub die: u32,
    /// Plane in the die.
    pub plane: u32,
    /// Page in the plane, from 0.
    pub page: u64,
}

/// Decides how the parallelism of a package is used.
pub trait Schedule {
    /// Returns the location of page number `page` of a stream, on `dies` dies of `planes` planes.
    fn place(&self, page: u64, dies: u32, planes: u32) -> Place;
    /// Returns how many of the `planes` planes of a die one command may use.
    fn planes(&self, planes: u32) -> u32;
}

members! {
    "die-first" => DieFirst(die_first),
    "plane-first" => PlaneFirst(plane_first),
}

impl Default for Scheduler {
    fn default() -> Self {
        Self::DieFirst(die_first::DieFirst::default())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_policy_uses_every_page_of_every_plane_once() {
        for policy in Scheduler::defaults() {
            let places: HashSet<_> = (0..4 * 2 * 5)
                .map(|page| policy.place(page, 4, 2))
                .map(|place| (place.die, place.plane, place.page))
                .collect();
            assert_eq!(places.len(), 40, "{}", policy.name());
            assert!(
                places
                    .iter()
                    .all(|&(die, plane, page)| die < 4 && plane < 2 && page < 5)
            );
        }
    }

    #[test]
    fn die_first_and_plane_first_place_the_first_pages_in_different_orders() {
        let first = |policy: &Scheduler| -> Vec<_> {
            let places = (0..4).map(|page| policy.place(page, 2, 2));
            places.map(|place| (place.die, place.plane)).collect()
        };
        let policies = Scheduler::defaults();
        assert_eq!(first(&policies[0]), [(0, 0), (1, 0), (0, 1), (1, 1)]);
        assert_eq!(first(&policies[1]), [(0, 0), (0, 1), (1, 0), (1, 1)]);
        assert_eq!(policies[0].planes(4), 1);
        assert_eq!(policies[1].planes(4), 4);
    }
}
