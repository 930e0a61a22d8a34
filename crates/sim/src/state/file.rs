//! The file of a state: a header as JSON, then the state, compressed.
//!
//! Eight bytes of magic, the length of the header (u32) and its hash (u64), both little-endian; the header;
//! a zstd frame, and the hash of its bytes. The state in it is that of the program's structures (postcard), and is
//! read by the build only that wrote it. The file appears complete or not at all.

use std::fs::{self, File};
use std::hash::Hasher;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;
use twox_hash::XxHash3_64;

const MAGIC: &[u8; 8] = b"wl state";
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// Names the sources: other builds may give other results.
pub const BUILD: &str = env!("WORDLINE_BUILD");
/// Fast; of tables that hold addresses, higher levels save little more.
const COMPRESSION: i32 = 1;
/// Bytes handed to the compressor together.
const BLOCK: usize = 1 << 18;
/// A longer header is none.
const LONGEST_HEADER: u32 = 1 << 28;

/// What a state is of.
pub mod kind {
    /// A run that has begun.
    pub const RUN: &str = "run";
    /// A device that is prepared.
    pub const DEVICE: &str = "device";
}

/// What stands before a state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// Version of the program.
    pub version: String,
    /// Its build.
    pub build: String,
    /// What the state is of (`kind`).
    pub kind: String,
    /// Bytes of the state before compression.
    pub bytes: u64,
    /// What else is said of it.
    pub content: Value,
}

/// A state that cannot be written or read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{path}: {reason}; {remedy}", path = path.display())]
pub struct StateError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong.
    pub reason: String,
    /// What to do.
    pub remedy: String,
}

impl StateError {
    pub(crate) fn new(path: &Path, reason: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            reason: reason.into(),
            remedy: remedy.into(),
        }
    }
    fn unwritable(path: &Path, error: &io::Error) -> Self {
        let remedy = match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                "free some space, or name a file on another disk"
            }
            _ => "name a file that can be written",
        };
        Self::new(path, format!("cannot be written: {error}"), remedy)
    }
    fn unreadable(path: &Path, error: &io::Error) -> Self {
        let reason = format!("cannot be read: {error}");
        Self::new(path, reason, "name a state that `wordline` wrote")
    }
    fn damaged(path: &Path, reason: impl std::fmt::Display) -> Self {
        Self::new(path, format!("is damaged: {reason}"), "write it anew")
    }
}

/// Writes a state and what is said of it. Returns the bytes of the file.
pub(crate) fn write(
    path: &Path,
    kind: &str,
    content: Value,
    state: &impl Serialize,
) -> Result<u64, StateError> {
    // One name: what a killed process has left here is replaced.
    let beside = path.with_added_extension("part");
    let written = write_to(&beside, kind, content, state).and_then(|bytes| {
        fs::rename(&beside, path)?;
        // The name survives a power cut when its folder is on the disk.
        if let Some(folder) = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty())
        {
            File::open(folder)?.sync_all()?;
        }
        Ok(bytes)
    });
    written.map_err(|error| {
        let _ = fs::remove_file(&beside);
        StateError::unwritable(path, &error)
    })
}

fn write_to(path: &Path, kind: &str, content: Value, state: &impl Serialize) -> io::Result<u64> {
    let bytes = postcard::experimental::serialized_size(state).map_err(io::Error::other)?;
    let header = serde_json::to_vec(&Header {
        version: VERSION.to_owned(),
        build: BUILD.to_owned(),
        kind: kind.to_owned(),
        bytes: bytes as u64,
        content,
    })?;
    let mut file = File::create(path)?;
    file.write_all(MAGIC)?;
    file.write_all(&(header.len() as u32).to_le_bytes())?;
    file.write_all(&XxHash3_64::oneshot(&header).to_le_bytes())?;
    file.write_all(&header)?;
    let frame = zstd::Encoder::new(Hashed::new(&mut file), COMPRESSION)?;
    let frame = BufWriter::with_capacity(BLOCK, frame);
    let frame = postcard::to_io(state, frame).map_err(io::Error::other)?;
    let frame = frame.into_inner().map_err(io::IntoInnerError::into_error)?;
    let hash = frame.finish()?.hash.finish();
    file.write_all(&hash.to_le_bytes())?;
    file.sync_all()?;
    Ok(file.metadata()?.len())
}

/// Passes bytes on, and hashes them.
struct Hashed<W> {
    inner: W,
    hash: XxHash3_64,
}

impl<W> Hashed<W> {
    fn new(inner: W) -> Self {
        let hash = XxHash3_64::new();
        Self { inner, hash }
    }
}

impl<W: Write> Write for Hashed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.hash.write(&bytes[..written]);
        Ok(written)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// What is said of the state in a file, which another build may have written.
pub fn header(path: &Path) -> Result<Header, StateError> {
    open(path).map(|(header, _)| header)
}

