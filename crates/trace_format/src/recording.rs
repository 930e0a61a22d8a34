//! Sources of a trace's bytes: a file, memory, or a stream that can be read only once.
//!
//! A stream (a pipe, a FIFO, standard input) is spooled to an unnamed temporary file, so that it
//! can be read from its start any number of times, even while it is arriving. The file disappears
//! when the process ends for any reason.

use std::fmt;
use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::WorkloadError;
use crate::decompress::{Decompressed, plain};
use crate::interruption::{Stop, Stopped};

/// File name that stands for standard input.
pub const STANDARD_INPUT: &str = "-";

/// Trace files of a command. Opening a stream several times, under any name, gives the same stream.
#[derive(Clone, Default)]
pub struct Recordings {
    stop: Option<Stop>,
    streams: Arc<Mutex<Vec<(Identity, Spooled)>>>,
    /// Position of standard input when it was first used, if standard input is a file.
    standard: Arc<OnceLock<u64>>,
}

/// Identity of a stream: device and inode, or its name on systems without them.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Identity {
    #[cfg(unix)]
    Inode(u64, u64),
    #[cfg(not(unix))]
    Name(PathBuf),
}

impl Recordings {
    /// Creates the files of a command. Reading calls `stop` from time to time, even while it waits
    /// for a stream; reading ends if `stop` returns `true`.
    pub fn new(stop: Stop) -> Self {
        Self {
            stop: Some(stop),
            ..Self::default()
        }
    }

    /// Finds the file at a path, or standard input for `-`. Only streams are opened.
    pub fn find(&self, path: &Path) -> Result<Recording, WorkloadError> {
        let is_standard = path == Path::new(STANDARD_INPUT);
        let shown = if is_standard {
            PathBuf::from("<stdin>")
        } else {
            path.to_owned()
        };
        let failed = |error: &io::Error| cannot_open(&shown, error);
        let bytes = match self.stream(path, is_standard) {
            Ok(Some(spooled)) => Bytes::Stream(spooled),
            Ok(None) if is_standard => {
                let start = *self.standard.get_or_init(standard_position);
                Bytes::File(PathBuf::from("/dev/stdin"), start)
            }
            Ok(None) => Bytes::File(path.to_owned(), 0),
            Err(error) => return Err(failed(&error)),
        };
        Ok(Recording {
            path: shown,
            bytes,
            stop: self.stop.clone(),
        })
    }

    /// Returns the stream at a path; `None` if the path is a file or a directory, or does not
    /// exist.
    fn stream(&self, path: &Path, is_standard: bool) -> io::Result<Option<Spooled>> {
        let Some(identity) = identity(path, is_standard)? else {
            return Ok(None);
        };
        let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, known)) = streams.iter().find(|(known, _)| *known == identity) {
            return Ok(Some(known.clone()));
        }
        let source = Live::open(path, is_standard, self.stop.clone())?;
        let spooled = Spooled(Arc::new(Mutex::new(Spool {
            source,
            file: tempfile::tempfile().map_err(|error| unkept(&error))?,
            length: 0,
        })));
        streams.push((identity, spooled.clone()));
        Ok(Some(spooled))
    }
}

impl fmt::Debug for Recordings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Recordings")
    }
}

#[cfg(unix)]
fn identity(path: &Path, is_standard: bool) -> io::Result<Option<Identity>> {
    use std::os::fd::AsFd;
    use std::os::unix::fs::MetadataExt;
    let metadata = if is_standard {
        File::from(io::stdin().as_fd().try_clone_to_owned()?).metadata()?
    } else {
        match std::fs::metadata(path) {
            Ok(metadata) => metadata,
            // Opening the file will report the error.
            Err(_) => return Ok(None),
        }
    };
    let once = !metadata.is_file() && !metadata.is_dir();
    Ok(once.then(|| Identity::Inode(metadata.dev(), metadata.ino())))
}

/// Returns the file position of standard input, which a previous command may have advanced.
#[cfg(unix)]
fn standard_position() -> u64 {
    use std::os::fd::AsFd;
    let duplicate = io::stdin().as_fd().try_clone_to_owned();
    let position = duplicate.and_then(|file| File::from(file).stream_position());
    position.unwrap_or(0)
}

#[cfg(not(unix))]
fn standard_position() -> u64 {
    0
}

#[cfg(not(unix))]
fn identity(path: &Path, is_standard: bool) -> io::Result<Option<Identity>> {
    Ok(is_standard.then(|| Identity::Name(path.to_owned())))
}

/// Trace file that can be read from its start any number of times.
#[derive(Clone)]
pub struct Recording {
    path: PathBuf,
    bytes: Bytes,
    stop: Option<Stop>,
}

#[derive(Clone)]
enum Bytes {
    /// File, and offset at which the recording starts.
    File(PathBuf, u64),
    Memory(Arc<[u8]>),
    Stream(Spooled),
}

impl Recording {
    /// Creates a recording in memory. `name` replaces its path in messages.
    pub fn memory(name: &str, bytes: Arc<[u8]>) -> Self {
        Self {
            path: PathBuf::from(name),
            bytes: Bytes::Memory(bytes),
            stop: None,
        }
    }

