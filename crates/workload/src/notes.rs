//! Notes for the user about the records of a trace.

use crate::{Counts, Trace, WorkloadError};

impl Trace {
    /// Returns notes on ambiguous formats of the files and on changes to the records read so far.
    /// Empty if there are none.
    pub fn notes(&self) -> Vec<String> {
        let mut notes: Vec<String> = self.warnings().collect();
        let counts = self.counts();
        let skipped = self.first_skipped();
        notes.extend(skipped.map(|first| skipped_lines(counts.lines_skipped, first)));
        notes.extend(changes(&counts));
        notes
    }
}

/// Returns the note that `lines` bad lines were skipped. `first`: error of the first of them.
pub(crate) fn skipped_lines(lines: u64, first: &WorkloadError) -> String {
    format!(
        "{} bad lines were skipped; the first of them: {first}",
        grouped(lines)
    )
}

/// Returns the notes on changes to records.
fn changes(counts: &Counts) -> Vec<String> {
    let changes = [
        (
            counts.times_clamped,
            "requests were earlier than the previous request and were set to its time",
        ),
        (
            counts.times_sorted,
            "requests were out of order and were sorted by time",
        ),
        (
            counts.times_unknown,
            "time stamps are missing, or are before or more than 213 days after the first of their file; \
             their requests were kept in the order of the file, and the duration is unknown \
             (pass --time-gaps cut=1s if the clock was set)",
        ),
        (counts.expanded, "requests were expanded to whole sectors"),
        (
            counts.wrapped,
            "requests beyond the device's end were wrapped around",
        ),
        (
            counts.split,
            "wrapped requests crossed the device's end and count as two requests each, one at its end and one at its start",
        ),
        (
            counts.scaled,
            "requests were scaled to the device's capacity",
        ),
        (
            counts.other_volumes,
            "requests to other volumes were left out",
        ),
    ];
    let made = changes.into_iter().filter(|(count, _)| *count > 0);
    made.map(|(count, what)| format!("{} {what}.", grouped(count)))
        .chain(gaps(counts))
        .collect()
}

fn gaps(counts: &Counts) -> Option<String> {
    (counts.gaps_changed > 0).then(|| {
        format!(
            "{} gaps between time stamps were changed by --time-gaps: {:.3} s were removed from gaps, {:.3} s were added.",
            grouped(counts.gaps_changed),
            counts.gaps_removed_ms as f64 / 1e3,
            counts.gaps_added_ms as f64 / 1e3,
        )
    })
}

/// Formats a count with thousands separators: 1,234,567.
pub fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::grouped;

    #[test]
    fn counts_are_grouped_by_thousands() {
        let counts = [0, 7, 999, 1_000, 12_345, 123_456, 1_234_567];
        let texts = ["0", "7", "999", "1,000", "12,345", "123,456", "1,234,567"];
        assert_eq!(counts.map(grouped), texts);
    }
}
