//! The time in which all streams issue requests.

use crate::outcome::Contest;
use crate::record::Recorder;
use wordline_kernel::Time;

/// When the contest of several streams begins and ends, with the bytes served until then.
#[derive(Debug, Default)]
pub(super) struct Standing {
    /// Which streams have requests; empty if there is one stream only.
    pub(super) asking: Vec<bool>,
    pub(super) begun: usize,
    pub(super) from: Option<(Time, Vec<u64>)>,
    pub(super) until: Option<(Time, Vec<u64>)>,
}

impl Standing {
    pub(super) fn begin(&mut self, now: Time, recorder: &Recorder) {
        self.begun += 1;
        let all = self.asking.iter().filter(|&&asks| asks).count();
        if self.begun == all && self.until.is_none() {
            self.from = Some((now, recorder.bytes()));
        }
    }
    pub(super) fn end(&mut self, now: Time, recorder: &Recorder) {
        if self.until.is_none() {
            self.until = Some((now, recorder.bytes()));
        }
    }
    pub(super) fn contest(self) -> Option<Contest> {
        let ((from, before), (until, after)) = (self.from?, self.until?);
        let served = after
            .iter()
            .zip(before)
            .map(|(after, before)| after - before);
        let bytes = served.zip(self.asking);
        Some(Contest {
            from,
            until,
            bytes: bytes.map(|(served, asks)| asks.then_some(served)).collect(),
        })
    }
}
