//! Scanning the fields of a line, without allocation.

use crate::error::{Fault, Stamp, shown};

/// Bytes in a sector of nearly every block trace.
pub(crate) const SECTOR: u64 = 512;
/// Decimal digits that always fit 64 bits.
const SAFE: usize = 19;

/// A line that is scanned, at the beginning of a text that may go on behind it.
pub(crate) trait Row<'a> {
    /// Of the first line of a text, which is not empty. The line ends with its line feed, or with the text.
    fn at(text: &'a [u8]) -> Self;
    /// Of a line without its end.
    fn new(line: &'a [u8]) -> Self;
    /// Bytes of the line with its end.
    fn length(&self) -> usize;
}

/// The fields of one line, left to right. `SEPARATOR` is a byte such as `,`; a space stands for
/// any run of spaces and tabs.
///
/// Where the line ends is not looked for ahead: most fields tell by the byte behind them. Whatever is
/// less simple than that is left to [`Fields::settled`]. What is seldom needed takes the fields by value, so
/// that those of a line stay in registers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields<'a, const SEPARATOR: u8> {
    text: &'a [u8],
    rest: &'a [u8],
    column: u32,
    more: bool,
    /// Bytes of the line with its end, once `rest` ends where the line does.
    settled: Option<usize>,
}

/// Fields between commas.
pub(crate) type Commas<'a> = Fields<'a, b','>;
/// Fields between runs of spaces and tabs.
pub(crate) type Blanks<'a> = Fields<'a, b' '>;

#[inline(always)]
fn separates<const SEPARATOR: u8>(byte: u8) -> bool {
    byte == SEPARATOR || (SEPARATOR == b' ' && byte == b'\t')
}

