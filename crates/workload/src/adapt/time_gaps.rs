//! Adapter for gaps between time stamps: pauses of a recording and clock jumps.

use std::fmt;
use std::str::FromStr;

use wordline_kernel::Time;

use crate::record_counts::Counts;
use wordline_trace_format::{Placed, UNSTATED};

/// Treatment of long gaps between the time stamps of consecutive records of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum TimeGaps {
    /// Keep gaps.
    #[default]
    Keep,
    /// Shorten longer gaps to this length. A step back by more than this length becomes a gap of
    /// this length.
    Cut(Time),
    /// Multiply the part of a gap above a length by a factor.
    Scale {
        /// Factor, above 0 and at most 10^6.
        factor: f64,
        /// Length above which gaps are scaled.
        above: Time,
    },
}

impl Eq for TimeGaps {} // factors are finite

const SHAPE: &str = "is not keep, cut=TIME, or scale=FACTOR@TIME, such as cut=1s or scale=0.01@1s";

impl FromStr for TimeGaps {
    type Err = String;
    fn from_str(word: &str) -> Result<Self, String> {
        let wrong = || format!("time_gaps: `{word}` {SHAPE}");
        if word == "keep" {
            return Ok(Self::Keep);
        }
        match word.split_once('=') {
            Some(("cut", time)) => Ok(Self::Cut(length(time).ok_or_else(wrong)?)),
            Some(("scale", rest)) => {
                let (factor, above) = rest.split_once('@').ok_or_else(wrong)?;
                let factor: f64 = factor.parse().map_err(|_| wrong())?;
                if !(factor > 0.0 && factor <= 1e6) {
                    return Err(format!(
                        "time_gaps: the factor {factor} is not above 0 and at most 1000000"
                    ));
                }
                let above = length(above).ok_or_else(wrong)?;
                Ok(Self::Scale { factor, above })
            }
            _ => Err(wrong()),
        }
    }
}

impl fmt::Display for TimeGaps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Keep => f.write_str("keep"),
            Self::Cut(time) => write!(f, "cut={}ps", time.ps()),
            Self::Scale { factor, above } => write!(f, "scale={factor}@{}ps", above.ps()),
        }
    }
}

/// Parses a duration: a number and a unit. Returns `None` if it is invalid.
fn length(text: &str) -> Option<Time> {
    const UNITS: [(&str, u64); 8] = [
        ("ps", 1),
        ("ns", 1_000),
        ("us", 1_000_000),
        ("ms", 1_000_000_000),
        ("min", 60_000_000_000_000),
        ("s", 1_000_000_000_000),
        ("h", 3_600_000_000_000_000),
        ("d", 86_400_000_000_000_000),
    ];
    let (number, ps) = UNITS
        .iter()
        .find_map(|(unit, ps)| Some((text.strip_suffix(unit)?, *ps)))?;
    let number: f64 = number.trim().parse().ok()?;
    let ps = (number * ps as f64).round();
    (ps >= 0.0 && ps < (1_u64 << 63) as f64).then_some(Time(ps as u64))
}

/// Adapter that changes the time stamps of the records of one file.
pub(crate) struct Gaps {
    rule: TimeGaps,
    tick_ps: u64,
    /// Ticks of the previous record: as stated in the file, and after changes.
    before: Option<(i128, u64)>,
}

impl Gaps {
    /// Starts a file with ticks of `tick_ps` picoseconds. The clock starts at tick `zero`, or with
    /// the first record if `zero` is `None`.
    pub(crate) fn new(rule: TimeGaps, tick_ps: u64, zero: Option<u64>) -> Self {
        Self {
            rule,
            tick_ps,
            before: zero.map(|zero| (zero.into(), zero)),
        }
    }

    /// Changes the time stamps of the records read next. `far`: index and ticks of records whose
    /// time exceeds the range of a record's time stamp.
    #[inline]
    pub(crate) fn pass(
        &mut self,
        records: &mut [Placed],
        far: &[(usize, i128)],
        counts: &mut Counts,
    ) {
        if self.rule == TimeGaps::Keep || self.tick_ps == 0 {
            return;
        }
        let mut far = far.iter().copied().peekable();
        for (place, Placed { record, .. }) in records.iter_mut().enumerate() {
            let ticks = match far.next_if(|(of, _)| *of == place) {
                Some((_, ticks)) => ticks,
                None if record.ticks == UNSTATED => continue,
                None => record.ticks.into(),
            };
            let (stated, changed) = self.before.unwrap_or((ticks, record.ticks));
            let gap = ticks - stated;
            let kept = self.kept(gap);
            if kept != gap {
                counts.gaps_changed += 1;
                let ms = (gap - kept).unsigned_abs() * u128::from(self.tick_ps) / 1_000_000_000;
                let removed = u64::try_from(ms).unwrap_or(u64::MAX);
                let sum = if gap > kept {
                    &mut counts.gaps_removed_ms
                } else {
                    &mut counts.gaps_added_ms
                };
                *sum = sum.saturating_add(removed);
            }
            let kept = (i128::from(changed) + kept).clamp(0, i128::from(u64::MAX)) as u64;
            self.before = Some((ticks, kept));
            record.ticks = kept;
        }
    }