/// The state in a file, which this build wrote, and what is said of it.
pub(crate) fn read<T: DeserializeOwned>(
    path: &Path,
    kind: &str,
) -> Result<(Header, T), StateError> {
    let (header, mut file) = open(path)?;
    if header.kind != kind {
        let remedy = format!("name a file that holds a {kind}");
        return Err(StateError::new(
            path,
            format!("holds a {}", header.kind),
            remedy,
        ));
    }
    if (header.version.as_str(), header.build.as_str()) != (VERSION, BUILD) {
        return Err(StateError::new(
            path,
            format!(
                "was written by Wordline {} (build {}); this is {VERSION} (build {BUILD})",
                header.version, header.build
            ),
            "write it anew with this version, or go on with that one",
        ));
    }
    let damaged = |error: io::Error| StateError::damaged(path, error);
    let mut packed = Vec::new();
    file.read_to_end(&mut packed).map_err(damaged)?;
    let whole = packed.split_last_chunk();
    let whole = whole.filter(|(frame, hash)| XxHash3_64::oneshot(frame).to_le_bytes() == **hash);
    let Some((frame, _)) = whole else {
        return Err(StateError::damaged(path, "it is not what was written"));
    };
    let mut bytes = Vec::new();
    // A file that is damaged so that it claims too much is refused, not obeyed.
    if bytes.try_reserve_exact(header.bytes as usize).is_err() {
        let reason = format!("its state takes {} bytes of memory", header.bytes);
        return Err(StateError::new(
            path,
            reason,
            "free some, or use another machine",
        ));
    }
    let mut frame = zstd::Decoder::with_buffer(frame).map_err(damaged)?;
    frame.read_to_end(&mut bytes).map_err(damaged)?;
    match postcard::take_from_bytes(&bytes) {
        Ok((state, [])) => Ok((header, state)),
        Ok((_, rest)) => Err(StateError::damaged(
            path,
            format!("{} bytes are left", rest.len()),
        )),
        Err(error) => Err(StateError::damaged(path, error)),
    }
}

fn open(path: &Path) -> Result<(Header, BufReader<File>), StateError> {
    let file = File::open(path).map_err(|error| StateError::unreadable(path, &error))?;
    let mut file = BufReader::new(file);
    let foreign = || {
        StateError::new(
            path,
            "holds no state",
            "name a file that `wordline prepare` wrote, or the folder of a run with --checkpoint-every",
        )
    };
    let mut magic = [0; MAGIC.len()];
    if file.read_exact(&mut magic).is_err() || magic != *MAGIC {
        return Err(foreign());
    }
    let cut = |error: io::Error| StateError::damaged(path, error);
    let (mut length, mut hash) = ([0; 4], [0; 8]);
    file.read_exact(&mut length).map_err(cut)?;
    file.read_exact(&mut hash).map_err(cut)?;
    let length = u32::from_le_bytes(length);
    let mut header = Vec::new();
    let read = file
        .by_ref()
        .take(length.min(LONGEST_HEADER).into())
        .read_to_end(&mut header);
    read.map_err(cut)?;
    if XxHash3_64::oneshot(&header) != u64::from_le_bytes(hash) {
        return Err(StateError::damaged(
            path,
            "its header is not what was written",
        ));
    }
    let header = serde_json::from_slice(&header);
    Ok((
        header.map_err(|error| StateError::damaged(path, error))?,
        file,
    ))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use serde_json::json;

    fn written(folder: &Path) -> PathBuf {
        let path = folder.join("state.wls");
        let table: Vec<u32> = (0..10_000).collect();
        write(&path, kind::DEVICE, json!({"name": "d"}), &table).unwrap();
        path
    }

    #[test]
    fn a_state_comes_back() {
        let folder = tempfile::tempdir().unwrap();
        let (header, table) = read::<Vec<u32>>(&written(folder.path()), kind::DEVICE).unwrap();
        assert_eq!(header.content, json!({"name": "d"}));
        assert!(table.into_iter().eq(0..10_000));
        assert_eq!(
            fs::read_dir(folder.path()).unwrap().count(),
            1,
            "nothing is left beside it"
        );
    }

    #[test]
    fn a_byte_that_changed_anywhere_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let path = written(folder.path());
        let whole = fs::read(&path).unwrap();
        for place in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[place] ^= 0x10;
            fs::write(&path, &bytes).unwrap();
            let read = read::<Vec<u32>>(&path, kind::DEVICE);
            assert!(read.is_err(), "byte {place}");
        }
        for end in 0..whole.len() {
            fs::write(&path, &whole[..end]).unwrap();
            assert!(
                read::<Vec<u32>>(&path, kind::DEVICE).is_err(),
                "{end} bytes"
            );
        }
    }

    #[test]
    fn another_build_another_kind_and_another_file_are_refused_in_a_sentence() {
        let folder = tempfile::tempdir().unwrap();
        let path = written(folder.path());
        let said = read::<Vec<u32>>(&path, kind::RUN).unwrap_err().to_string();
        assert!(
            said.contains("holds a device; name a file that holds a run"),
            "{said}"
        );
        let mut bytes = fs::read(&path).unwrap();
        let at = bytes
            .windows(BUILD.len())
            .position(|part| part == BUILD.as_bytes())
            .unwrap();
        bytes[at] = if bytes[at] == b'0' { b'1' } else { b'0' };
        let length = u32::from_le_bytes(bytes[8..12].try_into().unwrap()) as usize;
        let hash = XxHash3_64::oneshot(&bytes[20..20 + length]);
        bytes[12..20].copy_from_slice(&hash.to_le_bytes());
        fs::write(&path, &bytes).unwrap();
        let said = read::<Vec<u32>>(&path, kind::DEVICE)
            .unwrap_err()
            .to_string();
        assert!(
            said.contains("was written by Wordline") && said.contains(BUILD),
            "{said}"
        );
        fs::write(&path, "time,offset,bytes,op\n").unwrap();
        let said = read::<Vec<u32>>(&path, kind::DEVICE)
            .unwrap_err()
            .to_string();
        assert!(said.contains("holds no state"), "{said}");
    }
}
