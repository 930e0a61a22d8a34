//! File format of a saved state: a JSON header and the compressed state.
//!
//! A file consists of eight bytes of magic, the length of the header (u32) and its hash (u64), both
//! little-endian, the header, a zstd frame, and the hash of the frame's bytes. The frame holds the
//! program's structures in sequence, in postcard format, so that only the build that wrote it can
//! read it. The file is written atomically.
//!
//! Generic functions are compiled in the crate that calls them, which is not optimised
//! (`wordline-state`). Therefore the work on bytes is in functions that are not generic.

use std::fs::File;
use std::hash::Hasher;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use postcard::Deserializer;
use postcard::de_flavors::Flavor;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;
use twox_hash::XxHash3_64;
use wordline_observe::Part;

const MAGIC: &[u8; 8] = b"wl state";
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// Identifier of this build, computed from its sources. Other builds may give other results.
pub const BUILD: &str = env!("WORDLINE_BUILD");
/// Compression level of zstd. Higher levels save little on tables of addresses.
const COMPRESSION: i32 = 1;
/// Bytes passed to the compressor, or taken from the decompressor, at a time.
const BLOCK: usize = 1 << 18;
/// Maximum length of a header; a file with a longer one is rejected. Bytes.
const LONGEST_HEADER: u32 = 1 << 28;

/// Kinds of saved state.
pub mod kind {
    /// A run in progress.
    pub const RUN: &str = "run";
    /// A prepared device.
    pub const DEVICE: &str = "device";
}

/// Header of a saved state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// Version of the program.
    pub version: String,
    /// Build of the program.
    pub build: String,
    /// Kind of the state (`kind`).
    pub kind: String,
    /// Description of the content, whose form depends on the kind.
    pub content: Value,
}

/// Error of a saved state that cannot be written or read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{path}: {reason}; {remedy}", path = path.display())]
pub struct StateError {
    /// Path of the file.
    pub path: PathBuf,
    /// Description of the fault.
    pub reason: String,
    /// Suggested remedy.
    pub remedy: String,
}

impl StateError {
    /// Creates an error of a file, with its fault and remedy.
    pub fn new(path: &Path, reason: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            reason: reason.into(),
            remedy: remedy.into(),
        }
    }
    fn unwritable(path: &Path, error: &io::Error) -> Self {
        let remedy = match error.kind() {
            io::ErrorKind::StorageFull
            | io::ErrorKind::QuotaExceeded
            | io::ErrorKind::FileTooLarge => "free some space, or name a file on another disk",
            _ => "name a file that can be written",
        };
        Self::new(path, format!("cannot be written: {error}"), remedy)
    }
    fn unreadable(path: &Path, error: &io::Error) -> Self {
        let reason = format!("cannot be read: {error}");
        Self::new(path, reason, "name a state that `wordline` wrote")
    }
    fn damaged(path: &Path, reason: impl std::fmt::Display) -> Self {
        Self::new(
            path,
            format!("is damaged: {reason}"),
            "create the file again",
        )
    }
}

/// Writes a state: the structures that `state` puts, in sequence. Returns the size of the file.
/// Bytes.
pub fn write(
    path: &Path,
    kind: &str,
    content: Value,
    state: &dyn Fn(&mut Writer) -> postcard::Result<()>,
) -> Result<u64, StateError> {
    let written = Part::of(path).and_then(|(part, file)| {
        let bytes = write_to(file, kind, content, state)?;
        part.finish()?;
        // The name survives a power cut once its folder is synced.
        if let Some(folder) = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty())
        {
            File::open(folder)?.sync_all()?;
        }
        Ok(bytes)
    });
    written.map_err(|error| StateError::unwritable(path, &error))
}

fn write_to(
    mut file: File,
    kind: &str,
    content: Value,
    state: &dyn Fn(&mut Writer) -> postcard::Result<()>,
) -> io::Result<u64> {
    let header = serde_json::to_vec(&Header {
        version: VERSION.to_owned(),
        build: BUILD.to_owned(),
        kind: kind.to_owned(),
        content,
    })?;
    file.write_all(MAGIC)?;
    file.write_all(&(header.len() as u32).to_le_bytes())?;
    file.write_all(&XxHash3_64::oneshot(&header).to_le_bytes())?;
    file.write_all(&header)?;
    let frame = zstd::Encoder::new(Hashed::new(file), COMPRESSION)?;
    let mut writer = Writer(Faults::of(BufWriter::with_capacity(BLOCK, frame)));
    let written = state(&mut writer);
    let frame = writer.0.checked(written)?.into_inner();
    let frame = frame.map_err(io::IntoInnerError::into_error)?;
    let Hashed {
        inner: mut file,
        hash,
    } = frame.finish()?;
    file.write_all(&hash.finish().to_le_bytes())?;
    file.sync_all()?;
    Ok(file.metadata()?.len())
}

