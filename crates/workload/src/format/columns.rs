//! Any table of text whose columns the user names: see [`Columns`].

use std::fmt;
use std::str::FromStr;

use super::{Line, Probe, Reader, Record, tick};
use crate::Op;
use crate::error::{Fault, shown};
use crate::fields::{Fields, Row, SECTOR};

const SHAPE: &str =
    "write FIELD=COLUMN:UNIT between commas, as in time=1:us,offset=4:sectors,bytes=5,op=3";
const KNOWN: &str = "time, offset, bytes, op, volume, delimiter";
const FIXED: &str = "fixed";
const LAST_COLUMN: usize = 10_000;

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

impl FromStr for Columns {
    type Err = String;
    /// The error is one line that names the item and what is known.
    fn from_str(given: &str) -> Result<Self, String> {
        let mut parts: [Option<&str>; 6] = [None; 6];
        for item in given.split(',') {
            let Some((field, value)) = item.split_once('=') else {
                return Err(format!("columns: `{item}` is no FIELD=COLUMN; {SHAPE}"));
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

/// A column, and what stands behind its colon.
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
            "the column {name} is not 1 to {LAST_COLUMN}; columns count from 1"
        )),
    }
}

/// What stands behind `fixed:`.
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
            let what = other.map_or("its unit is missing".to_owned(), |unit| {
                format!("`{unit}` is no unit of time")
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

/// The bytes of a unit, or of a size.
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
            "`{unit}` is no unit; give bytes, sectors, KiB, MiB, or the size of a page such as 4096, 4k or 16KiB"
        )),
    }
}

