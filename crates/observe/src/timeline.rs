//! Timelines of many resources, in Perfetto's trace format.
//!
//! A timeline is a tree of tracks. A track contains slices, each with a start and an end, or the
//! values of a counter. The format is a protobuf stream of packets (Perfetto, Trace Packet
//! reference, <https://perfetto.dev/docs/reference/trace-packet-proto>), written here with the few
//! messages of [`message`]. Perfetto uses whole nanoseconds: every time is rounded down.

use crate::ObserveError;
use crate::part::Part;
use message::{Annotation, Counter, Event, EventKind, Packet, Trace, Track};
use prost::Message;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use wordline_kernel::Time;

/// Part of simulated time that a timeline shows: from `from` up to `until`, exclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Start of the window.
    pub from: Time,
    /// End of the window, exclusive.
    pub until: Time,
}

/// Track of slices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TrackId(u32);

/// Track of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CounterId(u32);

/// Activity with a start and an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice<'a> {
    /// Name of the slice.
    pub name: &'a str,
    /// Category, for filters.
    pub category: &'a str,
    /// Start of the slice.
    pub from: Time,
    /// End of the slice.
    pub until: Time,
    /// Named values of the slice.
    pub values: &'a [(&'a str, u64)],
}

/// Track in Perfetto's format, in which slices must not overlap.
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
    /// Last value before the window.
    before: Option<i64>,
}

/// Writer of a timeline. It writes each slice when the slice has ended, and keeps only the tracks
/// in memory.
///
/// Overlapping slices of a track, in any order, are placed on lanes: tracks with the same name and
/// parent, which Perfetto shows as one.
#[derive(Debug)]
pub struct Timeline<W> {
    out: W,
    window: Window,
    /// Events that may still be written. A slice has two events, and a value has one.
    left: u64,
    slices: Vec<Slices>,
    values: Vec<Values>,
    uuids: u64,
    /// Whether the window has begun.
    begun: bool,
    empty: bool,
    /// Time at which the event limit was reached; `None` before.
    full: Option<Time>,
    refused: Option<io::Error>,
}

/// Number of the packet writer, which the format requires.
const SEQUENCE: u32 = 1;
/// Flag of the first packet of a sequence.
const CLEARED: u32 = 1;
/// Value of `child_ordering` that orders the children of a track by their rank.
const BY_RANK: i32 = 3;

impl<W: Write> Timeline<W> {
    /// Creates an empty timeline of `window` that is written to `out`; it ends early after `most`
    /// events. A slice has two events, and a value has one.
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
    /// Adds a track, shown after earlier ones of the same parent.
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
    /// Adds a counter of `unit`, shown after earlier tracks of the same parent.
    pub fn counter(&mut self, parent: Option<TrackId>, name: &str, unit: &str) -> CounterId {
        let mut descriptor = self.descriptor(parent, name);
        let unit = Some(unit.to_owned());
        descriptor.counter = Some(Counter { unit });
        self.write(vec![descriptor_packet(&descriptor)]);
        let uuid = descriptor.uuid();
        self.values.push(Values { uuid, before: None });
        CounterId(self.values.len() as u32 - 1)
    }

    /// Writes a slice that has ended, clipped to the window.
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
    /// Writes the value of a counter at `now`. Calls for one counter must be in order of `now`.
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

    /// Returns `true` if the timeline has no slice.
    pub fn is_empty(&self) -> bool {
        self.empty
    }
    /// Returns the time at which the timeline reached its maximum number of events and ended;
    /// `None` if it did not. Slices that had not ended by then are missing.
    pub fn full(&self) -> Option<Time> {
        self.full
    }
    /// Ends the timeline. Returns the first error of the writer, after which nothing was written.
    pub fn finish(mut self) -> io::Result<W> {
        if let Some(error) = self.refused.take() {
            return Err(error);
        }
        self.out.flush()?;
        Ok(self.out)
    }

