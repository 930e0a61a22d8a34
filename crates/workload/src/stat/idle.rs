//! Idle periods: times between the execution of a request and the arrival of the next one (M. Jung,
//! Design of a Smart Non-Volatile Memory Controller, PhD thesis, 2013, section 7.4.1).

use hdrhistogram::Histogram;
use serde::Serialize;
use wordline_kernel::Time;

use super::{PAGE, histogram, percent, record};
use crate::{Op, Request};

const PS_PER_S: f64 = 1e12;
const PS_PER_US: f64 = 1e6;

/// Rule that defines an idle period, and when it is long.
///
/// The idle period after request i is `start(i+1) - (start(i) + t * pages(i))` (equation 7.1).
/// `pages` is the size of the request in pages of 4 KiB, rounded up, and `t` is the time to execute
/// a page. Requests before i are not considered. With the default times of 0, all time between
/// arrivals is idle, which is the upper bound for any device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdleRule {
    /// Longest period that counts as short; 1 s by default.
    pub threshold: Time,
    /// Time to read a page; 0 by default.
    pub page_read: Time,
    /// Time to program a page; 0 by default. TRIMs and flushes take no time.
    pub page_program: Time,
}

impl Default for IdleRule {
    fn default() -> Self {
        Self {
            threshold: Time::from_ps(PS_PER_S as u64),
            page_read: Time::ZERO,
            page_program: Time::ZERO,
        }
    }
}

impl IdleRule {
    /// Creates a rule from the values of the options: a threshold of 0 to 10^7 s, and times of 0 to
    /// 10^9 us per page. Errors are one line that names the option.
    pub fn new(threshold_s: f64, page_read_us: f64, page_program_us: f64) -> Result<Self, String> {
        const LONGEST_S: f64 = 1e7;
        const LONGEST_US: f64 = 1e9;
        let time = |key: &str, value: f64, most: f64, unit: f64| {
            let ps = || Time::from_ps((value * unit).round() as u64);
            let fits = (0.0..=most).contains(&value);
            fits.then(ps).ok_or_else(|| {
                format!("{key}: {value} is not between 0 and {most}; give a number in that range")
            })
        };
        Ok(Self {
            threshold: time("idle_threshold_s", threshold_s, LONGEST_S, PS_PER_S)?,
            page_read: time("page_read_us", page_read_us, LONGEST_US, PS_PER_US)?,
            page_program: time("page_program_us", page_program_us, LONGEST_US, PS_PER_US)?,
        })
    }

    /// Returns the time that a device takes to execute a request.
    fn execution_ps(&self, request: &Request) -> u64 {
        let page = match request.op {
            Op::Read => self.page_read,
            Op::Write => self.page_program,
            Op::Trim | Op::Flush => Time::ZERO,
        };
        page.ps().saturating_mul(request.bytes.div_ceil(PAGE))
    }
}

/// Idle periods of an [`IdleRule`] between requests of any kind and volume, as for a single device.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct IdleStat {
    /// Longest period that counts as short. Seconds.
    pub threshold_s: f64,
    /// Time in which a device reads a page of 4 KiB. Microseconds.
    pub page_read_us: f64,
    /// Time in which a device programs a page of 4 KiB. Microseconds.
    pub page_program_us: f64,
    /// Pairs of consecutive requests. Count.
    pub intervals: u64,
    /// Pairs without an idle period: the second request arrives before or when the execution of the
    /// first ends.
    pub back_to_back: BackToBack,
    /// Idle periods up to the threshold.
    pub short: Periods,
    /// Idle periods above the threshold.
    pub long: Periods,
    /// Longest idle period; 0 if there is none. Seconds.
    pub longest_s: f64,
}

/// Pairs of consecutive requests without an idle period between them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct BackToBack {
    /// Number of pairs of consecutive requests without an idle period between them.
    pub intervals: u64,
    /// Share of such pairs among all pairs of consecutive requests. Per cent.
    pub percent_of_intervals: f64,
}

