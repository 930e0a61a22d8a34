//! Timelines are read back packet by packet, and compared with their input and with Perfetto's
//! requirements for a trace.
#![allow(clippy::unwrap_used, clippy::panic)] // the whole file is test code

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::Path;

use proptest::prelude::*;
use prost::Message;
use wordline_kernel::Time;
use wordline_observe::timeline::message::{EventKind, Packet, Trace, Track};
use wordline_observe::{ObserveError, Slice, Timeline, TimelineFile, Window};

const NO_LIMIT: u64 = u64::MAX;

/// Content of a trace as a reader of the format sees it.
#[derive(Debug, Default)]
struct Found {
    tracks: HashMap<u64, Track>,
    /// Slices by the path of names, as (start, end) in nanoseconds and name.
    slices: BTreeMap<String, Vec<(u64, u64, String)>>,
    /// Values by name, as (time in nanoseconds, value).
    values: BTreeMap<String, Vec<(u64, i64)>>,
    events: u64,
}

impl Found {
    /// Reads a trace, and checks the properties that every reader relies on.
    fn read(bytes: &[u8]) -> Self {
        let packets = Trace::decode(bytes).unwrap().packets;
        assert_eq!(
            packets[0].sequence_flags,
            Some(1),
            "the first packet depends on no packet before it"
        );
        let mut found = Self::default();
        let mut open = HashMap::new();
        let mut last = HashMap::new();
        for packet in packets {
            assert_eq!(packet.sequence, Some(1));
            found.packet(packet, &mut open, &mut last);
        }
        assert!(open.is_empty(), "slices without an end: {open:?}");
        for slices in found.slices.values_mut() {
            slices.sort();
        }
        found
    }
    fn packet(
        &mut self,
        packet: Packet,
        open: &mut HashMap<u64, (u64, String)>,
        last: &mut HashMap<u64, u64>,
    ) {
        if let Some(track) = packet.track {
            let parent = track.parent;
            assert!(parent.is_none_or(|parent| self.tracks.contains_key(&parent)));
            let former = self.tracks.insert(track.uuid(), track);
            assert!(former.is_none(), "two tracks have the same number");
            return;
        }
        let (Some(event), Some(now)) = (packet.event, packet.nanoseconds) else {
            return;
        };
        self.events += 1;
        let track = event.track();
        let name = self.path(track);
        let before = last.insert(track, now).unwrap_or(0);
        assert!(before <= now, "{name}: time runs backwards");
        match event.kind() {
            EventKind::Begin => {
                let former = open.insert(track, (now, event.name().to_owned()));
                assert!(former.is_none(), "{name}: slices overlap");
            }
            EventKind::End => {
                let (from, slice) = open.remove(&track).unwrap();
                self.slices
                    .entry(name)
                    .or_default()
                    .push((from, now, slice));
            }
            EventKind::Counter => self
                .values
                .entry(name)
                .or_default()
                .push((now, event.value())),
            EventKind::Unspecified => panic!("an event without a kind"),
        }
    }
    fn path(&self, track: u64) -> String {
        let track = &self.tracks[&track];
        match track.parent {
            None => track.name().to_owned(),
            Some(parent) => format!("{} > {}", self.path(parent), track.name()),
        }
    }
}

fn window(from: u64, until: u64) -> Window {
    Window {
        from: Time(from),
        until: Time(until),
    }
}

fn slice(name: &str, from: u64, until: u64) -> Slice<'_> {
    Slice {
        name,
        category: "any",
        from: Time(from),
        until: Time(until),
        values: &[],
    }
}

