//! Trace formats: one file each, and one line in the list below.
//!
//! A format is told by the content of the file alone, never by its name: the first 64 KiB,
//! decompressed, are shown to `detect` of each format in the order of the list, and the first that
//! recognises them reads the file. Text formats go by the shape of the lines (number of columns,
//! words, decimal points), of which more than half must fit, so that a bad line is reported by the
//! reader, with its number.

use std::fmt;
use std::io::{self, Write};
use std::str::FromStr;

use serde::{Serialize, Serializer};

use crate::error::{Fault, Place};
use crate::fields::{Commas, Row};
use crate::input::{Input, Stop};
use crate::losses::Losses;
use crate::{Op, Request};

mod alibaba;
mod arc_lis;
mod biotracer;
mod blkparse;
mod blktrace;
mod columns;
mod diskmon;
mod disksim;
mod fio_iolog;
mod hil;
mod keys32le;
mod keys64le;
mod mqsim;
mod msr;
mod oracle_general;
mod pixel;
mod recognition;
mod spc;
mod srt;
mod ssdsim;
mod ssdsim_us;
mod systor;
mod tectonic;
mod tencent;
mod vscsi;
mod wordline;

macro_rules! formats {
    ($($Format:ident $name:literal $module:ident $extension:literal $unit:literal $sign:literal $description:literal,)+) => {
        /// A trace format.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Format {
            $(#[doc = $description] $Format,)+
        }

        impl Format {
            /// All formats, in the order in which they are tried.
            pub const ALL: &'static [Self] = &[$(Self::$Format),+];

            /// As `--format` and the results call it.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$Format => $name),+ }
            }
            /// The usual end of the file name, before that of the compression.
            pub const fn extension(self) -> &'static str {
                match self { $(Self::$Format => $extension),+ }
            }
            /// Its columns and their units.
            pub const fn description(self) -> &'static str {
                match self { $(Self::$Format => $description),+ }
            }
            /// The unit in which its files state times; empty if they state none.
            pub const fn time_unit(self) -> &'static str {
                match self { $(Self::$Format => $unit),+ }
            }
            /// What it is recognised by.
            pub const fn sign(self) -> &'static str {
                match self { $(Self::$Format => $sign),+ }
            }
            fn detects(self, probe: &Probe) -> bool {
                match self { $(Self::$Format => $module::detect(probe)),+ }
            }
            /// A reader from the first byte of a file that begins as `probe` does.
            pub(crate) fn reader(self, probe: &Probe) -> Box<dyn Reader> {
                match self { $(Self::$Format => $module::open(probe)),+ }
            }
        }
    };
}

