//! Section `input` of the summary: requests that the host issued.

use crate::outcome::{Issued, Outcome};
use crate::summary::StreamInput;
use crate::summary::streams::{queue_depth, replay_name};
use schemars::JsonSchema;
use serde::Serialize;
use std::ops::{Deref, DerefMut};
use wordline_recorder::FlashCounts;

/// Requests of all streams together.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[schemars(rename = "Input")]
pub struct InputSummary {
    #[serde(flatten)]
    #[allow(missing_docs)]
    pub of: StreamInput,
    /// Pages read that had never been written, or had been trimmed. Their reads take no time and no
    /// flash operation.
    pub unwritten_pages_read: u64,
}

impl Deref for InputSummary {
    type Target = StreamInput;
    fn deref(&self) -> &StreamInput {
        &self.of
    }
}

impl DerefMut for InputSummary {
    fn deref_mut(&mut self) -> &mut StreamInput {
        &mut self.of
    }
}

pub(super) fn input_summary(outcome: &Outcome, flash: &FlashCounts) -> InputSummary {
    let (counts, served) = (outcome.counts(), &outcome.record.total);
    let mut replays = outcome
        .streams
        .iter()
        .map(|issued| replay_name(&issued.replay));
    let replay = replays.next().unwrap_or_default();
    let alike = replays.all(|other| other == replay);
    let slots = outcome.plan.slots();
    let depths = outcome
        .streams
        .iter()
        .map(|issued| queue_depth(slots, &issued.replay));
    let single = match outcome.streams.as_slice() {
        [single] => Some(single),
        _ => None,
    };
    let generated = outcome.plan.load(0).is_some();
    let of = StreamInput {
        replay: if alike { replay } else { "mixed" },
        time_scale: single.and_then(Issued::time_scale),
        recorded_s: single.filter(|_| !generated).and_then(Issued::recorded_s),
        warm_up_requests: outcome.streams.iter().map(|issued| issued.unmeasured).sum(),
        queue_depth: match replay {
            "closed-loop" | "think-time" if alike => depths.sum(),
            _ => slots,
        },
        ..StreamInput::new(&counts, served)
    };
    InputSummary {
        of,
        unwritten_pages_read: flash.unwritten_pages_read,
    }
}
