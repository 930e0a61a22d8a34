//! File of a trace that is being read.

use super::TraceOptions;
use crate::Op;
use crate::WorkloadError;
use crate::adapt::{Gaps, OnBadLine, TimeGaps, TimeOrder};
use crate::record_counts::Counts;
use wordline_trace_format::Recording;
use wordline_trace_format::{Fault, Place};
use wordline_trace_format::{
    Format, Origin, Placed, Probe, Reader, Record, UNSTATED, warning as format_warning,
};
use wordline_trace_format::{Input, PROBE, ReadStop as Stop};

/// File of a trace that is being read.
pub(super) struct OpenFile {
    pub(super) input: Input,
    reader: Box<dyn Reader>,
    /// Records read last. The first `returned` of them have been returned.
    pub(super) records: Vec<Placed>,
    pub(super) returned: usize,
    /// Reason why reading stopped, kept until the records read have been returned.
    stop: Option<Stop>,
    pub(super) format: Format,
    pub(super) warning: Option<String>,
    gaps: Gaps,
    pub(super) tick_ps: u64,
    /// Whether requests are returned in the order of the file, regardless of their times.
    in_file_order: bool,
    /// Range of the clock in ticks.
    reach: u64,
    /// Tick of the last record read before `records`.
    latest: u64,
    /// Tick from which the range of the clock is counted; `None` before the first record.
    first: Option<u64>,
    /// Tick at which the file's clock starts; `None` if it starts with the first record.
    pub(super) zero: Option<u64>,
}

impl OpenFile {
    pub(super) fn new(
        recording: &Recording,
        options: &TraceOptions,
    ) -> Result<Self, WorkloadError> {
        let mut input = Input::open(recording)?;
        input.skip_mark();
        let bytes = input.peek(PROBE).to_vec();
        let probe = Probe {
            bytes: &bytes,
            whole: input.ended() && bytes.len() < PROBE,
        };
        if bytes.is_empty() {
            return Err(input.empty());
        }
        let mut warning = None;
        let (format, mut reader) = match (options.format, &options.columns) {
            (None | Some(Format::Columns), Some(columns)) => {
                let reader = columns.reader(&probe).map_err(|(reason, remedy)| {
                    WorkloadError::at(recording.path(), Place::Line(1), None, reason, remedy)
                })?;
                (Format::Columns, reader)
            }
            (Some(format), Some(_)) => {
                let reason = format!("both the format {format} and the columns are given");
                let remedy = "leave --format or --columns out";
                return Err(WorkloadError::new(recording.path(), reason, remedy));
            }
            (Some(format), None) => (format, format.reader(&probe)),
            (None, None) => {
                let format = input.recognise(&probe)?;
                warning = format_warning(recording.path(), format, &probe);
                (format, format.reader(&probe))
            }
        };
        if options.think_times {
            reader.keep_responses();
        }
        let tick_ps = reader.tick_ps();
        input.untimed = options.time_order == TimeOrder::File || options.times_may_be_unknown;
        input.keeps_far = options.time_gaps != TimeGaps::Keep;
        let zero = (reader.origin() == Origin::Zero).then_some(0);
        Ok(Self {
            input,
            reader,
            records: Vec::new(),
            returned: 0,
            stop: None,
            format,
            warning,
            gaps: Gaps::new(options.time_gaps, tick_ps, zero),
            tick_ps,
            in_file_order: options.time_order == TimeOrder::File,
            reach: u64::MAX.checked_div(tick_ps).unwrap_or(u64::MAX),
            latest: 0,
            first: zero,
            zero,
        })
    }

    /// Returns the next valid record. Invalid records are skipped if `on_bad_line` permits.
    #[inline(always)]
    pub(super) fn next(
        &mut self,
        on_bad_line: OnBadLine,
        counts: &mut Counts,
        first_skipped: &mut Option<WorkloadError>,
    ) -> Result<Option<Placed>, WorkloadError> {
        loop {
            if let Some(placed) = self.records.get(self.returned) {
                let placed = *placed;
                self.returned += 1;
                if self.accepts(&placed.record) {
                    counts.records += 1;
                    return Ok(Some(placed));
                }
                if let Some(fault) = Self::objection(&placed.record) {
                    self.fail(placed.place, fault, on_bad_line, counts, first_skipped)?;
                } else if self.input.untimed {
                    counts.records += 1;
                    counts.times_unknown += 1;
                    return Ok(Some(self.without_time(placed)));
                } else {
                    return Err(self.unreachable(&placed));
                }
            } else if !self.read(on_bad_line, counts, first_skipped)? {
                return Ok(None);
            }
        }
    }

