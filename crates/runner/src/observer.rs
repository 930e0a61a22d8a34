//! Observers of a run, which record the events of its devices.

use serde::{Deserialize, Serialize};
use std::convert::Infallible;
use std::ops::Range;

use wordline_array::OfDevice;
use wordline_block::ArrayObservation;
use wordline_block::{
    DeviceObservation, FromMember, LatencyComponents, PowerCut, Request, RequestObservation,
};
use wordline_config::Plan;
use wordline_config::plan::Device;
use wordline_flash_cache as flash_cache;
use wordline_kernel::{Probe, Time};
use wordline_ssd::Observation;

use crate::timeline::{Shown, Timeline};
use wordline_recorder::{Hits, Lanes, Recorder};

/// Observer of a run that takes samples at intervals and gives access to the recorder of the host's
/// requests.
pub(crate) trait Observer<O>: Probe<O> {
    /// Returns the recorder of the requests.
    fn recorder(&self) -> &Recorder;
    fn recorder_mut(&mut self) -> &mut Recorder;
    /// Returns the time of the next sample.
    fn next_look(&self) -> Time {
        self.recorder().next_look()
    }
    /// Takes the samples that are due before `until`, before which nothing happens; `lanes` are
    /// the busy times of buses and dies.
    fn look(&mut self, until: Time, lanes: Lanes<'_>) {
        self.recorder_mut().look(until, lanes);
    }
    /// Discards the operations in progress, because power fails or the run ends.
    fn break_off(&mut self, now: Time, lanes: Lanes<'_>) {
        self.recorder_mut().break_off(now, lanes);
    }
    /// Starts measuring: discards what was recorded before.
    fn begin_measuring(&mut self, now: Time, lanes: Lanes<'_>) {
        self.recorder_mut().begin_measuring(now, lanes);
    }
}

/// Observer that can be copied while a run proceeds.
pub(crate) trait Summed {
    /// Returns a copy from which a summary can be computed, but no table.
    fn summed(&self) -> Self;
}

impl Summed for Recorder {
    fn summed(&self) -> Self {
        self.summed()
    }
}

impl Observer<Observation> for Recorder {
    #[inline]
    fn recorder(&self) -> &Recorder {
        self
    }
    fn recorder_mut(&mut self) -> &mut Recorder {
        self
    }
}

/// Recorder that also draws the timeline of a run. A run with a timeline writes no checkpoints.
///
/// It is a separate type, because a check for a timeline at each observation costs 3 to 5 % of the
/// instructions of a run.
#[derive(Serialize)]
pub(crate) struct Drawn<R> {
    pub observer: R,
    #[serde(skip)]
    pub timeline: Box<Timeline>,
}

impl<O: Shown, R: Observer<O>> Observer<O> for Drawn<R> {
    fn recorder(&self) -> &Recorder {
        self.observer.recorder()
    }
    fn recorder_mut(&mut self) -> &mut Recorder {
        self.observer.recorder_mut()
    }
    fn next_look(&self) -> Time {
        self.observer.next_look()
    }
    fn look(&mut self, until: Time, lanes: Lanes<'_>) {
        self.observer.look(until, lanes);
    }
    fn break_off(&mut self, now: Time, lanes: Lanes<'_>) {
        self.observer.break_off(now, lanes);
    }
    fn begin_measuring(&mut self, now: Time, lanes: Lanes<'_>) {
        self.observer.begin_measuring(now, lanes);
    }
}

impl<O: Shown, R: Probe<O>> Probe<O> for Drawn<R> {
    fn observe(&mut self, now: Time, observation: O) {
        self.observer.observe(now, observation);
        observation.show(now, &mut self.timeline);
    }
}

/// Recorder of one device of a store.
#[derive(Serialize, Deserialize)]
struct Member {
    recorder: Recorder,
    /// Indices of the device's channels and dies in the store.
    channels: Range<usize>,
    dies: Range<usize>,
    /// Whether the device is behind a cache, so that its requests are not the host's.
    is_behind: bool,
    /// Hit statistics, if the device is a cache.
    hits: Option<Hits>,
}

