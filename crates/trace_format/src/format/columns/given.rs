//! Parses the description of the columns, which the user gives.

use std::str::FromStr;

use super::super::tick;
use super::{Column, Columns, FieldValue, SHAPE, TimeUnit};
use crate::fields::SECTOR;
use wordline_block::Op;

const KNOWN: &str = "time, offset, bytes, op, volume, delimiter";
const FIXED: &str = "fixed";
const LAST_COLUMN: usize = 10_000;

impl FromStr for Columns {
    type Err = String;
    /// Parses a description. Errors are one line that names the item and the valid words.
    fn from_str(given: &str) -> Result<Self, String> {
        let mut parts: [Option<&str>; 6] = [None; 6];
        for item in given.split(',') {
            let Some((field, value)) = item.split_once('=') else {
                return Err(format!("columns: `{item}` is not FIELD=COLUMN; {SHAPE}"));
            };
            let Some(at) = KNOWN.split(", ").position(|known| known == field.trim()) else {
                return Err(format!("columns: `{field}` is not one of {KNOWN}; {SHAPE}"));
            };
            if parts[at].replace(value.trim()).is_some() {
                return Err(format!("columns: `{field}` is given twice; leave one out"));
            }
        }
        let [time, offset, bytes, op, volume, delimiter] = parts;
        let offset = offset.ok_or_else(|| missing("offset"))?;
        let bytes = bytes.ok_or_else(|| missing("bytes"))?;
        let op = op.ok_or_else(|| missing("op"))?;
        let told = |field: &str, reason: String| format!("columns: {field}: {reason}");
        Ok(Self {
            given: given.to_owned(),
            time: time
                .map(time_column)
                .transpose()
                .map_err(|why| told("time", why))?,
            offset: offset_column(offset).map_err(|why| told("offset", why))?,
            bytes: bytes_column(bytes).map_err(|why| told("bytes", why))?,
            op: op_column(op).map_err(|why| told("op", why))?,
            volume: volume
                .map_or(Ok(FieldValue::Fixed(0)), volume_column)
                .map_err(|why| told("volume", why))?,
            delimiter: delimiter
                .map(delimiter_byte)
                .transpose()
                .map_err(|why| told("delimiter", why))?,
        })
    }
}

fn missing(field: &str) -> String {
    let fixed = match field {
        "bytes" => ", or a size that all requests have, as in bytes=fixed:4096",
        "op" => ", or what all requests do, as in op=fixed:read",
        _ => "",
    };
    format!("columns: `{field}` is missing; add its column, as in {field}=3{fixed}")
}

/// Splits a value into its column and the text after the colon.
fn column(value: &str) -> Result<(Column, Option<&str>), String> {
    let (name, unit) = match value.split_once(':') {
        Some((name, unit)) => (name.trim(), Some(unit.trim())),
        None => (value, None),
    };
    if name.is_empty() {
        return Err("the column is missing; give its number from 1, or its name".to_owned());
    }
    if !name.bytes().all(|byte| byte.is_ascii_digit()) {
        return Ok((Column::Name(name.to_owned()), unit));
    }
    match name.parse() {
        Ok(number @ 1..=LAST_COLUMN) => Ok((Column::Number(number - 1), unit)),
        _ => Err(format!(
            "the column number {name} is not between 1 and {LAST_COLUMN}; columns are counted from 1"
        )),
    }
}

/// Returns the text after `fixed:`.
fn fixed(value: &str) -> Option<&str> {
    value.strip_prefix(FIXED)?.strip_prefix(':').map(str::trim)
}

fn time_column(value: &str) -> Result<(Column, TimeUnit), String> {
    let (column, unit) = column(value)?;
    let (name, places, tick_ps) = match unit {
        Some("s") => ("s", 9, tick::NS),
        Some("ms") => ("ms", 6, tick::NS),
        Some("us") => ("us", 3, tick::NS),
        Some("ns") => ("ns", 0, tick::NS),
        Some("ps") => ("ps", 0, tick::PS),
        Some("filetime" | "100ns") => ("100 ns", 0, tick::FILETIME),
        other => {
            let what = other.map_or("the unit is missing".to_owned(), |unit| {
                format!("`{unit}` is not a unit of time")
            });
            return Err(format!(
                "{what}; give s, ms, us, ns, ps or filetime, as in time={value}:us",
                value = value.split(':').next().unwrap_or("1")
            ));
        }
    };
    let unit = TimeUnit {
        name,
        places,
        tick_ps,
    };
    Ok((column, unit))
}

fn offset_column(value: &str) -> Result<(Column, u64), String> {
    let (column, unit) = column(value)?;
    Ok((column, unit.map_or(Ok(1), unit_bytes)?))
}

