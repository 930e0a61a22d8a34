//! The `[replay]` table.

use super::range::{positive, whole};
use crate::ConfigError;
use crate::plan::Replay;
use crate::replay::Mode;

pub(super) fn replay(mode: &Mode) -> Result<Replay, ConfigError> {
    match mode {
        Mode::OpenLoop(open) => {
            positive("replay.mode.open-loop.time_scale", open.time_scale, 1e6)?;
            Ok(Replay::OpenLoop {
                time_scale: open.time_scale,
            })
        }
        Mode::ClosedLoop(closed) => {
            let depth = closed.queue_depth;
            whole("replay.mode.closed-loop.queue_depth", depth, 1..=1_000_000)?;
            Ok(Replay::ClosedLoop { queue_depth: depth })
        }
    }
}
