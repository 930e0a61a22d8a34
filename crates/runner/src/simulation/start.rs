//! Starts a run.

use wordline_config::Plan;
use wordline_ftl::Map;
use wordline_ftl::precondition::Preconditioned;
use wordline_ssd::{DeviceError, Ssd};

use super::checkpoint::{Before, Checkpoints, Spent};
use super::event_loop::{LoopEnd, LoopState, Stop, simulate_drawn};
use super::issuer::Host;
use super::live::Live;
use super::power_cuts::PowerCuts;
use super::shape::{OnShape, RunOutput, RunShape, resident_bytes};
use super::snapshot::{Cost, Origin};
use super::watch::{BETWEEN_REPORTS, Phase, Progress, Watcher};
use super::{Clocks, Options, identity};
use crate::devices;
use crate::error::SimulationError;
use crate::timeline::Timeline;
use wordline_kernel::Time;

/// A run to start.
pub(super) struct Start<'b, 'a, 'w, 'l> {
    pub(super) plan: &'b Plan,
    pub(super) options: &'b Options,
    pub(super) host: &'b mut Host<'a>,
    pub(super) watcher: &'b mut Watcher<'w>,
    pub(super) clocks: Clocks,
    pub(super) timeline: Option<Box<Timeline>>,
    /// Clients of a live run; `None` in a run whose input is known in advance.
    pub(super) live: Option<Live<'l>>,
}

/// A run that has ended.
pub(super) struct Started {
    pub(super) left: RunOutput,
    pub(super) cost: Cost,
}

impl OnShape for Start<'_, '_, '_, '_> {
    type Output = Result<Started, SimulationError>;

    /// Serves the requests of the host, unless the user interrupts preconditioning.
    fn on<S: RunShape>(mut self) -> Self::Output {
        let (plan, options) = (self.plan, self.options);
        let recorder = S::recorder(plan, options);
        let ssds = pristine(plan, options)?;
        let memory = resident_bytes();
        let Prepared {
            ssds,
            preconditioned,
            spent,
        } = self.prepare(ssds)?;
        let cost = Cost {
            spent,
            clocks: self.clocks,
            memory,
        };
        let mut store = S::build(plan, options, ssds);
        if let Some(timeline) = &mut self.timeline {
            timeline.begin(store.free_blocks());
        }
        let (ended, recorder, timeline) = if preconditioned.iter().any(|done| done.stopped) {
            let ended = LoopEnd::new(Some(Stop::Interrupted));
            (ended, recorder, self.timeline)
        } else {
            let cuts = options
                .power_cut_every
                .map(|every| PowerCuts::new(plan, every));
            let state = LoopState::start(plan, self.watcher, cuts);
            let Self { host, watcher, .. } = self;
            match self.live {
                None => simulate_drawn(&mut store, host, recorder, self.timeline, watcher, state),
                Some(live) => {
                    let origin = Origin {
                        plan,
                        preconditioned: &preconditioned,
                        cost,
                    };
                    live.simulate(&mut store, host, recorder, watcher, state, &origin)
                }
            }
        };
        Ok(Started {
            left: RunOutput::new(ended, recorder, timeline, &store, &preconditioned),
            cost,
        })
    }
}

/// Preconditioned SSDs.
struct Prepared {
    ssds: Vec<Ssd<Map>>,
    preconditioned: Vec<Preconditioned>,
    /// Time spent on preconditioning.
    spent: Spent,
}

impl Start<'_, '_, '_, '_> {
    /// Preconditions the SSDs or reads prepared ones, and sets up the checkpoints of the run if
    /// they are enabled.
    fn prepare(&mut self, mut ssds: Vec<Ssd<Map>>) -> Result<Prepared, SimulationError> {
        let (plan, options) = (self.plan, self.options);
        let (_, cpu) = self.clocks;
        let before = cpu.elapsed();
        let preconditioned = match &options.prepared {
            None => preconditioned(plan, &mut ssds, self.watcher)?,
            Some(path) => {
                let cut = options.has_power_cuts();
                wordline_state::prepared::read(path, plan, cut, &mut ssds)?
            }
        };
        let mut spent = Spent::default();
        if !ssds.is_empty() {
            spent.precondition_cpu = cpu.elapsed().saturating_sub(before);
        }
        if options.verify {
            ssds.iter_mut().for_each(Ssd::verify);
        }
        self.watcher.checkpoints = options.checkpoint.as_ref().map(|checkpoint| {
            let before = Before {
                run: identity(plan, options),
                preconditioned: preconditioned.clone(),
                spent,
            };
            Checkpoints::new(checkpoint, before, self.clocks)
        });
        Ok(Prepared {
            ssds,
            preconditioned,
            spent,
        })
    }
}

/// Returns the SSDs of a run, without the flash of caches, set up for power cuts and for a custom
/// replacement policy if the run has them.
pub(super) fn pristine(plan: &Plan, options: &Options) -> Result<Vec<Ssd<Map>>, DeviceError> {
    let mut ssds = devices::pristine(plan);
    if options.has_power_cuts() {
        ssds.iter_mut().for_each(Ssd::expect_power_cuts);
    }
    if let Some(maker) = &options.buffer_policy {
        ssds.iter_mut().try_for_each(|ssd| ssd.evict_by(maker))?;
    }
    Ok(ssds)
}

/// Preconditions the devices, and reports the progress to the watch. Returns the counts of each
/// device.
pub(super) fn preconditioned(
    plan: &Plan,
    ssds: &mut [Ssd<Map>],
    watcher: &mut Watcher<'_>,
) -> Result<Vec<Preconditioned>, SimulationError> {
    devices::prepare(plan, ssds, |done, fraction| {
        let progress = Progress {
            phase: Phase::Precondition,
            now: Time::ZERO,
            done,
            fraction,
        };
        watcher.last.elapsed() < BETWEEN_REPORTS || watcher.report(&progress)
    })
}
