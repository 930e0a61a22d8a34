//! Reads a timeline.

use std::collections::{BTreeMap, HashMap};

use prost::Message;
use wordline_observe::timeline::message::{EventKind, Trace, Track};

/// A slice in nanoseconds, with its operation and category.
pub type Span = (u64, u64, String, String);

/// Returns the operation of a slice, whose name starts with `gc` if that is the category.
fn operation(name: &str, category: &str) -> String {
    let operation = name.strip_prefix("gc ");
    assert_eq!(
        operation.is_some(),
        category == "gc",
        "{name} of {category}"
    );
    operation.unwrap_or(name).to_owned()
}

/// Slices and values by the path of track names from the device down.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Shown {
    pub slices: BTreeMap<String, Vec<Span>>,
    pub values: BTreeMap<String, Vec<(u64, i64)>>,
    /// Values of the slices of a track, in the order in which they were written.
    pub known: BTreeMap<String, Vec<BTreeMap<String, u64>>>,
}

/// Returns the values of a counter in a window, including the value at its start.
pub fn within(values: &[(u64, i64)], from: u64, until: u64) -> Vec<(u64, i64)> {
    let before = values.iter().rfind(|value| value.0 < from).unwrap().1;
    let inside = values
        .iter()
        .filter(|value| (from..until).contains(&value.0));
    [(from, before)]
        .into_iter()
        .chain(inside.copied())
        .collect()
}

impl Shown {
    pub fn read(bytes: &[u8]) -> Self {
        let mut tracks = HashMap::<u64, Track>::new();
        let (mut shown, mut open) = (Self::default(), HashMap::new());
        for packet in Trace::decode(bytes).unwrap().packets {
            if let Some(mut track) = packet.track {
                if let Some(parent) = track.parent {
                    let parent = tracks[&parent].name();
                    track.name = Some(format!("{parent} > {}", track.name()));
                }
                tracks.insert(track.uuid(), track);
            } else if let Some(event) = packet.event {
                let now = packet.nanoseconds.unwrap();
                let track = tracks[&event.track()].name().to_owned();
                match event.kind() {
                    EventKind::Begin => {
                        let values = event.annotations.iter();
                        let known = values.map(|one| (one.name().to_owned(), one.value()));
                        let of_track = shown.known.entry(track.clone()).or_default();
                        of_track.push(known.collect());
                        let category = event.categories[0].clone();
                        let slice = (now, operation(event.name(), &category), category);
                        let former = open.insert(event.track(), slice);
                        assert_eq!(former, None, "{track}: slices overlap");
                    }
                    EventKind::End => {
                        let (from, name, category) = open.remove(&event.track()).unwrap();
                        let span = (from, now, name, category);
                        shown.slices.entry(track).or_default().push(span);
                    }
                    EventKind::Counter => {
                        let value = (now, event.value());
                        shown.values.entry(track).or_default().push(value);
                    }
                    EventKind::Unspecified => panic!("an event without a kind"),
                }
            }
        }
        for slices in shown.slices.values_mut() {
            slices.sort();
        }
        shown
    }
    /// Iterates over slices of the tracks whose last name starts with `kind`.
    pub fn of<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = (&'a str, &'a Span)> {
        let all = self.slices.iter().filter(move |(track, _)| {
            let last = track.rsplit(" > ").next();
            last.is_some_and(|last| last.starts_with(kind))
        });
        all.flat_map(|(track, spans)| spans.iter().map(move |span| (track.as_str(), span)))
    }
    pub fn nanoseconds(&self, kind: &str) -> u64 {
        self.of(kind)
            .map(|(_, (from, until, ..))| until - from)
            .sum()
    }
    pub fn count(&self, kind: &str, name: &str, category: Option<&str>) -> u64 {
        let like = |span: &Span| span.2 == name && category.is_none_or(|one| span.3 == one);
        self.of(kind).filter(|(_, span)| like(span)).count() as u64
    }
}