// A format: its variant, name and file; the usual ending of its files; the unit in which they state times;
// what it is recognised by; and its columns.
formats! {
    Wordline "wordline" wordline ".csv" "ns" "its header" "Wordline's own CSV, lossless: the header `time_ns,op,offset_bytes,size_bytes,volume`, then ns (up to 3 decimals), read, write, write-fua (durable when it is done), trim or flush, offset (B), size (B), volume",
    FioIolog "fio-iolog" fio_iolog ".iolog" "us" "its first line" "fio iolog version 2 (no time but `wait`) or 3 (us)",
    Srt "srt" srt ".srt" "us" "its text header" "HP SRT 1.3 binary: text header up to 0x0C, then 14 big-endian 32-bit integers a record, blocks of 256 B",
    Vscsi "vscsi" vscsi ".vscsi" "us" "operation codes and versions of its 32-byte records" "VMware vscsi version 1 binary: 32 little-endian bytes a record",
    Blktrace "blktrace" blktrace ".blktrace" "ns" "the magic number in front of its records" "blktrace, its binary records in either byte order: Q events, or D events if there is no Q; files of several processors are joined with `blkparse -d`",
    Systor "systor" systor ".csv" "s" "its header, or six columns of that shape" "SYSTOR '17 CSV: s, response s, R/W, LUN, offset (B), size (B)",
    Tectonic "tectonic" tectonic ".csv" "s" "its header" "Meta Tectonic CSV of CacheBench: s, block id, length of it, size (B), offset (B), ..., operation, ...",
    Pixel "pixel" pixel ".csv" "s" "its header, or six columns of that shape" "Pixel 6a CSV: process, device, R/W, LBA (512 B), sectors, s",
    Msr "msr" msr ".csv" "100 ns" "seven columns of that shape" "MSR Cambridge CSV, with or without a header: time (100 ns), host, disk, Read/Write, offset (B), size (B), response time",
    Spc "spc" spc ".spc" "s" "five columns between commas, the fourth r or w" "SPC (UMass): ASU, LBA (512 B), size (B), r/w, s",
    Tencent "tencent" tencent ".csv" "s" "five whole numbers between commas" "Tencent CBS CSV: s, offset (512 B), sectors, 0 = read or 1 = write, volume",
    Alibaba "alibaba" alibaba ".csv" "us" "five columns between commas, the second R or W" "Alibaba Cloud block storage CSV: volume, R/W, offset (B), size (B), us",
    Diskmon "diskmon" diskmon ".diskmon" "s" "seven columns between tabs, the fifth Read or Write" "Sysinternals DiskMon: number, s, duration s, disk, Read/Write, LBA (512 B), sectors",
    Biotracer "biotracer" biotracer ".biotracer" "s" "eight columns, the last four with decimals" "BIOtracer (Nexus 5): LBA (512 B), sectors, bytes, type (odd = write), four times (s)",
    Blkparse "blkparse" blkparse ".blkparse" "s" "a device as major,minor in front, and RWBS letters" "blkparse, its default text: Q events, or D events if there is no Q",
    Hil "hil" hil ".hil" "ms" "five columns between tabs, the first with six decimals" "HIL FlashSim: ms with 6 decimals, device, LBA (512 B), 4-KiB pages, 1 = read; tabs",
    Disksim "disksim" disksim ".disksim" "ms" "five columns, the first with a decimal point" "DiskSim ASCII: ms, device, LBA (512 B), sectors, 1 = read",
    SsdsimUs "ssdsim-us" ssdsim_us ".ssdsim-us" "us" "five whole numbers that would ask for more than 8 GB/s if times were ns" "SSDsim's columns with microseconds: us, device, LBA (512 B), sectors, 1 = read",
    Mqsim "mqsim" mqsim ".mqsim" "ns" "five whole numbers that ask for no more than 8 GB/s if times are ns" "MQSim ASCII: ns, device, LBA (512 B), sectors, 1 = read",
    Ssdsim "ssdsim" ssdsim ".ssdsim" "ns" "the columns of mqsim" "SSDsim ASCII: the columns of mqsim, and detected as that",
    ArcLis "arc-lis" arc_lis ".lis" "" "four whole numbers" "ARC paper: first block (512 B), blocks, ignored, number; no time, all reads",
    OracleGeneral "oracle-general" oracle_general ".oracleGeneral" "s" "24-byte records whose times do not go back" "libCacheSim binary: s (32 bits), object (64), size (B, 32), next request (64), all little-endian; an object counts as a page of 4 KiB and is read",
    Keys64le "keys64le" keys64le ".keys64le" "" "64-bit numbers below 2^36" "64-bit little-endian numbers of 4-KiB blocks below 2^36, larger ones if it is named; no time, all reads",
    Keys32le "keys32le" keys32le ".keys32le" "" "32-bit numbers below 2^28" "32-bit little-endian numbers of 4-KiB blocks below 2^28; no time, all reads",
    Columns "columns" columns ".csv" "" "--columns" "Any table of text, with or without a header, if `--columns` says what its columns mean; never recognised",
}

pub use columns::Columns;
pub(crate) use recognition::{encoding, warning};

/// Where the key stands in a record of fixed length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    /// Bytes of a record.
    pub(crate) length: usize,
    width: Width,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Width {
    /// The record is the key.
    Four,
    /// The record is the key.
    Eight,
    /// The key is eight bytes from the fifth on.
    Inside,
}

impl Layout {
    /// Appends the keys of whole records.
    pub(crate) fn keys(self, records: &[u8], keys: &mut Vec<u64>) {
        match self.width {
            Width::Four => {
                let (records, _) = records.as_chunks();
                keys.extend(
                    records
                        .iter()
                        .map(|key| u64::from(u32::from_le_bytes(*key))),
                );
            }
            Width::Eight => {
                let (records, _) = records.as_chunks();
                keys.extend(records.iter().map(|key| u64::from_le_bytes(*key)));
            }
            Width::Inside => {
                let records = records.chunks_exact(self.length);
                keys.extend(records.map(|record| keys64le::little(&record[4..12])));
            }
        }
    }
}

