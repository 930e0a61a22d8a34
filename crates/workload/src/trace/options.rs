//! How a trace is read.

use crate::adapt::{Align, Disk, Fit, OnBadLine, TimeGaps, TimeOrder, Volumes};
use wordline_trace_format::{Columns, Format};

/// How a trace is read. The defaults change nothing and refuse whatever is wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceOptions {
    /// The format of all files; `None`: told by their content.
    pub format: Option<Format>,
    /// What the columns of all files mean, if they are tables of no known format.
    pub columns: Option<Columns>,
    /// What to do with lines that are wrong.
    pub on_bad_line: OnBadLine,
    /// What to do with long gaps between time stamps.
    pub time_gaps: TimeGaps,
    /// What to do with time stamps that go back.
    pub time_order: TimeOrder,
    /// Whether a request whose time the clock does not reach is kept in its place in the file; how long the trace took is
    /// unknown then. Otherwise it is refused.
    pub times_may_be_unknown: bool,
    /// Whether arrivals are replaced by sums of think times: each request as long after the one before as it was issued after the
    /// completion of that when it was recorded; at once, if that was not complete. A request without a response time is refused.
    pub think_times: bool,
    /// What to do with requests that are no whole sectors.
    pub align: Align,
    /// What to do with several volumes.
    pub volumes: Volumes,
    /// What to do with requests beyond the capacity.
    pub fit: Fit,
    /// Capacity of the device as the host sees it, in bytes; `None`: without limit.
    pub capacity_bytes: Option<u64>,
    /// Places of the volumes, if each has one of its own; the capacity is then that of each. Only
    /// with volumes that are not moved otherwise.
    pub disks: Vec<Disk>,
}

impl TraceOptions {
    /// Everything as it was recorded, but in order of time: for statistics and conversions. Volumes
    /// keep their numbers and their own addresses, requests their odd sizes.
    pub fn as_recorded() -> Self {
        Self {
            time_order: TimeOrder::Sort,
            align: Align::Keep,
            volumes: Volumes::Shared,
            ..Self::default()
        }
    }

    /// What a file was recognised by as of `format`; none if the options name it.
    pub(crate) fn recognised_by(&self, format: Format) -> Option<&'static str> {
        let named = self.format.is_some() || self.columns.is_some();
        (!named).then(|| format.sign())
    }

    /// Sets the option `key` (`format`, `columns`, `on_bad_line`, `time_gaps`, `time_order`, `align`, `volumes`, `fit`) to a word.
    /// The error is one line that names the key and the words it knows.
    pub fn set(&mut self, key: &str, word: &str) -> Result<(), String> {
        match key {
            "format" => self.format = Some(word.parse()?),
            "columns" => self.columns = Some(word.parse()?),
            "on_bad_line" => self.on_bad_line = word.parse()?,
            "time_gaps" => self.time_gaps = word.parse()?,
            "time_order" => self.time_order = word.parse()?,
            "align" => self.align = word.parse()?,
            "volumes" => self.volumes = word.parse()?,
            "fit" => self.fit = word.parse()?,
            _ => {
                let known =
                    "format, columns, on_bad_line, time_gaps, time_order, align, volumes, fit";
                return Err(format!(
                    "`{key}` is no option of a trace; there are {known}"
                ));
            }
        }
        Ok(())
    }
}
