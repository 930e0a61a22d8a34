//! Who hears what a device or an array does.

use serde::{Deserialize, Serialize};
use std::ops::Range;

use wordline_block::Member as Of;
use wordline_device::Observation;
use wordline_kernel::{Probe, Time};
use wordline_store::Observation as Heard;

use crate::record::{Lanes, Recorder};
use crate::timeline::Timeline;
use wordline_config::Plan;

/// Hears a run, looks at it from time to time, and knows what was recorded so far of the host's requests.
pub(crate) trait Observer<O>: Probe<O> {
    /// What records the requests.
    fn recorder(&self) -> &Recorder;
    fn recorder_mut(&mut self) -> &mut Recorder;
    /// When it wants to look next.
    fn next_look(&self) -> Time {
        self.recorder().next_look()
    }
    /// Nothing has happened since the last event, and nothing will before `until`; the buses and dies
    /// have been busy for `lanes`.
    fn look(&mut self, until: Time, lanes: Lanes<'_>) {
        self.recorder_mut().look(until, lanes);
    }
    /// What buses and dies are at is broken off: the power fails, or the run ends.
    fn break_off(&mut self, now: Time, lanes: Lanes<'_>) {
        self.recorder_mut().break_off(now, lanes);
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

/// Records a device and draws its timeline. A run that draws one is not written as a state.
#[derive(Serialize)]
pub(crate) struct Drawn {
    pub recorder: Recorder,
    #[serde(skip)]
    pub timeline: Box<Timeline>,
}

impl Observer<Observation> for Drawn {
    #[inline]
    fn recorder(&self) -> &Recorder {
        &self.recorder
    }
    fn recorder_mut(&mut self) -> &mut Recorder {
        &mut self.recorder
    }
}

impl Probe<Observation> for Drawn {
    fn observe(&mut self, now: Time, observation: Observation) {
        self.recorder.hear(now, observation);
        self.timeline.observe(0, now, observation);
    }
}

/// What is recorded of a member of an array.
#[derive(Serialize, Deserialize)]
struct Member {
    recorder: Recorder,
    /// Its channels and dies among those of all.
    channels: Range<usize>,
    dies: Range<usize>,
}

impl Member {
    /// Its own lanes of those of all members.
    fn own<'a>(&self, all: Lanes<'a>) -> Lanes<'a> {
        Lanes {
            buses: &all.buses[self.channels.clone()],
            dies: &all.dies[self.dies.clone()],
        }
    }
}

/// Hears an array: all of it as one, and each member by itself.
#[derive(Serialize, Deserialize)]
pub(crate) struct Several {
    whole: Recorder,
    members: Vec<Member>,
    /// By the number of a member: its place in `members`.
    places: Vec<u32>,
    /// A run that draws one is not written as a state.
    #[serde(skip)]
    timeline: Option<Box<Timeline>>,
    /// Parts of requests in the members.
    serving: u32,
}

impl Several {
    pub fn new(plan: &Plan, whole: Recorder, timeline: Option<Box<Timeline>>) -> Self {
        let (mut channel, mut die) = (0, 0);
        let leaves = plan.leaves();
        let numbers = leaves.iter().map(|leaf| leaf.number as usize);
        let mut places = vec![0; numbers.max().map_or(0, |most| most + 1)];
        for (place, leaf) in (0..).zip(&leaves) {
            places[leaf.number as usize] = place;
        }
        let members = leaves.iter().map(|leaf| {
            let ssd = leaf.ssd;
            let (channels, dies) = (ssd.dimensions.channels, ssd.device.part.layout.dies);
            let here = Member {
                recorder: Recorder::of_ssd(plan, ssd),
                channels: channel..channel + channels as usize,
                dies: die..die + dies as usize,
            };
            (channel, die) = (here.channels.end, here.dies.end);
            here
        });
        Self {
            members: members.collect(),
            places,
            whole,
            timeline,
            serving: 0,
        }
    }
    /// The record of the whole, and those of the members.
    pub fn into_parts(self) -> (Recorder, Vec<Recorder>, Option<Box<Timeline>>) {
        let members = self.members.into_iter().map(|member| member.recorder);
        (self.whole, members.collect(), self.timeline)
    }

    /// The whole is busy while any of the members is.
    fn hear(&mut self, now: Time, observation: Observation) {
        match observation {
            Observation::Admitted { .. } => {
                self.serving += 1;
                self.whole.admitted(now, self.serving);
            }
            Observation::Request { .. } => {
                self.serving -= 1;
                self.whole.left(now);
            }
            Observation::PowerCut(_) => {
                self.serving = 0;
                self.whole.hear(now, observation);
            }
            other => self.whole.hear(now, other),
        }
    }
}

impl Observer<Heard<Observation>> for Several {
    fn recorder(&self) -> &Recorder {
        &self.whole
    }
    fn recorder_mut(&mut self) -> &mut Recorder {
        &mut self.whole
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
}

impl Probe<Heard<Observation>> for Several {
    fn observe(&mut self, now: Time, observation: Heard<Observation>) {
        match observation {
            Heard::Device(Of { member, of }) => {
                self.hear(now, of);
                let member = self.places[member as usize];
                if let Some(timeline) = &mut self.timeline {
                    timeline.observe(member, now, of);
                }
                let recorder = &mut self.members[member as usize].recorder;
                recorder.hear(now, of_one_stream(of));
            }
            Heard::Request {
                request,
                parts,
                member,
                depth: 0,
            } => self.whole.request(now, &request, &parts, member),
            Heard::Request { .. } => {}
        }
    }
}

/// A member by itself does not tell streams apart.
fn of_one_stream(mut observation: Observation) -> Observation {
    if let Observation::Request { request, .. } = &mut observation {
        request.stream = 0;
    }
    observation
}