/// Frame of a state that is being written.
pub struct Writer(Faults<BufWriter<zstd::Encoder<'static, Hashed<File>>>>);

impl Writer {
    /// Appends a structure.
    pub fn put(&mut self, structure: &impl Serialize) -> postcard::Result<()> {
        postcard::to_io(structure, self).map(drop)
    }
}

impl Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Reader or writer that forwards bytes and hashes them.
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

/// Writer that forwards bytes and keeps the I/O error, which postcard does not report.
struct Faults<W> {
    inner: W,
    fault: Option<io::Error>,
}

impl<W> Faults<W> {
    fn of(inner: W) -> Self {
        Self { inner, fault: None }
    }
    /// Returns the writer, or the error if something could not be written.
    fn checked(self, written: postcard::Result<()>) -> io::Result<W> {
        match (self.fault, written) {
            (Some(fault), _) => Err(fault),
            (None, Err(error)) => Err(io::Error::other(error)),
            (None, Ok(())) => Ok(self.inner),
        }
    }
    fn noted<T>(&mut self, done: io::Result<T>) -> io::Result<T> {
        done.map_err(|error| {
            let kind = error.kind();
            if kind != io::ErrorKind::Interrupted {
                self.fault = Some(error);
            }
            kind.into()
        })
    }
}

impl<W: Write> Write for Faults<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let done = self.inner.write(bytes);
        self.noted(done)
    }
    fn flush(&mut self) -> io::Result<()> {
        let done = self.inner.flush();
        self.noted(done)
    }
}

/// Returns the header of a saved state, which any build may have written.
pub fn header(path: &Path) -> Result<Header, StateError> {
    open(path).map(|(header, _)| header)
}

/// Frame of a state that is being read.
pub struct Reader {
    states: Deserializer<'static, Stream>,
}

type Frame = zstd::Decoder<'static, io::Take<BufReader<File>>>;

impl Reader {
    /// Reads the next structure, which must have been written as the same type.
    pub fn take<T: DeserializeOwned>(&mut self) -> postcard::Result<T> {
        T::deserialize(&mut self.states)
    }
}

/// Reads a state that this build wrote: the structures that `state` takes, in sequence.
pub fn read<T>(
    path: &Path,
    kind: &str,
    state: impl FnOnce(&mut Reader) -> postcard::Result<T>,
) -> Result<T, StateError> {
    let mut reader = reader(path, kind)?;
    let damaged = |error: postcard::Error| StateError::damaged(path, error);
    let state = state(&mut reader).map_err(damaged)?;
    match reader.states.finalize() {
        Ok(true) => Ok(state),
        Ok(false) => Err(StateError::damaged(path, "it has extra bytes")),
        Err(error) => Err(damaged(error)),
    }
}

/// Opens the frame of a file. Fails if the file does not hold a `kind`, was written by another
/// build, or does not match its hash.
fn reader(path: &Path, kind: &str) -> Result<Reader, StateError> {
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
                "was written by Wordline {} (build {}), and this is Wordline {VERSION} (build {BUILD})",
                header.version, header.build
            ),
            "create the file again with this version, or use the version that wrote it",
        ));
    }
    let damaged = |error: io::Error| StateError::damaged(path, error);
    // Checks the whole frame before decoding it: a damaged length could request any amount of
    // memory.
    let length = frame_length(&mut file).map_err(damaged)?;
    let Some(length) = length else {
        return Err(StateError::damaged(path, "its hash does not match"));
    };
    let frame = zstd::Decoder::with_buffer(file.take(length)).map_err(damaged)?;
    let stream = Stream::of(BufReader::with_capacity(BLOCK, frame));
    let states = Deserializer::from_flavor(stream);
    Ok(Reader { states })
}

/// Returns the length of the frame that starts here and extends to the hash at the end of the file;
/// `None` if the hash does not match.
fn frame_length(file: &mut BufReader<File>) -> io::Result<Option<u64>> {
    let start = file.stream_position()?;
    let rest = file.get_ref().metadata()?.len().saturating_sub(start);
    let Some(length) = rest.checked_sub(size_of::<u64>() as u64) else {
        return Ok(None);
    };
    let mut hashed = Hashed::new(io::sink());
    io::copy(&mut file.by_ref().take(length), &mut hashed)?;
    let mut hash = [0; size_of::<u64>()];
    file.read_exact(&mut hash)?;
    file.seek(SeekFrom::Start(start))?;
    Ok((hashed.hash.finish().to_le_bytes() == hash).then_some(length))
}

/// Input of postcard from a stream. Holds at most the longest string or byte array.
struct Stream {
    reader: BufReader<Frame>,
    taken: Vec<u8>,
}

impl Stream {
    fn of(reader: BufReader<Frame>) -> Self {
        let taken = Vec::new();
        Self { reader, taken }
    }
}

