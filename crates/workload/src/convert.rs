//! Converts traces to other formats.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bzip2::write::BzEncoder;
use flate2::write::GzEncoder;
use liblzma::write::XzEncoder;
use serde::Serialize;
use tempfile::NamedTempFile;

use crate::{InputFile, Request, Source, Trace, WorkloadError};
use wordline_trace_format::Losses;
use wordline_trace_format::SECTOR;
use wordline_trace_format::{Format, Render};

/// File name that stands for standard output.
pub const STANDARD_OUTPUT: &str = "-";

const BUFFER: usize = 256 * 1024;
/// Default level of `xz`.
const XZ_LEVEL: u32 = 6;
/// Interval between checks whether the conversion was stopped. Requests.
const LOOK_EVERY: u64 = 4096;

/// Result of a conversion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Conversion {
    /// Requests written.
    pub written: u64,
    /// Requests dropped because the format cannot express them, which are TRIMs and flushes.
    pub left_out: u64,
    /// Notes on what the format could not keep, on ambiguous formats of the input, and on changes
    /// to records.
    pub notes: Vec<String>,
    /// Files that were read.
    pub files: Vec<InputFile>,
}

/// Writer of a trace. The file appears under its name only when it is finished. It is compressed if
/// its name ends in `.gz`, `.bz2`, `.xz` or `.zst`. The name [`STANDARD_OUTPUT`] means standard
/// output, which is written during the conversion.
pub struct TraceWriter {
    path: PathBuf,
    format: Format,
    render: Box<dyn Render>,
    packer: Packer,
    losses: Losses,
    written: u64,
    timed: bool,
}

impl TraceWriter {
    /// Returns the formats that can be written.
    pub fn formats() -> Vec<Format> {
        Format::ALL
            .iter()
            .copied()
            .filter(|format| format.render(true).is_some())
            .collect()
    }

    /// Creates a trace in `format`, in a temporary file next to `path`. `timed`: whether arrivals
    /// are meaningful.
    pub fn create(path: &Path, format: Format, timed: bool) -> Result<Self, WorkloadError> {
        let Some(render) = format.render(timed) else {
            let names: Vec<&str> = Self::formats().into_iter().map(Format::name).collect();
            let reason = format!("traces can be read, but not written, in the format {format}");
            return Err(WorkloadError::new(
                path,
                reason,
                format!("choose one of the formats {}", names.join(", ")),
            ));
        };
        let packer = Packer::create(path).map_err(|error| failed(path, &error))?;
        let mut writer = Self {
            path: path.to_owned(),
            format,
            render,
            packer,
            losses: Losses::default(),
            written: 0,
            timed,
        };
        let head = writer.render.head(&mut writer.packer);
        head.map_err(|error| failed(path, &error))?;
        Ok(writer)
    }

    /// Writes a request. Requests must be passed in order of arrival.
    pub fn write(&mut self, request: &Request) -> Result<(), WorkloadError> {
        let left_out = self.losses.left_out();
        let done = self
            .render
            .request(&mut self.packer, request, &mut self.losses);
        done.map_err(|error| failed(&self.path, &error))?;
        self.written += u64::from(self.losses.left_out() == left_out);
        Ok(())
    }

    /// Completes the file and renames it to its final name.
    pub fn finish(mut self) -> Result<Conversion, WorkloadError> {
        let end = self
            .render
            .tail(&mut self.packer)
            .and_then(|()| self.packer.finish(&self.path));
        end.map_err(|error| failed(&self.path, &error))?;
        Ok(Conversion {
            written: self.written,
            left_out: self.losses.left_out(),
            notes: notes(self.format, &self.losses, self.timed),
            files: Vec::new(),
        })
    }
}

/// Writes all requests of a source. The options of the source determine how irregular records are
/// treated; see [`crate::TraceOptions::as_recorded`].
pub fn convert(
    source: &mut impl Source,
    path: &Path,
    format: Format,
) -> Result<Conversion, WorkloadError> {
    convert_until(source, path, format, &Cancellation::default())
}

/// Writes all requests of a trace as [`convert`] does, and also returns its files and notes.
pub fn convert_trace(
    trace: &mut Trace,
    path: &Path,
    format: Format,
) -> Result<Conversion, WorkloadError> {
    convert_trace_until(trace, path, format, &Cancellation::default())
}

