//! Timeline tracks of a hard disk: its mechanism and its buffer.

use wordline_hdd::model::Timed;
use wordline_hdd::{Observation, Plan, Purpose, Work};
use wordline_kernel::Time;
use wordline_observe::{Slice, TimelineFile, TrackId};

/// Tracks of a hard disk.
#[derive(Debug)]
pub(super) struct DiskTracks {
    mechanism: TrackId,
    /// Track of the components of an access, if the model has them.
    parts: Option<TrackId>,
    /// Track of the buffer, if there is one.
    buffer: Option<TrackId>,
    /// Work in progress of the mechanism, and of the buffer alone.
    at_work: Vec<Begun>,
    buffered: Vec<Begun>,
}

/// Work in progress, and its end.
#[derive(Clone, Copy, Debug)]
struct Begun {
    from: Time,
    until: Time,
    work: Work,
}

impl Begun {
    fn new(from: Time, work: Work) -> Self {
        Self {
            from,
            until: from + work.total(),
            work,
        }
    }
    /// Removes and returns an element that ends at `now`, if there is one.
    fn take(all: &mut Vec<Self>, now: Time) -> Option<Self> {
        let place = all.iter().position(|one| one.until == now)?;
        Some(all.swap_remove(place))
    }
    fn show(&self, track: TrackId, file: &mut TimelineFile) {
        let slice = Slice {
            name: name(self.work.purpose),
            category: category(self.work.purpose),
            from: self.from,
            until: self.until,
            values: &[("offset", self.work.offset()), ("bytes", self.work.bytes())],
        };
        file.timeline().slice(track, &slice);
    }
    /// Shows one slice per component that takes time, in sequence.
    fn show_parts(&self, track: TrackId, file: &mut TimelineFile) {
        let access = self.work.access;
        let mut from = self.from;
        for (name, time) in [
            ("overhead", self.work.overhead),
            ("seek", access.seek),
            ("rotation", access.rotation),
            ("transfer", access.transfer),
        ] {
            let until = from + time;
            if from < until {
                let slice = Slice {
                    name,
                    category: category(self.work.purpose),
                    from,
                    until,
                    values: &[],
                };
                file.timeline().slice(track, &slice);
            }
            from = until;
        }
    }
}

impl DiskTracks {
    /// Creates the tracks below the track of a device.
    pub(super) fn new(device: TrackId, plan: &Plan, file: &mut TimelineFile) -> Self {
        let tracks = file.timeline();
        let mechanism = tracks.track(Some(device), "mechanism");
        let has_parts = !matches!(plan.model, Timed::Constant(_));
        let has_buffer = plan.buffer.segments > 0;
        Self {
            mechanism,
            parts: has_parts.then(|| tracks.track(Some(mechanism), "parts")),
            buffer: has_buffer.then(|| tracks.track(Some(device), "buffer")),
            at_work: Vec::new(),
            buffered: Vec::new(),
        }
    }

    pub(super) fn observe(&mut self, now: Time, observation: Observation, file: &mut TimelineFile) {
        match observation {
            Observation::Admitted { .. } => {}
            Observation::Request { .. } => self.complete(now, file),
            Observation::Begun(work) => self.at_work.push(Begun::new(now, work)),
            Observation::Buffered { from, work } => self.buffered.push(Begun::new(from, work)),
            Observation::Over => self.over(now, file),
            Observation::PowerCut(_) => {
                self.at_work.clear();
                self.buffered.clear();
            }
        }
    }
    /// Shows a completed request on the buffer's track, if the buffer alone has served it.
    fn complete(&mut self, now: Time, file: &mut TimelineFile) {
        if let Some(track) = self.buffer
            && let Some(over) = Begun::take(&mut self.buffered, now)
        {
            over.show(track, file);
        }
    }
    /// Shows completed work of the mechanism.
    fn over(&mut self, now: Time, file: &mut TimelineFile) {
        let Some(over) = Begun::take(&mut self.at_work, now) else {
            return;
        };
        over.show(self.mechanism, file);
        if let Some(track) = self.parts {
            over.show_parts(track, file);
        }
    }
}

fn name(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::Read => "read",
        Purpose::Write => "write",
        Purpose::Destage => "destage",
    }
}

fn category(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::Read | Purpose::Write => "host",
        Purpose::Destage => "destage",
    }
}
