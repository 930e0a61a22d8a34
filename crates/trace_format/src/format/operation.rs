//! Parses reads and writes given as flags or words.

use crate::error::{Fault, shown};
use crate::fields::Fields;
use wordline_block::Op;

/// Parses the next field as a flag: 1 means `one`, and 0 means `zero`.
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

/// Parses a word for read or write, which is the first letter or the whole word.
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
