//! Runs of a policy over a whole trace.
//!
//! The keys of a trace are given dense numbers once, in order of first appearance; then every
//! policy and size runs over the numbers.

mod bits;
mod intern;

use std::io::{self, Read};
use std::ops::Range;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::entry::Entry;
use crate::replacement::{Owner, Replace};
pub(crate) use bits::Bits;
use intern::Interner;

/// Why a trace cannot be taken in.
#[derive(Debug, Error)]
pub enum TraceError {
    /// More distinct keys than there are numbers.
    #[error(
        "the trace has more than {} distinct keys; take larger pages or a part of the trace",
        Entry::LIMIT
    )]
    Footprint,
    /// More requests than places that fit four bytes.
    #[error("the trace has more than {} requests; take a part of it", u32::MAX - 1)]
    Length,
    /// The last key of a binary trace is incomplete.
    #[error(
        "the trace ends {over} bytes after its last whole key of {width} bytes; name the width its keys have"
    )]
    Torn {
        /// Bytes left over.
        over: usize,
        /// Bytes of a key.
        width: usize,
    },
    /// The file cannot be read.
    #[error("the trace cannot be read: {0}")]
    Read(#[from] io::Error),
}

/// How the keys of a binary trace are written: one after the other, little-endian, nothing between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// Four bytes a key.
    Four,
    /// Eight bytes a key.
    Eight,
}

impl Width {
    /// Bytes of a key.
    pub fn bytes(self) -> usize {
        match self {
            Self::Four => 4,
            Self::Eight => 8,
        }
    }
}

/// The requests of a trace, one page each: dense numbers of keys in order of first appearance, and
/// which of them write.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requests {
    numbers: Vec<u32>,
    writes: Bits,
    footprint: u32,
}

/// Takes the requests of a trace one by one.
#[derive(Clone, Debug, Default)]
pub struct Intake {
    interner: Interner,
    requests: Requests,
}

impl Intake {
    /// The next request.
    #[inline]
    pub fn push(&mut self, key: u64, write: bool) -> Result<(), TraceError> {
        let place = self.requests.len();
        if place >= u32::MAX as usize - 1 {
            return Err(TraceError::Length);
        }
        let number = self.interner.number(key).ok_or(TraceError::Footprint)?;
        self.requests.numbers.push(number);
        if write {
            self.requests.writes.insert(place);
        }
        Ok(())
    }
    /// The entries of the keys of a range that were requested, in the order of the keys.
    pub fn known_in(&self, keys: Range<u64>) -> impl Iterator<Item = Entry> + use<> {
        self.interner.known_in(keys).into_iter().map(Entry)
    }
    /// Requests until now.
    pub fn len(&self) -> usize {
        self.requests.len()
    }
    /// Whether there were none.
    pub fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }
    /// Reads of the keys in some bytes.
    fn take(&mut self, bytes: &[u8], width: Width) -> Result<(), TraceError> {
        self.requests.numbers.reserve(bytes.len() / width.bytes());
        match width {
            Width::Four => {
                let (keys, _) = bytes.as_chunks();
                keys.iter()
                    .try_for_each(|key| self.push(u32::from_le_bytes(*key).into(), false))
            }
            Width::Eight => {
                let (keys, _) = bytes.as_chunks();
                keys.iter()
                    .try_for_each(|key| self.push(u64::from_le_bytes(*key), false))
            }
        }
    }
    /// All of them, and the key of each number.
    pub fn finish_with_keys(self) -> (Requests, Vec<u64>) {
        let keys = self.interner.keys();
        (self.finish(), keys)
    }
    /// All of them.
    pub fn finish(self) -> Requests {
        Requests {
            footprint: self.interner.len(),
            ..self.requests
        }
    }
}

/// Bytes read from a file at once.
const CHUNK: usize = 1 << 18;

