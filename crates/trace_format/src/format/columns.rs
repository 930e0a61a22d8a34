//! Any table of text whose columns the user names: see [`Columns`].

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

/// What the columns of a table mean: `time=1:us,offset=4:sectors,bytes=5,op=3:1=read`.
///
/// Between commas stands `FIELD=COLUMN`, with what the column counts in behind a colon. A column is its number
/// from 1 or its name in the header. Fields:
///
/// - `time` in `s`, `ms`, `us`, `ns`, `ps` or `filetime` (100 ns), with decimals or without, kept to the
///   nanosecond (`ps`: whole picoseconds); may be left out
/// - `offset` and `bytes` in `bytes` (if nothing is said), `sectors` (of 512 bytes), `KiB`, `MiB` or pages of a
///   size such as `4096`, `4k` or `16KiB`
/// - `op`: R, W, read, write, trim, discard, flush and the like in either case; other spellings are given, as
///   in `op=3:1=read:0=write`. Of 0 and 1, one says it for both
/// - `volume`: a number, or `names`, which are numbered from 0 in order of appearance; may be left out
///
/// What is the same in all lines is `fixed`: `bytes=fixed:4096`, `op=fixed:write`, `volume=fixed:3`. The delimiter
/// is the tab, semicolon or comma of the first line, else white space; `delimiter=space` (`tab`,
/// `semicolon`, `comma`) says it.
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

/// A field: the same in all lines, or in a column, with what is to know about that.
#[derive(Clone, Debug, PartialEq, Eq)]
enum FieldValue<T, U = T> {
    Fixed(T),
    Column(Column, U),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Column {
    /// From 0.
    Number(usize),
    Name(String),
}

/// Of time stamps, with the decimals that are kept.
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

/// Without columns a table cannot be told from another.
pub(super) fn detect(_: &Probe) -> bool {
    false
}

/// What is opened without columns is refused before: see [`Columns::reader`].
pub(super) fn open(_: &Probe) -> Box<dyn Reader> {
    Box::new(Unnamed)
}

/// A table whose columns nobody named.
struct Unnamed;

impl Line for Unnamed {
    const TICK_PS: u64 = 0;
    type Fields<'a> = Fields<'a, b','>;
    fn parse(&mut self, _: &mut Fields<'_, b','>) -> Result<Option<Record>, Fault> {
        Err(Fault::new(format!(
            "what its columns mean is not said; pass --columns, and {SHAPE}"
        )))
    }
}
