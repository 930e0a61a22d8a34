//! Default text output of blkparse. Columns: device `major,minor`, processor, sequence number, time
//! in seconds, process, action, RWBS letters, then `sector + sectors [command]`. A summary follows
//! at the end.
//!
//! Requests are the `Q` events (queued by the application) if the start of the file has any,
//! otherwise the `D` events (dispatched to the device), otherwise the `C` events (completed). The
//! RWBS letters D (discard), R (read) and W (write) give the operation. F without a range is a
//! flush, and N without a range is not a request. With a range, F before the operation is a flush
//! that precedes it (`REQ_PREFLUSH`), so that the event is two requests; F after a W makes the
//! write durable (`REQ_FUA`). The other letters (S, A, M, V, E) are flags. The volume is the Linux
//! device number: major times 2^20 plus minor.

use super::{Line, Probe, Reader, Record, is_number, tick};
use crate::error::{Fault, shown};
use crate::fields::{Blanks, Row, SECTOR, parse_number};
use wordline_block::Op;

const MINOR_BITS: u32 = 20;
const MAJOR_LIMIT: u64 = 1 << (32 - MINOR_BITS);
/// Actions that can represent requests, in order of preference.
const ACTIONS: [u8; 3] = [b'Q', b'D', b'C'];

struct Blkparse {
    /// Device of the previous event as text; `volume` is its number.
    device: Box<[u8]>,
    volume: u32,
    action: u8,
    summary: bool,
    /// Request that follows the flush of the same event.
    rest: Option<Record>,
}

/// Splits a device into its major and minor number.
fn device(field: &[u8]) -> Option<(&[u8], &[u8])> {
    let comma = field.iter().position(|&byte| byte == b',')?;
    let (major, minor) = (&field[..comma], &field[comma + 1..]);
    (is_number(major) && is_number(minor)).then_some((major, minor))
}

/// Returns the action of a line that is an event.
fn action_of(line: &[u8]) -> Option<u8> {
    let mut fields = Blanks::new(line);
    device(fields.text("").ok()?)?;
    for _ in 0..4 {
        fields.skip("").ok()?;
    }
    match fields.text("").ok()? {
        [action] => Some(*action),
        _ => None,
    }
}

pub(super) fn detect(probe: &Probe) -> bool {
    probe.most(|line| action_of(line).is_some())
}

pub(super) fn open(probe: &Probe) -> Box<dyn Reader> {
    let there = |action: &u8| probe.lines().any(|line| action_of(line) == Some(*action));
    let action = ACTIONS.into_iter().find(there).unwrap_or(ACTIONS[0]);
    Box::new(Blkparse::new(action))
}

/// Returns the operation of the RWBS letters; `None` if the event is not a request.
fn operation(letters: &[u8], ranged: bool) -> Result<Option<Op>, String> {
    let bit = |letter: u8| 1_u32 << (letter - b'A');
    let mut set = 0;
    for &letter in letters {
        set |= match letter {
            b'D' | b'R' | b'W' | b'F' | b'N' | b'S' | b'A' | b'M' | b'V' | b'E' => bit(letter),
            unknown => {
                let shown = shown(&[unknown]);
                return Err(format!("the letter {shown} of RWBS is unknown"));
            }
        };
    }
    let has = |letter| set & bit(letter) != 0;
    Ok(if !ranged && has(b'F') {
        Some(Op::Flush)
    } else if has(b'D') {
        Some(Op::Trim)
    } else if has(b'R') {
        Some(Op::Read)
    } else if has(b'W') {
        Some(Op::Write)
    } else {
        None
    })
}

/// Returns whether a flush precedes the operation, and whether the operation is a durable write.
fn durability(letters: &[u8]) -> (bool, bool) {
    let place = |letter| letters.iter().position(|other| *other == letter);
    let before = letters.first() == Some(&b'F');
    let behind = |write: usize| letters[write..].contains(&b'F');
    (before, place(b'W').is_some_and(behind))
}

impl Blkparse {
    fn new(action: u8) -> Self {
        Self {
            device: Box::default(),
            volume: 0,
            action,
            summary: false,
            rest: None,
        }
    }

    #[inline]
    fn volume(&mut self, field: &[u8]) -> Result<u32, String> {
        if *self.device != *field || field.is_empty() {
            self.volume = Self::other_volume(field)?;
            self.device = field.into();
        }
        Ok(self.volume)
    }

    #[cold]
    fn other_volume(field: &[u8]) -> Result<u32, String> {
        let (major, minor) = device(field)
            .ok_or_else(|| format!("the device is {}, not `major,minor`", shown(field)))?;
        let (major, minor) = (parse_number(major), parse_number(minor));
        match (major, minor) {
            (Ok(major), Ok(minor)) if major < MAJOR_LIMIT && minor >> MINOR_BITS == 0 => {
                Ok((major << MINOR_BITS | minor) as u32)
            }
            _ => Err(format!(
                "the device {} exceeds the maximum of 4095,1048575",
                shown(field)
            )),
        }
    }

    /// Returns `true` if the summary starts with this line or started before.
    fn in_summary(&mut self, fields: &Blanks) -> bool {
        self.summary |= fields.begin(b"CPU") || fields.begin(b"Total (");
        self.summary
    }
}