/// Idle periods of a class. Percentiles are accurate to 0.1 %, and absent if there are no periods.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Periods {
    /// Number of idle periods.
    pub intervals: u64,
    /// Share of these periods among all pairs of consecutive requests. Per cent.
    pub percent_of_intervals: f64,
    /// Sum of the periods. Seconds.
    pub total_s: f64,
    /// Share of the time from the first request to the last that these periods take. Per cent.
    pub percent_of_time: f64,
    /// 10th percentile of the periods. Milliseconds.
    pub p10_ms: Option<f64>,
    /// Median of the periods. Milliseconds.
    pub p50_ms: Option<f64>,
    /// 90th percentile of the periods. Milliseconds.
    pub p90_ms: Option<f64>,
    /// 99th percentile of the periods. Milliseconds.
    pub p99_ms: Option<f64>,
}

/// Collector of idle periods.
pub(super) struct Idle {
    rule: IdleRule,
    /// Arrival and execution time of the previous request. Picoseconds.
    before: Option<(u64, u64)>,
    first_ps: u64,
    back_to_back: u64,
    short: Class,
    long: Class,
    longest_ps: u64,
}

struct Class {
    periods: Histogram<u64>,
    total_ps: u64,
}

impl Class {
    fn new() -> Self {
        Self {
            periods: histogram(),
            total_ps: 0,
        }
    }
    fn add(&mut self, ps: u64) {
        record(&mut self.periods, ps);
        self.total_ps += ps;
    }
    fn stat(&self, intervals: u64, span_ps: u64) -> Periods {
        let count = self.periods.len();
        let ms = |quantile| self.periods.value_at_quantile(quantile) as f64 / 1e9;
        let at = |quantile| (count > 0).then(|| ms(quantile));
        Periods {
            intervals: count,
            percent_of_intervals: percent(count, intervals).unwrap_or(0.0),
            total_s: self.total_ps as f64 / PS_PER_S,
            percent_of_time: percent(self.total_ps, span_ps).unwrap_or(0.0),
            p10_ms: at(0.1),
            p50_ms: at(0.5),
            p90_ms: at(0.9),
            p99_ms: at(0.99),
        }
    }
}

impl Idle {
    pub(super) fn new(rule: IdleRule) -> Self {
        Self {
            rule,
            before: None,
            first_ps: 0,
            back_to_back: 0,
            short: Class::new(),
            long: Class::new(),
            longest_ps: 0,
        }
    }

    /// Adds a request. Requests must be passed in order of arrival.
    pub(super) fn add(&mut self, request: &Request) {
        let arrival = request.arrival.ps();
        match self.before {
            None => self.first_ps = arrival,
            Some((start, execution)) => self.period((arrival - start).saturating_sub(execution)),
        }
        self.before = Some((arrival, self.rule.execution_ps(request)));
    }

    fn period(&mut self, ps: u64) {
        self.longest_ps = self.longest_ps.max(ps);
        if ps == 0 {
            self.back_to_back += 1;
        } else if ps <= self.rule.threshold.ps() {
            self.short.add(ps);
        } else {
            self.long.add(ps);
        }
    }

    /// Returns the statistics of the requests added so far; `None` for fewer than two requests.
    pub(super) fn stat(&self) -> Option<IdleStat> {
        let span_ps = self.before?.0 - self.first_ps;
        let intervals = self.back_to_back + self.short.periods.len() + self.long.periods.len();
        (intervals > 0).then(|| IdleStat {
            threshold_s: self.rule.threshold.ps() as f64 / PS_PER_S,
            page_read_us: self.rule.page_read.ps() as f64 / PS_PER_US,
            page_program_us: self.rule.page_program.ps() as f64 / PS_PER_US,
            intervals,
            back_to_back: BackToBack {
                intervals: self.back_to_back,
                percent_of_intervals: percent(self.back_to_back, intervals).unwrap_or(0.0),
            },
            short: self.short.stat(intervals, span_ps),
            long: self.long.stat(intervals, span_ps),
            longest_s: self.longest_ps as f64 / PS_PER_S,
        })
    }
}