impl Summed for Member {
    fn summed(&self) -> Self {
        Self {
            recorder: self.recorder.summed(),
            channels: self.channels.clone(),
            dies: self.dies.clone(),
            is_behind: self.is_behind,
            hits: self.hits.clone(),
        }
    }
}

impl Member {
    /// Returns the device's channels and dies from the lanes of the store.
    fn own<'a>(&self, all: Lanes<'a>) -> Lanes<'a> {
        Lanes {
            buses: &all.buses[self.channels.clone()],
            dies: &all.dies[self.dies.clone()],
        }
    }
    /// Records a completed request. Records of a device do not distinguish streams.
    fn request(&mut self, now: Time, request: Request, parts: &LatencyComponents) {
        let request = Request {
            stream: 0,
            ..request
        };
        self.recorder.left(now);
        self.recorder.request(now, &request, parts, 0);
    }
}

/// Observer of a store of several devices: of the store as a whole, and of each device.
#[derive(Serialize, Deserialize)]
pub(crate) struct Several {
    whole: Recorder,
    members: Vec<Member>,
    /// Index in `members` by device number.
    places: Vec<u32>,
    /// Whether the first device serves the host: it is the store, or its cache.
    is_first_addressed: bool,
    /// Whether a host model in front of the store reports the requests.
    is_hosted: bool,
    /// Parts of host requests that are in progress in the devices that serve the host. Count.
    serving: u32,
}

impl Summed for Several {
    fn summed(&self) -> Self {
        Self {
            whole: self.whole.summed(),
            members: self.members.iter().map(Member::summed).collect(),
            places: self.places.clone(),
            ..*self
        }
    }
}

/// Records of the store and of each device, and hit statistics of each cache.
pub(crate) struct Recorded {
    pub whole: Recorder,
    pub members: Vec<Recorder>,
    pub hits: Vec<Hits>,
}

impl Several {
    pub fn new(plan: &Plan, whole: Recorder) -> Self {
        let (mut channel, mut die) = (0, 0);
        let leaves = plan.leaves();
        let numbers = leaves.iter().map(|leaf| leaf.number as usize);
        let mut places = vec![0; numbers.max().map_or(0, |most| most + 1)];
        for (place, leaf) in (0..).zip(&leaves) {
            places[leaf.number as usize] = place;
        }
        let members = leaves.iter().map(|leaf| {
            let (channels, dies) = match leaf.of.ssd() {
                Some(ssd) => (ssd.dimensions.channels, ssd.device.part.layout.dies),
                None => (0, 1),
            };
            let here = Member {
                recorder: Recorder::of_device(plan, leaf.of),
                channels: channel..channel + channels as usize,
                dies: die..die + dies as usize,
                is_behind: leaf.is_behind,
                hits: if let Device::Cached(cached) = leaf.of {
                    Some(Hits::new(plan, cached.cache.page_bytes))
                } else {
                    None
                },
            };
            (channel, die) = (here.channels.end, here.dies.end);
            here
        });
        Self {
            members: members.collect(),
            places,
            whole,
            is_first_addressed: plan.array().is_none(),
            is_hosted: plan.host_side.is_some(),
            serving: 0,
        }
    }
    pub fn into_parts(self) -> Recorded {
        let (mut members, mut hits) = (Vec::new(), Vec::new());
        for member in self.members {
            members.push(member.recorder);
            hits.extend(member.hits);
        }
        Recorded {
            whole: self.whole,
            members,
            hits,
        }
    }