impl Format {
    /// Whether its records are nothing but keys, of one page each.
    pub fn is_keys(self) -> bool {
        self.layout().is_some()
    }
    /// Where its keys stand, if its records are nothing but keys.
    pub(crate) fn layout(self) -> Option<Layout> {
        let (length, width) = match self {
            Self::Keys32le => (4, Width::Four),
            Self::Keys64le => (8, Width::Eight),
            Self::OracleGeneral => (24, Width::Inside),
            _ => return None,
        };
        Some(Layout { length, width })
    }
}

macro_rules! renderers {
    ($($Format:ident $module:ident,)+) => {
        impl Format {
            /// A writer of this format, if there is one.
            pub(crate) fn render(self, timed: bool) -> Option<Box<dyn Render>> {
                match self {
                    $(Self::$Format => Some($module::render(timed)),)+
                    _ => None,
                }
            }
        }
    };
}

renderers! {
    Wordline wordline,
    FioIolog fio_iolog,
    Msr msr,
    Spc spc,
    Alibaba alibaba,
    Disksim disksim,
    Mqsim mqsim,
}

impl Format {
    /// The format of a file that begins as `probe` does.
    pub(crate) fn of(probe: &Probe) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|format| format.detects(probe))
    }
    /// What to do about a file of no known format that begins as `probe` does.
    pub(crate) fn remedy(probe: &Probe) -> String {
        let naming = format!(
            "name it with --format, one of {}, or say what its columns mean with --columns",
            Self::names()
        );
        if keys32le::is_pairs(probe) {
            return "these may be 16-bit numbers: write them with 32 or 64 bits each, or, if they \
                    are 32-bit ones, pass --format keys32le"
                .to_owned();
        }
        if wordline::resembles(probe) {
            return format!(
                "Wordline's own begins with the line {}: write that line, or {naming}",
                wordline::HEADER
            );
        }
        naming
    }
    /// The names of all formats, for messages.
    pub(crate) fn names() -> String {
        let names: Vec<&str> = Self::ALL.iter().map(|format| format.name()).collect();
        names.join(", ")
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = String;
    fn from_str(name: &str) -> Result<Self, String> {
        let found = Self::ALL
            .iter()
            .copied()
            .find(|format| format.name() == name);
        found.ok_or_else(|| format!("format: `{name}` is not one of {}", Self::names()))
    }
}

impl Serialize for Format {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// A request as its file states it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    /// In ticks of the reader, from any origin.
    pub(crate) ticks: u64,
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
    pub(crate) volume: u32,
    pub(crate) op: Op,
    /// As in [`Request`].
    pub(crate) fua: bool,
}

/// Where the clock of a file starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// At the time of its first record.
    First,
    /// At zero.
    Zero,
}

/// The ticks of a record that states no time of the clock.
pub(crate) const UNSTATED: u64 = u64::MAX;

/// A record and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Placed {
    pub(crate) record: Record,
    pub(crate) place: Place,
}

/// At most this many records are read at a time.
const BATCH: usize = 64;

/// Reads the records of one file.
pub(crate) trait Reader: Send {
    /// Picoseconds in a tick; zero for a format without time.
    fn tick_ps(&self) -> u64;
    fn origin(&self) -> Origin {
        Origin::First
    }
    /// Appends the next records to `records`, which is empty: those that are at hand, and at least one unless
    /// the file ends. Beside a fault they are those before it.
    fn read(&mut self, input: &mut Input, records: &mut Vec<Placed>) -> Result<(), Stop>;
}

/// Parses the records of a binary format.
pub(crate) trait Piece: Send {
    const TICK_PS: u64;
    /// Bytes of a record.
    const LENGTH: usize;
    /// Consumes what stands before the first record.
    fn head(&mut self, _input: &mut Input) -> Result<(), Stop> {
        Ok(())
    }
    fn parse(&mut self, record: &[u8]) -> Result<Record, Fault>;
}

/// Reads a binary format.
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