impl Requests {
    /// Reads of keys.
    pub fn from_keys(keys: impl IntoIterator<Item = u64>) -> Result<Self, TraceError> {
        let mut intake = Intake::default();
        for key in keys {
            intake.push(key, false)?;
        }
        Ok(intake.finish())
    }
    /// The reads of a binary trace of nothing but keys.
    pub fn read(mut file: impl Read, width: Width) -> Result<Self, TraceError> {
        let mut intake = Intake::default();
        let mut chunk = vec![0; CHUNK];
        let mut filled = 0;
        loop {
            let read = match file.read(&mut chunk[filled..]) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error.into()),
            };
            filled += read;
            let whole = filled - filled % width.bytes();
            intake.take(&chunk[..whole], width)?;
            chunk.copy_within(whole..filled, 0);
            filled -= whole;
        }
        if filled > 0 {
            return Err(TraceError::Torn {
                over: filled,
                width: width.bytes(),
            });
        }
        Ok(intake.finish())
    }
    /// How many.
    pub fn len(&self) -> usize {
        self.numbers.len()
    }
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }
    /// Distinct keys. Numbers are below this.
    pub fn footprint(&self) -> u32 {
        self.footprint
    }
    /// The number of the key of each request.
    pub fn numbers(&self) -> &[u32] {
        &self.numbers
    }
    /// Whether a request, by its place in the trace, is a write.
    #[inline]
    pub fn is_write(&self, place: usize) -> bool {
        self.writes.get(place)
    }
    /// For each request the place of the next one of the same key; `u32::MAX` if there is none.
    pub fn next(&self) -> Vec<u32> {
        let mut upcoming = vec![u32::MAX; self.footprint as usize];
        let mut next = vec![u32::MAX; self.len()];
        for (place, &number) in self.numbers.iter().enumerate().rev() {
            next[place] = std::mem::replace(&mut upcoming[number as usize], place as u32);
        }
        next
    }
}

/// What came of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Requests.
    pub requests: u64,
    /// Those of them that write.
    pub writes: u64,
    /// Requests that found their key resident.
    pub hits: u64,
    /// Writes that found their key resident.
    pub write_hits: u64,
    /// Entries evicted.
    pub evictions: u64,
    /// Entries evicted that had been written since they came.
    pub write_backs: u64,
}

impl Counts {
    /// Requests that did not find their key resident.
    pub fn misses(&self) -> u64 {
        self.requests - self.hits
    }
}

/// Keeps the dirty bits of a run and counts who leaves.
#[derive(Debug, Default)]
pub(crate) struct Evictions {
    dirty: Bits,
    count: u64,
    write_backs: u64,
}

impl Evictions {
    /// A resident is written.
    #[inline]
    pub(crate) fn written(&mut self, entry: Entry) {
        self.dirty.insert(entry.index());
    }
    /// What came of a run with these hits.
    pub(crate) fn counts(&self, requests: &Requests, hits: Hits) -> Counts {
        Counts {
            requests: requests.len() as u64,
            writes: requests.writes.count(),
            hits: hits.all,
            write_hits: hits.of_writes,
            evictions: self.count,
            write_backs: self.write_backs,
        }
    }
}

/// Requests that found their key resident.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Hits {
    all: u64,
    of_writes: u64,
}

impl Owner for Evictions {
    #[inline]
    fn is_dirty(&self, entry: Entry) -> bool {
        self.dirty.get(entry.index())
    }
    #[inline]
    fn evicted(&mut self, entry: Entry) {
        self.count += 1;
        self.write_backs += u64::from(self.dirty.take(entry.index()));
    }
}

/// One request after the other.
pub fn one_by_one(policy: &mut impl Replace, requests: &Requests) -> Counts {
    let next = if policy.needs_next_use() {
        requests.next()
    } else {
        Vec::new()
    };
    let mut owner = Evictions::default();
    let hits = each(requests, &mut owner, |place, entry, write, owner| {
        if let Some(&next) = next.get(place) {
            policy.set_next_use(next);
        }
        policy.access(entry, write, owner)
    });
    owner.counts(requests, hits)
}

/// Does something for each request, by its place, entry and whether it writes, that says whether it
/// was a hit and tells who is evicted.
#[inline]
pub(crate) fn each(
    requests: &Requests,
    owner: &mut Evictions,
    mut access: impl FnMut(usize, Entry, bool, &mut Evictions) -> bool,
) -> Hits {
    let mut hits = Hits::default();
    if requests.writes.is_empty() {
        for (place, &number) in requests.numbers.iter().enumerate() {
            hits.all += u64::from(access(place, Entry(number), false, owner));
        }
        return hits;
    }
    for (place, &number) in requests.numbers.iter().enumerate() {
        let (entry, write) = (Entry(number), requests.is_write(place));
        let hit = access(place, entry, write, owner);
        hits.all += u64::from(hit);
        if write {
            hits.of_writes += u64::from(hit);
            owner.written(entry);
        }
    }
    hits
}
