//! The interval in which all streams with requests issue them.

use serde::{Deserialize, Serialize};
use wordline_kernel::Time;
use wordline_recorder::Recorder;
use wordline_results::outcome::ContentionWindow;

/// Start and end of the interval in which all streams issue requests, with the bytes served by each
/// of these times. Streams without requests are left out.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Contention {
    /// Whether each stream has requests; empty if there is one stream.
    pub(super) active: Vec<bool>,
    pub(super) begun: usize,
    pub(super) from: Option<(Time, Vec<u64>)>,
    pub(super) until: Option<(Time, Vec<u64>)>,
}

impl Contention {
    /// Starts measuring with the streams that still have requests.
    pub(super) fn begin_measuring(&mut self, active: Vec<bool>) {
        *self = Self {
            active,
            ..Self::default()
        };
    }
    pub(super) fn begin(&mut self, now: Time, recorder: &Recorder) {
        self.begun += 1;
        let all = self.active.iter().filter(|&&asks| asks).count();
        if self.begun == all && self.until.is_none() {
            self.from = Some((now, recorder.bytes()));
        }
    }
    pub(super) fn end(&mut self, now: Time, recorder: &Recorder) {
        if self.until.is_none() {
            self.until = Some((now, recorder.bytes()));
        }
    }
    pub(super) fn window(self) -> Option<ContentionWindow> {
        let ((from, before), (until, after)) = (self.from?, self.until?);
        let served = after
            .iter()
            .zip(before)
            .map(|(after, before)| after - before);
        let bytes = served.zip(self.active);
        Some(ContentionWindow {
            from,
            until,
            bytes: bytes.map(|(served, asks)| asks.then_some(served)).collect(),
        })
    }
}
