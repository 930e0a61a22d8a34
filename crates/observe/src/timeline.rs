//! Timelines: what each of many resources did when, in Perfetto's trace format.
//!
//! A timeline is a tree of tracks; a track holds slices, things that lasted from one time to another,
//! or the values of a counter. The format is a protobuf stream of packets (Perfetto, Trace Packet
//! reference, <https://perfetto.dev/docs/reference/trace-packet-proto>), here written by the few
//! messages of [`message`]. Perfetto counts whole nanoseconds: every time is rounded down.

use crate::ObserveError;
use crate::part::Part;
use message::{Annotation, Counter, Event, EventKind, Packet, Trace, Track};
use prost::Message;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use wordline_kernel::Time;

/// The part of simulated time that a timeline shows: from `from`, up to but without `until`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Its start.
    pub from: Time,
    /// Its end.
    pub until: Time,
}

/// A track of slices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TrackId(u32);

/// A track of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CounterId(u32);

/// Something that lasted a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice<'a> {
    /// What it is called.
    pub name: &'a str,
    /// The kind of thing, for filters.
    pub category: &'a str,
    /// Its start.
    pub from: Time,
    /// Its end.
    pub until: Time,
    /// What else is known of it.
    pub values: &'a [(&'a str, u64)],
}

/// A track of the format takes slices that do not overlap.
#[derive(Clone, Copy, Debug)]
struct Lane {
    uuid: u64,
    end: Time,
}

#[derive(Clone, Debug)]
struct Slices {
    descriptor: Track,
    lanes: Vec<Lane>,
}

#[derive(Clone, Copy, Debug)]
struct Values {
    uuid: u64,
    /// The last value from before the window.
    before: Option<i64>,
}

/// Writes a timeline as it happens; keeps nothing but its tracks.
///
/// Slices of a track that overlap, whatever their order, are laid on lanes: tracks of the same name
/// and parent, which Perfetto shows as one.
#[derive(Debug)]
pub struct Timeline<W> {
    out: W,
    window: Window,
    /// Events left: a slice has two, a value is one.
    left: u64,
    slices: Vec<Slices>,
    values: Vec<Values>,
    uuids: u64,
    /// Whether the window has begun.
    begun: bool,
    empty: bool,
    /// When the events were used up.
    full: Option<Time>,
    refused: Option<io::Error>,
}

/// Who wrote a packet; the format wants a number.
const SEQUENCE: u32 = 1;
/// Flag of the first packet of a sequence.
const CLEARED: u32 = 1;
/// Children of a track are ordered by their rank.
const BY_RANK: i32 = 3;

impl<W: Write> Timeline<W> {
    /// An empty timeline of `window`, to be written to `out`; it ends early after `most` events. A
    /// slice has two events, a value is one.
    pub fn new(out: W, window: Window, most: u64) -> Self {
        let mut timeline = Self {
            out,
            window,
            left: most,
            slices: Vec::new(),
            values: Vec::new(),
            uuids: 0,
            begun: false,
            empty: true,
            full: None,
            refused: None,
        };
        timeline.write(vec![Packet {
            sequence_flags: Some(CLEARED),
            ..packet()
        }]);
        timeline
    }
    /// Adds a track, shown after those added to the same parent before.
    pub fn track(&mut self, parent: Option<TrackId>, name: &str) -> TrackId {
        let descriptor = self.descriptor(parent, name);
        self.write(vec![descriptor_packet(&descriptor)]);
        let lane = Lane {
            uuid: descriptor.uuid(),
            end: Time::ZERO,
        };
        self.slices.push(Slices {
            descriptor,
            lanes: vec![lane],
        });
        TrackId(self.slices.len() as u32 - 1)
    }
    /// Adds a counter of `unit`, shown after the tracks added to the same parent before.
    pub fn counter(&mut self, parent: Option<TrackId>, name: &str, unit: &str) -> CounterId {
        let mut descriptor = self.descriptor(parent, name);
        let unit = Some(unit.to_owned());
        descriptor.counter = Some(Counter { unit });
        self.write(vec![descriptor_packet(&descriptor)]);
        let uuid = descriptor.uuid();
        self.values.push(Values { uuid, before: None });
        CounterId(self.values.len() as u32 - 1)
    }

