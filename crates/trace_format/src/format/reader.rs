//! Reads a file record by record, binary or text.

use super::{Origin, Placed, Record, UNSTATED};
use crate::error::Fault;
use crate::fields::Row;
use crate::input::{Input, Stop};

/// Maximum number of records read at a time.
pub(super) const BATCH: usize = 64;

/// Reader of the records of one file.
pub trait Reader: Send {
    /// Returns the length of a tick in picoseconds; 0 for a format without times.
    fn tick_ps(&self) -> u64;
    /// Returns the start of the file's clock.
    fn origin(&self) -> Origin {
        Origin::First
    }
    /// Keeps response times. Without this call, formats drop response times if reading them is
    /// slower.
    fn keep_responses(&mut self) {}
    /// Appends the next records to `records`, which must be empty: at least one unless the file
    /// ends, and further ones that are already in memory. On a fault, `records` has the records
    /// before it.
    fn read(&mut self, input: &mut Input, records: &mut Vec<Placed>) -> Result<(), Stop>;
}

/// Parser of the records of a binary format.
pub(crate) trait Piece: Send {
    const TICK_PS: u64;
    /// Length of a record. Bytes.
    const LENGTH: usize;
    /// Consumes the header before the first record.
    fn head(&mut self, _input: &mut Input) -> Result<(), Stop> {
        Ok(())
    }
    fn parse(&mut self, record: &[u8]) -> Result<Record, Fault>;
}

/// Reader of a binary format.
pub(crate) struct Pieces<P> {
    piece: P,
    begun: bool,
}

impl<P> Pieces<P> {
    pub(crate) fn new(piece: P) -> Self {
        Self {
            piece,
            begun: false,
        }
    }
}

impl<P: Piece> Reader for Pieces<P> {
    fn tick_ps(&self) -> u64 {
        P::TICK_PS
    }
    fn read(&mut self, input: &mut Input, records: &mut Vec<Placed>) -> Result<(), Stop> {
        if !self.begun {
            self.begun = true;
            self.piece.head(input)?;
        }
        while records.is_empty() || (records.len() < BATCH && input.holds_record(P::LENGTH)) {
            let Some(bytes) = input.record(P::LENGTH)? else {
                break;
            };
            let record = self.piece.parse(bytes)?;
            let place = input.place();
            records.push(Placed { record, place });
        }
        Ok(())
    }
}

/// Parser of the lines of a text format. Implements [`Reader`].
pub(crate) trait Line: Send {
    const TICK_PS: u64;
    const ORIGIN: Origin = Origin::First;
    /// Fields into which a line is divided.
    type Fields<'a>: Row<'a>;
    /// Returns the length of a tick in picoseconds. Overridden by formats whose unit of time the
    /// user gives.
    fn tick(&self) -> u64 {
        Self::TICK_PS
    }
    /// Returns `true` if times are meaningful. Overridden by formats that decide this from the
    /// start of the file.
    fn timed(&self) -> bool {
        true
    }
    /// Keeps response times; see [`Reader::keep_responses`].
    fn with_responses(&mut self) {}
    /// Parses a time stamp beyond 64 bits. Returns `None` for formats whose ticks cover all times.
    fn far(_field: &[u8]) -> Option<i128> {
        None
    }
    /// Parses a line; `None` if it is not a request.
    fn parse(&mut self, fields: &mut Self::Fields<'_>) -> Result<Option<Record>, Fault>;
    /// Returns the second request of the line parsed last; `None` if the line has only one.
    #[inline]
    fn rest(&mut self) -> Option<Record> {
        None
    }
}

impl<L: Line> Reader for L {
    fn tick_ps(&self) -> u64 {
        if self.timed() { self.tick() } else { 0 }
    }
    fn origin(&self) -> Origin {
        L::ORIGIN
    }
    fn keep_responses(&mut self) {
        self.with_responses();
    }
    fn read(&mut self, input: &mut Input, records: &mut Vec<Placed>) -> Result<(), Stop> {
        let (untimed, keeps_far) = (input.untimed, input.keeps_far);
        while records.is_empty() || (records.len() < BATCH && input.holds_line()) {
            let Some(text) = input.text()? else {
                break;
            };
            if let Some(length) = empty_line(text) {
                input.take_line(length);
                continue;
            }
            let (parsed, length) = {
                let mut fields = L::Fields::at(text);
                (self.parse(&mut fields), fields.length())
            };
            let mut far = None;
            let parsed = match parsed {
                Err(fault) if untimed || keeps_far => {
                    let line = &text[..length];
                    far = far_time::<L>(line, &fault).filter(|_| keeps_far);
                    if untimed || far.is_some() {
                        without_time(self, line, fault)
                    } else {
                        Err(fault)
                    }
                }
                parsed => parsed,
            };
            input.take_line(length);
            if let Some(ticks) = far {
                input.far.push((records.len(), ticks));
            }
            let Some(record) = parsed? else {
                input.ignored += 1;
                continue;
            };
            let place = input.place();
            records.push(Placed { record, place });
            records.extend(self.rest().map(|record| Placed { record, place }));
        }
        Ok(())
    }
}

/// Returns the time of a line whose time stamp is beyond 64 bits; `None` if another field is at
/// fault.
#[cold]
fn far_time<L: Line>(line: &[u8], fault: &Fault) -> Option<i128> {
    let stamp = fault.stamp.filter(|stamp| stamp.beyond)?;
    L::far(&line[stamp.start..stamp.start + stamp.length])
}

/// Parses a line without its time. Fails if more than the time is at fault.
#[cold]
fn without_time<L: Line>(
    format: &mut L,
    line: &[u8],
    fault: Fault,
) -> Result<Option<Record>, Fault> {
    let Some(stamp) = fault.stamp else {
        return Err(fault);
    };
    let (before, behind) = (&line[..stamp.start], &line[stamp.start + stamp.length..]);
    let line = [before, b"0", behind].concat();
    let record = format.parse(&mut L::Fields::at(&line))?;
    Ok(record.map(|record| Record {
        ticks: UNSTATED,
        ..record
    }))
}

/// Returns the length, including its end, of the first line of a text if that line is empty.
#[inline]
fn empty_line(text: &[u8]) -> Option<usize> {
    match text {
        [b'\n', ..] | [b'\r'] => Some(1),
        [b'\r', b'\n', ..] => Some(2),
        _ => None,
    }
}
