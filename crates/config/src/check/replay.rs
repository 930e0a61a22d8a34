//! Converts the `[replay]` table to its plan.

use crate::plan::Replay;
use crate::replay::Mode;

pub(super) fn replay(mode: &Mode) -> Replay {
    match mode {
        Mode::OpenLoop(open) => Replay::OpenLoop {
            time_scale: open.time_scale,
        },
        Mode::ClosedLoop(closed) => Replay::ClosedLoop {
            queue_depth: closed.queue_depth,
        },
        Mode::ThinkTime(think) => Replay::ThinkTime {
            time_scale: think.time_scale,
        },
    }
}