fn op_column(value: &str) -> Result<FieldValue<Op, Vec<(String, Op)>>, String> {
    let kind = |word: &str| {
        spelled(word.as_bytes())
            .map(|(op, _)| op)
            .ok_or_else(|| format!("`{word}` is not read, write, trim or flush"))
    };
    if let Some(word) = fixed(value) {
        return kind(word).map(FieldValue::Fixed);
    }
    let (column, spellings) = column(value)?;
    let mut known = Vec::new();
    for spelling in spellings.into_iter().flat_map(|all| all.split(':')) {
        let Some((word, op)) = spelling.split_once('=') else {
            return Err(format!(
                "`{spelling}` is no SPELLING=OPERATION; write it as in op=3:1=read:0=write"
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
        return number
            .parse()
            .map(FieldValue::Fixed)
            .map_err(|_| format!("`{number}` is no number of a volume"));
    }
    match column(value)? {
        (column, None) => Ok(FieldValue::Column(column, false)),
        (column, Some("names")) => Ok(FieldValue::Column(column, true)),
        (_, Some(unit)) => Err(format!(
            "`{unit}` is unknown; give names, or leave it out if volumes are numbers"
        )),
    }
}

fn delimiter_byte(word: &str) -> Result<u8, String> {
    Ok(match word {
        "comma" => b',',
        "tab" => b'\t',
        "semicolon" => b';',
        "space" => b' ',
        _ => return Err(format!("`{word}` is not comma, tab, semicolon or space")),
    })
}

/// The operation of a word, and whether it is a durable write.
fn spelled(word: &[u8]) -> Option<(Op, bool)> {
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

/// What a column holds.
#[derive(Clone, Copy, Debug)]
enum Role {
    None,
    Time(u32),
    Offset(u64),
    Bytes(u64),
    Op,
    Volume,
    Name,
}

struct Table<const SEPARATOR: u8> {
    /// Of the columns, up to the last that is needed.
    roles: Vec<Role>,
    tick_ps: u64,
    /// As it stands in the file.
    header: Option<Box<[u8]>>,
    /// What a line says where it has no column.
    blank: Record,
    spellings: Vec<(Box<[u8]>, Op)>,
    op_column: String,
    names: Vec<Box<[u8]>>,
}

impl Columns {
    /// The unit of the time stamps; empty if there are none.
    pub(crate) fn time_unit(&self) -> &'static str {
        self.time.as_ref().map_or("", |(_, unit)| unit.name)
    }

    /// A reader of a file that begins as `probe` does, or what is wrong with it and what to do.
    pub(crate) fn reader(&self, probe: &Probe) -> Result<Box<dyn Reader>, (String, String)> {
        let first = probe.lines().next().unwrap_or_default();
        let told = |byte: &u8| first.contains(byte);
        let delimiter = self
            .delimiter
            .or_else(|| b"\t;,".iter().copied().find(told));
        Ok(match delimiter.unwrap_or(b' ') {
            b'\t' => Box::new(self.table::<b'\t'>(first)?),
            b';' => Box::new(self.table::<b';'>(first)?),
            b',' => Box::new(self.table::<b','>(first)?),
            _ => Box::new(self.table::<b' '>(first)?),
        })
    }

    fn table<const SEPARATOR: u8>(
        &self,
        first: &[u8],
    ) -> Result<Table<SEPARATOR>, (String, String)> {
        let header = header::<SEPARATOR>(first);
        let mut roles: Vec<(usize, Role)> = Vec::new();
        let mut named = false;
        let mut place = |column: &Column, role| -> Result<(), (String, String)> {
            let at = match column {
                Column::Number(number) => *number,
                Column::Name(name) => {
                    named = true;
                    find(&header, name)?
                }
            };
            if roles.iter().any(|(other, _)| *other == at) {
                let reason = format!("column {} is asked for twice", at + 1);
                return Err((
                    reason,
                    format!("--columns {self}: name one column for each field"),
                ));
            }
            roles.push((at, role));
            Ok(())
        };
        if let Some((column, unit)) = &self.time {
            place(column, Role::Time(unit.places))?;
        }
        place(&self.offset.0, Role::Offset(self.offset.1))?;
        let mut blank = Record {
            ticks: 0,
            offset: 0,
            bytes: 0,
            volume: 0,
            op: Op::Read,
            fua: false,
        };
        match &self.bytes {
            FieldValue::Fixed(bytes) => blank.bytes = *bytes,
            FieldValue::Column(column, unit) => place(column, Role::Bytes(*unit))?,
        }
        let mut spellings = Vec::new();
        match &self.op {
            FieldValue::Fixed(op) => blank.op = *op,
            FieldValue::Column(column, known) => {
                place(column, Role::Op)?;
                spellings = known
                    .iter()
                    .map(|(word, op)| (word.as_bytes().into(), *op))
                    .collect();
            }
        }
        match &self.volume {
            FieldValue::Fixed(number) => blank.volume = *number,
            FieldValue::Column(column, false) => place(column, Role::Volume)?,
            FieldValue::Column(column, true) => place(column, Role::Name)?,
        }
        let last = roles.iter().map(|(at, _)| *at).max().unwrap_or(0);
        let mut all = vec![Role::None; last + 1];
        for (at, role) in roles {
            all[at] = role;
        }
        let mut table = Table {
            roles: all,
            tick_ps: self.time.as_ref().map_or(0, |(_, unit)| unit.tick_ps),
            header: None,
            blank,
            spellings,
            op_column: match &self.op {
                FieldValue::Column(Column::Number(number), _) => (number + 1).to_string(),
                FieldValue::Column(Column::Name(name), _) => name.clone(),
                FieldValue::Fixed(_) => String::new(),
            },
            names: Vec::new(),
        };
        if named || table.is_words(first) {
            table.header = Some(first.into());
        }
        Ok(table)
    }
}

/// The names in a header, without the sign of a comment and quotes.
fn header<const SEPARATOR: u8>(line: &[u8]) -> Vec<String> {
    let line = line.trim_ascii_start();
    let line = line.strip_prefix(b"#").unwrap_or(line);
    let mut fields: Fields<SEPARATOR> = Row::new(line);
    let mut names = Vec::new();
    while let Ok(field) = fields.text("") {
        let name = unquoted(field);
        names.push(String::from_utf8_lossy(name).into_owned());
    }
    names
}

fn unquoted(field: &[u8]) -> &[u8] {
    let field = field.trim_ascii();
    let inner = field
        .strip_prefix(b"\"")
        .and_then(|field| field.strip_suffix(b"\""));
    inner.map_or(field, <[u8]>::trim_ascii)
}

/// The place of a name in a header: as it stands there, else in either case if that is one.
fn find(header: &[String], name: &str) -> Result<usize, (String, String)> {
    if let Some(at) = header.iter().position(|known| known == name) {
        return Ok(at);
    }
    let mut alike = (0..header.len()).filter(|at| header[*at].eq_ignore_ascii_case(name));
    if let (Some(at), None) = (alike.next(), alike.next()) {
        return Ok(at);
    }
    let known: Vec<String> = header.iter().map(|known| shown(known.as_bytes())).collect();
    Err((
        format!("the first line names no column `{name}`"),
        format!(
            "give one of {}, or the column's number from 1",
            known.join(", ")
        ),
    ))
}

impl<const SEPARATOR: u8> Table<SEPARATOR> {
    /// Whether no column of a line that should be a number is one: then it is a header.
    fn is_words(&self, line: &[u8]) -> bool {
        let mut fields: Fields<SEPARATOR> = Row::new(line);
        let numeric =
            |role: &Role| matches!(role, Role::Time(_) | Role::Offset(_) | Role::Bytes(_));
        self.roles.iter().all(|role| {
            let field = fields.text("").unwrap_or_default();
            !numeric(role)
                || !unquoted(field)
                    .first()
                    .is_some_and(|byte| byte.is_ascii_digit() || *byte == b'-' || *byte == b'.')
        })
    }

    #[inline]
    fn op(&self, field: &[u8]) -> Result<(Op, bool), String> {
        for (word, op) in &self.spellings {
            if **word == *field {
                return Ok((*op, false));
            }
        }
        match field {
            [b'R' | b'r'] => Ok((Op::Read, false)),
            [b'W' | b'w'] => Ok((Op::Write, false)),
            _ => self.other_op(field),
        }
    }

    #[cold]
    fn other_op(&self, field: &[u8]) -> Result<(Op, bool), String> {
        let word = unquoted(field);
        let given = self
            .spellings
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(word));
        if let Some((_, op)) = given {
            return Ok((*op, false));
        }
        spelled(word).ok_or_else(|| {
            let (column, shown) = (&self.op_column, shown(word));
            let example = String::from_utf8_lossy(word)
                .chars()
                .take(8)
                .collect::<String>();
            format!(
                "the operation {shown} is unknown; say what it is, as in op={column}:{example}=read"
            )
        })
    }

    /// Of a line that ends before the last column that is needed.
    #[cold]
    fn short(&self, fault: &Fault) -> Fault {
        let last = self.roles.len();
        let bytes = matches!(self.roles.last(), Some(Role::Bytes(_)));
        let hint = if bytes {
            format!("; what all lines share is fixed, as in bytes=fixed:{last}")
        } else {
            String::new()
        };
        Fault {
            column: fault.column,
            reason: format!("the line ends before column {last}, which --columns asks for{hint}"),
            stamp: None,
        }
    }

    #[inline]
    fn name(&mut self, field: &[u8]) -> u32 {
        let known = self.names.iter().position(|known| **known == *field);
        known.unwrap_or_else(|| {
            self.names.push(field.into());
            self.names.len() - 1
        }) as u32
    }

    #[inline]
    fn record(&mut self, fields: &mut Fields<'_, SEPARATOR>) -> Result<Record, Fault> {
        let mut record = self.blank;
        for at in 0..self.roles.len() {
            match self.roles[at] {
                Role::None => fields.skip("column").map_err(|fault| self.short(&fault))?,
                Role::Time(places) => record.ticks = fields.decimal("time stamp", places)?,
                Role::Offset(unit) => record.offset = fields.units("offset", unit)?,
                Role::Bytes(unit) => record.bytes = fields.units("size", unit)?,
                Role::Op => {
                    let op = self.op(fields.text("operation")?);
                    (record.op, record.fua) = op.or_else(|reason| fields.fault(reason))?;
                }
                Role::Volume => record.volume = fields.number32("volume")?,
                Role::Name => record.volume = self.name(fields.text("volume")?),
            }
        }
        if record.op == Op::Flush {
            (record.offset, record.bytes) = (0, 0);
        }
        Ok(record)
    }
}

impl<const SEPARATOR: u8> Line for Table<SEPARATOR> {
    const TICK_PS: u64 = 0;
    type Fields<'a> = Fields<'a, SEPARATOR>;

    fn tick(&self) -> u64 {
        self.tick_ps
    }

    #[inline]
    fn parse(&mut self, fields: &mut Fields<'_, SEPARATOR>) -> Result<Option<Record>, Fault> {
        match self.record(fields) {
            Ok(record) => Ok(Some(record)),
            Err(_) if self.header.as_deref() == Some(fields.line()) || fields.begin(b"#") => {
                Ok(None)
            }
            Err(fault) => Err(fault),
        }
    }
}