    /// Records that a part of a request has arrived at a device. The store is busy while any device
    /// that serves the host is busy.
    fn admitted(&mut self, now: Time, place: usize) {
        if !self.members[place].is_behind && !self.is_hosted {
            self.serving += 1;
            self.whole.admitted(now, self.serving);
        }
    }
    /// Returns `true` if the requests of a device are whole requests of the host.
    fn is_of_host(&self, place: usize) -> bool {
        self.is_first_addressed && place == 0 && !self.is_hosted
    }
    fn left(&mut self, now: Time, place: usize) {
        if !self.members[place].is_behind && !self.is_hosted {
            self.serving -= 1;
            self.whole.left(now);
        }
    }
    /// Records a power cut. A cache also reports the losses of the devices behind it.
    fn power_cut(&mut self, now: Time, place: usize, cut: &PowerCut) {
        if !self.members[place].is_behind {
            self.serving = 0;
            self.whole.power_cut(now, cut);
        }
    }

    fn observe_ssd(&mut self, now: Time, place: usize, observation: Observation) {
        match observation {
            Observation::Admitted { .. } => self.admitted(now, place),
            Observation::Request {
                ref request,
                failed,
                ..
            } => {
                self.left(now, place);
                self.whole.written(now, request, failed);
            }
            Observation::PowerCut(cut) => self.power_cut(now, place, &cut),
            other => self.whole.forward(now, other),
        }
        let recorder = &mut self.members[place].recorder;
        recorder.forward(now, of_one_stream(observation));
    }
    /// Observes a device of a kind for which only requests are recorded.
    fn observe_requests(&mut self, now: Time, place: usize, observation: RequestObservation) {
        let member = &mut self.members[place];
        match observation {
            RequestObservation::Admitted { held } => {
                member.recorder.admitted(now, held);
                self.admitted(now, place);
            }
            RequestObservation::Request { request, parts } => {
                member.request(now, request, &parts);
                self.left(now, place);
                if self.is_of_host(place) {
                    self.whole.request(now, &request, &parts, 0);
                }
            }
            RequestObservation::PowerCut(cut) => {
                member.recorder.power_cut(now, &cut);
                self.power_cut(now, place, &cut);
            }
        }
    }
    fn observe_cache(
        &mut self,
        now: Time,
        place: usize,
        observation: flash_cache::Observation<Infallible>,
    ) {
        use flash_cache::Observation as Of;
        let is_first = self.is_of_host(place);
        let member = &mut self.members[place];
        match observation {
            // Requests of the cache to its flash are not host requests.
            Of::Flash(Observation::Request {
                ref request,
                failed,
                ..
            }) => {
                member.recorder.written(now, request, failed);
                self.whole.written(now, request, failed);
            }
            Of::Flash(Observation::Admitted { .. } | Observation::PowerCut(_)) | Of::Held(_) => {}
            Of::Flash(observation) => {
                member.recorder.forward(now, observation);
                self.whole.forward(now, observation);
            }
            Of::Backing(never) => match never {},
            Of::Lists(lists) => {
                member.recorder.lists(now, lists);
                if is_first {
                    self.whole.lists(now, lists);
                }
            }
            Of::Found(pages) => {
                member.recorder.found(now, pages);
                if !member.is_behind {
                    self.whole.found(now, pages);
                }
            }
            Of::Admitted { in_flight } => {
                member.recorder.admitted(now, in_flight);
                self.admitted(now, place);
            }
            Of::Request {
                request,
                parts,
                hit,
            } => {
                member.request(now, request, &parts);
                if let Some(hits) = &mut member.hits {
                    hits.request(&request, hit, now - request.arrival);
                }
                self.left(now, place);
                if is_first {
                    self.whole.request(now, &request, &parts, 0);
                }
            }
            Of::PowerCut(cut) => {
                member.recorder.power_cut(now, &cut);
                self.power_cut(now, place, &cut);
            }
        }
    }
    fn place(&self, number: u32) -> usize {
        self.places[number as usize] as usize
    }
    /// Records a completed request of an array that is the store, unless the host model reports it.
    fn array_done(
        &mut self,
        now: Time,
        request: &Request,
        parts: &LatencyComponents,
        (member, depth): (u32, u32),
    ) {
        if depth == 0 && !self.is_hosted {
            self.whole.request(now, request, parts, member);
        }
    }

