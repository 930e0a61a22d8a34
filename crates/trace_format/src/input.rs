//! Decompressed file that is read as lines or as records of fixed length.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::WorkloadError;
use crate::decompress::{Compression, Decompressed, plain};
use crate::error::{Fault, Place};
use crate::format::{Format, Probe, encoding};
use crate::interruption::Stopped;
use crate::recording::Recording;

/// Maximum length of a line. A longer line is an error. Bytes.
pub(crate) const LONGEST_LINE: usize = 64 * 1024;
/// Length of the file's start from which its format is detected. Bytes.
pub const PROBE: usize = 64 * 1024;
const BUFFER: usize = 4 * LONGEST_LINE;

/// Reason why a record could not be read.
#[derive(Debug)]
pub enum Stop {
    /// The record is bad, but the next one can be read.
    Bad(Fault),
    /// The file cannot be read any further.
    Broken(WorkloadError),
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Bad(fault)
    }
}

/// File that is being read.
pub struct Input {
    path: PathBuf,
    stream: Decompressed,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// End of the buffered range, from `start`, that is known to consist of whole lines of valid
    /// length. More such lines may follow in the buffer.
    whole: usize,
    failure: Option<io::Error>,
    ended: bool,
    consumed: u64,
    place: Place,
    /// Whether times are not needed, so that faults of time stamps are ignored.
    pub untimed: bool,
    /// Whether times beyond the range of the format's ticks are needed, because gaps are changed.
    pub keeps_far: bool,
    /// Times beyond the range of the format's ticks in the records read last: index of the record,
    /// and ticks.
    pub far: Vec<(usize, i128)>,
    /// Lines and records that are not requests, such as headers, comments and other events. Count.
    pub ignored: u64,
}

impl Input {
    /// Opens a recording.
    pub fn open(recording: &Recording) -> Result<Self, WorkloadError> {
        Ok(Self {
            path: recording.path().to_owned(),
            stream: recording.open()?,
            buffer: vec![0; BUFFER],
            start: 0,
            end: 0,
            whole: 0,
            failure: None,
            ended: false,
            consumed: 0,
            place: Place::Whole,
            untimed: false,
            keeps_far: false,
            far: Vec::new(),
            ignored: 0,
        })
    }

    /// Returns the name of the file in messages.
    pub fn path(&self) -> &Path {
        &self.path
    }
    /// Returns the place of the line or record read last.
    pub fn place(&self) -> Place {
        self.place
    }
    /// Returns the decompressed stream.
    pub fn stream(&self) -> &Decompressed {
        &self.stream
    }
    /// Returns `true` if the file was read to its end and contains nothing beyond the bytes that
    /// [`Input::peek`] returns.
    pub fn ended(&self) -> bool {
        self.ended && self.failure.is_none()
    }