fn bytes_column(value: &str) -> Result<FieldValue<u64>, String> {
    if let Some(size) = fixed(value) {
        return unit_bytes(size).map(FieldValue::Fixed);
    }
    let (column, unit) = offset_column(value)?;
    Ok(FieldValue::Column(column, unit))
}

/// Returns the number of bytes of a unit or of a size.
fn unit_bytes(unit: &str) -> Result<u64, String> {
    let digits = unit.bytes().take_while(u8::is_ascii_digit).count();
    let (number, word) = unit.split_at(digits);
    let scale = match word.trim() {
        "B" | "bytes" => Some(1),
        "" if digits > 0 => Some(1),
        "KiB" => Some(1 << 10),
        "MiB" => Some(1 << 20),
        "k" | "K" if digits > 0 => Some(1 << 10),
        "m" | "M" if digits > 0 => Some(1 << 20),
        "sectors" => Some(SECTOR),
        _ => None,
    };
    let number = if digits == 0 {
        Some(1)
    } else {
        number.parse().ok()
    };
    let bytes: Option<u64> = scale
        .zip(number)
        .and_then(|(scale, number): (u64, u64)| scale.checked_mul(number));
    match bytes {
        Some(bytes @ 1..) => Ok(bytes),
        _ => Err(format!(
            "`{unit}` is not a unit; give bytes, sectors, KiB, MiB, or the size of a page such as 4096, 4k or 16KiB"
        )),
    }
}

fn op_column(value: &str) -> Result<FieldValue<Op, Vec<(String, Op)>>, String> {
    let kind = |word: &str| {
        spelled(word.as_bytes())
            .map(|(op, _)| op)
            .ok_or_else(|| format!("`{word}` is not an operation; give read, write, trim or flush"))
    };
    if let Some(word) = fixed(value) {
        return kind(word).map(FieldValue::Fixed);
    }
    let (column, spellings) = column(value)?;
    let mut known = Vec::new();
    for spelling in spellings.into_iter().flat_map(|all| all.split(':')) {
        let Some((word, op)) = spelling.split_once('=') else {
            return Err(format!(
                "`{spelling}` is not SPELLING=OPERATION; write it as in op=3:1=read:0=write"
            ));
        };
        known.push((word.trim().to_owned(), kind(op.trim())?));
    }
    if let [(flag, op @ (Op::Read | Op::Write))] = known.as_slice()
        && let Some(other) = match flag.as_str() {
            "0" => Some("1"),
            "1" => Some("0"),
            _ => None,
        }
    {
        let op = if *op == Op::Read { Op::Write } else { Op::Read };
        known.push((other.to_owned(), op));
    }
    Ok(FieldValue::Column(column, known))
}

fn volume_column(value: &str) -> Result<FieldValue<u32, bool>, String> {
    if let Some(number) = fixed(value) {
        return number.parse().map(FieldValue::Fixed).map_err(|_| {
            format!("`{number}` is not a volume number; give a whole number, as in volume=fixed:3")
        });
    }
    match column(value)? {
        (column, None) => Ok(FieldValue::Column(column, false)),
        (column, Some("names")) => Ok(FieldValue::Column(column, true)),
        (_, Some(unit)) => Err(format!(
            "`{unit}` is unknown; write `names` if volumes have names, or leave it out if they have numbers"
        )),
    }
}

fn delimiter_byte(word: &str) -> Result<u8, String> {
    Ok(match word {
        "comma" => b',',
        "tab" => b'\t',
        "semicolon" => b';',
        "space" => b' ',
        _ => {
            return Err(format!(
                "`{word}` is not a delimiter; give comma, tab, semicolon or space"
            ));
        }
    })
}

/// Returns the operation of a word, and whether it is a durable write.
pub(super) fn spelled(word: &[u8]) -> Option<(Op, bool)> {
    const WORDS: [(&str, Op); 14] = [
        ("r", Op::Read),
        ("w", Op::Write),
        ("read", Op::Read),
        ("write", Op::Write),
        ("rd", Op::Read),
        ("wr", Op::Write),
        ("rs", Op::Read),
        ("ws", Op::Write),
        ("trim", Op::Trim),
        ("discard", Op::Trim),
        ("unmap", Op::Trim),
        ("d", Op::Trim),
        ("flush", Op::Flush),
        ("f", Op::Flush),
    ];
    if word.eq_ignore_ascii_case(b"write-fua") {
        return Some((Op::Write, true));
    }
    let found = WORDS
        .iter()
        .find(|(known, _)| word.eq_ignore_ascii_case(known.as_bytes()));
    found.map(|(_, op)| (*op, false))
}