    /// Reads the next records. Returns `false` at the end of the file.
    #[cold]
    fn read(
        &mut self,
        on_bad_line: OnBadLine,
        counts: &mut Counts,
        first_skipped: &mut Option<WorkloadError>,
    ) -> Result<bool, WorkloadError> {
        self.latest = self
            .records
            .last()
            .map_or(self.latest, |last| last.record.ticks);
        self.records.clear();
        self.input.far.clear();
        self.returned = 0;
        let read = match self.stop.take() {
            Some(stop) => Err(stop),
            None => self.reader.read(&mut self.input, &mut self.records),
        };
        self.gaps.pass(&mut self.records, &self.input.far, counts);
        match read {
            Ok(()) if self.records.is_empty() => {
                counts.lines_ignored += self.input.ignored;
                self.input.ignored = 0;
                return Ok(false);
            }
            Ok(()) => {}
            Err(stop) if !self.records.is_empty() => self.stop = Some(stop),
            Err(Stop::Broken(error)) => return Err(error),
            Err(Stop::Bad(fault)) => {
                self.fail(
                    self.input.place(),
                    fault,
                    on_bad_line,
                    counts,
                    first_skipped,
                )?;
            }
        }
        Ok(true)
    }

    /// Returns a fault as an error, or counts it if bad lines are skipped.
    #[cold]
    fn fail(
        &self,
        place: Place,
        fault: Fault,
        on_bad_line: OnBadLine,
        counts: &mut Counts,
        first_skipped: &mut Option<WorkloadError>,
    ) -> Result<(), WorkloadError> {
        let path = self.input.path();
        if fault.stamp.is_some_and(|stamp| stamp.beyond) {
            return Err(self.overflow(place, &fault));
        }
        let remedy = "correct the file, or pass --on-bad-line skip";
        let error = WorkloadError::at(path, place, fault.column, fault.reason, remedy);
        if on_bad_line == OnBadLine::Error {
            return Err(error);
        }
        counts.lines_skipped += 1;
        first_skipped.get_or_insert(error);
        Ok(())
    }

    /// Returns the error for a time stamp that the clock cannot represent. Such a line is not a bad
    /// line.
    #[cold]
    fn overflow(&self, place: Place, fault: &Fault) -> WorkloadError {
        let reason = format!("{}: the clock covers only 213 days", fault.reason);
        let mut remedy = "subtract the time of the first request from all times".to_owned();
        if self.format == Format::Wordline && !self.input.keeps_far {
            remedy += ", or, if the clock was set or the recording paused, pass --time-gaps cut=1s";
        }
        WorkloadError::at(self.input.path(), place, fault.column, reason, remedy)
    }

    /// Returns `true` if a record meets the conditions that all formats share.
    #[inline]
    pub(super) fn accepts(&mut self, record: &Record) -> bool {
        let ranged = record.bytes > 0 || record.op == Op::Flush;
        if !ranged || record.offset.checked_add(record.bytes).is_none() {
            return false;
        }
        match self.first {
            Some(first) if record.ticks >= first => {
                record.ticks != UNSTATED && record.ticks - first <= self.reach
            }
            Some(first) => !self.in_file_order && first - record.ticks <= self.reach,
            None => self.begins(record.ticks),
        }
    }

    /// Starts the range of the clock at `ticks`. Returns `false` if the time is not stated.
    #[cold]
    fn begins(&mut self, ticks: u64) -> bool {
        let stated = ticks != UNSTATED;
        self.first = stated.then_some(ticks);
        stated
    }

    /// Gives a record without a usable time the time of the previous record in the file.
    #[cold]
    fn without_time(&mut self, mut placed: Placed) -> Placed {
        let this = self.returned - 1;
        let before = this
            .checked_sub(1)
            .and_then(|before| self.records.get(before));
        let ticks = before.map_or(self.latest, |before| before.record.ticks);
        placed.record.ticks = ticks.max(self.first.unwrap_or(0));
        self.records[this] = placed;
        placed
    }

    /// Returns the fault for a record that is not accepted; `None` if only its time is out of the
    /// clock's range.
    #[cold]
    fn objection(record: &Record) -> Option<Fault> {
        let Record { offset, bytes, .. } = *record;
        if bytes == 0 && record.op != Op::Flush {
            return Some(Fault::new("the size is 0"));
        }
        offset.checked_add(bytes).is_none().then(|| {
            Fault::new(format!(
                "offset {offset} and size {bytes} add up to more than 2^64"
            ))
        })
    }

    /// Returns the error for a record out of the clock's range. Such a line is not a bad line.
    #[cold]
    fn unreachable(&self, placed: &Placed) -> WorkloadError {
        let first = self.first.unwrap_or(placed.record.ticks);
        let away = placed.record.ticks.abs_diff(first);
        let days = away as f64 * self.tick_ps as f64 / 1e12 / 86_400.0;
        let side = if placed.record.ticks > first {
            "after"
        } else {
            "before"
        };
        let reason = format!(
            "the time is {days:.1} days {side} the start of the file, but the clock covers only 213 days"
        );
        let remedy = "if the clock was set or the recording paused, pass --time-gaps cut=1s";
        WorkloadError::at(self.input.path(), placed.place, None, reason, remedy)
    }
}