/// Parses the lines of a text format; it reads the format.
pub(crate) trait Line: Send {
    const TICK_PS: u64;
    const ORIGIN: Origin = Origin::First;
    /// How its lines are divided.
    type Fields<'a>: Row<'a>;
    /// Picoseconds in a tick; for those that are told.
    fn tick(&self) -> u64 {
        Self::TICK_PS
    }
    /// Whether times have a meaning; for the formats that decide by the beginning of the file.
    fn timed(&self) -> bool {
        true
    }
    /// What a line says; `None` if it is no request.
    fn parse(&mut self, fields: &mut Self::Fields<'_>) -> Result<Option<Record>, Fault>;
    /// What the line that was parsed last says beside that, behind it.
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
    fn read(&mut self, input: &mut Input, records: &mut Vec<Placed>) -> Result<(), Stop> {
        let untimed = input.untimed;
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
            let parsed = match parsed {
                Err(fault) if untimed => without_time(self, &text[..length], fault),
                parsed => parsed,
            };
            input.take_line(length);
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

/// What a line says apart from its time, if only that is at fault.
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

/// The bytes of the first line of a text, with its end, if it is empty.
#[inline]
fn empty_line(text: &[u8]) -> Option<usize> {
    match text {
        [b'\n', ..] | [b'\r'] => Some(1),
        [b'\r', b'\n', ..] => Some(2),
        _ => None,
    }
}

/// Writes requests in one format.
pub(crate) trait Render: Send {
    /// What stands before the first request.
    fn head(&mut self, _out: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }
    /// One request; what is lost is counted.
    fn request(
        &mut self,
        out: &mut dyn Write,
        request: &Request,
        losses: &mut Losses,
    ) -> io::Result<()>;
    /// What stands behind the last request.
    fn tail(&mut self, _out: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }
}

/// Picoseconds in units of time stamps.
pub(crate) mod tick {
    pub(crate) const PS: u64 = 1;
    pub(crate) const NS: u64 = 1_000;
    pub(crate) const FILETIME: u64 = 100_000;
    pub(crate) const US: u64 = 1_000_000;
    pub(crate) const S: u64 = 1_000_000_000_000;
}

/// The beginning of a file, decompressed.
pub(crate) struct Probe<'a> {
    pub(crate) bytes: &'a [u8],
    /// Whether this is all of the file.
    pub(crate) whole: bool,
}

impl<'a> Probe<'a> {
    /// Its whole lines, without their ends, except the empty ones. None if it is no text.
    pub(crate) fn lines(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let end = if self.whole {
            self.bytes.len()
        } else {
            self.bytes
                .iter()
                .rposition(|&byte| byte == b'\n')
                .unwrap_or(0)
        };
        let end = if self.is_text() { end } else { 0 };
        self.bytes[..end]
            .split(|&byte| byte == b'\n')
            .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
            .filter(|line| !line.trim_ascii().is_empty())
    }
    fn is_text(&self) -> bool {
        // Without an early end: that is compared many bytes at a time.
        let odd = |byte: &u8| matches!(byte, 0..=8 | 14..=31 | 127);
        !self.bytes.iter().fold(false, |any, byte| any | odd(byte))
    }
    /// Whether more than half of the first lines fit.
    fn most(&self, fits: impl Fn(&[u8]) -> bool) -> bool {
        const ENOUGH: usize = 200;
        let lines = || self.lines().take(ENOUGH);
        2 * lines().filter(|line| fits(line)).count() > lines().count()
    }
    /// Whether the first line that is not empty begins so.
    fn begins(&self, start: &[u8]) -> bool {
        self.lines()
            .next()
            .is_some_and(|line| line.starts_with(start))
    }
}

/// Whether a field has the shape of an unsigned or negative whole number.
fn is_number(field: &[u8]) -> bool {
    let digits = field.strip_prefix(b"-").unwrap_or(field);
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}

/// Whether a field has the shape of a decimal number, with or without a point.
fn is_decimal(field: &[u8]) -> bool {
    let digits = field.strip_prefix(b"-").unwrap_or(field);
    let plain = digits
        .iter()
        .all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'-'));
    plain
        && digits
            .first()
            .is_some_and(|byte| byte.is_ascii_digit() || *byte == b'.')
}

/// Whether a line names these columns between commas, in either case, with or without blanks, underscores
/// and quotes.
fn names(line: &[u8], columns: &[&str]) -> bool {
    let named = |field: &[u8], name: &str| {
        let letters = field
            .iter()
            .filter(|byte| !matches!(byte, b' ' | b'_' | b'"'));
        letters.map(u8::to_ascii_lowercase).eq(name.bytes())
    };
    let mut fields = Commas::new(line);
    let mut all = columns.iter();
    all.all(|name| fields.text("").is_ok_and(|field| named(field, name))) && fields.end().is_ok()
}

