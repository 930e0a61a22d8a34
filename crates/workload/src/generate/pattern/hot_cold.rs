//! Access pattern with a hot and a cold region.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::Rng;
use wordline_kernel::slot::Cited;

use super::{Places, Space};
use crate::WorkloadError;
use crate::generate::fault;

/// Two regions: the hot region, at the start of the working set, gets `hot_access_ratio` of the
/// requests, and the rest of the working set gets the others. Within each region all offsets are
/// equally likely. For the classic 80/20 rule, set `hot_space_ratio` to 0.2 and `hot_access_ratio`
/// to 0.8.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HotCold {
    /// Share of the working set that is in the hot region.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub hot_space_ratio: f64,
    /// Share of the requests that access the hot region.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub hot_access_ratio: f64,
}

impl Default for HotCold {
    fn default() -> Self {
        Self {
            hot_space_ratio: 0.2,
            hot_access_ratio: 0.8,
        }
    }
}

impl Cited for HotCold {
    const PAPER: &'static str = "Rosenblum and Ousterhout, The Design and Implementation of a \
                                 Log-Structured File System, ACM TOCS 1992";
}

#[derive(Clone, Debug)]
pub(crate) struct State {
    hot_places: u64,
    cold_places: u64,
    hot_access_ratio: f64,
}

impl State {
    pub(super) fn new(parameters: &HotCold, space: &Space) -> Result<Self, WorkloadError> {
        let HotCold {
            hot_space_ratio,
            hot_access_ratio,
        } = *parameters;
        let places = space.places;
        let hot_places = ((places as f64 * hot_space_ratio).round() as u64).min(places);
        if hot_places == 0 || hot_places == places {
            let part = if hot_places == 0 { "hot" } else { "cold" };
            let reason = format!(
                "with a share of {hot_space_ratio}, none of the {places} offsets at which requests start is {part}"
            );
            let remedy = "choose a share further from 0 and 1, or a larger working set";
            return fault("pattern.hot-cold.hot_space_ratio", reason, remedy);
        }
        Ok(Self {
            hot_places,
            cold_places: places - hot_places,
            hot_access_ratio,
        })
    }
}

impl Places for State {
    fn next(&mut self, _: u64, space: &Space, random: &mut Rng) -> u64 {
        let index = if random.unit() < self.hot_access_ratio {
            random.below(self.hot_places)
        } else {
            self.hot_places + random.below(self.cold_places)
        };
        space.byte(index)
    }
}
