//! Traces whose records are only keys, read without creating a request per record.

use std::path::Path;

use crate::notes::skipped_lines;
use crate::{OnBadLine, TraceFile, TraceOptions, Volumes, WorkloadError};
use wordline_trace_format::{Format, KeyField, Probe};
use wordline_trace_format::{Input, PROBE, ReadStop as Stop};
use wordline_trace_format::{Recording, Recordings};

/// Trace in formats whose records are keys (see [`Format::is_keys`]). A key is any 64-bit number
/// and represents a read of one page. Files are read one after the other.
pub struct KeyTrace {
    files: Vec<TraceFile>,
    recordings: Vec<Recording>,
    on_bad_line: OnBadLine,
    open: Option<(Input, KeyField)>,
    next_file: usize,
    keys: Vec<u64>,
    lines_skipped: u64,
    first_skipped: Option<WorkloadError>,
    /// Size of all files on disk; `None` if the length of any file is unknown. Bytes.
    bytes_total: Option<u64>,
    bytes_done: u64,
}

impl KeyTrace {
    /// Opens a trace. Returns `None` if there is no file, if a file has another format, if columns
    /// are given, or if a volume is selected, because keys have no volumes. Of the options, only
    /// `format` and `on_bad_line` apply.
    pub fn open<P: AsRef<Path>>(
        paths: &[P],
        options: &TraceOptions,
    ) -> Result<Option<Self>, WorkloadError> {
        Self::of(&Recordings::default(), paths, options)
    }

    /// Opens a trace from the files of a command, like [`KeyTrace::open`] in all other respects.
    pub fn of<P: AsRef<Path>>(
        recordings: &Recordings,
        paths: &[P],
        options: &TraceOptions,
    ) -> Result<Option<Self>, WorkloadError> {
        let unfit = matches!(options.volumes, Volumes::Only(_)) || options.columns.is_some();
        if unfit || paths.is_empty() {
            return Ok(None);
        }
        let mut files = Vec::new();
        let found = paths.iter().map(|path| recordings.find(path.as_ref()));
        let recordings: Vec<Recording> = found.collect::<Result<_, _>>()?;
        for recording in &recordings {
            let Some(format) = keys_in(recording, options.format)? else {
                return Ok(None);
            };
            files.push(TraceFile {
                path: recording.path().to_owned(),
                format,
                recognised_by: options.recognised_by(format),
                time_unit: format.time_unit(),
                warning: None,
            });
        }
        Ok(Some(Self {
            files,
            on_bad_line: options.on_bad_line,
            open: None,
            next_file: 0,
            keys: Vec::new(),
            lines_skipped: 0,
            first_skipped: None,
            bytes_total: recordings.iter().map(Recording::length).sum(),
            recordings,
            bytes_done: 0,
        }))
    }

    /// Returns the files and their formats.
    pub fn files(&self) -> &[TraceFile] {
        &self.files
    }
    /// Returns the number of incomplete records at the end of files, which were skipped.
    pub fn lines_skipped(&self) -> u64 {
        self.lines_skipped
    }
    /// Returns notes on the records read so far.
    pub fn notes(&self) -> Vec<String> {
        let first = self.first_skipped.iter();
        first
            .map(|first| skipped_lines(self.lines_skipped, first))
            .collect()
    }
    /// Returns the share of the bytes on disk that has been read, 0 to 1; `None` if it is unknown.
    pub fn fraction(&self) -> Option<f64> {
        let total = self.bytes_total.filter(|&total| total > 0)?;
        let open = self.open.as_ref();
        let open = open.map_or(0, |(input, _)| input.stream().bytes());
        Some(((self.bytes_done + open) as f64 / total as f64).min(1.0))
    }

    /// Returns the next keys, a few thousand at a time; none at the end of the trace.
    pub fn next_keys(&mut self) -> Result<&[u64], WorkloadError> {
        self.keys.clear();
        while self.keys.is_empty() {
            if self.open.is_none() && !self.open_next()? {
                break;
            }
            let Some((input, field)) = &mut self.open else {
                break;
            };
            match input.records(field.length) {
                Ok(Some(records)) => field.keys(records, &mut self.keys),
                Ok(None) => {
                    self.bytes_done += input.stream().bytes();
                    self.open = None;
                }
                Err(Stop::Broken(error)) => return Err(error),
                Err(Stop::Bad(fault)) => {
                    let remedy = "download the file again, or pass --on-bad-line skip";
                    let (path, place) = (input.path(), input.place());
                    let error = WorkloadError::at(path, place, None, fault.reason, remedy);
                    if self.on_bad_line == OnBadLine::Error {
                        return Err(error);
                    }
                    self.lines_skipped += 1;
                    self.first_skipped.get_or_insert(error);
                }
            }
        }
        Ok(&self.keys)
    }

    /// Opens the next file. Returns `false` if there is none.
    fn open_next(&mut self) -> Result<bool, WorkloadError> {
        let Some(file) = self.files.get(self.next_file) else {
            return Ok(false);
        };
        let input = Input::open(&self.recordings[self.next_file])?;
        self.next_file += 1;
        self.open = file.format.key_field().map(|field| (input, field));
        Ok(true)
    }
}

/// Returns the format of a file if its records are keys; `None` otherwise.
fn keys_in(recording: &Recording, named: Option<Format>) -> Result<Option<Format>, WorkloadError> {
    let mut input = Input::open(recording)?;
    let bytes = input.peek(PROBE).to_vec();
    if bytes.is_empty() {
        return Err(input.empty());
    }
    let probe = Probe {
        bytes: &bytes,
        whole: input.ended() && bytes.len() < PROBE,
    };
    let format = match named {
        Some(format) => format,
        None => input.recognise(&probe)?,
    };
    Ok(format.is_keys().then_some(format))
}
