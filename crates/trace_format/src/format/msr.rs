//! Microsoft Research Cambridge traces (Narayanan et al., FAST 2008), with seven comma-separated
//! columns. Times are in units of 100 ns (Windows file time), offsets and sizes in bytes.
//!
//! Some copies have a header with the names of the columns. It is ignored at any position.
//!
//! The volume is the disk number. If a file contains several hosts, the disks of the second host
//! are numbered from 256, and those of the third from 512, in order of appearance.

use std::io::{self, Write};

use super::{Line, Probe, Reader, Record, names, tick, word};
use crate::Request;
use crate::conversion_losses::{Losses, ticks};
use crate::error::Fault;
use crate::fields::Commas;
use wordline_block::Op;

const HEADER: [&str; 7] = [
    "timestamp",
    "hostname",
    "disknumber",
    "type",
    "offset",
    "size",
    "responsetime",
];
const DISKS_PER_HOST: u32 = 256;
const HOSTS: usize = 4096;

#[derive(Default)]
struct Msr {
    hosts: Vec<Box<[u8]>>,
    host: usize,
    keeps_responses: bool,
}

pub(super) fn detect(probe: &Probe) -> bool {
    probe
        .lines()
        .next()
        .is_some_and(|line| names(line, &HEADER))
        || probe.most_rows(|mut fields: Commas| {
            fields.count() == 7
                && (0..3).all(|_| fields.skip("").is_ok())
                && fields.is(|field| word(field).is_ok())
        })
}

pub(super) fn open(_: &Probe) -> Box<dyn Reader> {
    Box::new(Msr::default())
}

impl Msr {
    #[inline]
    fn volume(&mut self, host: &[u8], disk: u64) -> Result<u32, String> {
        if self.hosts.get(self.host).is_none_or(|last| **last != *host) {
            self.host = self.find(host)?;
        }
        if self.hosts.len() == 1 {
            return u32::try_from(disk).map_err(|_| format!("the disk number {disk} is too large"));
        }
        if disk >= u64::from(DISKS_PER_HOST) {
            return Err(format!(
                "the disk number {disk} is not below {DISKS_PER_HOST}"
            ));
        }
        Ok(self.host as u32 * DISKS_PER_HOST + disk as u32)
    }
    #[cold]
    fn find(&mut self, host: &[u8]) -> Result<usize, String> {
        if let Some(known) = self.hosts.iter().position(|known| **known == *host) {
            return Ok(known);
        }
        if self.hosts.len() == HOSTS {
            return Err(format!("the file has more than {HOSTS} hosts"));
        }
        self.hosts.push(host.into());
        Ok(self.hosts.len() - 1)
    }
}

impl Line for Msr {
    const TICK_PS: u64 = tick::FILETIME;
    type Fields<'a> = Commas<'a>;

    fn with_responses(&mut self) {
        self.keeps_responses = true;
    }
    #[inline]
    fn parse(&mut self, fields: &mut Commas<'_>) -> Result<Option<Record>, Fault> {
        let ticks = match fields.stamp("time stamp") {
            Ok(ticks) => ticks,
            Err(_) if names(fields.line(), &HEADER) => return Ok(None),
            Err(fault) => return Err(fault),
        };
        let host = fields.text("host name")?;
        let disk = fields.number("disk number")?;
        let volume = self
            .volume(host, disk)
            .or_else(|reason| fields.fault(reason))?;
        let op = word(fields.text("operation")?).or_else(|reason| fields.fault(reason))?;
        let offset = fields.number("offset")?;
        let bytes = fields.number("size")?;
        let mut took = Record::UNSTATED;
        if self.keeps_responses {
            took = response(fields.text("response time")?);
        } else {
            fields.skip("response time")?;
        }
        fields.end()?;
        Ok(Some(Record {
            response: took,
            ..Record::plain(ticks, op, offset, bytes, volume)
        }))
    }
}

/// Parses a response time. Copies without response times have 0 or text in this column, which gives
/// [`Record::UNSTATED`].
#[inline]
fn response(field: &[u8]) -> u64 {
    let digits = |ticks: u64, byte: &u8| {
        let digit = byte.wrapping_sub(b'0');
        (digit < 10).then_some(())?;
        ticks.checked_mul(10)?.checked_add(digit.into())
    };
    match field.iter().try_fold(0, digits) {
        Some(0) | None => Record::UNSTATED,
        Some(ticks) => ticks,
    }
}

/// Writes a request as a line, and counts the information that the format cannot express.
pub(super) fn line(out: &mut dyn Write, request: &Request, losses: &mut Losses) -> io::Result<()> {
    let ticks = ticks(request, tick::FILETIME, losses);
    let op = if request.op == Op::Read {
        "Read"
    } else {
        "Write"
    };
    let (volume, offset, bytes) = (request.volume, request.offset, request.bytes);
    writeln!(out, "{ticks},wordline,{volume},{op},{offset},{bytes},0")
}

#[cfg(test)]
mod tests {
    use super::super::parsed;
    use super::*;
    use crate::fields::Row;

    #[test]
    fn line_of_the_hm_0_trace_is_parsed() {
        let line = "128166385295514663,hm,0,Write,9056014336,2048,2833";
        let mut msr = Msr::default();
        let plain = msr.parse(&mut Commas::new(line.as_bytes()));
        msr.with_responses();
        let record = parsed(msr, line);
        let expected = Record {
            ticks: 128_166_385_295_514_663,
            offset: 9_056_014_336,
            bytes: 2048,
            volume: 0,
            op: Op::Write,
            fua: false,
            response: 2833,
        };
        assert_eq!(record, Ok(Some(expected)));
        let unstated = Record {
            response: Record::UNSTATED,
            ..expected
        };
        assert_eq!(plain.ok(), Some(Some(unstated)));
    }

    #[test]
    fn faults_name_their_column() {
        let of = |line| parsed(Msr::default(), line).unwrap_err();
        assert_eq!(
            of("1,hm,0,Write,-5,512,1"),
            "column 5: the offset `-5` is negative"
        );
        assert_eq!(
            of("1,hm,0,Trim,5,512,1"),
            "column 4: the operation is `Trim`, neither read nor write"
        );
        assert_eq!(
            of("1,hm,0,Read,5,512"),
            "column 7: the response time is missing: the line ends before it"
        );
        assert_eq!(
            of("1,hm,0,Read,5,512,1,9"),
            "column 8: the format has no such column, but the line has `9`"
        );
    }

    /// The headers name the columns as in the documentation of the paper's data set, and in other
    /// spellings.
    #[test]
    fn header_is_ignored() {
        for header in [
            "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime",
            "timestamp,hostname,disk_number,type,offset,size,response_time",
            "Timestamp, Hostname, Disk Number, Type, Offset, Size, Response Time",
        ] {
            assert_eq!(parsed(Msr::default(), header), Ok(None), "{header}");
        }
        let other = parsed(
            Msr::default(),
            "Time,Host,Disk,Type,Offset,Size,ResponseTime",
        );
        assert_eq!(
            other.unwrap_err(),
            "column 1: the time stamp is `Time`, not a whole number"
        );
    }

    #[test]
    fn disks_of_several_hosts_are_numbered_separately() {
        let mut msr = Msr::default();
        let mut volume = |line: &str| {
            msr.parse(&mut Commas::new(line.as_bytes()))
                .unwrap()
                .unwrap()
                .volume
        };
        assert_eq!(volume("1,web,3,Read,0,512,1"), 3);
        assert_eq!(volume("1,hm,3,Read,0,512,1"), 259);
        assert_eq!(volume("1,web,3,Read,0,512,1"), 3);
    }
}