proptest! {
    #[test]
    fn slices_in_the_window_are_written_without_overlap(
        slices in prop::collection::vec((0..3_usize, 0..40_000_u64, 0..9_000_u64), 0..60),
        edges in (0..30_000_u64, 1..30_000_u64),
    ) {
        let window = window(edges.0, edges.0 + edges.1);
        let mut timeline = Timeline::new(Vec::new(), window, NO_LIMIT);
        let root = timeline.track(None, "root");
        let tracks = ["a", "b", "c"].map(|name| timeline.track(Some(root), name));
        let mut expected = BTreeMap::<String, Vec<_>>::new();
        for (index, &(track, from, length)) in slices.iter().enumerate() {
            let (name, until) = (index.to_string(), from + length);
            timeline.slice(tracks[track], &slice(&name, from, until));
            let shown = (from.max(window.from.0), until.min(window.until.0));
            let inside = from >= window.from.0 && from < window.until.0;
            if inside || shown.0 < shown.1 {
                let path = format!("root > {}", ["a", "b", "c"][track]);
                expected.entry(path).or_default().push((shown.0 / 1000, shown.1 / 1000, name));
            }
        }
        for slices in expected.values_mut() {
            slices.sort();
        }
        let found = Found::read(&timeline.finish().unwrap());
        prop_assert_eq!(found.slices, expected);
    }

    #[test]
    fn counter_starts_with_its_value_at_the_start_of_the_window(
        steps in prop::collection::vec((0..5_000_u64, -9..9_i64), 1..40),
        edges in (0..60_000_u64, 1..60_000_u64),
    ) {
        let window = window(edges.0, edges.0 + edges.1);
        let mut timeline = Timeline::new(Vec::new(), window, NO_LIMIT);
        let counter = timeline.counter(None, "level", "things");
        let (mut now, mut before, mut expected) = (0, None, Vec::new());
        for (step, value) in steps {
            now += step;
            timeline.count(counter, Time(now), value);
            if now < window.from.0 {
                before = Some(value);
            } else if now < window.until.0 {
                expected.push((now / 1000, value));
            }
        }
        if now >= window.from.0 && let Some(before) = before {
            expected.insert(0, (window.from.ns(), before));
        }
        let found = Found::read(&timeline.finish().unwrap());
        let values = found.values.get("level").cloned().unwrap_or_default();
        prop_assert_eq!(values, expected);
        let unit = found.tracks.values().find_map(|track| track.counter.clone()?.unit);
        prop_assert_eq!(unit.as_deref(), Some("things"));
    }

    #[test]
    fn timeline_ends_at_its_event_limit(most in 0..40_u64, slices in 1..30_u64) {
        let mut timeline = Timeline::new(Vec::new(), window(0, 1_000_000), most);
        let track = timeline.track(None, "track");
        for index in 0..slices {
            timeline.slice(track, &slice("s", index * 10, index * 10 + 10));
        }
        let room = most / 2;
        let full = (slices > room).then_some(Time(room * 10 + 10));
        prop_assert_eq!(timeline.full(), full);
        let found = Found::read(&timeline.finish().unwrap());
        prop_assert_eq!(found.events, 2 * room.min(slices));
    }
}

#[test]
fn slice_values_and_track_order_are_kept() {
    let mut timeline = Timeline::new(Vec::new(), window(0, 1_000_000), NO_LIMIT);
    let root = timeline.track(None, "root");
    let names: Vec<_> = (0..12).map(|index| format!("track {index}")).collect();
    let tracks: Vec<_> = names
        .iter()
        .map(|name| timeline.track(Some(root), name))
        .collect();
    let values = [("block", 7), ("page", u64::MAX)];
    let shown = Slice {
        values: &values,
        ..slice("read", 5_000, 9_999)
    };
    timeline.slice(tracks[3], &shown);
    let bytes = timeline.finish().unwrap();
    let mut tracks: Vec<_> = Found::read(&bytes).tracks.into_values().collect();
    tracks.sort_by_key(Track::rank);
    let children: Vec<_> = tracks[1..].iter().map(Track::name).collect();
    assert_eq!(children, names);
    let packets = Trace::decode(&*bytes).unwrap().packets;
    let begin = packets
        .iter()
        .find_map(|packet| packet.event.clone())
        .unwrap();
    assert_eq!(begin.categories, ["any"]);
    let found: Vec<_> = begin
        .annotations
        .iter()
        .map(|annotation| (annotation.name(), annotation.value()))
        .collect();
    assert_eq!(found, values);
}

struct Full;

impl io::Write for Full {
    fn write(&mut self, _bytes: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::StorageFull.into())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn writer_error_is_returned_at_the_end() {
    let mut timeline = Timeline::new(Full, window(0, 1_000), NO_LIMIT);
    let track = timeline.track(None, "track");
    timeline.slice(track, &slice("s", 0, 10));
    let error = timeline.finish().err().unwrap();
    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
}

#[test]
fn file_appears_only_when_finished() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.pftrace");
    let create = || TimelineFile::create(&path, window(0, 1_000), NO_LIMIT).unwrap();
    drop(create());
    assert_eq!(folder.path().read_dir().unwrap().count(), 0);
    let mut file = create();
    file.timeline().track(None, "track");
    assert!(!path.exists());
    file.finish().unwrap();
    assert_eq!(Found::read(&std::fs::read(&path).unwrap()).tracks.len(), 1);
    assert_eq!(folder.path().read_dir().unwrap().count(), 1);
}

#[test]
fn unwritable_path_is_reported_at_once() {
    let nowhere = Path::new("no such folder/t.pftrace");
    let error = TimelineFile::create(nowhere, window(0, 1), NO_LIMIT).unwrap_err();
    assert!(matches!(
        error,
        ObserveError::File {
            action: "create",
            ..
        }
    ));
}