/// Converts as [`convert_trace`] does. Another thread can stop the conversion with `stop`.
pub fn convert_trace_until(
    trace: &mut Trace,
    path: &Path,
    format: Format,
    stop: &Cancellation,
) -> Result<Conversion, WorkloadError> {
    let mut done = convert_until(trace, path, format, stop)?;
    done.notes.extend(trace.notes());
    done.files = trace.files().iter().map(InputFile::of).collect();
    Ok(done)
}

/// Converts as [`convert`] does. Another thread can stop the conversion with `stop`.
pub fn convert_until(
    source: &mut impl Source,
    path: &Path,
    format: Format,
    stop: &Cancellation,
) -> Result<Conversion, WorkloadError> {
    let stopped = || {
        WorkloadError::new(
            path,
            "the conversion was stopped",
            "start the conversion again",
        )
    };
    let mut writer = TraceWriter::create(path, format, source.timed())?;
    if !stop.begun(writer.packer.partial()) {
        return Err(stopped());
    }
    let read = loop {
        match source.next_request().transpose() {
            None => break Ok(()),
            Some(Err(error)) => break Err(error),
            Some(Ok(request)) => {
                if let Err(error) = writer.write(&request) {
                    break Err(error);
                }
            }
        }
        if writer.written.is_multiple_of(LOOK_EVERY) && stop.is_stopped() {
            return Err(stopped());
        }
    };
    // The conversion cannot be stopped from here until the file has its final name.
    let mut stage = stop.stage();
    if *stage == Stage::Stopped {
        return Err(stopped());
    }
    *stage = Stage::Ended;
    read.and_then(|()| writer.finish())
}

/// Handle that cancels a conversion from another thread, even while the conversion waits for input
/// or output.
#[derive(Clone, Debug, Default)]
pub struct Cancellation(Arc<Mutex<Stage>>);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Opening,
    /// The conversion writes to this temporary file; `None` if the output is written in place.
    Writing(Option<PathBuf>),
    Stopped,
    Ended,
}

impl Cancellation {
    /// Stops the conversion and removes its temporary file. Returns `false` if the output has
    /// already been finished, successfully or not.
    pub fn stop(&self) -> bool {
        let mut stage = self.stage();
        if let Stage::Writing(Some(partial)) = &*stage {
            // The file may already have been removed.
            let _ = std::fs::remove_file(partial);
        }
        if *stage == Stage::Ended {
            return false;
        }
        *stage = Stage::Stopped;
        true
    }

    fn begun(&self, partial: Option<&Path>) -> bool {
        let mut stage = self.stage();
        let stopped = *stage == Stage::Stopped;
        if !stopped {
            *stage = Stage::Writing(partial.map(Path::to_owned));
        }
        !stopped
    }

    fn is_stopped(&self) -> bool {
        *self.stage() == Stage::Stopped
    }

    fn stage(&self) -> MutexGuard<'_, Stage> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn notes(format: Format, losses: &Losses, timed: bool) -> Vec<String> {
    let mut notes = Vec::new();
    for (kind, count) in [("TRIMs", losses.trims), ("flushes", losses.flushes)] {
        if count > 0 {
            notes.push(format!(
                "{count} {kind} were left out: the format {format} has only reads and writes"
            ));
        }
    }
    if losses.durable > 0 {
        notes.push(format!(
            "{} FUA writes were converted to plain writes: the format {format} has no FUA",
            losses.durable
        ));
    }
    if losses.rounded_times > 0 {
        notes.push(format!(
            "{} time stamps were rounded down to the resolution of the format {format}",
            losses.rounded_times
        ));
    }
    if losses.expanded > 0 {
        notes.push(format!(
            "{} requests were expanded to whole sectors of {SECTOR} bytes, the unit of the format {format}",
            losses.expanded
        ));
    }
    if format == Format::Msr {
        notes.push(
            "host names and response times are not known; they were written as `wordline` and 0"
                .to_owned(),
        );
    }
    if !timed && format != Format::FioIolog {
        notes.push("the source has no time stamps; all times were written as 0".to_owned());
    }
    notes
}

#[cold]
fn failed(path: &Path, error: &io::Error) -> WorkloadError {
    let error = wordline_trace_format::plain(error);
    if path == Path::new(STANDARD_OUTPUT) {
        let reason = format!("standard output cannot be written: {error}");
        return WorkloadError::new(
            path,
            reason,
            "name an output file, or let the reading program read the whole output",
        );
    }
    let reason = format!("the file cannot be written: {error}");
    WorkloadError::new(path, reason, "choose another path")
}

