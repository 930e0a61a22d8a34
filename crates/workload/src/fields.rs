//! Scanning the fields of a line, without allocation.

use crate::error::{Fault, shown};

/// Bytes in a sector of nearly every block trace.
pub(crate) const SECTOR: u64 = 512;

/// The fields of one line, left to right. `SEPARATOR` is a byte such as `,`; a space stands for
/// any run of spaces and tabs.
#[derive(Clone, Debug)]
pub(crate) struct Fields<'a, const SEPARATOR: u8> {
    rest: &'a [u8],
    column: u32,
    more: bool,
}

/// Fields between commas.
pub(crate) type Commas<'a> = Fields<'a, b','>;
/// Fields between runs of spaces and tabs.
pub(crate) type Blanks<'a> = Fields<'a, b' '>;

#[inline(always)]
fn separates<const SEPARATOR: u8>(byte: u8) -> bool {
    byte == SEPARATOR || (SEPARATOR == b' ' && byte == b'\t')
}

impl<'a, const SEPARATOR: u8> Fields<'a, SEPARATOR> {
    #[inline]
    pub(crate) fn new(line: &'a [u8]) -> Self {
        let rest = if SEPARATOR == b' ' {
            line.trim_ascii()
        } else {
            line
        };
        Self {
            rest,
            column: 0,
            more: !rest.is_empty(),
        }
    }

    /// How many fields are left.
    pub(crate) fn count(mut self) -> usize {
        let mut count = 0;
        while self.text("").is_ok() {
            count += 1;
        }
        count
    }

    /// Steps over `length` bytes of a field and the separator behind it.
    #[inline(always)]
    fn advance(&mut self, length: usize) -> &'a [u8] {
        let (field, rest) = self.rest.split_at(length);
        self.more = !rest.is_empty();
        let mut behind = usize::from(self.more);
        if SEPARATOR == b' ' {
            while behind < rest.len() && separates::<SEPARATOR>(rest[behind]) {
                behind += 1;
            }
        }
        self.rest = &rest[behind..];
        field
    }

    #[inline(always)]
    fn start(&mut self, what: &str) -> Result<(), Fault> {
        self.column += 1;
        if self.more {
            Ok(())
        } else {
            Err(missing(self.column, what))
        }
    }

    /// The next field as it stands.
    #[inline]
    pub(crate) fn text(&mut self, what: &str) -> Result<&'a [u8], Fault> {
        self.start(what)?;
        let length = self
            .rest
            .iter()
            .position(|&byte| separates::<SEPARATOR>(byte));
        Ok(self.advance(length.unwrap_or(self.rest.len())))
    }

    /// The next field, not looked at.
    #[inline]
    pub(crate) fn skip(&mut self, what: &str) -> Result<(), Fault> {
        self.text(what).map(|_| ())
    }

    /// The next field as an unsigned integer.
    #[inline]
    pub(crate) fn number(&mut self, what: &str) -> Result<u64, Fault> {
        const SAFE: usize = 19; // decimal digits that always fit 64 bits
        self.start(what)?;
        let mut value = 0_u64;
        let mut length = 0;
        while length < self.rest.len() {
            let digit = self.rest[length].wrapping_sub(b'0');
            if digit > 9 {
                break;
            }
            value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
            length += 1;
        }
        let ended = self
            .rest
            .get(length)
            .is_none_or(|&byte| separates::<SEPARATOR>(byte));
        if ended && length > 0 && length <= SAFE {
            self.advance(length);
            return Ok(value);
        }
        self.column -= 1;
        let field = self.text(what)?;
        parse_number(field).map_err(|why| Fault::column(self.column, format!("the {what} {why}")))
    }

    /// The next field as an unsigned integer of at most 32 bits.
    #[inline]
    pub(crate) fn number32(&mut self, what: &str) -> Result<u32, Fault> {
        let value = self.number(what)?;
        u32::try_from(value).map_err(|_| {
            Fault::column(
                self.column,
                format!("the {what} {value} is beyond {}", u32::MAX),
            )
        })
    }

    /// The next field as a number of units of `bytes` bytes, in bytes.
    #[inline]
    pub(crate) fn units(&mut self, what: &str, bytes: u64) -> Result<u64, Fault> {
        let units = self.number(what)?;
        units.checked_mul(bytes).ok_or_else(|| {
            Fault::column(
                self.column,
                format!("the {what} {units} (units of {bytes} bytes) is beyond 2^64 bytes"),
            )
        })
    }

    /// The next field as a decimal number, in units of 10^-`places`, rounded to the nearest.
    #[inline]
    pub(crate) fn decimal(&mut self, what: &str, places: u32) -> Result<u64, Fault> {
        let field = self.text(what)?;
        parse_decimal(field, places)
            .map_err(|why| Fault::column(self.column, format!("the {what} {why}")))
    }

    /// Fails if there is another field.
    #[inline]
    pub(crate) fn end(&self) -> Result<(), Fault> {
        if self.more {
            Err(surplus(self.column, self.rest))
        } else {
            Ok(())
        }
    }

    /// Fails on the field read last.
    #[cold]
    pub(crate) fn fault<T>(&self, reason: impl Into<String>) -> Result<T, Fault> {
        Err(Fault::column(self.column, reason))
    }
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

    #[test]
    fn fields_are_counted_and_their_ends_checked() {
        let mut fields = Commas::new(b"1,,abc");
        assert_eq!(fields.clone().count(), 3);
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
