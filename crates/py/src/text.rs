//! Formats JSON as Python does.

use pyo3::prelude::*;

/// Formats `json`, an indented text, as Python's `json.dumps(..., indent=2)` formats the same
/// values: floating-point numbers like `repr`, strings in ASCII.
#[pyfunction]
pub fn python_json(json: &str) -> String {
    let mut text = String::with_capacity(json.len() + json.len() / 8);
    let mut rest = json;
    while let Some(next) = rest.chars().next() {
        let length = match next {
            '"' => string_length(rest),
            '-' | '0'..='9' => number_length(rest),
            _ => rest
                .find(['"', '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9'])
                .unwrap_or(rest.len()),
        };
        let (token, after) = rest.split_at(length);
        match next {
            '"' => push_ascii(&mut text, token),
            '-' | '0'..='9' => push_number(&mut text, token),
            _ => text.push_str(token),
        }
        rest = after;
    }
    text
}

/// Returns the length, including quotes, of the string at the start of `json`. Bytes.
fn string_length(json: &str) -> usize {
    let mut escaped = false;
    let end = json.bytes().skip(1).position(|byte| {
        let closes = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        closes
    });
    end.map_or(json.len(), |end| end + 2)
}

fn number_length(json: &str) -> usize {
    let part = |char: char| char.is_ascii_digit() || "+-.eE".contains(char);
    json.find(|char| !part(char)).unwrap_or(json.len())
}

fn push_ascii(text: &mut String, token: &str) {
    for char in token.chars() {
        if matches!(char, ' '..='~') {
            text.push(char);
            continue;
        }
        for unit in char.encode_utf16(&mut [0; 2]) {
            text.push_str(&format!("\\u{unit:04x}"));
        }
    }
}

fn push_number(text: &mut String, token: &str) {
    match token.parse::<f64>() {
        Ok(value) if token.contains(['.', 'e', 'E']) => text.push_str(&python_float(value)),
        _ => text.push_str(token),
    }
}

/// Formats a number like Python's `repr`. Rust and Python both write the fewest digits that
/// identify the number, and switch to exponents at the same magnitudes. Only the exponent is
/// formatted differently: `1e-05`, `1e+16`.
fn python_float(value: f64) -> String {
    let text = format!("{value:?}");
    match text.split_once('e') {
        Some((digits, exponent)) => match exponent.strip_prefix('-') {
            Some(exponent) => format!("{digits}e-{exponent:0>2}"),
            None => format!("{digits}e+{exponent:0>2}"),
        },
        None => text,
    }
}
