//! Reads a text table whose columns the user describes ([`Columns`]).

use super::super::{Line, Probe, Reader, Record};
use super::given::spelled;
use super::header::{find, header, unquoted};
use super::{Column, Columns, FieldValue};
use crate::error::{Fault, shown};
use crate::fields::{Fields, Row};
use wordline_block::Op;

/// Content of a column.
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
    /// Roles of the columns, up to the last column that is needed.
    roles: Vec<Role>,
    tick_ps: u64,
    /// Header line as in the file.
    header: Option<Box<[u8]>>,
    /// Record with the values of fields that have no column.
    blank: Record,
    spellings: Vec<(Box<[u8]>, Op)>,
    op_column: String,
    names: Vec<Box<[u8]>>,
}

impl Columns {
    /// Returns the unit of the time stamps; empty if the table has none.
    pub fn time_unit(&self) -> &'static str {
        self.time.as_ref().map_or("", |(_, unit)| unit.name)
    }

    /// Returns a reader of a file that starts with `probe`. On failure, returns the reason and the
    /// remedy.
    pub fn reader(&self, probe: &Probe) -> Result<Box<dyn Reader>, (String, String)> {
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
                let reason = format!("column {} is used for two fields", at + 1);
                return Err((
                    reason,
                    format!("name a separate column for each field in --columns {self}"),
                ));
            }
            roles.push((at, role));
            Ok(())
        };
        if let Some((column, unit)) = &self.time {
            place(column, Role::Time(unit.places))?;
        }
        place(&self.offset.0, Role::Offset(self.offset.1))?;
        let mut blank = Record::plain(0, Op::Read, 0, 0, 0);
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

impl<const SEPARATOR: u8> Table<SEPARATOR> {
    /// Returns `true` if no numeric column of the line contains a number, so that the line is a
    /// header.
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
            format!("the operation {shown} is unknown; define it, as in op={column}:{example}=read")
        })
    }

    /// Returns the fault for a line that ends before the last column that is needed.
    #[cold]
    fn short(&self, fault: &Fault) -> Fault {
        let last = self.roles.len();
        let bytes = matches!(self.roles.last(), Some(Role::Bytes(_)));
        let hint = if bytes {
            format!(
                "; if all lines have the same value, give it as fixed, as in bytes=fixed:{last}"
            )
        } else {
            String::new()
        };
        Fault {
            column: fault.column,
            reason: format!("the line ends before column {last}, which --columns requires{hint}"),
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