/// Returns the offset and size in bytes; `None` if the event has no range.
fn range(fields: &mut Blanks) -> Result<Option<(u64, u64)>, Fault> {
    let mut behind = *fields;
    if !behind.is(is_number) || behind.text("") != Ok(&b"+"[..]) {
        return Ok(None);
    }
    let offset = fields.units("sector", SECTOR)?;
    fields.skip("plus sign")?;
    let bytes = fields.units("number of sectors", SECTOR)?;
    Ok(Some((offset, bytes)))
}

impl Line for Blkparse {
    const TICK_PS: u64 = tick::NS;
    type Fields<'a> = Blanks<'a>;

    fn parse(&mut self, fields: &mut Blanks<'_>) -> Result<Option<Record>, Fault> {
        if self.in_summary(fields) {
            return Ok(None);
        }
        let volume = self
            .volume(fields.text("device")?)
            .or_else(|reason| fields.fault(reason))?;
        fields.skip("processor")?;
        fields.skip("sequence number")?;
        let ticks = fields.decimal("time stamp", 9)?;
        fields.skip("process")?;
        if fields.text("action")? != [self.action] {
            return Ok(None);
        }
        let letters = fields.text("RWBS letters")?;
        let mut ahead = *fields;
        let range = range(&mut ahead)?.filter(|(_, bytes)| *bytes > 0 || !letters.contains(&b'F'));
        let op = operation(letters, range.is_some()).or_else(|reason| fields.fault(reason))?;
        let flush = Record::plain(ticks, Op::Flush, 0, 0, volume);
        match (op, range) {
            (Some(Op::Flush), _) => Ok(Some(flush)),
            (Some(op), Some((offset, bytes))) => {
                let (flushes, durable) = durability(letters);
                let record = Record {
                    offset,
                    bytes,
                    op,
                    fua: durable && op == Op::Write,
                    ..flush
                };
                if !flushes {
                    return Ok(Some(record));
                }
                self.rest = Some(record);
                Ok(Some(flush))
            }
            (Some(_), None) => {
                fields.skip("range")?;
                fields.fault("the range is not `sector + sectors`")
            }
            (None, _) => Ok(None),
        }
    }

    fn rest(&mut self) -> Option<Record> {
        self.rest.take()
    }
}

#[cfg(test)]
mod tests {
    use super::super::parsed;
    use super::*;

    fn of(line: &str) -> Result<Option<Record>, String> {
        parsed(Blkparse::new(b'D'), line)
    }

    #[test]
    fn rwbs_letters_give_the_operation() {
        let op = |letters: &str, range: &str| {
            let line = format!("  8,33  21  1  0.001003911  6742  D  {letters} {range}[db_bench]");
            of(&line).map(|record| record.map(|record| record.op))
        };
        for (letters, expected) in [
            ("R", Op::Read),
            ("RSM", Op::Read),
            ("RA", Op::Read),
            ("WS", Op::Write),
            ("WFSM", Op::Write),
            ("D", Op::Trim),
            ("DS", Op::Trim),
        ] {
            assert_eq!(op(letters, "4202624 + 8 "), Ok(Some(expected)), "{letters}");
        }
        assert_eq!(op("FWS", ""), Ok(Some(Op::Flush)));
        assert_eq!(op("FWS", "4202624 + 8 "), Ok(Some(Op::Flush)));
        assert_eq!(op("FN", "0 + 0 "), Ok(Some(Op::Flush)));
        assert_eq!(op("N", ""), Ok(None));
        assert_eq!(
            op("WQ", "1 + 8 ").unwrap_err(),
            "column 7: the letter `Q` of RWBS is unknown"
        );
        assert_eq!(
            op("W", "").unwrap_err(),
            "column 8: the range is not `sector + sectors`"
        );
    }

    #[test]
    fn preflush_and_fua_are_separated() {
        let asked = |letters: &str| {
            let mut events = Blkparse::new(b'Q');
            let line = format!("8,0 1 1 0.5 7 Q {letters} 64 + 8 [jbd2/sda]");
            let first = events.parse(&mut Blanks::new(line.as_bytes())).unwrap();
            let all = first.into_iter().chain(events.rest());
            all.map(|record| (record.op, record.bytes, record.fua))
                .collect::<Vec<_>>()
        };
        let flush = (Op::Flush, 0, false);
        let write = |fua| (Op::Write, 4096, fua);
        assert_eq!(asked("WS"), [write(false)]);
        assert_eq!(asked("WFS"), [write(true)]);
        assert_eq!(asked("FWS"), [flush, write(false)]);
        assert_eq!(asked("FWFSM"), [flush, write(true)]);
        assert_eq!(asked("RF"), [(Op::Read, 4096, false)]);
    }

    #[test]
    fn line_of_the_fillrandom_trace_is_parsed() {
        let expected = Record {
            ticks: 1_003_911,
            offset: 4_202_624 * 512,
            bytes: 4096,
            volume: (8 << 20) + 33,
            op: Op::Write,
            fua: false,
            response: Record::UNSTATED,
        };
        let line = "  8,33  21        2     0.001003911  6742  D  WS 4202624 + 8 [(null)]";
        assert_eq!(of(line), Ok(Some(expected)));
        assert_eq!(of(&line.replace("  D  ", "  C  ")), Ok(None));
        assert_eq!(of("CPU0 (8,33):"), Ok(None));
        assert_eq!(
            of("rubbish in the middle").unwrap_err(),
            "column 1: the device is `rubbish`, not `major,minor`"
        );
    }
}