    /// A slice that has ended. What is outside the window is cut off.
    pub fn slice(&mut self, track: TrackId, slice: &Slice<'_>) {
        let Window { from, until } = self.window;
        let after = slice.from >= until;
        let before = slice.until <= from && slice.from < from;
        if after || before {
            return;
        }
        self.begin();
        if !self.take(slice.until, 2) {
            return;
        }
        self.empty = false;
        let (from, until) = (slice.from.max(from), slice.until.min(until));
        let uuid = self.lane(track, from, until);
        let start = Event {
            kind: Some(EventKind::Begin.into()),
            track: Some(uuid),
            name: Some(slice.name.to_owned()),
            categories: vec![slice.category.to_owned()],
            annotations: slice.values.iter().map(annotation).collect(),
            value: None,
        };
        let end = Event {
            kind: Some(EventKind::End.into()),
            track: Some(uuid),
            ..Event::default()
        };
        self.write(vec![event_packet(from, start), event_packet(until, end)]);
    }
    /// A counter has the value from `now` on. Calls for one counter come in order of `now`.
    pub fn count(&mut self, counter: CounterId, now: Time, value: i64) {
        if now < self.window.from {
            self.values[counter.0 as usize].before = Some(value);
            return;
        }
        self.begin();
        if now < self.window.until {
            self.value(counter, now, value);
        }
    }

    /// Whether it has no slice.
    pub fn is_empty(&self) -> bool {
        self.empty
    }
    /// When the timeline ended because it had all the events it may have. What had not ended then is
    /// not in it.
    pub fn full(&self) -> Option<Time> {
        self.full
    }
    /// Ends the timeline. The first refusal of the writer, after which nothing was written, comes
    /// back here.
    pub fn finish(mut self) -> io::Result<W> {
        if let Some(error) = self.refused.take() {
            return Err(error);
        }
        self.out.flush()?;
        Ok(self.out)
    }

    /// Writes the values that the counters have at the start of the window.
    fn begin(&mut self) {
        if self.begun {
            return;
        }
        self.begun = true;
        for counter in 0..self.values.len() {
            if let Some(value) = self.values[counter].before {
                self.value(CounterId(counter as u32), self.window.from, value);
            }
        }
    }
    fn value(&mut self, counter: CounterId, now: Time, value: i64) {
        if !self.take(now, 1) {
            return;
        }
        let event = Event {
            kind: Some(EventKind::Counter.into()),
            track: Some(self.values[counter.0 as usize].uuid),
            value: Some(value),
            ..Event::default()
        };
        self.write(vec![event_packet(now, event)]);
    }
    /// Whether there is room for the events.
    fn take(&mut self, now: Time, events: u64) -> bool {
        if self.full.is_none() && self.left >= events {
            self.left -= events;
            return true;
        }
        self.full.get_or_insert(now);
        false
    }
    /// A lane of the track that is free from `from`, taken to `until`.
    fn lane(&mut self, track: TrackId, from: Time, until: Time) -> u64 {
        let slices = &mut self.slices[track.0 as usize];
        if let Some(lane) = slices.lanes.iter_mut().find(|lane| lane.end <= from) {
            lane.end = until;
            return lane.uuid;
        }
        self.uuids += 1;
        let uuid = self.uuids;
        slices.lanes.push(Lane { uuid, end: until });
        let mut descriptor = slices.descriptor.clone();
        descriptor.uuid = Some(uuid);
        self.write(vec![descriptor_packet(&descriptor)]);
        uuid
    }
    fn descriptor(&mut self, parent: Option<TrackId>, name: &str) -> Track {
        self.uuids += 1;
        let parent = parent.and_then(|parent| self.slices[parent.0 as usize].descriptor.uuid);
        Track {
            uuid: Some(self.uuids),
            parent,
            name: Some(name.to_owned()),
            counter: None,
            child_ordering: Some(BY_RANK),
            rank: Some(self.uuids as i32),
        }
    }
    fn write(&mut self, packets: Vec<Packet>) {
        if self.refused.is_some() {
            return;
        }
        let bytes = Trace { packets }.encode_to_vec();
        self.refused = self.out.write_all(&bytes).err();
    }
}

fn packet() -> Packet {
    Packet {
        sequence: Some(SEQUENCE),
        ..Packet::default()
    }
}

fn descriptor_packet(descriptor: &Track) -> Packet {
    Packet {
        track: Some(descriptor.clone()),
        ..packet()
    }
}

fn event_packet(now: Time, event: Event) -> Packet {
    Packet {
        nanoseconds: Some(now.ns()),
        event: Some(event),
        ..packet()
    }
}

fn annotation(&(name, value): &(&str, u64)) -> Annotation {
    Annotation {
        value: Some(value),
        name: Some(name.to_owned()),
    }
}

/// A timeline in a file that appears whole or not at all.
#[derive(Debug)]
pub struct TimelineFile {
    // Before the part, so that the file is closed when it is removed.
    timeline: Timeline<BufWriter<File>>,
    part: Part,
}

