//! Reads and writes, as flags and words.

use crate::error::{Fault, shown};
use crate::fields::Fields;
use wordline_block::Op;

/// Parses the next field as a flag of 0 or 1 that stands for read or write.
#[inline(always)]
pub(super) fn flag<const SEPARATOR: u8>(
    fields: &mut Fields<SEPARATOR>,
    one: Op,
    zero: Op,
) -> Result<Op, Fault> {
    match fields.number("flag")? {
        1 => Ok(one),
        0 => Ok(zero),
        value => fields.fault(format!("the flag is {value}, neither 0 nor 1")),
    }
}

/// Parses a word for read or write: its first letter or the whole word.
#[inline]
pub(super) fn word(field: &[u8]) -> Result<Op, String> {
    match field {
        [b'R' | b'r'] | b"Read" => Ok(Op::Read),
        [b'W' | b'w'] | b"Write" => Ok(Op::Write),
        _ => other_word(field),
    }
}

#[cold]
fn other_word(field: &[u8]) -> Result<Op, String> {
    match field {
        _ if field.eq_ignore_ascii_case(b"read") => Ok(Op::Read),
        _ if field.eq_ignore_ascii_case(b"write") => Ok(Op::Write),
        _ => Err(format!(
            "the operation is {}, neither read nor write",
            shown(field)
        )),
    }
}
