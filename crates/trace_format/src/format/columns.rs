//! Text tables with columns that the user describes: see [`Columns`].

mod given;
mod header;
mod table;

use std::fmt;

use super::{Line, Probe, Reader, Record};
use crate::error::Fault;
use crate::fields::Fields;
use wordline_block::Op;

const SHAPE: &str =
    "write FIELD=COLUMN:UNIT between commas, as in time=1:us,offset=4:sectors,bytes=5,op=3";

/// Description of a table's columns, such as `time=1:us,offset=4:sectors,bytes=5,op=3:1=read`.
///
/// The items `FIELD=COLUMN` are separated by commas. A unit or another detail follows after a
/// colon. A column is given by its number from 1 or by its name in the header. Fields:
///
/// - `time` in `s`, `ms`, `us`, `ns`, `ps` or `filetime` (100 ns), with decimals or without, kept
///   to the nanosecond (`ps` and `filetime`: whole units); may be left out
/// - `offset` and `bytes` in `bytes` (the default), `sectors` (of 512 bytes), `KiB`, `MiB` or pages
///   of a size such as `4096`, `4k` or `16KiB`
/// - `op`: R, W, read, write, trim, discard, flush and similar words in either case; other
///   spellings are given, as in `op=3:1=read:0=write`. If only one of 0 and 1 is given, the other
///   is the opposite operation
/// - `volume`: a number, or `names`, which are numbered from 0 in order of appearance; may be left
///   out
///
/// A field that is the same in all lines is `fixed`: `bytes=fixed:4096`, `op=fixed:write`,
/// `volume=fixed:3`. The delimiter is the tab, semicolon or comma of the first line, otherwise
/// white space; `delimiter=space` (`tab`, `semicolon`, `comma`) sets it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Columns {
    given: String,
    time: Option<(Column, TimeUnit)>,
    offset: (Column, u64),
    bytes: FieldValue<u64>,
    op: FieldValue<Op, Vec<(String, Op)>>,
    volume: FieldValue<u32, bool>,
    delimiter: Option<u8>,
}

/// Value of a field: the same in all lines, or read from a column, with details about the column.
#[derive(Clone, Debug, PartialEq, Eq)]
enum FieldValue<T, U = T> {
    Fixed(T),
    Column(Column, U),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Column {
    /// Index of the column, from 0.
    Number(usize),
    Name(String),
}

/// Unit of time stamps, with the number of decimals that are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TimeUnit {
    name: &'static str,
    places: u32,
    tick_ps: u64,
}

impl fmt::Display for Columns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.given)
    }
}

/// A table is never detected, because only the user's description defines its columns.
pub(super) fn detect(_: &Probe) -> bool {
    false
}

/// Returns a reader that refuses every line, because its columns are not described. For a described
/// table, see [`Columns::reader`].
pub(super) fn open(_: &Probe) -> Box<dyn Reader> {
    Box::new(Unnamed)
}

/// Reader of a table whose columns are not described.
struct Unnamed;

impl Line for Unnamed {
    const TICK_PS: u64 = 0;
    type Fields<'a> = Fields<'a, b','>;
    fn parse(&mut self, _: &mut Fields<'_, b','>) -> Result<Option<Record>, Fault> {
        Err(Fault::new(format!(
            "the columns of the table are not described; pass --columns, and {SHAPE}"
        )))
    }
}
