//! Options for reading a trace.

use crate::adapt::{Align, Disk, Fit, OnBadLine, TimeGaps, TimeOrder, Volumes};
use wordline_trace_format::{Columns, Format};

/// Options for reading a trace. By default, nothing is changed, and every irregularity except long
/// gaps is refused.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceOptions {
    /// Format of all files; `None` to detect it from their content.
    pub format: Option<Format>,
    /// Description of the columns of all files, if they are tables in no known format.
    pub columns: Option<Columns>,
    /// Treatment of bad lines.
    pub on_bad_line: OnBadLine,
    /// Treatment of long gaps between time stamps.
    pub time_gaps: TimeGaps,
    /// Treatment of time stamps that decrease.
    pub time_order: TimeOrder,
    /// Whether a request whose time is out of the clock's range is kept at its position in the
    /// file, which makes the duration of the trace unknown. Otherwise the request is refused.
    pub times_may_be_unknown: bool,
    /// Whether arrivals are replaced by cumulative think times. The think time of a request is the
    /// recorded time from the completion of the previous request to its own arrival; 0 if it
    /// arrived before that completion. A request without a response time is refused.
    pub think_times: bool,
    /// Treatment of requests that are not whole sectors.
    pub align: Align,
    /// Treatment of several volumes.
    pub volumes: Volumes,
    /// Treatment of requests beyond the capacity.
    pub fit: Fit,
    /// User capacity of the device; `None` for no limit. Bytes.
    pub capacity_bytes: Option<u64>,
    /// Address ranges of the volumes, if each volume has a separate range, which is then the
    /// capacity for its requests. Only for volumes that are not mapped otherwise.
    pub disks: Vec<Disk>,
}

impl TraceOptions {
    /// Returns options that keep everything as recorded, but in time order, for statistics and
    /// conversions. Volumes keep their numbers and addresses, and requests keep their unaligned
    /// offsets and sizes.
    pub fn as_recorded() -> Self {
        Self {
            time_order: TimeOrder::Sort,
            align: Align::Keep,
            volumes: Volumes::Shared,
            ..Self::default()
        }
    }

    /// Returns the feature by which a file was detected as `format`; `None` if the options give the
    /// format.
    pub(crate) fn recognised_by(&self, format: Format) -> Option<&'static str> {
        let named = self.format.is_some() || self.columns.is_some();
        (!named).then(|| format.sign())
    }

    /// Sets the option `key` (`format`, `columns`, `on_bad_line`, `time_gaps`, `time_order`,
    /// `align`, `volumes`, `fit`) to `word`. Errors are one line that names the key and its valid
    /// words.
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
                    "`{key}` is not a trace option; the options are {known}"
                ));
            }
        }
        Ok(())
    }
}
