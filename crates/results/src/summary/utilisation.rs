//! Utilisation of channels and dies.

use schemars::JsonSchema;
use serde::Serialize;
use wordline_kernel::Time;
use wordline_observe::Busy;
use wordline_recorder::Record;
use wordline_ssd::Usage;

/// Times of the run on the simulated clock.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Time")]
pub struct TimeSummary {
    /// Time from the start of the simulated clock to the last event.
    pub simulated_s: f64,
    /// Time at which the first measured request was issued.
    pub first_arrival_s: f64,
    /// Time at which measuring began: the end of the warm-up (`observe.warm_up_s`,
    /// `warm_up_requests`, `warm_up_files`), or without one the first arrival. Metrics described as
    /// "from the first arrival" start here.
    pub measured_from_s: f64,
    /// Time at which the last request completed. GC may continue after it.
    pub last_completion_s: f64,
    /// Simulated time in which the device held at least one request. A request is held from the
    /// arrival of its command and, for a write, of its data.
    pub busy_s: f64,
}

/// Breakdown of the dies' time, as shares that add up to 1.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Execution {
    /// Share of the dies' time, from the first arrival to the last event, in which commands,
    /// addresses, data or status were transferred.
    pub bus_active: f64,
    /// Share of the time in which dies waited for the bus of their channel.
    pub bus_contention: f64,
    /// Share of the time in which arrays worked, including the short busy times between the planes of
    /// a command.
    pub cell_active: f64,
    /// Share of the remaining time, in which a die had no operation or only a suspended one.
    pub idle: f64,
}

impl Execution {
    pub(crate) fn new<'a>(
        usage: impl IntoIterator<Item = &'a Usage, IntoIter: Clone>,
        span: Time,
    ) -> Self {
        let usage = usage.into_iter();
        let all = (span.0 as f64 * usage.clone().count() as f64).max(1.0);
        let share = |of: &dyn Fn(&Usage) -> Time| {
            usage.clone().map(|usage| of(usage).0 as f64).sum::<f64>() / all
        };
        let bus_active = share(&|usage| usage.bus);
        let bus_contention = share(&|usage| usage.bus_wait);
        let cell_active = share(&|usage| usage.cell);
        Self {
            bus_active,
            bus_contention,
            cell_active,
            idle: (1.0 - bus_active - bus_contention - cell_active).max(0.0),
        }
    }
}

/// Share of the simulated time in which the hardware was busy, 0 to 1.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Utilisation {
    /// Share of the time from the first arrival to the last event in which a channel's bus was
    /// granted, mean over the channels.
    pub channel_mean: f64,
    /// Share of the time in which the bus of the busiest channel was granted.
    pub channel_max: f64,
    /// Share of the time from the first arrival to the last event in which a die was occupied by an
    /// operation, mean over the dies. Waits for the bus are included.
    pub die_mean: f64,
    /// Share of the time in which the busiest die was occupied.
    pub die_max: f64,
}

impl Utilisation {
    pub(crate) fn new(record: &Record, span: Time) -> Self {
        let (channel_mean, channel_max) = share(&record.channels, span);
        let (die_mean, die_max) = share(&record.dies, span);
        Self {
            channel_mean,
            channel_max,
            die_mean,
            die_max,
        }
    }
}

pub(super) fn share(busy: &Busy, span: Time) -> (f64, f64) {
    let totals = busy.totals();
    let span = span.0.max(1) as f64;
    let shares = totals.iter().map(|total| total.0 as f64 / span);
    let max = shares.clone().fold(0.0, f64::max);
    (shares.sum::<f64>() / totals.len().max(1) as f64, max)
}