impl<'de> Flavor<'de> for Stream {
    /// Whether the input is exhausted.
    type Remainder = bool;
    type Source = BufReader<Frame>;

    fn pop(&mut self) -> postcard::Result<u8> {
        let byte = self
            .reader
            .fill_buf()
            .ok()
            .and_then(|buffer| buffer.first());
        let byte = *byte.ok_or(postcard::Error::DeserializeUnexpectedEnd)?;
        self.reader.consume(1);
        Ok(byte)
    }
    fn try_take_n(&mut self, _: usize) -> postcard::Result<&'de [u8]> {
        Err(postcard::Error::WontImplement) // nothing is borrowed from the file
    }
    fn try_take_n_temp<'a>(&'a mut self, count: usize) -> postcard::Result<&'a [u8]>
    where
        'de: 'a,
    {
        self.taken.clear();
        let limit = self.reader.by_ref().take(count as u64);
        match { limit }.read_to_end(&mut self.taken) {
            Ok(found) if found == count => Ok(&self.taken),
            _ => Err(postcard::Error::DeserializeUnexpectedEnd),
        }
    }
    fn finalize(mut self) -> postcard::Result<bool> {
        let left = self.reader.fill_buf();
        left.map(<[u8]>::is_empty)
            .map_err(|_| postcard::Error::DeserializeUnexpectedEnd)
    }
}

/// Opens a regular file. Other kinds are rejected: opening a named pipe would block until a process
/// writes to it.
fn open_regular(path: &Path) -> Result<File, StateError> {
    let unreadable = |error: io::Error| StateError::unreadable(path, &error);
    if !path.metadata().map_err(unreadable)?.is_file() {
        let remedy = "name a state that `wordline` wrote";
        return Err(StateError::new(path, "is not a regular file", remedy));
    }
    File::open(path).map_err(unreadable)
}

fn open(path: &Path) -> Result<(Header, BufReader<File>), StateError> {
    let mut file = BufReader::new(open_regular(path)?);
    let foreign = || {
        StateError::new(
            path,
            "is not a saved state",
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
            "the hash of its header does not match",
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
    use std::fs;

    fn written(folder: &Path) -> PathBuf {
        let path = folder.join("state.wls");
        let table: Vec<u32> = (0..10_000).collect();
        let content = json!({"name": "d"});
        write(&path, kind::DEVICE, content, &|to| to.put(&table)).unwrap();
        path
    }

    fn read(path: &Path, kind: &str) -> Result<Vec<u32>, StateError> {
        super::read(path, kind, Reader::take)
    }

    #[test]
    fn state_survives_a_round_trip() {
        let folder = tempfile::tempdir().unwrap();
        let path = written(folder.path());
        let table = read(&path, kind::DEVICE).unwrap();
        assert_eq!(header(&path).unwrap().content, json!({"name": "d"}));
        assert!(table.into_iter().eq(0..10_000));
        assert_eq!(
            fs::read_dir(folder.path()).unwrap().count(),
            1,
            "no other file is left"
        );
    }

    #[test]
    fn any_changed_byte_is_detected() {
        let folder = tempfile::tempdir().unwrap();
        let path = written(folder.path());
        let whole = fs::read(&path).unwrap();
        for place in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[place] ^= 0x10;
            fs::write(&path, &bytes).unwrap();
            let read = read(&path, kind::DEVICE);
            assert!(read.is_err(), "byte {place}");
        }
        for end in 0..whole.len() {
            fs::write(&path, &whole[..end]).unwrap();
            assert!(read(&path, kind::DEVICE).is_err(), "{end} bytes");
        }
    }

    #[test]
    fn failed_write_reports_the_cause() {
        let full = io::Error::from(io::ErrorKind::StorageFull);
        let expected = full.to_string();
        let mut frame = Faults::of(Full(Some(full)));
        let written = postcard::to_io(&[7_u8; 32], &mut frame).map(drop);
        assert_eq!(frame.checked(written).err().unwrap().to_string(), expected);
    }

    /// Writer that fails because its disk is full.
    struct Full(Option<io::Error>);

    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.take().unwrap())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn states_of_other_builds_or_kinds_and_other_files_are_rejected() {
        let folder = tempfile::tempdir().unwrap();
        let path = written(folder.path());
        let said = read(&path, kind::RUN).unwrap_err().to_string();
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
        let said = read(&path, kind::DEVICE).unwrap_err().to_string();
        assert!(
            said.contains("was written by Wordline") && said.contains(BUILD),
            "{said}"
        );
        fs::write(&path, "time,offset,bytes,op\n").unwrap();
        let said = read(&path, kind::DEVICE).unwrap_err().to_string();
        assert!(said.contains("is not a saved state"), "{said}");
    }
}
