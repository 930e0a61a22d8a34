//! Doubts about a detected format: other formats that match as well.

use std::path::Path;
use std::sync::Arc;

use super::{Format, Placed, Probe};
use crate::input::Input;
use crate::recording::Recording;

/// Formats whose lines have the same shape and differ only in the unit of a column, of times or of
/// sizes: the detected one, and the possible alternatives.
const ALIKE: [(Format, &[Format]); 3] = [
    (Format::Mqsim, &[Format::SsdsimUs, Format::Disksim]),
    (Format::SsdsimUs, &[Format::Mqsim, Format::Disksim]),
    (Format::Hil, &[Format::Disksim]),
];
/// Bytes per second above which a format is implausible: more than any recorded disk serves.
const FASTEST: f64 = 8e9;
/// Requests per second below which a format is implausible: one in a hundred seconds.
const SLOWEST: f64 = 0.01;

/// Returns a warning about a file whose start matches other formats too; `None` if it matches only
/// this one.
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
        "{}: the lines are those of {format}, with {unit} ({measure}), but of {} too. Name the right one.",
        path.display(),
        others.collect::<Vec<_>>().join(" and of "),
    ))
}

/// Rate of requests at the start of a file.
struct Pace {
    requests: usize,
    bytes: f64,
    seconds: f64,
}

impl Pace {
    /// `None` if the start does not have this format, or has a single instant.
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
    /// Returns the unit of a format's times, or otherwise of its sizes, and the rate or size that
    /// follows from it.
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

    /// A request of 4 KiB every `ticks` ticks, in five integers.
    fn every(ticks: u64) -> String {
        let line = |n: u64| format!("{} 0 {} 8 1", n * ticks, n * 8);
        (0..50).map(line).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn ambiguous_time_unit_is_doubted() {
        // 1,000 per second as ns, 1 as us, one in a thousand seconds as ms.
        let (format, doubt) = told(&every(1_000_000));
        assert_eq!(format, Some(Format::Mqsim));
        let doubt = doubt.unwrap();
        assert!(
            doubt.contains("--format ssdsim-us") && !doubt.contains("disksim"),
            "{doubt}"
        );
        // 41 GB/s as ns; 10,000 per second as us, 10 as ms.
        let (format, doubt) = told(&every(100));
        assert_eq!(format, Some(Format::SsdsimUs));
        let doubt = doubt.unwrap();
        assert!(
            doubt.contains("--format disksim") && !doubt.contains("mqsim"),
            "{doubt}"
        );
        // One in 50 s as ns: any other unit gives an implausibly low rate.
        assert_eq!(told(&every(50_000_000_000)), (Some(Format::Mqsim), None));
    }

    #[test]
    fn formats_are_distinguished_by_the_unit_of_sizes() {
        let line = |n: u64| format!("{}.000000\t0\t{}\t3\t1", n * 7, n * 24);
        let (format, doubt) = told(&(0..50).map(line).collect::<Vec<_>>().join("\n"));
        assert_eq!(format, Some(Format::Hil));
        assert_eq!(
            doubt.unwrap(),
            "x: the lines are those of hil, with sizes in pages of 4 KiB (12.0 KiB per request on average), \
             but of disksim (--format disksim: sizes in sectors of 512 B, 1.5 KiB per request on average) \
             too. Name the right one."
        );
    }

    #[test]
    fn format_with_a_unique_shape_is_not_doubted() {
        assert_eq!(told("7961.833 0 20228336 8 0\n7962.1 0 8 8 1\n").1, None);
        assert_eq!(
            told("0,303567,3584,w,0.000000\n0,55590,3072,w,0.026214\n").1,
            None
        );
    }
}