    /// Reads more bytes into the buffer. Does nothing at the end of the file.
    fn fill(&mut self) {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
            self.whole = 0;
        }
        while !self.ended && self.end < self.buffer.len() {
            match self.stream.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.ended = true,
                Ok(length) => {
                    self.end += length;
                    return;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.failure = Some(error);
                    self.ended = true;
                }
            }
        }
    }

    /// Returns the next `length` bytes, or fewer at the end of the file, without consuming them.
    /// `length` must not exceed [`PROBE`].
    pub fn peek(&mut self, length: usize) -> &[u8] {
        while self.end - self.start < length && !self.ended {
            self.fill();
        }
        &self.buffer[self.start..self.end.min(self.start + length)]
    }

    fn consume(&mut self, length: usize) {
        self.start += length;
        self.consumed += length as u64;
    }

    /// Returns the read error, if any, once all bytes before it are consumed.
    fn failure(&mut self) -> Result<(), Stop> {
        match self.failure.take() {
            None => Ok(()),
            Some(error) => Err(Stop::Broken(self.broken(&error))),
        }
    }

    /// Returns the error for a file that cannot be read any further.
    fn broken(&self, error: &io::Error) -> WorkloadError {
        if self.stream.stopped() || Stopped::caused(error) {
            return WorkloadError::interruption(&self.path);
        }
        let kind = self.stream.compression();
        let decoded = self.consumed + (self.end - self.start) as u64;
        let far = match self.place {
            Place::Whole => format!("{decoded} bytes"),
            Place::Line(line) => format!("{decoded} bytes ({line} whole lines)"),
            Place::Record { number, .. } => format!("{decoded} bytes ({number} whole records)"),
        };
        if kind == Compression::Plain || self.stream.failed() {
            let reason = format!("reading fails after {far}: {}", plain(error));
            return WorkloadError::new(&self.path, reason, "");
        }
        let cut = error.kind() == io::ErrorKind::UnexpectedEof;
        let (reason, remedy) = if cut {
            (
                format!("the {} ends early, after {far}", kind.name()),
                "download or compress the file again",
            )
        } else {
            (
                format!(
                    "the {} is damaged after {far}: {}",
                    kind.name(),
                    plain(error)
                ),
                "download or compress the file again",
            )
        };
        WorkloadError::new(&self.path, reason, remedy)
    }

    /// Skips the byte-order mark that some programs write before UTF-8.
    pub fn skip_mark(&mut self) {
        const MARK: &[u8] = b"\xef\xbb\xbf";
        if self.peek(MARK.len()) == MARK {
            self.consume(MARK.len());
        }
    }

    /// Returns the error for a file that contains no bytes.
    pub fn empty(&mut self) -> WorkloadError {
        if let Some(error) = self.failure.take() {
            return self.broken(&error);
        }
        let reason = match self.stream.compression() {
            Compression::Plain => "the file is empty".to_owned(),
            packed => format!("the {} contains an empty file", packed.name()),
        };
        WorkloadError::new(&self.path, reason, "name a file that contains a trace")
    }

    /// Detects the format of the file, whose start is `probe`.
    pub fn recognise(&mut self, probe: &Probe) -> Result<Format, WorkloadError> {
        if let Some(name) = encoding(probe.bytes) {
            let reason = format!("the file is text in {name}, but text traces must be UTF-8");
            let remedy = format!("convert the file: iconv -f {name} -t UTF-8");
            return Err(WorkloadError::new(&self.path, reason, remedy));
        }
        if let Some(format) = Format::of(probe) {
            return Ok(format);
        }
        if let Some(error) = self.failure.take() {
            return Err(self.broken(&error));
        }
        let remedy = Format::remedy(probe);
        Err(WorkloadError::new(
            &self.path,
            "the format is not recognised",
            remedy,
        ))
    }

    /// Returns `true` if the buffer contains a line, so that [`Input::text`] need not read.
    #[inline]
    pub(crate) fn holds_line(&self) -> bool {
        self.start < self.whole
    }

    /// Returns the lines in the buffer, at least one, without consuming them. `None` at the end of
    /// the file. All lines have their ends, except possibly the last line of the file.
    #[inline]
    pub(crate) fn text(&mut self) -> Result<Option<&[u8]>, Stop> {
        if !self.holds_line() && !self.find_lines()? {
            return Ok(None);
        }
        Ok(Some(&self.buffer[self.start..self.whole]))
    }

    /// Finds whole lines of valid length. Returns `false` at the end of the file.
    #[cold]
    fn find_lines(&mut self) -> Result<bool, Stop> {
        loop {
            self.whole = self.start;
            while let Some(last) = memchr::memrchr(b'\n', self.line_at(self.whole)) {
                self.whole += last + 1;
            }
            if self.holds_line() {
                return Ok(true);
            }
            let there = self.end - self.start;
            if there > LONGEST_LINE {
                return Err(self.discard_line());
            }
            if self.ended {
                self.failure()?;
                self.whole = self.end;
                return Ok(there > 0);
            }
            self.fill();
        }
    }

    /// Returns the bytes from `start` up to the maximum length of a line with its line feed.
    fn line_at(&self, start: usize) -> &[u8] {
        &self.buffer[start..self.end.min(start + LONGEST_LINE + 1)]
    }

    /// Consumes the next line, which has `length` bytes including its end.
    #[inline]
    pub(crate) fn take_line(&mut self, length: usize) {
        self.next_line();
        self.consume(length);
    }

    #[inline]
    fn next_line(&mut self) {
        self.place = match self.place {
            Place::Line(line) => Place::Line(line + 1),
            _ => Place::Line(1),
        };
    }

    /// Consumes the rest of a line that is too long, and returns its fault.
    fn discard_line(&mut self) -> Stop {
        self.next_line();
        loop {
            let window = &self.buffer[self.start..self.end];
            if let Some(found) = memchr::memchr(b'\n', window) {
                self.consume(found + 1);
                return too_long();
            }
            self.consume(window.len());
            if self.ended {
                return too_long();
            }
            self.fill();
        }
    }

    /// Returns `true` if the buffer contains a record of `length` bytes, so that [`Input::record`]
    /// need not read.
    #[inline]
    pub fn holds_record(&self, length: usize) -> bool {
        self.end - self.start >= length
    }

    /// Consumes the next `length` bytes and returns them as one record; `None` at the end of the
    /// file. `length` must not exceed [`PROBE`].
    pub fn record(&mut self, length: usize) -> Result<Option<&[u8]>, Stop> {
        let there = self.peek(length).len();
        if there == length {
            let number = match self.place {
                Place::Record { number, .. } => number + 1,
                _ => 1,
            };
            self.place = Place::Record {
                number,
                byte: self.consumed,
            };
            let start = self.start;
            self.consume(length);
            return Ok(Some(&self.buffer[start..start + length]));
        }
        self.failure()?;
        if there == 0 {
            return Ok(None);
        }
        let number = if let Place::Record { number, .. } = self.place {
            number + 1
        } else {
            1
        };
        self.place = Place::Record {
            number,
            byte: self.consumed,
        };
        self.consume(there);
        Err(Fault::new(format!(
            "the file ends {there} bytes into a record of {length} bytes"
        ))
        .into())
    }

    /// Returns the records of `length` bytes in the buffer, at least one. `None` at the end of the
    /// file. The place becomes that of the last record.
    pub fn records(&mut self, length: usize) -> Result<Option<&[u8]>, Stop> {
        if self.peek(length).len() < length {
            return self.record(length);
        }
        let count = (self.end - self.start) / length;
        let before = match self.place {
            Place::Record { number, .. } => number,
            _ => 0,
        };
        self.place = Place::Record {
            number: before + count as u64,
            byte: self.consumed + ((count - 1) * length) as u64,
        };
        let start = self.start;
        self.consume(count * length);
        Ok(Some(&self.buffer[start..start + count * length]))
    }

    /// Consumes a header of `length` bytes. Fails if the file is shorter.
    pub fn header(&mut self, length: usize) -> Result<(), Stop> {
        if self.peek(length).len() < length {
            self.failure()?;
            let error = io::Error::from(io::ErrorKind::UnexpectedEof);
            return Err(Stop::Broken(self.broken(&error)));
        }
        self.consume(length);
        Ok(())
    }
}

fn too_long() -> Stop {
    Fault::new(format!("the line is longer than {LONGEST_LINE} bytes")).into()
}