    /// Writes the values of the counters at the start of the window.
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
    /// Subtracts `events` from the number of events that may still be written. Returns `false` if
    /// too few are left.
    fn take(&mut self, now: Time, events: u64) -> bool {
        if self.full.is_none() && self.left >= events {
            self.left -= events;
            return true;
        }
        self.full.get_or_insert(now);
        false
    }
    /// Returns a lane of the track that is free from `from`, and occupies it up to `until`.
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

/// Timeline in a file that appears complete or not at all.
#[derive(Debug)]
pub struct TimelineFile {
    // Declared before the part, so that the file is closed before the part is removed.
    timeline: Timeline<BufWriter<File>>,
    part: Part,
}

impl TimelineFile {
    /// Creates the file `path`; its directory must exist. See [`Timeline::new`].
    pub fn create(path: &Path, window: Window, most: u64) -> Result<Self, ObserveError> {
        let (part, file) = Part::create(path)?;
        let timeline = Timeline::new(BufWriter::new(file), window, most);
        Ok(Self { timeline, part })
    }
    /// Returns the timeline to write to.
    pub fn timeline(&mut self) -> &mut Timeline<BufWriter<File>> {
        &mut self.timeline
    }
    /// Completes the file and moves it to its final path.
    pub fn finish(self) -> Result<(), ObserveError> {
        let Self { timeline, part } = self;
        let written = timeline.finish().and_then(|out| out.get_ref().sync_all());
        written.map_err(|error| part.refuse("write", error))?;
        part.put()
    }
}

/// Messages of Perfetto's trace format that timelines use, with the fields that they use. Names are
/// Wordline's; numbers are those of the format (`protos/perfetto/trace`).
pub mod message {
    /// `Trace`: a file. Concatenated files are one trace.
    #[derive(Clone, PartialEq, prost::Message)]
    pub struct Trace {
        /// Packets of the trace.
        #[prost(message, repeated, tag = "1")]
        pub packets: Vec<Packet>,
    }

    /// `TracePacket`: an event, or the description of a track.
    #[derive(Clone, PartialEq, prost::Message)]
    pub struct Packet {
        /// Time of an event.
        #[prost(uint64, optional, tag = "8")]
        pub nanoseconds: Option<u64>,
        /// Number of the writer's packet sequence.
        #[prost(uint32, optional, tag = "10")]
        pub sequence: Option<u32>,
        /// Event of a track.
        #[prost(message, optional, tag = "11")]
        pub event: Option<Event>,
        /// 1 if the packet depends on no packet before it.
        #[prost(uint32, optional, tag = "13")]
        pub sequence_flags: Option<u32>,
        /// Description of a track.
        #[prost(message, optional, tag = "60")]
        pub track: Option<Track>,
    }

    /// `TrackDescriptor`: the description of a track.
    #[derive(Clone, PartialEq, prost::Message)]
    pub struct Track {
        /// Number of the track.
        #[prost(uint64, optional, tag = "1")]
        pub uuid: Option<u64>,
        /// Name of the track.
        #[prost(string, optional, tag = "2")]
        pub name: Option<String>,
        /// Number of the parent track.
        #[prost(uint64, optional, tag = "5")]
        pub parent: Option<u64>,
        /// Set for a track of values.
        #[prost(message, optional, tag = "8")]
        pub counter: Option<Counter>,
        /// 3 if children are ordered by rank.
        #[prost(int32, optional, tag = "11")]
        pub child_ordering: Option<i32>,
        /// Rank among the tracks of its parent.
        #[prost(int32, optional, tag = "12")]
        pub rank: Option<i32>,
    }

    /// `CounterDescriptor`: the description of a track of values.
    #[derive(Clone, PartialEq, prost::Message)]
    pub struct Counter {
        /// Unit of the values.
        #[prost(string, optional, tag = "6")]
        pub unit: Option<String>,
    }

    /// `TrackEvent`: an event of a track.
    #[derive(Clone, PartialEq, prost::Message)]
    pub struct Event {
        /// Named values of a slice.
        #[prost(message, repeated, tag = "4")]
        pub annotations: Vec<Annotation>,
        /// Kind of the event.
        #[prost(enumeration = "EventKind", optional, tag = "9")]
        pub kind: Option<i32>,
        /// Number of the track.
        #[prost(uint64, optional, tag = "11")]
        pub track: Option<u64>,
        /// Categories of a slice.
        #[prost(string, repeated, tag = "22")]
        pub categories: Vec<String>,
        /// Name of a slice.
        #[prost(string, optional, tag = "23")]
        pub name: Option<String>,
        /// Value of a counter.
        #[prost(int64, optional, tag = "30")]
        pub value: Option<i64>,
    }

    /// `TrackEvent.Type`: the kind of an event.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
    #[repr(i32)]
    pub enum EventKind {
        /// Any other kind.
        Unspecified = 0,
        /// A slice begins.
        Begin = 1,
        /// The slice of the track that began last ends.
        End = 2,
        /// A counter has a value.
        Counter = 4,
    }

    /// `DebugAnnotation`: a named value of a slice.
    #[derive(Clone, PartialEq, prost::Message)]
    pub struct Annotation {
        /// Value of the annotation.
        #[prost(uint64, optional, tag = "3")]
        pub value: Option<u64>,
        /// Name of the annotation.
        #[prost(string, optional, tag = "10")]
        pub name: Option<String>,
    }
}
