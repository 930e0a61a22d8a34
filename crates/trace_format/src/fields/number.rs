//! Parses decimal numbers in all valid forms.

use crate::error::shown;

/// Parses an unsigned decimal integer. Errors continue a sentence, as in "is empty".
pub(crate) fn parse_number(field: &[u8]) -> Result<u64, String> {
    let field = field.trim_ascii();
    let digits = field.iter().all(u8::is_ascii_digit);
    match field {
        [] => Err("is empty".to_owned()),
        _ if digits => {
            let text = std::str::from_utf8(field).unwrap_or_default();
            text.parse()
                .map_err(|_| format!("{} exceeds the maximum of {}", shown(field), u64::MAX))
        }
        [b'-', rest @ ..] if !rest.is_empty() && rest.iter().all(u8::is_ascii_digit) => {
            Err(format!("{} is negative", shown(field)))
        }
        _ => Err(format!("is {}, not a whole number", shown(field))),
    }
}

/// Parses an unsigned decimal number. Returns units of 10^-`places`, rounded half up. Exponents as
/// in `9.5e-05` are accepted.
pub(crate) fn parse_decimal(field: &[u8], places: u32) -> Result<u64, String> {
    let field = field.trim_ascii();
    if let [b'-', rest @ ..] = field
        && parse_decimal(rest, places).is_ok()
    {
        return Err(format!("{} is negative", shown(field)));
    }
    let mut value = 0_u64;
    let mut digits = 0_u32;
    let mut fraction = None; // number of digits after the point
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

/// Parses a decimal number beyond 64 bits. Returns units of 10^-`places`; finer digits are ignored.
/// Returns `None` if the field is not a number or needs more than 120 bits.
#[cold]
pub(crate) fn parse_far(field: &[u8], places: usize) -> Option<i128> {
    let text = std::str::from_utf8(field).ok()?.trim();
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits: String = fraction
        .chars()
        .chain("0".repeat(places).chars())
        .take(places)
        .collect();
    let value = format!("{whole}{digits}").parse::<u128>().ok()?;
    i128::try_from(value).ok().filter(|value| *value < 1 << 120)
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
    fn numbers_beyond_64_bits_are_exact() {
        for (text, expected) in [
            ("1700000000000000000", Some(1_700_000_000_000_000_000_000)),
            (
                "1700000000000000000.0259",
                Some(1_700_000_000_000_000_000_025),
            ),
            ("1700000000000000000.5", Some(1_700_000_000_000_000_000_500)),
            ("-5", None),
            ("1e30", None),
            ("9999999999999999999999999999999999999999", None),
        ] {
            assert_eq!(parse_far(text.as_bytes(), 3), expected, "{text}");
        }
    }

    #[test]
    fn errors_state_why_a_field_is_not_a_number() {
        for (text, expected) in [
            ("", "is empty"),
            ("-5", "`-5` is negative"),
            ("1x", "is `1x`, not a whole number"),
            ("-", "is `-`, not a whole number"),
            ("+1", "is `+1`, not a whole number"),
            (
                "18446744073709551616",
                "`18446744073709551616` exceeds the maximum of 18446744073709551615",
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
}