    fn next_look(&self) -> Time {
        let members = self.members.iter();
        let first = members.map(|member| member.recorder.next_look()).min();
        first.unwrap_or(Time::MAX).min(self.whole.next_look())
    }
    fn look(&mut self, until: Time, lanes: Lanes<'_>) {
        self.whole.look(until, lanes);
        for member in &mut self.members {
            let own = member.own(lanes);
            member.recorder.look(until, own);
        }
    }
    fn break_off(&mut self, now: Time, lanes: Lanes<'_>) {
        self.whole.break_off(now, lanes);
        for member in &mut self.members {
            let own = member.own(lanes);
            member.recorder.break_off(now, own);
        }
    }
    fn begin_measuring(&mut self, now: Time, lanes: Lanes<'_>) {
        self.whole.begin_measuring(now, lanes);
        for member in &mut self.members {
            let own = member.own(lanes);
            member.recorder.begin_measuring(now, own);
            if let Some(hits) = &mut member.hits {
                hits.begin_measuring();
            }
        }
    }
}

macro_rules! observes {
    ($($of:ty),*) => {$(
        impl Observer<$of> for Several {
            fn recorder(&self) -> &Recorder {
                &self.whole
            }
            fn recorder_mut(&mut self) -> &mut Recorder {
                &mut self.whole
            }
            fn next_look(&self) -> Time {
                self.next_look()
            }
            fn look(&mut self, until: Time, lanes: Lanes<'_>) {
                self.look(until, lanes);
            }
            fn break_off(&mut self, now: Time, lanes: Lanes<'_>) {
                self.break_off(now, lanes);
            }
            fn begin_measuring(&mut self, now: Time, lanes: Lanes<'_>) {
                self.begin_measuring(now, lanes);
            }
        }
    )*};
}
observes!(
    ArrayObservation<Observation>,
    ArrayObservation<OfDevice>,
    OfHost
);

impl Probe<ArrayObservation<Observation>> for Several {
    const WANTS_FRAGMENTS: bool = false;
    fn observe(&mut self, now: Time, observation: ArrayObservation<Observation>) {
        match observation {
            ArrayObservation::Device(FromMember { member, of }) => {
                self.observe_ssd(now, self.place(member), of);
            }
            ArrayObservation::Request {
                request,
                parts,
                member,
                depth,
            } => self.array_done(now, &request, &parts, (member, depth)),
        }
    }
}

impl Probe<ArrayObservation<OfDevice>> for Several {
    const WANTS_FRAGMENTS: bool = false;
    fn observe(&mut self, now: Time, observation: ArrayObservation<OfDevice>) {
        match observation {
            ArrayObservation::Device(FromMember { member, of }) => {
                let place = self.place(member);
                // All other device kinds, including future ones, are recorded by their requests.
                #[allow(clippy::match_wildcard_for_single_variants)]
                match of {
                    OfDevice::Ssd(of) => self.observe_ssd(now, place, of),
                    OfDevice::Cached(of) => self.observe_cache(now, place, of),
                    other => {
                        if let Some(observation) = other.of_requests() {
                            self.observe_requests(now, place, observation);
                        }
                    }
                }
            }
            ArrayObservation::Request {
                request,
                parts,
                member,
                depth,
            } => self.array_done(now, &request, &parts, (member, depth)),
        }
    }
}

/// Observation of a host in front of a store.
type OfHost = wordline_host_cpu::Observation<ArrayObservation<OfDevice>>;

impl Probe<OfHost> for Several {
    const WANTS_FRAGMENTS: bool = false;
    fn observe(&mut self, now: Time, observation: OfHost) {
        use wordline_host_cpu::Observation as Of;
        match observation {
            Of::Store(observation) => self.observe(now, observation),
            Of::Admitted { held } => self.whole.admitted(now, held),
            Of::Request { request, parts } => {
                self.whole.left(now);
                self.whole.request(now, &request, &parts, 0);
            }
        }
    }
}

/// Assigns a request to stream 0, because records of a device do not distinguish streams.
fn of_one_stream(mut observation: Observation) -> Observation {
    if let Observation::Request { request, .. } = &mut observation {
        request.stream = 0;
    }
    observation
}