    /// Returns the changed length of a gap. Ticks.
    fn kept(&self, gap: i128) -> i128 {
        let ticks = |time: Time| i128::from(time.ps() / self.tick_ps);
        match self.rule {
            TimeGaps::Keep => gap,
            TimeGaps::Cut(limit) => {
                let limit = ticks(limit);
                if gap.abs() > limit { limit } else { gap }
            }
            TimeGaps::Scale { factor, above } => {
                let above = ticks(above);
                if gap <= above {
                    return gap;
                }
                above + ((gap - above) as f64 * factor).round() as i128
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{OnBadLine, Source, Trace, TraceOptions};

    const S: u64 = 1_000_000_000; // ns

    /// Returns the arrivals, in ns, of reads with these time stamps in ns, and the counts.
    fn replayed(times: &[u64], options: &TraceOptions) -> Result<(Vec<u64>, Counts), String> {
        let line = |time: &u64| format!("{time} 0 0 8 1");
        let lines = times.iter().map(line).collect::<Vec<_>>().join("\n");
        let options = TraceOptions {
            format: Some(crate::Format::Mqsim),
            ..options.clone()
        };
        let mut trace =
            Trace::from_bytes("t", lines.into_bytes(), &options).map_err(|e| e.to_string())?;
        let mut arrivals = Vec::new();
        while let Some(request) = trace.next_request().map_err(|error| error.to_string())? {
            arrivals.push(request.arrival.ps() / 1000);
        }
        Ok((arrivals, trace.counts()))
    }

    fn gaps(word: &str) -> TraceOptions {
        TraceOptions {
            time_gaps: word.parse().unwrap(),
            on_bad_line: OnBadLine::Skip,
            ..TraceOptions::default()
        }
    }

    #[test]
    fn gaps_are_kept_cut_or_scaled() {
        let times = [5 * S, 6 * S, 16 * S, 16 * S + 1, 316 * S];
        let (kept, counts) = replayed(&times, &gaps("keep")).unwrap();
        assert_eq!(kept, [0, S, 11 * S, 11 * S + 1, 311 * S]);
        assert_eq!(counts.gaps_changed, 0);
        let (cut, counts) = replayed(&times, &gaps("cut=2s")).unwrap();
        assert_eq!(cut, [0, S, 3 * S, 3 * S + 1, 5 * S + 1]);
        assert_eq!(
            (counts.gaps_changed, counts.gaps_removed_ms),
            (2, 8_000 + 297_999)
        );
        let (scaled, counts) = replayed(&times, &gaps("scale=0.5@2s")).unwrap();
        assert_eq!(scaled[..4], [0, S, 7 * S, 7 * S + 1]);
        assert_eq!(counts.gaps_changed, 2);
    }

    /// A phone's clock is set during its start: 300 days forward, and later back again.
    #[test]
    fn no_request_is_lost_when_the_clock_jumps() {
        let days = 86_400 * S;
        let times = [S, 2 * S, 300 * days, 300 * days + S, 3 * S, 4 * S];
        let (cut, counts) = replayed(&times, &gaps("cut=1s")).unwrap();
        assert_eq!(cut, [0, S, 2 * S, 3 * S, 4 * S, 5 * S]);
        assert_eq!(
            (counts.records, counts.lines_skipped, counts.gaps_changed),
            (6, 0, 2)
        );
        let fault = replayed(&times, &gaps("keep")).unwrap_err();
        assert!(
            fault.starts_with("t:3: the time is 300.0 days after the start of the file"),
            "{fault}"
        );
        assert!(fault.ends_with("--time-gaps cut=1s"), "{fault}");
    }

    #[test]
    fn invalid_rules_are_refused_with_a_reason() {
        for word in [
            "",
            "cut",
            "cut=1",
            "cut=-1s",
            "cut=inf s",
            "scale=2",
            "scale=0@1s",
            "scale=nan@1s",
        ] {
            assert!(
                word.parse::<TimeGaps>()
                    .unwrap_err()
                    .starts_with("time_gaps: "),
                "{word}"
            );
        }
        assert_eq!(
            "cut=1.5min".parse(),
            Ok(TimeGaps::Cut(Time(90_000_000_000_000)))
        );
    }
}
