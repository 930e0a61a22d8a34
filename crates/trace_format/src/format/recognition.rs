//! Warns about a detected format if other formats match as well.

use std::path::Path;
use std::sync::Arc;

use super::{Format, Placed, Probe};
use crate::input::Input;
use crate::recording::Recording;

/// Formats whose lines have the same shape and differ only in the unit of times or sizes. Each row:
/// detected format, possible alternatives.
const ALIKE: [(Format, &[Format]); 3] = [
    (Format::Mqsim, &[Format::SsdsimUs, Format::Disksim]),
    (Format::SsdsimUs, &[Format::Mqsim, Format::Disksim]),
    (Format::Hil, &[Format::Disksim]),
];
/// Bytes per second above which a format is implausible, because no recorded disk is faster.
const FASTEST: f64 = 8e9;
/// Requests per second below which a format is implausible: one request in a hundred seconds.
const SLOWEST: f64 = 0.01;

/// Returns a warning about a file whose start also matches other formats at plausible rates; `None`
/// if there is no such format.
pub fn warning(path: &Path, format: Format, probe: &Probe) -> Option<String> {
    let own = Pace::of(format, probe)?;
    let (_, alike) = ALIKE.iter().find(|(known, _)| *known == format)?;
    let read = |other: &Format| Some((*other, Pace::of(*other, probe)?));
    let rivals = alike.iter().filter_map(read);
    let rivals: Vec<(Format, Pace)> = rivals.filter(|(_, pace)| pace.is_usual()).collect();
    if rivals.is_empty() {
        return None;
    }
    let timed = rivals
        .iter()
        .any(|(rival, _)| rival.time_unit() != format.time_unit());
    let others = rivals.iter().map(|(rival, pace)| {
        let (unit, measure) = pace.sense(*rival, timed);
        format!("{rival} (--format {rival}: {unit}, {measure})")
    });
    let (unit, measure) = own.sense(format, timed);
    Some(format!(
        "{}: the lines match {format}, with {unit} ({measure}), but also {}. Pass --format to select the right one.",
        path.display(),
        others.collect::<Vec<_>>().join(" and "),
    ))
}

/// Request rate and sizes at the start of a file.
struct Pace {
    requests: usize,
    bytes: f64,
    seconds: f64,
}

impl Pace {
    /// Returns the rates under a format. `None` if the start does not have this format, or has only
    /// a single instant.
    fn of(format: Format, probe: &Probe) -> Option<Self> {
        let lines: Vec<&[u8]> = probe.lines().collect();
        let bytes: Arc<[u8]> = lines.join(&b'\n').into();
        let mut input = Input::open(&Recording::memory("", bytes)).ok()?;
        let mut reader = format.reader(probe);
        let mut records: Vec<Placed> = Vec::new();
        let mut more = Vec::new();
        loop {
            more.clear();
            reader.read(&mut input, &mut more).ok()?;
            if more.is_empty() {
                break;
            }
            records.append(&mut more);
        }
        let ticks = || records.iter().map(|placed| placed.record.ticks);
        let span = ticks().max()? - ticks().min()?;
        (span > 0).then(|| Self {
            requests: records.len(),
            bytes: records
                .iter()
                .map(|placed| placed.record.bytes as f64)
                .sum(),
            seconds: span as f64 * reader.tick_ps() as f64 / 1e12,
        })
    }
    fn is_usual(&self) -> bool {
        self.bytes / self.seconds <= FASTEST && self.requests as f64 / self.seconds >= SLOWEST
    }
    /// Describes the unit of a format's times, or of its sizes if `timed` is `false`, and the
    /// resulting request rate or mean size.
    fn sense(&self, format: Format, timed: bool) -> (String, String) {
        if timed {
            let rate = self.requests as f64 / self.seconds;
            let digits = if rate < 10.0 { 2 } else { 0 };
            let measure = format!("{rate:.digits$} requests per second");
            return (format!("times in {}", format.time_unit()), measure);
        }
        let unit = match format {
            Format::Hil => "pages of 4 KiB",
            _ => "sectors of 512 B",
        };
        let mean = self.bytes / self.requests as f64 / 1024.0;
        let measure = format!("{mean:.1} KiB per request on average");
        (format!("sizes in {unit}"), measure)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> (Option<Format>, Option<String>) {
        let probe = Probe {
            bytes: text.as_bytes(),
            whole: true,
        };
        let format = Format::of(&probe);
        (
            format,
            format.and_then(|format| warning(Path::new("x"), format, &probe)),
        )
    }

    /// Returns requests of 4 KiB every `ticks` ticks, as five integers per line.
    fn every(ticks: u64) -> String {
        let line = |n: u64| format!("{} 0 {} 8 1", n * ticks, n * 8);
        (0..50).map(line).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn file_with_an_ambiguous_time_unit_gives_a_warning() {
        // The rate is 1,000 requests per second in ns, one per second in us, and one in a thousand
        // seconds in ms.
        let (format, doubt) = told(&every(1_000_000));
        assert_eq!(format, Some(Format::Mqsim));
        let doubt = doubt.unwrap();
        assert!(
            doubt.contains("--format ssdsim-us") && !doubt.contains("disksim"),
            "{doubt}"
        );
        // The bandwidth is 41 GB/s in ns; the rate is 10,000 requests per second in us, and 10 in
        // ms.
        let (format, doubt) = told(&every(100));
        assert_eq!(format, Some(Format::SsdsimUs));
        let doubt = doubt.unwrap();
        assert!(
            doubt.contains("--format disksim") && !doubt.contains("mqsim"),
            "{doubt}"
        );
        // One request in 50 s in ns: any other unit gives an implausibly low rate.
        assert_eq!(told(&every(50_000_000_000)), (Some(Format::Mqsim), None));
    }

    #[test]
    fn file_with_an_ambiguous_unit_of_sizes_gives_a_warning() {
        let line = |n: u64| format!("{}.000000\t0\t{}\t3\t1", n * 7, n * 24);
        let (format, doubt) = told(&(0..50).map(line).collect::<Vec<_>>().join("\n"));
        assert_eq!(format, Some(Format::Hil));
        assert_eq!(
            doubt.unwrap(),
            "x: the lines match hil, with sizes in pages of 4 KiB (12.0 KiB per request on average), \
             but also disksim (--format disksim: sizes in sectors of 512 B, 1.5 KiB per request on average). \
             Pass --format to select the right one."
        );
    }

    #[test]
    fn format_with_a_unique_shape_gives_no_warning() {
        assert_eq!(told("7961.833 0 20228336 8 0\n7962.1 0 8 8 1\n").1, None);
        assert_eq!(
            told("0,303567,3584,w,0.000000\n0,55590,3072,w,0.026214\n").1,
            None
        );
    }
}
