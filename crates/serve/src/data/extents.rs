//! Block status of the data: the ranges that were written.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::sync::{PoisonError, RwLock};

use super::{Data, PAGE, Pages, RUN, shared};
use crate::protocol::{Extent, Query};

impl Data {
    /// Returns the extents of a range, from its start on. Extents beyond the maximum of the query
    /// are left out.
    pub(crate) fn extents(&self, query: Query) -> io::Result<Vec<Extent>> {
        let mut extents = Extents::new(query);
        match self {
            Self::Memory(parts) => in_memory(parts, &mut extents),
            Self::File(file) => in_file(file, &mut extents)?,
        }
        Ok(extents.found)
    }
}

/// Extents of a range, in the order of their offsets.
#[derive(Debug)]
struct Extents {
    found: Vec<Extent>,
    most: usize,
    /// End of the last extent, and end of the range. Bytes from the start of the device.
    at: u64,
    end: u64,
}

impl Extents {
    fn new(query: Query) -> Self {
        Self {
            found: Vec::new(),
            most: query.extents,
            at: query.offset,
            end: query.offset + u64::from(query.bytes),
        }
    }
    /// Appends the range up to `until`, by extending the last extent if it has the same status.
    /// Returns `false` if the range is complete, or the maximum number of extents is reached.
    fn push(&mut self, until: u64, is_hole: bool) -> bool {
        let until = until.clamp(self.at, self.end);
        let bytes = (until - self.at) as u32;
        let is_full = self.found.len() == self.most;
        match self.found.last_mut() {
            _ if bytes == 0 => {}
            Some(last) if last.is_hole == is_hole => last.bytes += bytes,
            _ if is_full => return false,
            _ => self.found.push(Extent { bytes, is_hole }),
        }
        self.at = until;
        self.at < self.end
    }
}

fn in_memory(parts: &[RwLock<Pages>], extents: &mut Extents) {
    let page = PAGE as u64;
    let range = extents.at / page..extents.end.div_ceil(page);
    for written in written(parts, range) {
        if !extents.push(written * page, true) || !extents.push((written + 1) * page, false) {
            return;
        }
    }
    extents.push(extents.end, true);
}

/// Returns the written pages of a range in ascending order. Visits the pages of the range or all
/// written pages, whichever are fewer.
fn written(parts: &[RwLock<Pages>], range: Range<u64>) -> Box<dyn Iterator<Item = u64> + '_> {
    let lock = |part: &'_ RwLock<Pages>| part.read().unwrap_or_else(PoisonError::into_inner).len();
    let all: usize = parts.iter().map(lock).sum();
    if all as u64 >= range.end - range.start {
        return Box::new(one_by_one(parts, range));
    }
    let mut found = Vec::new();
    for part in parts {
        let pages = part.read().unwrap_or_else(PoisonError::into_inner);
        found.extend(pages.keys().filter(|page| range.contains(page)));
    }
    found.sort_unstable();
    Box::new(found.into_iter())
}

/// Iterates over the written pages of a range by visiting each page. Locks a part once per run of
/// pages.
fn one_by_one(parts: &[RwLock<Pages>], range: Range<u64>) -> impl Iterator<Item = u64> {
    let runs = range.start / RUN..range.end.div_ceil(RUN);
    runs.flat_map(move |run| {
        let pages = shared(parts, run * RUN);
        let own = (run * RUN).max(range.start)..((run + 1) * RUN).min(range.end);
        own.filter(|page| pages.contains_key(page))
            .collect::<Vec<_>>()
    })
}

/// Queries the file system for the ranges that hold data.
#[cfg(target_os = "linux")]
fn in_file(file: &File, extents: &mut Extents) -> io::Result<()> {
    use rustix::fs::{SeekFrom, seek};
    use rustix::io::Errno;
    loop {
        let data = match seek(file, SeekFrom::Data(extents.at)) {
            // There is no data after this offset.
            Err(Errno::NXIO) => extents.end,
            found => found?,
        };
        if !extents.push(data, true) {
            return Ok(());
        }
        let hole = seek(file, SeekFrom::Hole(data))?;
        if !extents.push(hole, false) {
            return Ok(());
        }
    }
}

/// Reports the whole range as data.
#[cfg(not(target_os = "linux"))]
fn in_file(_: &File, extents: &mut Extents) -> io::Result<()> {
    extents.push(extents.end, false);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAPACITY: u64 = 16 << 30;
    const ISLANDS: [(u64, u64); 3] = [(0, 4096), (5 << 30, 1 << 20), (CAPACITY - 8192, 4096)];

    fn query(offset: u64, bytes: u64, extents: usize) -> Query {
        Query {
            cookie: 0,
            offset,
            bytes: bytes as u32,
            extents,
        }
    }

    /// Returns the extents of the whole device: the length of each in bytes, and whether it is a
    /// hole.
    fn map(data: &Data) -> Vec<(u64, bool)> {
        let mut found: Vec<(u64, bool)> = Vec::new();
        let mut at = 0;
        while at < CAPACITY {
            let bytes = (CAPACITY - at).min(3 << 30);
            for extent in data.extents(query(at, bytes, 100)).expect("can be asked") {
                at += u64::from(extent.bytes);
                match found.last_mut() {
                    Some(last) if last.1 == extent.is_hole => last.0 += u64::from(extent.bytes),
                    _ => found.push((extent.bytes.into(), extent.is_hole)),
                }
            }
        }
        found
    }

    fn islands_are_found(data: &Data) {
        assert_eq!(map(data), [(CAPACITY, true)]);
        for (offset, bytes) in ISLANDS {
            data.write(offset, &vec![1; bytes as usize])
                .expect("writes");
        }
        let expected = [
            (4096, false),
            ((5 << 30) - 4096, true),
            (1 << 20, false),
            (CAPACITY - 8192 - (5 << 30) - (1 << 20), true),
            (4096, false),
            (4096, true),
        ];
        assert_eq!(map(data), expected);
        data.zero(5 << 30, 1 << 20, true).expect("zeroes");
        data.zero(0, 4096, true).expect("zeroes");
        let hole = CAPACITY - 8192;
        assert_eq!(map(data), [(hole, true), (4096, false), (4096, true)]);
    }

    #[test]
    fn written_ranges_in_memory_are_found() {
        islands_are_found(&Data::in_memory());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn written_ranges_in_a_file_are_found() {
        let folder = tempfile::tempdir().expect("a folder");
        let data = Data::in_file(&folder.path().join("data"), CAPACITY).expect("opens");
        islands_are_found(&data);
    }

    #[test]
    fn extents_stop_at_the_end_of_the_range_and_at_the_maximum_number() {
        let data = Data::in_memory();
        for page in [1, 2, 5] {
            data.write(page * 4096, &[1; 4096]).expect("writes");
        }
        let found = |offset, bytes, most| {
            let extents = data.extents(query(offset, bytes, most));
            let extents = extents.expect("can be asked").into_iter();
            extents
                .map(|one| (one.bytes, one.is_hole))
                .collect::<Vec<_>>()
        };
        assert_eq!(found(4608, 512, 9), [(512, false)]);
        assert_eq!(found(512, 8192, 9), [(3584, true), (4608, false)]);
        assert_eq!(found(0, 1 << 20, 1), [(4096, true)]);
        assert_eq!(
            found(0, 1 << 20, 3),
            [(4096, true), (8192, false), (8192, true)]
        );
    }
}
