//! Scans the fields of a line without allocation.

mod fault;
mod number;
mod scan;

use crate::error::Fault;
use fault::{beyond, missing, stamp_in, surplus};
use scan::{SAFE, digits, field_end, plain_decimal};

pub(crate) use number::{parse_decimal, parse_far, parse_number};

/// Size of a sector in nearly every block trace. Bytes.
pub const SECTOR: u64 = 512;

/// Line to be scanned, at the start of a text that may continue after it.
pub(crate) trait Row<'a> {
    /// Starts at the first line of a text. The line must not be empty; it ends with its line feed
    /// or with the text.
    fn at(text: &'a [u8]) -> Self;
    /// Starts at a line that is passed without its line ending.
    fn new(line: &'a [u8]) -> Self;
    /// Returns the length of the line with its end. Bytes.
    fn length(&self) -> usize;
}

/// Fields of one line, read from left to right. `SEPARATOR` is a byte such as `,`; a space means
/// any run of spaces and tabs.
///
/// The end of the line is not searched for in advance, because the byte after a field usually shows
/// whether the line ends there. [`Fields::settled`] handles all other cases. Rare cases take the
/// fields by value, so that the fields of a line stay in registers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields<'a, const SEPARATOR: u8> {
    text: &'a [u8],
    rest: &'a [u8],
    column: u32,
    more: bool,
    /// Length of the line with its end, in bytes. Set once `rest` is limited to the line.
    settled: Option<usize>,
}

/// Fields separated by commas.
pub(crate) type Commas<'a> = Fields<'a, b','>;
/// Fields separated by runs of spaces and tabs.
pub(crate) type Blanks<'a> = Fields<'a, b' '>;

#[inline(always)]
fn separates<const SEPARATOR: u8>(byte: u8) -> bool {
    byte == SEPARATOR || (SEPARATOR == b' ' && byte == b'\t')
}

/// Returns the first line of a text without its end, and its length with the end.
fn first_line(text: &[u8]) -> (&[u8], usize) {
    let (line, length) = match memchr::memchr(b'\n', text) {
        Some(end) => (&text[..end], end + 1),
        None => (text, text.len()),
    };
    (line.strip_suffix(b"\r").unwrap_or(line), length)
}

impl<'a, const SEPARATOR: u8> Row<'a> for Fields<'a, SEPARATOR> {
    #[inline]
    fn at(text: &'a [u8]) -> Self {
        let mut fields = Self {
            text,
            rest: text,
            column: 0,
            more: true,
            settled: None,
        };
        if SEPARATOR == b' ' {
            fields.skip_blanks();
            if fields.settled.is_some() {
                fields.rest = fields.rest.trim_ascii_start();
            }
        }
        fields
    }

    #[inline]
    fn new(line: &'a [u8]) -> Self {
        let rest = if SEPARATOR == b' ' {
            line.trim_ascii()
        } else {
            line
        };
        Self {
            text: line,
            rest,
            column: 0,
            more: !rest.is_empty(),
            settled: Some(line.len()),
        }
    }

    #[inline]
    fn length(&self) -> usize {
        match self.settled {
            Some(length) => length,
            None if self.more => self.text.len() - self.rest.len() + first_line(self.rest).1,
            None => self.text.len() - self.rest.len(),
        }
    }
}

impl<'a, const SEPARATOR: u8> Fields<'a, SEPARATOR> {
    /// Returns the number of remaining fields.
    pub(crate) fn count(mut self) -> usize {
        let mut count = 0;
        while self.text("").is_ok() {
            count += 1;
        }
        count
    }

    /// Returns `true` if the line begins with `start`.
    #[inline]
    pub(crate) fn begin(&self, start: &[u8]) -> bool {
        self.text.first() == start.first() && self.text.starts_with(start)
    }

    /// Returns `true` if the line equals `line`.
    #[inline]
    pub(crate) fn are(&self, line: &[u8]) -> bool {
        self.begin(line) && self.line() == line
    }