    /// Returns the path or name that messages and results show.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens the decompressed bytes from the start.
    pub fn open(&self) -> Result<Decompressed, WorkloadError> {
        let inner: Box<dyn Read + Send> = match &self.bytes {
            Bytes::File(path, _) if path.is_dir() => {
                return Err(WorkloadError::new(
                    &self.path,
                    "the path is a directory, not a trace",
                    "name the files in the directory",
                ));
            }
            Bytes::File(path, start) => {
                let file = opened(path, *start).map_err(|error| cannot_open(&self.path, &error))?;
                Box::new(file)
            }
            Bytes::Memory(bytes) => Box::new(Cursor::new(Arc::clone(bytes))),
            Bytes::Stream(spooled) => Box::new(Again {
                spooled: spooled.clone(),
                at: 0,
            }),
        };
        let stream = Decompressed::new(inner, self.stop.clone());
        stream.map_err(|error| {
            if Stopped::caused(&error) {
                return WorkloadError::interruption(&self.path);
            }
            cannot_open(&self.path, &error)
        })
    }

    /// Returns the length on disk, in bytes; `None` if it is unknown.
    pub fn length(&self) -> Option<u64> {
        match &self.bytes {
            Bytes::File(path, start) => {
                Some(std::fs::metadata(path).ok()?.len().saturating_sub(*start))
            }
            Bytes::Memory(bytes) => Some(bytes.len() as u64),
            Bytes::Stream(_) => None,
        }
    }
}

/// Opens a file and seeks to an offset.
fn opened(path: &Path, start: u64) -> io::Result<File> {
    let mut file = File::open(path)?;
    if start > 0 {
        file.seek(SeekFrom::Start(start))?;
    }
    Ok(file)
}

fn cannot_open(path: &Path, error: &io::Error) -> WorkloadError {
    let remedy = match error.kind() {
        io::ErrorKind::NotFound => "check the name",
        io::ErrorKind::PermissionDenied => "check its permissions",
        _ => "",
    };
    let reason = format!("the file cannot be opened: {}", plain(error));
    WorkloadError::new(path, reason, remedy)
}

/// Stream with a copy of all bytes read from it.
#[derive(Clone)]
struct Spooled(Arc<Mutex<Spool>>);

struct Spool {
    source: Live,
    file: File,
    length: u64,
}

impl Spool {
    /// Reads at an offset, which must not exceed the number of bytes read so far.
    fn read_at(&mut self, at: u64, buffer: &mut [u8]) -> io::Result<usize> {
        if at < self.length {
            self.file.seek(SeekFrom::Start(at))?;
            let most = usize::try_from(self.length - at).unwrap_or(usize::MAX);
            let most = most.min(buffer.len());
            return self.file.read(&mut buffer[..most]);
        }
        let read = self.source.read(buffer)?;
        let kept = self.keep(&buffer[..read]);
        kept.map_err(|error| unkept(&error))?;
        Ok(read)
    }

    fn keep(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(self.length))?;
        self.file.write_all(bytes)?;
        self.length += bytes.len() as u64;
        Ok(())
    }
}

/// Returns the error for a stream that cannot be copied to a temporary file.
#[cold]
fn unkept(error: &io::Error) -> io::Error {
    let folder = std::env::temp_dir();
    io::Error::other(format!(
        "a copy of the stream cannot be kept in {}: {}; set TMPDIR to a directory with enough space",
        folder.display(),
        plain(error)
    ))
}

/// Reader of a stream, starting at the first byte.
struct Again {
    spooled: Spooled,
    at: u64,
}

impl Read for Again {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let spool = &self.spooled.0;
        let mut spool = spool.lock().unwrap_or_else(PoisonError::into_inner);
        let read = spool.read_at(self.at, buffer)?;
        self.at += read as u64;
        Ok(read)
    }
}

/// Stream that is arriving. Waiting for its bytes can be interrupted.
struct Live {
    file: File,
    #[cfg_attr(not(unix), allow(dead_code))]
    stop: Option<Stop>,
}

#[cfg(unix)]
impl Live {
    fn open(path: &Path, is_standard: bool, stop: Option<Stop>) -> io::Result<Self> {
        use rustix::fs::{Mode, OFlags, open};
        use std::os::fd::AsFd;
        let file = if is_standard {
            io::stdin().as_fd().try_clone_to_owned()?
        } else {
            // Opening a FIFO that has no writer would block the process uninterruptibly without
            // NONBLOCK.
            open(
                path,
                OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC,
                Mode::empty(),
            )?
        };
        Ok(Self {
            file: file.into(),
            stop,
        })
    }

    /// Waits until the stream has bytes to read, or has ended.
    fn wait(&self) -> io::Result<()> {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        const BEAT: Timespec = Timespec {
            tv_sec: 0,
            tv_nsec: 50_000_000,
        };
        loop {
            if self.stop.as_ref().is_some_and(|stop| stop()) {
                return Err(Stopped::error());
            }
            let mut polled = [PollFd::new(&self.file, PollFlags::IN)];
            match poll(&mut polled, Some(&BEAT)) {
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                Ok(_) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
    }
}

#[cfg(not(unix))]
impl Live {
    fn open(path: &Path, is_standard: bool, stop: Option<Stop>) -> io::Result<Self> {
        let path = if is_standard { Path::new("CON") } else { path };
        Ok(Self {
            file: File::open(path)?,
            stop,
        })
    }
    fn wait(&self) -> io::Result<()> {
        Ok(())
    }
}

impl Read for Live {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            self.wait()?;
            match self.file.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                read => return read,
            }
        }
    }
}