/// The first line of a text, without its end, and its bytes with the end.
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
    /// How many fields are left.
    pub(crate) fn count(mut self) -> usize {
        let mut count = 0;
        while self.text("").is_ok() {
            count += 1;
        }
        count
    }

    /// Whether the line begins so.
    #[inline]
    pub(crate) fn begin(&self, start: &[u8]) -> bool {
        self.text.first() == start.first() && self.text.starts_with(start)
    }

    /// Whether this is all of the line.
    #[inline]
    pub(crate) fn are(&self, line: &[u8]) -> bool {
        self.begin(line) && self.line() == line
    }

    /// All of the line, without its end.
    pub(crate) fn line(&self) -> &'a [u8] {
        if self.settled == Some(self.text.len()) {
            return self.text;
        }
        first_line(self.text).0
    }

    /// The same with what is left ending where the line does.
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

    /// Steps over `length` bytes and what ends a field behind them; false if nothing there does for sure.
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

    /// Steps over `length` bytes and the end of the line behind them, if that is there for sure.
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

    /// Steps over blanks, and over the end of the line if nothing else is behind them.
    #[inline(always)]
    fn skip_blanks(&mut self) {
        while let [b' ' | b'\t', rest @ ..] = self.rest {
            self.rest = rest;
        }
        if self.rest.first().is_none_or(|&byte| byte <= b' ') && !self.end_line(0) {
            *self = self.settled();
        }
    }

    /// The next field as it stands.
    #[inline(always)]
    pub(crate) fn text(&mut self, what: &str) -> Result<&'a [u8], Fault> {
        if self.more
            && let Some(length) = field_end::<SEPARATOR>(self.rest)
        {
            let rest = self.rest;
            let mut length = length;
            // Between commas, a carriage return belongs to the field unless it belongs to the end of the line.
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

    /// [`Fields::text`] for a field that ends with the line, holds a byte that could be its end, or is missing.
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

    /// The next field, not looked at.
    #[inline(always)]
    pub(crate) fn skip(&mut self, what: &str) -> Result<(), Fault> {
        self.text(what).map(|_| ())
    }

    /// The next field as an unsigned integer.
    #[inline(always)]
    pub(crate) fn number(&mut self, what: &str) -> Result<u64, Fault> {
        match self.plain_number() {
            Some(value) => Ok(value),
            None => self.odd(what, parse_number),
        }
    }

    /// The next field as a time stamp: an unsigned integer.
    #[inline(always)]
    pub(crate) fn stamp(&mut self, what: &str) -> Result<u64, Fault> {
        match self.plain_number() {
            Some(value) => Ok(value),
            None => self.odd_stamp(what, parse_number),
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

    /// The next field, parsed with care.
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

    /// [`Fields::odd`] of a time stamp.
    #[inline(always)]
    fn odd_stamp(
        &mut self,
        what: &str,
        parse: impl Fn(&[u8]) -> Result<u64, String>,
    ) -> Result<u64, Fault> {
        let (fields, value) = self.parsed_stamp(what, parse);
        *self = fields;
        value
    }

    #[cold]
    #[inline(never)]
    fn parsed_stamp(
        self,
        what: &str,
        parse: impl Fn(&[u8]) -> Result<u64, String>,
    ) -> (Self, Result<u64, Fault>) {
        let field = { self }.text(what).ok();
        let (fields, value) = self.parsed(what, parse);
        let stamp = || stamp_in(self.text, field?);
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

    /// The next field as an unsigned integer of at most 32 bits.
    #[inline(always)]
    pub(crate) fn number32(&mut self, what: &str) -> Result<u32, Fault> {
        let value = self.number(what)?;
        u32::try_from(value).map_err(|_| {
            let reason = format!("the {what} {value} is beyond {}", u32::MAX);
            Fault::column(self.column, reason)
        })
    }

    /// The next field as a number of units of `bytes` bytes, in bytes.
    #[inline(always)]
    pub(crate) fn units(&mut self, what: &str, bytes: u64) -> Result<u64, Fault> {
        let units = self.number(what)?;
        units
            .checked_mul(bytes)
            .ok_or_else(|| beyond(self.column, what, units, bytes))
    }

    /// The next field as a time stamp: a decimal number, in units of 10^-`places`, rounded to the nearest.
    #[inline(always)]
    pub(crate) fn decimal(&mut self, what: &str, places: u32) -> Result<u64, Fault> {
        if self.more
            && let Some((value, length)) = plain_decimal(self.rest, places)
            && self.step(length)
        {
            self.column += 1;
            return Ok(value);
        }
        self.odd_stamp(what, |field| parse_decimal(field, places))
    }

    /// Fails if there is another field.
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

    /// Fails on the field read last.
    #[inline(always)]
    pub(crate) fn fault<T>(&self, reason: impl Into<String>) -> Result<T, Fault> {
        Err(Fault::column(self.column, reason))
    }
}

/// A byte eight times.
const fn eight_of(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; 8])
}

/// Where the first byte stands that ends a field or may do so: a separator or a line feed; where blanks
/// separate, any byte up to the space.
#[inline(always)]
fn field_end<const SEPARATOR: u8>(text: &[u8]) -> Option<usize> {
    // Bytes below `limit` have the highest bit set; above the first of them others may have it too.
    let below =
        |bytes: u64, limit: u8| bytes.wrapping_sub(eight_of(limit)) & !bytes & eight_of(128);
    let mut at = 0;
    while let Some(bytes) = text[at..].first_chunk() {
        let bytes = u64::from_le_bytes(*bytes);
        let ends = if SEPARATOR == b' ' {
            below(bytes, b' ' + 1)
        } else {
            below(bytes ^ eight_of(SEPARATOR), 1) | below(bytes ^ eight_of(b'\n'), 1)
        };
        if ends != 0 {
            return Some(at + ends.trailing_zeros() as usize / 8);
        }
        at += 8;
    }
    let ends = |byte: u8| match SEPARATOR {
        b' ' => byte <= b' ',
        _ => byte == SEPARATOR || byte == b'\n',
    };
    let found = text[at..].iter().position(|&byte| ends(byte));
    found.map(|found| at + found)
}

/// The number that the decimal digits at the beginning of a text make, and how many they are. Wrong if they
/// are more than fit 64 bits.
#[inline(always)]
fn digits(text: &[u8]) -> (u64, usize) {
    let (mut value, mut length) = (0_u64, 0);
    while let Some(bytes) = text[length..].first_chunk() {
        let bytes = u64::from_le_bytes(*bytes) ^ eight_of(b'0');
        let others = (bytes.wrapping_add(eight_of(6)) | bytes) & eight_of(0xf0);
        let count = others.trailing_zeros() as usize / 8;
        if count == 8 {
            value = value.wrapping_mul(100_000_000).wrapping_add(joined(bytes));
            length += 8;
            continue;
        }
        let bytes = bytes << 8 << (56 - 8 * count); // zeros before the digits
        value = value.wrapping_mul(TENS[count]).wrapping_add(joined(bytes));
        return (value, length + count);
    }
    while let Some(digit) = text.get(length).map(|byte| byte.wrapping_sub(b'0'))
        && digit < 10
    {
        value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
        length += 1;
    }
    (value, length)
}

/// The number of eight digits, the first in the lowest byte: pairs, then fours, then all are joined.
#[inline(always)]
fn joined(digits: u64) -> u64 {
    let pairs = digits.wrapping_mul(10 << 8 | 1) >> 8 & 0x00ff_00ff_00ff_00ff;
    let fours = pairs.wrapping_mul(100 << 16 | 1) >> 16 & 0x0000_ffff_0000_ffff;
    fours.wrapping_mul(10_000 << 32 | 1) >> 32
}

/// Powers of ten.
const TENS: [u64; SAFE + 1] = {
    let mut tens = [1; SAFE + 1];
    let mut power = 1;
    while power <= SAFE {
        tens[power] = tens[power - 1] * 10;
        power += 1;
    }
    tens
};

/// What [`parse_decimal`] makes of the digits, with at most one point, at the beginning of a text, and how
/// many bytes they are. `None` if it takes more care.
#[inline(always)]
fn plain_decimal(text: &[u8], places: u32) -> Option<(u64, usize)> {
    let places = places as usize;
    let (whole, whole_digits) = digits(text);
    let (fraction, fraction_digits, point) = match &text[whole_digits..] {
        [b'.', behind @ ..] => {
            let (fraction, length) = digits(behind);
            (fraction, length, 1)
        }
        _ => (0, 0, 0),
    };
    let length = whole_digits + point + fraction_digits;
    if length == point || whole_digits > SAFE || fraction_digits > SAFE {
        return None;
    }
    let fraction = if fraction_digits <= places {
        fraction * TENS[places - fraction_digits]
    } else {
        let digits = fraction / TENS[fraction_digits - places - 1];
        digits / 10 + u64::from(digits % 10 >= 5)
    };
    let value = whole.checked_mul(TENS[places])?.checked_add(fraction)?;
    Some((value, length))
}

#[cold]
fn beyond(column: u32, what: &str, units: u64, bytes: u64) -> Fault {
    let reason = format!("the {what} {units} (units of {bytes} bytes) is beyond 2^64 bytes");
    Fault::column(column, reason)
}

#[cold]
fn missing(column: u32, what: &str) -> Fault {
    Fault::column(
        column,
        format!("the {what} is missing: the line ends before it"),
    )
}

#[cold]
fn surplus(column: u32, rest: &[u8]) -> Fault {
    Fault::column(
        column + 1,
        format!(
            "there should be no such column, but it holds {}",
            shown(rest)
        ),
    )
}

/// The time stamp that a field of a line is, if it is empty or a number.
#[cold]
fn stamp_in(line: &[u8], field: &[u8]) -> Option<Stamp> {
    let text = field.trim_ascii();
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let number = digits.first().is_some_and(u8::is_ascii_digit)
        && std::str::from_utf8(digits).is_ok_and(|text| text.parse::<f64>().is_ok());
    (number || text.is_empty()).then(|| Stamp {
        start: field.as_ptr().addr() - line.as_ptr().addr(),
        length: field.len(),
        beyond: number && digits.len() == text.len(),
    })
}

/// An unsigned integer in decimal digits.
pub(crate) fn parse_number(field: &[u8]) -> Result<u64, String> {
    let field = field.trim_ascii();
    let digits = field.iter().all(u8::is_ascii_digit);
    match field {
        [] => Err("is empty".to_owned()),
        _ if digits => {
            let text = std::str::from_utf8(field).unwrap_or_default();
            text.parse()
                .map_err(|_| format!("{} is beyond {}", shown(field), u64::MAX))
        }
        [b'-', rest @ ..] if !rest.is_empty() && rest.iter().all(u8::is_ascii_digit) => {
            Err(format!("{} is negative", shown(field)))
        }
        _ => Err(format!("is {}, not a whole number", shown(field))),
    }
}

/// An unsigned decimal number in units of 10^-`places`, rounded half up. Digits beyond the
/// sixteenth of a fraction do not matter. Exponents as in `9.5e-05` are understood.
pub(crate) fn parse_decimal(field: &[u8], places: u32) -> Result<u64, String> {
    let field = field.trim_ascii();
    if let [b'-', rest @ ..] = field
        && parse_decimal(rest, places).is_ok()
    {
        return Err(format!("{} is negative", shown(field)));
    }
    let mut value = 0_u64;
    let mut digits = 0_u32;
    let mut fraction = None; // digits seen behind the point
    let mut round = false;
    for &byte in field {
        match byte {
            b'0'..=b'9' => {
                digits += 1;
                let digit = u64::from(byte - b'0');
                if let Some(seen) = fraction.as_mut() {
                    *seen += 1;
                    if *seen > places {
                        round |= *seen == places + 1 && digit >= 5;
                        continue;
                    }
                }
                value = match value.checked_mul(10).and_then(|v| v.checked_add(digit)) {
                    Some(next) => next,
                    None => return Err(too_large(field)),
                };
            }
            b'.' if fraction.is_none() => fraction = Some(0),
            b'e' | b'E' if digits > 0 => return parse_exponent(field, places),
            _ => return Err(format!("is {}, not a decimal number", shown(field))),
        }
    }
    if digits == 0 {
        let text = if field.is_empty() {
            "is empty".to_owned()
        } else {
            not_decimal(field)
        };
        return Err(text);
    }
    let scale = 10_u64.pow(places - fraction.unwrap_or(0).min(places));
    value
        .checked_mul(scale)
        .and_then(|v| v.checked_add(u64::from(round)))
        .ok_or_else(|| too_large(field))
}

#[cold]
fn parse_exponent(field: &[u8], places: u32) -> Result<u64, String> {
    let text = std::str::from_utf8(field).unwrap_or_default();
    let value: f64 = text.parse().map_err(|_| not_decimal(field))?;
    let scaled = (value * 10_f64.powi(places.cast_signed())).round();
    if (0.0..18_446_744_073_709_551_616.0).contains(&scaled) {
        Ok(scaled as u64)
    } else {
        Err(too_large(field))
    }
}

#[cold]
fn not_decimal(field: &[u8]) -> String {
    format!("is {}, not a decimal number", shown(field))
}

#[cold]
fn too_large(field: &[u8]) -> String {
    format!("{} is too large", shown(field))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_exact_and_rounded_half_up() {
        for (text, places, expected) in [
            ("0", 9, 0),
            ("1", 9, 1_000_000_000),
            ("0.026214", 9, 26_214_000),
            ("159273.83748699998", 9, 159_273_837_487_000),
            ("1398396860.168065791", 9, 1_398_396_860_168_065_791),
            ("2.5", 0, 3),
            ("2.4999", 0, 2),
            (".5", 1, 5),
            ("5.", 1, 50),
            ("9.5e-05", 9, 95_000),
            ("0.9999999996", 9, 1_000_000_000),
        ] {
            assert_eq!(
                parse_decimal(text.as_bytes(), places),
                Ok(expected),
                "{text}"
            );
        }
    }

    #[test]
    fn numbers_that_are_none_say_why() {
        for (text, expected) in [
            ("", "is empty"),
            ("-5", "`-5` is negative"),
            ("1x", "is `1x`, not a whole number"),
            ("-", "is `-`, not a whole number"),
            ("+1", "is `+1`, not a whole number"),
            (
                "18446744073709551616",
                "`18446744073709551616` is beyond 18446744073709551615",
            ),
        ] {
            assert_eq!(parse_number(text.as_bytes()).unwrap_err(), expected);
            assert!(parse_decimal(text.as_bytes(), 9).is_err());
        }
        assert_eq!(parse_number(b"18446744073709551615"), Ok(u64::MAX));
        assert_eq!(parse_decimal(b"-1.5", 3).unwrap_err(), "`-1.5` is negative");
        assert_eq!(
            parse_decimal(b"1.2.3", 3).unwrap_err(),
            "is `1.2.3`, not a decimal number"
        );
        assert_eq!(
            parse_decimal(b"99999999999", 9).unwrap_err(),
            "`99999999999` is too large"
        );
    }

    /// Whether a line is read to its end, left early or found wrong, and however it ends.
    #[test]
    fn a_line_ends_before_the_text_behind_it() {
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
    fn fields_are_counted_and_their_ends_checked() {
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
