//! Builds the SSDs of a run and preconditions them.

use wordline_ftl::precondition::{self, Preconditioned};
use wordline_ftl::{Map, Precondition};
use wordline_kernel::memory::dense;
use wordline_ssd::Ssd;

use crate::error::SimulationError;
use crate::memory::{MOSTLY, fill, ftl};
use wordline_config::Plan;
use wordline_config::plan::{self, Settle};

/// Returns the new SSDs of a plan, in order, without the flash of caches.
pub(crate) fn pristine(plan: &Plan) -> Vec<Ssd<Map>> {
    let streams = &plan.streams;
    let own = plan.own_ssds().into_iter();
    let build = |ssd: &plan::Ssd| Ssd::new(&ssd.device(streams), Map::new(&ftl(ssd, false)));
    own.map(|(_, ssd)| dense(fill(ssd).logical > MOSTLY, || build(ssd)))
        .collect()
}

/// Preconditions the devices, one after another. `go_on` receives the number of pages written so
/// far, and its share of the pages to fill and overwrite, at most 1, if there are any. If it returns
/// `false`, preconditioning stops and the remaining devices stay untouched.
pub(crate) fn prepare(
    plan: &Plan,
    ssds: &mut [Ssd<Map>],
    mut go_on: impl FnMut(u64, Option<f64>) -> bool,
) -> Result<Vec<Preconditioned>, SimulationError> {
    let pages = |device: &plan::Ssd| {
        u64::from(device.precondition.fill_pages) + device.precondition.overwrite_pages
    };
    let own = plan.own_ssds();
    let total: u64 = own.iter().map(|(_, ssd)| pages(ssd)).sum();
    let mut all = vec![Preconditioned::default(); ssds.len()];
    let mut before = 0;
    for (place, ((leaf, device), ssd)) in own.iter().zip(ssds).enumerate() {
        let prepared = ssd.precondition(&precondition(device), |pages| {
            let done = before + pages;
            go_on(
                done,
                (total > 0).then(|| (done as f64 / total as f64).min(1.0)),
            )
        });
        all[place] = prepared.map_err(|error| {
            if plan.has_members() {
                return SimulationError::Array(wordline_array::ArrayError::Member {
                    name: leaf.name.clone(),
                    error,
                });
            }
            SimulationError::Device(error)
        })?;
        if all[place].stopped {
            break;
        }
        before += pages(device);
    }
    Ok(all)
}

fn precondition(plan: &plan::Ssd) -> Precondition {
    let settle = match plan.precondition.settle {
        Settle::No => None,
        Settle::Until {
            tolerance_ratio,
            limit_pages,
        } => Some(precondition::Settle {
            tolerance_ratio,
            limit_pages,
        }),
    };
    Precondition {
        fill_pages: plan.precondition.fill_pages,
        scattered: plan.precondition.scattered,
        overwrite_pages: plan.precondition.overwrite_pages,
        settle,
        seed: plan.seed,
    }
}