/// Opens standard output as a separate file, which bypasses the program's output buffer.
#[cfg(unix)]
fn standard_output() -> io::Result<File> {
    use std::os::fd::AsFd;
    Ok(io::stdout().as_fd().try_clone_to_owned()?.into())
}

#[cfg(not(unix))]
fn standard_output() -> io::Result<File> {
    Err(io::Error::from(io::ErrorKind::Unsupported))
}

/// File that is written, compressed or not.
struct Packer {
    /// Temporary file that is renamed to the output; `None` for standard output.
    temporary: Option<NamedTempFile>,
    encoder: Encoder,
}

enum Encoder {
    Plain(BufWriter<File>),
    Gzip(BufWriter<GzEncoder<File>>),
    Bzip2(BufWriter<BzEncoder<File>>),
    Xz(BufWriter<XzEncoder<File>>),
    Zstd(BufWriter<zstd::Encoder<'static, File>>),
}

impl Packer {
    fn create(path: &Path) -> io::Result<Self> {
        if path == Path::new(STANDARD_OUTPUT) {
            return Ok(Self {
                temporary: None,
                encoder: Encoder::Plain(BufWriter::with_capacity(BUFFER, standard_output()?)),
            });
        }
        match path.metadata() {
            Ok(found) if found.is_dir() => return Err(io::Error::other("it is a directory")),
            Ok(found) if !found.is_file() => {
                return Err(io::Error::other("it is not a regular file"));
            }
            _ => {}
        }
        let directory = path
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty());
        let mut builder = tempfile::Builder::new();
        builder.prefix(".wordline-").suffix(".partial");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        let temporary = builder.tempfile_in(directory.unwrap_or(Path::new(".")))?;
        let file = temporary.reopen()?;
        let extension = path.extension().and_then(|extension| extension.to_str());
        let encoder = match extension {
            Some("gz") => Encoder::Gzip(BufWriter::with_capacity(
                BUFFER,
                GzEncoder::new(file, flate2::Compression::default()),
            )),
            Some("bz2") => Encoder::Bzip2(BufWriter::with_capacity(
                BUFFER,
                BzEncoder::new(file, bzip2::Compression::default()),
            )),
            Some("xz") => Encoder::Xz(BufWriter::with_capacity(
                BUFFER,
                XzEncoder::new(file, XZ_LEVEL),
            )),
            Some("zst") => Encoder::Zstd(BufWriter::with_capacity(
                BUFFER,
                zstd::Encoder::new(file, zstd::DEFAULT_COMPRESSION_LEVEL)?,
            )),
            _ => Encoder::Plain(BufWriter::with_capacity(BUFFER, file)),
        };
        Ok(Self {
            temporary: Some(temporary),
            encoder,
        })
    }

    /// Returns the path of the temporary file; `None` for standard output.
    fn partial(&self) -> Option<&Path> {
        self.temporary.as_ref().map(NamedTempFile::path)
    }

    fn finish(self, path: &Path) -> io::Result<()> {
        let file = match self.encoder {
            Encoder::Plain(buffered) => buffered.into_inner()?,
            Encoder::Gzip(buffered) => buffered.into_inner()?.finish()?,
            Encoder::Bzip2(buffered) => buffered.into_inner()?.finish()?,
            Encoder::Xz(buffered) => buffered.into_inner()?.finish()?,
            Encoder::Zstd(buffered) => buffered.into_inner()?.finish()?,
        };
        if let Some(temporary) = self.temporary {
            file.sync_all()?;
            temporary.persist(path)?;
        }
        Ok(())
    }
}

impl Write for Packer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.encoder {
            Encoder::Plain(buffered) => buffered.write(bytes),
            Encoder::Gzip(buffered) => buffered.write(bytes),
            Encoder::Bzip2(buffered) => buffered.write(bytes),
            Encoder::Xz(buffered) => buffered.write(bytes),
            Encoder::Zstd(buffered) => buffered.write(bytes),
        }
    }
    fn flush(&mut self) -> io::Result<()> {
        match &mut self.encoder {
            Encoder::Plain(buffered) => buffered.flush(),
            Encoder::Gzip(buffered) => buffered.flush(),
            Encoder::Bzip2(buffered) => buffered.flush(),
            Encoder::Xz(buffered) => buffered.flush(),
            Encoder::Zstd(buffered) => buffered.flush(),
        }
    }
}