    /// Returns the line without its end.
    pub(crate) fn line(&self) -> &'a [u8] {
        if self.settled == Some(self.text.len()) {
            return self.text;
        }
        first_line(self.text).0
    }

    /// Returns the same fields with `rest` limited to the line.
    #[cold]
    #[inline(never)]
    fn settled(mut self) -> Self {
        if self.settled.is_some() {
            return self;
        }
        let before = self.text.len() - self.rest.len();
        let (line, length) = first_line(self.rest);
        self.settled = Some(before + length);
        self.rest = line;
        if SEPARATOR == b' ' {
            self.rest = line.trim_ascii_end();
            self.more &= !self.rest.is_empty();
        }
        self
    }

    /// Skips `length` bytes and the separator after them. Returns `false` if it is not certain that
    /// a separator follows.
    #[inline(always)]
    fn step(&mut self, length: usize) -> bool {
        match &self.rest[length..] {
            [byte, behind @ ..] if separates::<SEPARATOR>(*byte) => {
                self.rest = behind;
                if SEPARATOR == b' ' {
                    self.skip_blanks();
                }
                true
            }
            _ => self.end_line(length),
        }
    }

    /// Skips `length` bytes and the end of the line after them. Returns `false` if it is not
    /// certain that the line ends there.
    #[inline(always)]
    fn end_line(&mut self, length: usize) -> bool {
        self.rest = match &self.rest[length..] {
            [b'\n', behind @ ..] | [b'\r', b'\n', behind @ ..] => behind,
            [] if self.settled.is_some() => &[],
            _ => return false,
        };
        self.more = false;
        true
    }

    /// Skips blanks, and the end of the line if nothing else follows.
    #[inline(always)]
    fn skip_blanks(&mut self) {
        while let [b' ' | b'\t', rest @ ..] = self.rest {
            self.rest = rest;
        }
        if self.rest.first().is_none_or(|&byte| byte <= b' ') && !self.end_line(0) {
            *self = self.settled();
        }
    }

    /// Returns the next field as text. `what` names the field in faults.
    #[inline(always)]
    pub(crate) fn text(&mut self, what: &str) -> Result<&'a [u8], Fault> {
        if self.more
            && let Some(length) = field_end::<SEPARATOR>(self.rest)
        {
            let rest = self.rest;
            let mut length = length;
            // With commas as separators, a carriage return belongs to the field unless it is part
            // of the line's end.
            if SEPARATOR != b' ' && rest[length] == b'\n' && rest[..length].ends_with(b"\r") {
                length -= 1;
            }
            if self.step(length) {
                self.column += 1;
                return Ok(&rest[..length]);
            }
        }
        let (fields, text) = self.odd_text(what);
        *self = fields;
        text
    }

    /// Implements [`Fields::text`] for a field that ends with the line, contains a byte that may
    /// end the line, or is missing.
    #[cold]
    #[inline(never)]
    fn odd_text(mut self, what: &str) -> (Self, Result<&'a [u8], Fault>) {
        self.column += 1;
        if !self.more {
            return (self, Err(missing(self.column, what)));
        }
        self = self.settled();
        let rest = self.rest;
        let length = rest.iter().position(|&byte| separates::<SEPARATOR>(byte));
        let length = length.unwrap_or(rest.len());
        self.step(length);
        (self, Ok(&rest[..length]))
    }

    /// Returns `true` if the next field exists and matches `kind`.
    #[inline(always)]
    pub(crate) fn is(&mut self, kind: impl Fn(&[u8]) -> bool) -> bool {
        self.text("").is_ok_and(kind)
    }

    /// Skips the next field. Fails if the line has no further field.
    #[inline(always)]
    pub(crate) fn skip(&mut self, what: &str) -> Result<(), Fault> {
        self.text(what).map(|_| ())
    }

    /// Parses the next field as an unsigned integer.
    #[inline(always)]
    pub(crate) fn number(&mut self, what: &str) -> Result<u64, Fault> {
        match self.plain_number() {
            Some(value) => Ok(value),
            None => self.odd(what, parse_number),
        }
    }

    /// Parses the next field as a time stamp that is an unsigned integer.
    #[inline(always)]
    pub(crate) fn stamp(&mut self, what: &str) -> Result<u64, Fault> {
        match self.plain_number() {
            Some(value) => Ok(value),
            None => self.odd_stamp(what, false, parse_number),
        }
    }

    #[inline(always)]
    fn plain_number(&mut self) -> Option<u64> {
        if self.more {
            let (value, length) = digits(self.rest);
            if (1..=SAFE).contains(&length) && self.step(length) {
                self.column += 1;
                return Some(value);
            }
        }
        None
    }

    /// Parses the next field with `parse`, which handles all cases.
    #[inline(always)]
    fn odd(
        &mut self,
        what: &str,
        parse: impl Fn(&[u8]) -> Result<u64, String>,
    ) -> Result<u64, Fault> {
        let (fields, value) = self.parsed(what, parse);
        *self = fields;
        value
    }

    /// Implements [`Fields::odd`] for a time stamp.
    #[inline(always)]
    fn odd_stamp(
        &mut self,
        what: &str,
        has_decimals: bool,
        parse: impl Fn(&[u8]) -> Result<u64, String>,
    ) -> Result<u64, Fault> {
        let (fields, value) = self.parsed_stamp(what, has_decimals, parse);
        *self = fields;
        value
    }

    #[cold]
    #[inline(never)]
    fn parsed_stamp(
        self,
        what: &str,
        has_decimals: bool,
        parse: impl Fn(&[u8]) -> Result<u64, String>,
    ) -> (Self, Result<u64, Fault>) {
        let field = { self }.text(what).ok();
        let (fields, value) = self.parsed(what, parse);
        let stamp = || stamp_in(self.text, field?, has_decimals);
        let value = value.map_err(|fault| Fault {
            stamp: stamp(),
            ..fault
        });
        (fields, value)
    }

    #[cold]
    #[inline(never)]
    fn parsed(
        mut self,
        what: &str,
        parse: impl Fn(&[u8]) -> Result<u64, String>,
    ) -> (Self, Result<u64, Fault>) {
        let value = self.text(what).and_then(|field| {
            parse(field).map_err(|why| Fault::column(self.column, format!("the {what} {why}")))
        });
        (self, value)
    }

    /// Parses the next field as an unsigned integer of at most 32 bits.
    #[inline(always)]
    pub(crate) fn number32(&mut self, what: &str) -> Result<u32, Fault> {
        let value = self.number(what)?;
        u32::try_from(value).map_err(|_| {
            let reason = format!("the {what} {value} exceeds the maximum of {}", u32::MAX);
            Fault::column(self.column, reason)
        })
    }

    /// Parses the next field as a number of units of `bytes` bytes. Returns bytes.
    #[inline(always)]
    pub(crate) fn units(&mut self, what: &str, bytes: u64) -> Result<u64, Fault> {
        let units = self.number(what)?;
        units
            .checked_mul(bytes)
            .ok_or_else(|| beyond(self.column, what, units, bytes))
    }

    /// Parses the next field as a time stamp that is a decimal number. Returns units of
    /// 10^-`places`, rounded to the nearest.
    #[inline(always)]
    pub(crate) fn decimal(&mut self, what: &str, places: u32) -> Result<u64, Fault> {
        if self.more
            && let Some((value, length)) = plain_decimal(self.rest, places)
            && self.step(length)
        {
            self.column += 1;
            return Ok(value);
        }
        self.odd_stamp(what, true, |field| parse_decimal(field, places))
    }

    /// Returns an error if the line has another field.
    #[inline(always)]
    pub(crate) fn end(&self) -> Result<(), Fault> {
        if self.more {
            let fields = self.settled();
            if fields.more {
                return Err(surplus(fields.column, fields.rest));
            }
        }
        Ok(())
    }

    /// Returns an error at the field read last.
    #[inline(always)]
    pub(crate) fn fault<T>(&self, reason: impl Into<String>) -> Result<T, Fault> {
        Err(Fault::column(self.column, reason))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line may be read completely, left early or found bad, with any line end.
    #[test]
    fn length_of_a_line_excludes_the_text_after_it() {
        fn length<'a, F: Row<'a>>(text: &'a [u8], scan: impl Fn(&mut F)) -> usize {
            let mut fields = F::at(text);
            scan(&mut fields);
            fields.length()
        }
        let all = |fields: &mut Commas| {
            assert_eq!(fields.number("a"), Ok(123_456_789_012));
            assert_eq!(fields.text("b"), Ok(&b"x y"[..]));
            assert_eq!(fields.end(), Ok(()));
        };
        assert_eq!(length(b"123456789012,x y\n5,6\n", all), 17);
        assert_eq!(length(b"123456789012,x y\r\n5,6\n", all), 18);
        assert_eq!(length(b"123456789012,x y", all), 16);
        assert_eq!(length(b"123456789012,x y\r", all), 17);
        let one = |fields: &mut Commas| assert!(fields.skip("a").is_ok());
        assert_eq!(length(b"1,2,3\n4\n", one), 6);
        let wrong = |fields: &mut Commas| {
            let fault = fields.number("a").unwrap_err();
            assert_eq!(fault.reason, "the a is `1x`, not a whole number");
        };
        assert_eq!(length(b"1x,2\r\n4\n", wrong), 6);
        let blanks = |fields: &mut Blanks| {
            assert_eq!(fields.decimal("a", 3), Ok(7_250));
            assert_eq!(fields.number("b"), Ok(4));
            assert_eq!(fields.end(), Ok(()));
        };
        assert_eq!(length(b" 7.25\t 4 \t\r\n8 9\n", blanks), 12);
        assert_eq!(length(b"7.2499\x0c 4 \x0c\r\n8 9\n", blanks), 13);
    }

    #[test]
    fn missing_and_extra_fields_are_faults_with_their_column() {
        let mut fields = Commas::new(b"1,,abc");
        assert_eq!(fields.count(), 3);
        assert_eq!(fields.number("time"), Ok(1));
        assert_eq!(
            fields.number("offset").unwrap_err().reason,
            "the offset is empty"
        );
        assert!(fields.end().is_err());
        assert_eq!(fields.text("host"), Ok(&b"abc"[..]));
        assert_eq!(fields.end(), Ok(()));
        let fault = fields.number("size").unwrap_err();
        assert_eq!(
            (fault.column, fault.reason.as_str()),
            (Some(4), "the size is missing: the line ends before it")
        );
        let mut blanks = Blanks::new(b"  7 \t\t x  ");
        assert_eq!(blanks.number("a"), Ok(7));
        assert_eq!(blanks.text("b"), Ok(&b"x"[..]));
        assert_eq!(blanks.end(), Ok(()));
        assert_eq!(Commas::new(b"1,").count(), 2);
    }
}
