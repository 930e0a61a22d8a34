//! Who hears what a device or an array does.

use wordline_device::Observation;
use wordline_kernel::{Probe, Time};
use wordline_nand::Die;

use crate::config::plan;
use crate::record::Recorder;
use crate::timeline::Timeline;

/// Hears a run, and knows what was recorded so far of the host's requests.
pub(crate) trait Audience<O>: Probe<O> {
    fn recorder(&self) -> &Recorder;
}

impl Audience<Observation> for Recorder {
    #[inline]
    fn recorder(&self) -> &Recorder {
        self
    }
}

/// Records a device and draws its timeline.
pub(crate) struct Drawn {
    pub recorder: Recorder,
    pub timeline: Box<Timeline>,
}

impl Audience<Observation> for Drawn {
    #[inline]
    fn recorder(&self) -> &Recorder {
        &self.recorder
    }
}

impl Probe<Observation> for Drawn {
    fn observe(&mut self, now: Time, observation: Observation) {
        self.recorder.hear(now, observation);
        self.timeline.observe(0, now, observation);
    }
}

/// What is recorded of a member of an array.
struct Member {
    recorder: Recorder,
    /// Its first channel and die among those of all.
    channel: u32,
    die: u32,
}

/// Hears an array: all of it as one, and each member by itself.
pub(crate) struct Several {
    whole: Recorder,
    members: Vec<Member>,
    timeline: Option<Box<Timeline>>,
    /// Parts of requests in the members.
    serving: u32,
}

impl Several {
    pub fn new(array: &plan::Array, whole: Recorder, timeline: Option<Box<Timeline>>) -> Self {
        let (mut channel, mut die) = (0, 0);
        let members = array.members.iter().map(|member| {
            let here = Member {
                recorder: Recorder::new(&member.plan, false),
                channel,
                die,
            };
            channel += member.plan.dimensions.channels;
            die += member.plan.part.layout.dies;
            here
        });
        Self {
            members: members.collect(),
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

    /// The whole has the channels and dies of all members, and is busy while any of them is.
    fn hear(&mut self, now: Time, member: usize, observation: Observation) {
        let Member { channel, die, .. } = self.members[member];
        match observation {
            Observation::Admitted { .. } => {
                self.serving += 1;
                self.whole.admitted(now, self.serving);
            }
            Observation::Request { .. } => {
                self.serving -= 1;
                self.whole.left(now);
            }
            Observation::Bus {
                channel: own,
                from,
                die: of,
                operation,
                gc,
            } => {
                let bus = Observation::Bus {
                    channel: channel + own,
                    from,
                    die: Die(die + of.0),
                    operation,
                    gc,
                };
                self.whole.hear(now, bus);
            }
            Observation::Die {
                die: own,
                from,
                operation,
                pages,
                interleaved,
                gc,
            } => {
                let occupied = Observation::Die {
                    die: Die(die + own.0),
                    from,
                    operation,
                    pages,
                    interleaved,
                    gc,
                };
                self.whole.hear(now, occupied);
            }
            Observation::PowerCut(_) => {
                self.serving = 0;
                self.whole.hear(now, observation);
            }
            other => self.whole.hear(now, other),
        }
    }
}

impl Audience<wordline_store::Observation> for Several {
    fn recorder(&self) -> &Recorder {
        &self.whole
    }
}

impl Probe<wordline_store::Observation> for Several {
    fn observe(&mut self, now: Time, observation: wordline_store::Observation) {
        match observation {
            wordline_store::Observation::Member { member, device } => {
                self.hear(now, member as usize, device);
                if let Some(timeline) = &mut self.timeline {
                    timeline.observe(member, now, device);
                }
                let recorder = &mut self.members[member as usize].recorder;
                recorder.hear(now, of_one_stream(device));
            }
            wordline_store::Observation::Request {
                stream,
                op,
                offset,
                bytes,
                arrival,
                parts,
                member,
            } => {
                self.whole
                    .request(now, stream, op, offset, bytes, arrival, &parts, member);
            }
        }
    }
}

/// A member by itself does not tell streams apart.
fn of_one_stream(mut observation: Observation) -> Observation {
    if let Observation::Request { stream, .. } = &mut observation {
        *stream = 0;
    }
    observation
}
