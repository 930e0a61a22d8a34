//! Data of a live device: in memory, or in a sparse file.

mod extents;

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use rustc_hash::FxHashMap;

use crate::error::ServeError;

/// Size of a page in memory. Bytes.
const PAGE: usize = 4096;
/// Number of parts of the memory, each with its own lock.
const PARTS: u64 = 64;
/// Number of consecutive pages in the same part.
const RUN: u64 = 16;

type Page = Box<[u8; PAGE]>;
type Pages = FxHashMap<u64, Page>;

/// Data of a live device. Bytes that were never written are zero.
#[derive(Debug)]
pub(crate) enum Data {
    /// In memory: the pages that were written.
    Memory(Vec<RwLock<Pages>>),
    /// In a sparse file, which this process has locked.
    File(File),
}

/// Part of a range within one page: number of the page, offset of the first byte in the page, and
/// length in bytes.
type Piece = (u64, usize, usize);

/// Splits a range at page boundaries.
fn pieces(offset: u64, bytes: u64) -> impl Iterator<Item = Piece> {
    let (page, end) = (PAGE as u64, offset + bytes);
    let mut at = offset;
    std::iter::from_fn(move || {
        let from = at;
        (from < end).then(|| {
            at = ((from / page + 1) * page).min(end);
            let within = (from % page) as usize;
            (from / page, within, (at - from) as usize)
        })
    })
}

impl Data {
    /// Creates empty data in memory.
    pub(crate) fn in_memory() -> Self {
        Self::Memory((0..PARTS).map(|_| RwLock::default()).collect())
    }
    /// Opens or creates a file for a device of `capacity` bytes, and locks it.
    pub(crate) fn in_file(path: &Path, capacity: u64) -> Result<Self, ServeError> {
        let failed = |error: io::Error| ServeError::data(path, error.to_string());
        let mut options = OpenOptions::new();
        let opened = options.read(true).write(true).create(true).open(path);
        let file = opened.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => ServeError::data(
                path,
                "its folder does not exist; create it, or choose another file",
            ),
            _ => failed(error),
        })?;
        if !file.metadata().map_err(failed)?.is_file() {
            return Err(ServeError::data(
                path,
                "the path is not a regular file; choose another file",
            ));
        }
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let fault =
                    "another server uses the file; stop that server, or choose another file";
                return Err(ServeError::data(path, fault));
            }
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        // The size is read while the file is locked.
        let bytes = file.metadata().map_err(failed)?.len();
        if bytes > capacity {
            let fault = format!(
                "the file has {bytes} bytes, but the device only {capacity}; choose a larger device or another file"
            );
            return Err(ServeError::data(path, fault));
        }
        file.set_len(capacity).map_err(failed)?;
        Ok(Self::File(file))
    }

    /// Returns `true` if the data are in memory.
    pub(crate) fn is_in_memory(&self) -> bool {
        matches!(self, Self::Memory(_))
    }
    /// Reads a range into `bytes`.
    pub(crate) fn read(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        let parts = match self {
            Self::File(file) => return file.read_exact_at(bytes, offset),
            Self::Memory(parts) => parts,
        };
        let mut rest = bytes;
        for (page, from, length) in pieces(offset, rest.len() as u64) {
            let (piece, after) = rest.split_at_mut(length);
            match shared(parts, page).get(&page) {
                Some(content) => piece.copy_from_slice(&content[from..from + length]),
                None => piece.fill(0),
            }
            rest = after;
        }
        Ok(())
    }
    /// Writes `bytes` at `offset`.
    pub(crate) fn write(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let parts = match self {
            Self::File(file) => return file.write_all_at(bytes, offset),
            Self::Memory(parts) => parts,
        };
        let mut rest = bytes;
        for (page, from, length) in pieces(offset, bytes.len() as u64) {
            let (piece, after) = rest.split_at(length);
            let mut pages = exclusive(parts, page);
            let content = pages.entry(page).or_insert_with(|| Box::new([0; PAGE]));
            content[from..from + length].copy_from_slice(piece);
            rest = after;
        }
        Ok(())
    }
    /// Fills a range with zeros, and frees its space if `may_discard` is set.
    pub(crate) fn zero(&self, offset: u64, bytes: u64, may_discard: bool) -> io::Result<()> {
        match self {
            Self::File(file) if may_discard && punch(file, offset, bytes) => Ok(()),
            Self::File(file) => fill(file, offset, bytes),
            Self::Memory(parts) => {
                free(parts, offset, bytes);
                Ok(())
            }
        }
    }
    /// Makes the data durable on the disk that stores the file.
    pub(crate) fn sync(&self) -> io::Result<()> {
        match self {
            Self::File(file) => file.sync_all(),
            Self::Memory(_) => Ok(()),
        }
    }
}

fn part(page: u64) -> usize {
    (page / RUN % PARTS) as usize
}

