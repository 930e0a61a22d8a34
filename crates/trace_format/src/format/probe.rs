//! Start of a file, from which its format is detected, and tests for the shapes of fields.

use crate::fields::{Commas, Row};

/// Start of a file, decompressed.
pub struct Probe<'a> {
    /// First bytes of the file.
    pub bytes: &'a [u8],
    /// Whether `bytes` holds the whole file.
    pub whole: bool,
}

impl<'a> Probe<'a> {
    /// Iterates over the complete, non-empty lines, without their ends. Yields nothing if the file
    /// is not text.
    pub fn lines(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let end = if self.whole {
            self.bytes.len()
        } else {
            self.bytes
                .iter()
                .rposition(|&byte| byte == b'\n')
                .unwrap_or(0)
        };
        let end = if self.is_text() { end } else { 0 };
        self.bytes[..end]
            .split(|&byte| byte == b'\n')
            .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
            .filter(|line| !line.trim_ascii().is_empty())
    }
    pub(super) fn is_text(&self) -> bool {
        // Without an early exit, the compiler compares many bytes at a time.
        let odd = |byte: &u8| matches!(byte, 0..=8 | 14..=31 | 127);
        !self.bytes.iter().fold(false, |any, byte| any | odd(byte))
    }
    /// Returns `true` if `fits` accepts more than half of the first lines.
    pub(super) fn most(&self, fits: impl Fn(&'a [u8]) -> bool) -> bool {
        const ENOUGH: usize = 200;
        let lines = || self.lines().take(ENOUGH);
        2 * lines().filter(|line| fits(line)).count() > lines().count()
    }
    /// Returns `true` if `fits` accepts the fields of more than half of the first lines.
    pub(super) fn most_rows<R: Row<'a>>(&self, fits: impl Fn(R) -> bool) -> bool {
        self.most(|line| fits(R::new(line)))
    }
    /// Returns `true` if the first non-empty line begins with `start`.
    pub(super) fn begins(&self, start: &[u8]) -> bool {
        self.lines()
            .next()
            .is_some_and(|line| line.starts_with(start))
    }
}

/// Returns `true` if a field has the shape of a signed or unsigned integer.
pub(super) fn is_number(field: &[u8]) -> bool {
    let digits = field.strip_prefix(b"-").unwrap_or(field);
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}

/// Returns `true` if a field has the shape of a decimal number, with or without a point.
pub(super) fn is_decimal(field: &[u8]) -> bool {
    let digits = field.strip_prefix(b"-").unwrap_or(field);
    let plain = digits
        .iter()
        .all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'-'));
    plain
        && digits
            .first()
            .is_some_and(|byte| byte.is_ascii_digit() || *byte == b'.')
}

/// Returns `true` if a line names these columns, separated by commas, in either case, with or
/// without blanks, underscores and quotes.
pub(super) fn names(line: &[u8], columns: &[&str]) -> bool {
    let named = |field: &[u8], name: &str| {
        let letters = field
            .iter()
            .filter(|byte| !matches!(byte, b' ' | b'_' | b'"'));
        letters.map(u8::to_ascii_lowercase).eq(name.bytes())
    };
    let mut fields = Commas::new(line);
    let mut all = columns.iter();
    all.all(|name| fields.is(|field| named(field, name))) && fields.end().is_ok()
}