impl TimelineFile {
    /// Starts the file `path`; its folder must exist. See [`Timeline::new`].
    pub fn create(path: &Path, window: Window, most: u64) -> Result<Self, ObserveError> {
        let (part, file) = Part::create(path)?;
        let timeline = Timeline::new(BufWriter::new(file), window, most);
        Ok(Self { timeline, part })
    }
    /// The timeline, to write to.
    pub fn timeline(&mut self) -> &mut Timeline<BufWriter<File>> {
        &mut self.timeline
    }
    /// Completes the file and moves it to its place.
    pub fn finish(self) -> Result<(), ObserveError> {
        let Self { timeline, part } = self;
        let written = timeline.finish().and_then(|out| out.get_ref().sync_all());
        written.map_err(|error| part.refuse("write", error))?;
        part.put()
    }
}

/// The messages of Perfetto's trace format that timelines use, with the fields that they use. Names
/// are ours, numbers are the format's (`protos/perfetto/trace`).
pub mod message {
    /// `Trace`: a file. Files put one after the other are one trace.
    #[derive(Clone, PartialEq, prost::Message)]
    pub struct Trace {
        /// Its packets.
        #[prost(message, repeated, tag = "1")]
        pub packets: Vec<Packet>,
    }

    /// `TracePacket`.
    #[derive(Clone, PartialEq, prost::Message)]
    pub struct Packet {
        /// When, for an event.
        #[prost(uint64, optional, tag = "8")]
        pub nanoseconds: Option<u64>,
        /// Who wrote it.
        #[prost(uint32, optional, tag = "10")]
        pub sequence: Option<u32>,
        /// Something that happened.
        #[prost(message, optional, tag = "11")]
        pub event: Option<Event>,
        /// 1: this packet needs none before it.
        #[prost(uint32, optional, tag = "13")]
        pub sequence_flags: Option<u32>,
        /// A track.
        #[prost(message, optional, tag = "60")]
        pub track: Option<Track>,
    }

    /// `TrackDescriptor`.
    #[derive(Clone, PartialEq, prost::Message)]
    pub struct Track {
        /// Its number.
        #[prost(uint64, optional, tag = "1")]
        pub uuid: Option<u64>,
        /// Its name.
        #[prost(string, optional, tag = "2")]
        pub name: Option<String>,
        /// The number of the track that it is part of.
        #[prost(uint64, optional, tag = "5")]
        pub parent: Option<u64>,
        /// For a track of values.
        #[prost(message, optional, tag = "8")]
        pub counter: Option<Counter>,
        /// 3: by rank.
        #[prost(int32, optional, tag = "11")]
        pub child_ordering: Option<i32>,
        /// Its place among the tracks of its parent.
        #[prost(int32, optional, tag = "12")]
        pub rank: Option<i32>,
    }

    /// `CounterDescriptor`.
    #[derive(Clone, PartialEq, prost::Message)]
    pub struct Counter {
        /// What is counted.
        #[prost(string, optional, tag = "6")]
        pub unit: Option<String>,
    }

    /// `TrackEvent`.
    #[derive(Clone, PartialEq, prost::Message)]
    pub struct Event {
        /// What is known of a slice.
        #[prost(message, repeated, tag = "4")]
        pub annotations: Vec<Annotation>,
        /// What happened.
        #[prost(enumeration = "EventKind", optional, tag = "9")]
        pub kind: Option<i32>,
        /// The number of the track.
        #[prost(uint64, optional, tag = "11")]
        pub track: Option<u64>,
        /// Kinds of a slice.
        #[prost(string, repeated, tag = "22")]
        pub categories: Vec<String>,
        /// The name of a slice.
        #[prost(string, optional, tag = "23")]
        pub name: Option<String>,
        /// The value of a counter.
        #[prost(int64, optional, tag = "30")]
        pub value: Option<i64>,
    }

    /// `TrackEvent.Type`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
    #[repr(i32)]
    pub enum EventKind {
        /// None of the others.
        Unspecified = 0,
        /// A slice begins.
        Begin = 1,
        /// The slice of the track that began last ends.
        End = 2,
        /// A counter has a value.
        Counter = 4,
    }

    /// `DebugAnnotation`.
    #[derive(Clone, PartialEq, prost::Message)]
    pub struct Annotation {
        /// The value.
        #[prost(uint64, optional, tag = "3")]
        pub value: Option<u64>,
        /// What it is.
        #[prost(string, optional, tag = "10")]
        pub name: Option<String>,
    }
}