fn shared(parts: &[RwLock<Pages>], page: u64) -> RwLockReadGuard<'_, Pages> {
    let lock = parts[part(page)].read();
    lock.unwrap_or_else(PoisonError::into_inner)
}

fn exclusive(parts: &[RwLock<Pages>], page: u64) -> RwLockWriteGuard<'_, Pages> {
    let lock = parts[part(page)].write();
    lock.unwrap_or_else(PoisonError::into_inner)
}

/// Zeroes a range in memory. Whole pages are dropped.
fn free(parts: &[RwLock<Pages>], offset: u64, bytes: u64) {
    let page = PAGE as u64;
    let whole = offset.div_ceil(page)..(offset + bytes) / page;
    let edges = [
        (offset, bytes.min(offset.next_multiple_of(page) - offset)),
        ((offset + bytes) / page * page, (offset + bytes) % page),
    ];
    for (start, length) in edges {
        let start = start.max(offset);
        let length = length.min(offset + bytes - start);
        for (page, from, length) in pieces(start, length) {
            if let Some(content) = exclusive(parts, page).get_mut(&page) {
                content[from..from + length].fill(0);
            }
        }
    }
    if whole.is_empty() {
        return;
    }
    if whole.end - whole.start > PARTS * RUN {
        for lock in parts {
            let mut pages = lock.write().unwrap_or_else(PoisonError::into_inner);
            pages.retain(|page, _| !whole.contains(page));
        }
        return;
    }
    for page in whole {
        exclusive(parts, page).remove(&page);
    }
}

/// Frees the space of a range of a file; returns `false` if the file system does not support this.
#[cfg(target_os = "linux")]
fn punch(file: &File, offset: u64, bytes: u64) -> bool {
    use rustix::fs::{FallocateFlags, fallocate};
    let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    fallocate(file, flags, offset, bytes).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn punch(_: &File, _: u64, _: u64) -> bool {
    false
}

/// Overwrites a range of a file with zeros.
fn fill(file: &File, offset: u64, bytes: u64) -> io::Result<()> {
    let zeros = vec![0; bytes.min(1 << 20) as usize];
    let (mut at, end) = (offset, offset + bytes);
    while at < end {
        let length = (end - at).min(zeros.len() as u64);
        file.write_all_at(&zeros[..length as usize], at)?;
        at += length;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTES: u64 = 8 << 20;

    /// Applies random writes, zeros and reads, and compares with a plain array.
    fn check_against_an_array(data: &Data) {
        let mut array = vec![0u8; BYTES as usize];
        let mut state = 1u64;
        let mut draw = |most: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) % most
        };
        for step in 0..2000u64 {
            let offset = draw(BYTES / 512) * 512;
            let most = if step % 50 == 0 { BYTES } else { 40_960 };
            let bytes = (512 + draw(most / 512) * 512).min(BYTES - offset);
            let range = offset as usize..(offset + bytes) as usize;
            match draw(4) {
                0 => {
                    data.zero(offset, bytes, step % 2 == 0).expect("zeroes");
                    array[range].fill(0);
                }
                1 => {
                    let mut read = vec![1; bytes as usize];
                    data.read(offset, &mut read).expect("reads");
                    assert!(read == array[range], "step {step}");
                }
                _ => {
                    array[range.clone()].fill(step as u8 | 1);
                    data.write(offset, &array[range]).expect("writes");
                }
            }
        }
        let mut read = vec![1; BYTES as usize];
        data.read(0, &mut read).expect("reads");
        assert!(read == array);
    }

    #[test]
    fn data_in_memory_behaves_like_an_array() {
        check_against_an_array(&Data::in_memory());
    }

    #[test]
    fn data_in_a_file_behaves_like_an_array_and_persists() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("data");
        let data = Data::in_file(&path, BYTES).expect("opens");
        check_against_an_array(&data);
        data.write(512, b"kept").expect("writes");
        let again = Data::in_file(&path, BYTES).expect_err("is locked");
        assert!(again.to_string().contains("another server uses the file"));
        drop(data);
        let data = Data::in_file(&path, BYTES + 512).expect("opens again");
        let mut read = [0; 4];
        data.read(512, &mut read).expect("reads");
        assert_eq!(&read, b"kept");
        drop(data);
        let small = Data::in_file(&path, BYTES).expect_err("is too large");
        assert!(small.to_string().contains("choose a larger device"));
    }

    #[test]
    fn discarded_pages_take_no_memory() {
        let data = Data::in_memory();
        data.write(0, &vec![1; 1 << 20]).expect("writes");
        data.zero(0, 1 << 40, true).expect("zeroes");
        let Data::Memory(parts) = &data else {
            unreachable!("the data are in memory")
        };
        assert!((0..PARTS * RUN).all(|page| shared(parts, page).is_empty()));
    }
}
