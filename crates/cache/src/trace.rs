//! Runs of a policy over a whole trace.
//!
//! Each key of a trace is assigned a dense number once, in order of first appearance. Every policy
//! and size then runs over the numbers.

mod bits;
mod intern;

use std::io::{self, Read};
use std::ops::Range;

use prefetch_index::prefetch_index;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::entry::Entry;
use crate::replacement::{Owner, Replace};
pub(crate) use bits::Bits;
use intern::Interner;

/// Reason why a trace cannot be used.
#[derive(Debug, Error)]
pub enum TraceError {
    /// The trace has more distinct keys than there are numbers.
    #[error(
        "the trace has more than {} distinct keys; use larger pages or a part of the trace",
        Entry::LIMIT
    )]
    Footprint,
    /// The trace has more than `u32::MAX - 1` requests.
    #[error("the trace has more than {} requests; use a part of it", u32::MAX - 1)]
    Length,
    /// The last key of a binary trace is incomplete.
    #[error(
        "the trace ends {over} bytes after its last whole key of {width} bytes; give the correct width of the keys"
    )]
    Torn {
        /// Number of bytes after the last whole key.
        over: usize,
        /// Width of a key. Bytes.
        width: usize,
    },
    /// The file cannot be read.
    #[error("the trace cannot be read: {0}")]
    Read(#[from] io::Error),
}

/// Width of the keys in a binary trace, which are little-endian and contiguous.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// Four bytes per key.
    Four,
    /// Eight bytes per key.
    Eight,
}

impl Width {
    /// Returns the width of a key. Bytes.
    pub fn bytes(self) -> usize {
        match self {
            Self::Four => 4,
            Self::Eight => 8,
        }
    }
}

/// Number of requests by which a table is accessed in advance, so that its data are in the
/// processor's caches when the request needs them.
const AHEAD: usize = 24;

/// Requests of a trace, one page each. Holds the key number of each request, in order of first
/// appearance, and the positions of the writes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requests {
    numbers: Vec<u32>,
    writes: Bits,
    footprint: u32,
}

/// Collects the requests of a trace one by one.
#[derive(Clone, Debug, Default)]
pub struct Intake {
    interner: Interner,
    requests: Requests,
}

impl Intake {
    /// Adds a request.
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
    /// Adds a read of each key.
    pub fn push_reads(&mut self, keys: &[u64]) -> Result<(), TraceError> {
        let fit = keys.len() < u32::MAX as usize - self.len();
        if fit && self.interner.append(keys, &mut self.requests.numbers) {
            return Ok(());
        }
        keys.iter().try_for_each(|&key| self.push(key, false))
    }
    /// Iterates over the entries of the keys in a range that have been requested so far, in key
    /// order.
    pub fn known_in(&self, keys: Range<u64>) -> impl Iterator<Item = Entry> + use<> {
        self.interner.known_in(keys).into_iter().map(Entry)
    }
    /// Returns the number of requests so far.
    pub fn len(&self) -> usize {
        self.requests.len()
    }
    /// Returns `true` if there was no request yet.
    pub fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }
    /// Adds a read of each key in `bytes`.
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
    /// Ends the collection and returns the requests, and the key of each number.
    pub fn finish_with_keys(self) -> (Requests, Vec<u64>) {
        let keys = self.interner.keys();
        (self.finish(), keys)
    }
    /// Ends the collection and returns the requests.
    pub fn finish(self) -> Requests {
        Requests {
            footprint: self.interner.len(),
            ..self.requests
        }
    }
}

/// Number of bytes read from a file at a time.
const CHUNK: usize = 1 << 18;

impl Requests {
    /// Creates a trace that reads `keys` in order.
    pub fn from_keys(keys: impl IntoIterator<Item = u64>) -> Result<Self, TraceError> {
        let mut intake = Intake::default();
        for key in keys {
            intake.push(key, false)?;
        }
        Ok(intake.finish())
    }
    /// Reads a binary trace that consists of keys only.
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
    /// Returns the number of requests.
    pub fn len(&self) -> usize {
        self.numbers.len()
    }
    /// Returns `true` if there are no requests.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }
    /// Returns the number of distinct keys. All key numbers are below it.
    pub fn footprint(&self) -> u32 {
        self.footprint
    }
    /// Returns the key number of each request.
    pub fn numbers(&self) -> &[u32] {
        &self.numbers
    }
    /// Prefetches the element of `table`, which has one per entry, for a request that follows the one
    /// at position `place`.
    #[inline(always)]
    pub(crate) fn prefetch<T>(&self, table: &[T], place: usize) {
        if let Some(&number) = self.numbers.get(place + AHEAD) {
            prefetch_index(table, number as usize);
        }
    }
    /// Returns `true` if the request at position `place` of the trace is a write.
    #[inline]
    pub fn is_write(&self, place: usize) -> bool {
        self.writes.get(place)
    }
    /// Returns for each request the position of the next request for the same key; `u32::MAX` if
    /// there is none.
    pub fn next(&self) -> Vec<u32> {
        let mut upcoming = vec![u32::MAX; self.footprint as usize];
        let mut next = vec![u32::MAX; self.len()];
        for (place, &number) in self.numbers.iter().enumerate().rev() {
            next[place] = std::mem::replace(&mut upcoming[number as usize], place as u32);
        }
        next
    }
}

/// Counts of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Requests. Count.
    pub requests: u64,
    /// Requests that are writes. Count.
    pub writes: u64,
    /// Requests for a resident key. Count.
    pub hits: u64,
    /// Writes to a resident key. Count.
    pub write_hits: u64,
    /// Entries evicted. Count.
    pub evictions: u64,
    /// Evicted entries that had been written since their insertion. Count.
    pub write_backs: u64,
}

impl Counts {
    /// Returns the number of requests for a key that was not resident.
    pub fn misses(&self) -> u64 {
        self.requests - self.hits
    }
}

/// Owner that tracks the dirty bits of a run and counts evictions.
#[derive(Debug, Default)]
pub(crate) struct Evictions {
    dirty: Bits,
    count: u64,
    write_backs: u64,
}

impl Evictions {
    /// Marks a resident as written.
    #[inline]
    pub(crate) fn written(&mut self, entry: Entry) {
        self.dirty.insert(entry.index());
    }
    /// Returns the counts of a run over `requests` that had these hits.
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

/// Counts of requests for a resident key.
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

/// Runs a policy over a trace, one request at a time.
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

/// Runs a policy over a trace that starts with an empty cache. Calls `access` for each request with
/// its position and entry; `access` returns `true` for a hit and reports evictions.
#[inline]
pub(crate) fn counted(
    requests: &Requests,
    mut access: impl FnMut(usize, Entry, &mut Evictions) -> bool,
) -> Counts {
    let mut owner = Evictions::default();
    let hits = each(requests, &mut owner, |place, entry, _, owner| {
        access(place, entry, owner)
    });
    owner.counts(requests, hits)
}

/// Calls `access` for each request with its position, its entry and whether it writes. `access`
/// returns `true` for a hit and reports evictions to `owner`.
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