/// Read or write, by a flag that is 0 or 1.
#[inline]
fn flag(value: u64, one: Op, zero: Op) -> Result<Op, String> {
    match value {
        1 => Ok(one),
        0 => Ok(zero),
        _ => Err(format!("the flag is {value}, neither 0 nor 1")),
    }
}

/// Read or write, by a word whose first letter tells, in either case.
#[inline]
fn word(field: &[u8]) -> Result<Op, String> {
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
            crate::error::shown(field)
        )),
    }
}

#[cfg(test)]
pub(crate) fn parsed<L: Line>(mut line: L, text: &str) -> Result<Option<Record>, String> {
    line.parse(&mut Row::new(text.as_bytes()))
        .map_err(|fault| match fault.column {
            Some(column) => format!("column {column}: {}", fault.reason),
            None => fault.reason,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line or two of each text format is recognised by that format alone.
    #[test]
    fn formats_do_not_claim_each_others_files() {
        let samples = [
            (
                Format::Wordline,
                "time_ns,op,offset_bytes,size_bytes,volume\n1,read,0,512,0\n",
            ),
            (
                Format::FioIolog,
                "fio version 2 iolog\n/dev/sdb add\n/dev/sdb write 64757760 4096\n",
            ),
            (
                Format::FioIolog,
                "fio version 3 iolog\n0 /dev/sdb add\n5 /dev/sdb write 0 4096\n",
            ),
            (
                Format::Systor,
                "Timestamp,Response,IOType,LUN,Offset,Size\n1.5,0.1,R,0,512,512\n",
            ),
            (
                Format::Systor,
                "1456095145.133076000,0.000806000,R,0,899056122368,131072\n",
            ),
            (
                Format::Tectonic,
                "op_time,block_id,block_id_size,io_size,io_offset,user_name,user_namespace,op_name,\
                 op_count,host_name,rs_shard_id\n",
            ),
            (
                Format::Pixel,
                "proces,device,rw_flag,sector,size,timestamp\n",
            ),
            (
                Format::Pixel,
                "kworker/4:1H-225,8388608,R,30175712,8,159273.83748699998\n",
            ),
            (
                Format::Msr,
                "128166385295514663,hm,0,Write,9056014336,2048,2833\n",
            ),
            (
                Format::Msr,
                "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n\
                 128166385295514663,hm,0,Write,9056014336,2048,2833\n",
            ),
            (Format::Spc, "0,303567,3584,w,0.000000\n"),
            (Format::Tencent, "1538323200,4247200,128,1,1058\n"),
            (Format::Alibaba, "419,W,8792731648,16384,1577808144360767\n"),
            (
                Format::Diskmon,
                "0\t0.016375\t0.00038147\t0\tWrite\t3271215\t8\n",
            ),
            (
                Format::Biotracer,
                "4043872\t\t96\t\t49152\t\t5\t\t1.1\t\t1.2\t\t1.3\t\t1.4\n",
            ),
            (
                Format::Blkparse,
                "  8,33  21  1  0.000000000  6742  D  WS 4194352 + 8 [(null)]\n",
            ),
            (Format::Hil, "640.875000\t0\t522424\t16\t1\n"),
            (Format::Disksim, "7961.833 0 20228336 8 0\n"),
            (Format::SsdsimUs, "0 0 280605840 2 1\n9 0 287641400 128 1\n"),
            (Format::Mqsim, "11413000 0 657728 16 1\n"),
            (Format::ArcLis, "230027 8 0 0\n"),
        ];
        for (expected, text) in samples {
            let probe = Probe {
                bytes: text.as_bytes(),
                whole: true,
            };
            let claimed = |format: &Format| *format != Format::Ssdsim && format.detects(&probe);
            let found: Vec<Format> = Format::ALL.iter().copied().filter(claimed).collect();
            assert_eq!(found, [expected], "{text}");
        }
    }

    #[test]
    fn names_are_unique_and_parse() {
        for format in Format::ALL {
            assert_eq!(format.name().parse(), Ok(*format));
        }
    }
}
