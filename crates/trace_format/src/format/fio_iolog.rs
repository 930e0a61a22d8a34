//! fio iolog, versions 2 and 3. Lines are `file action [offset length]`; in version 3, they start
//! with the microseconds since the start of the log. The actions read, write and trim are requests;
//! sync, datasync and sync_file_range are flushes; `add`, `open` and `close` are not requests.
//! `wait` (only in version 2) lets the given number of microseconds pass. Files become volumes,
//! which are numbered from 0 in order of appearance.
//!
//! Version 2 has no time stamps. It counts as timed only if the start of the file has a `wait`.

use std::collections::BTreeSet;
use std::io::{self, Write};

use rustc_hash::FxHashMap;

use super::{Line, Probe, Reader, Record, Render, tick};
use crate::Request;
use crate::conversion_losses::{Losses, ticks};
use crate::error::{Fault, shown};
use crate::fields::{Blanks, Row};
use wordline_block::Op;

const VERSION_2: &[u8] = b"fio version 2 iolog";
const VERSION_3: &[u8] = b"fio version 3 iolog";
const FILES: usize = 65_536;

struct FioIolog {
    stamped: bool,
    waits: bool,
    waited_us: u64,
    files: FxHashMap<Box<[u8]>, u32>,
}

pub(super) fn detect(probe: &Probe) -> bool {
    probe.begins(VERSION_2) || probe.begins(VERSION_3)
}

pub(super) fn open(probe: &Probe) -> Box<dyn Reader> {
    let waits = |line: &[u8]| {
        let mut fields = Blanks::new(line);
        fields.skip("").is_ok() && fields.text("") == Ok(b"wait")
    };
    Box::new(FioIolog {
        stamped: probe.begins(VERSION_3),
        waits: probe.lines().any(waits),
        waited_us: 0,
        files: FxHashMap::default(),
    })
}

impl FioIolog {
    fn volume(&mut self, file: &[u8]) -> Result<u32, String> {
        if let Some(&volume) = self.files.get(file) {
            return Ok(volume);
        }
        let volume = self.files.len();
        if volume == FILES {
            return Err(format!("the log has more than {FILES} files"));
        }
        self.files.insert(file.into(), volume as u32);
        Ok(volume as u32)
    }

    fn wait(&mut self, us: u64) -> Result<(), String> {
        let sum = self.waited_us.checked_add(us);
        self.waited_us = sum.ok_or("the waits add up to more than 2^64 us")?;
        Ok(())
    }
}

impl Line for FioIolog {
    const TICK_PS: u64 = tick::US;
    type Fields<'a> = Blanks<'a>;

    fn timed(&self) -> bool {
        self.stamped || self.waits
    }

    fn parse(&mut self, fields: &mut Blanks<'_>) -> Result<Option<Record>, Fault> {
        if fields.are(VERSION_2) || fields.are(VERSION_3) {
            return Ok(None);
        }
        let stamp = if self.stamped {
            fields.stamp("time stamp")?
        } else {
            self.waited_us
        };
        let file = fields.text("file name")?;
        let volume = self.volume(file).or_else(|reason| fields.fault(reason))?;
        let op = match fields.text("action")? {
            b"read" => Op::Read,
            b"write" => Op::Write,
            b"trim" => Op::Trim,
            b"sync" | b"datasync" | b"sync_file_range" => Op::Flush,
            b"add" | b"open" | b"close" => return Ok(None),
            b"wait" => {
                let us = fields.number("time to wait")?;
                self.wait(us).or_else(|reason| fields.fault(reason))?;
                return Ok(None);
            }
            other => return fields.fault(format!("the action {} is unknown", shown(other))),
        };
        let ticks = if self.timed() { stamp } else { 0 };
        if op == Op::Flush {
            return Ok(Some(Record::plain(ticks, op, 0, 0, volume)));
        }
        let offset = fields.number("offset")?;
        let bytes = fields.number("length")?;
        fields.end()?;
        Ok(Some(Record::plain(ticks, op, offset, bytes, volume)))
    }
}

/// Writer of version 3, or of version 2 if there are no time stamps. Volumes become files named
/// `volume-0` and so on. A file is added and opened before its first request, and closed at the
/// end.
pub(super) struct Lines {
    timed: bool,
    us: u64,
    volumes: BTreeSet<u32>,
}

impl Lines {
    pub(super) fn new(timed: bool) -> Self {
        let volumes = BTreeSet::new();
        Self {
            timed,
            us: 0,
            volumes,
        }
    }
    /// Returns the time stamp at the start of a line; empty in version 2.
    fn stamp(&self) -> String {
        if self.timed {
            format!("{} ", self.us)
        } else {
            String::new()
        }
    }
}

impl Render for Lines {
    fn head(&mut self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(if self.timed { VERSION_3 } else { VERSION_2 })?;
        out.write_all(b"\n")
    }

    fn request(
        &mut self,
        out: &mut dyn Write,
        request: &Request,
        losses: &mut Losses,
    ) -> io::Result<()> {
        let (offset, bytes, volume) = (request.offset, request.bytes, request.volume);
        self.us = ticks(request, tick::US, losses);
        losses.durable += u64::from(request.fua);
        let stamp = self.stamp();
        if self.volumes.insert(volume) {
            writeln!(out, "{stamp}volume-{volume} add")?;
            writeln!(out, "{stamp}volume-{volume} open")?;
        }
        let action = match request.op {
            Op::Read => "read",
            Op::Write => "write",
            Op::Trim => "trim",
            Op::Flush => "sync",
        };
        writeln!(out, "{stamp}volume-{volume} {action} {offset} {bytes}")
    }

    fn tail(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let stamp = self.stamp();
        self.volumes
            .iter()
            .try_for_each(|volume| writeln!(out, "{stamp}volume-{volume} close"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<Record> {
        let probe = Probe {
            bytes: text.as_bytes(),
            whole: true,
        };
        assert!(detect(&probe));
        let stamped = probe.begins(VERSION_3);
        let waits = text.contains(" wait ");
        let mut log = FioIolog {
            stamped,
            waits,
            waited_us: 0,
            files: FxHashMap::default(),
        };
        text.lines()
            .filter_map(|line| log.parse(&mut Blanks::new(line.as_bytes())).unwrap())
            .collect()
    }

    #[test]
    fn version_2_has_waits_and_numbers_files_as_volumes() {
        let log = "fio version 2 iolog\n/dev/a add\n/dev/b add\n/dev/b open\n\
                   /dev/b write 4096 512\n/dev/a wait 250 0\n/dev/a read 0 8192\n/dev/a datasync 0 0\n";
        let expected = [
            Record {
                ticks: 0,
                offset: 4096,
                bytes: 512,
                volume: 1,
                op: Op::Write,
                fua: false,
                response: Record::UNSTATED,
            },
            Record {
                ticks: 250,
                offset: 0,
                bytes: 8192,
                volume: 0,
                op: Op::Read,
                fua: false,
                response: Record::UNSTATED,
            },
            Record {
                ticks: 250,
                offset: 0,
                bytes: 0,
                volume: 0,
                op: Op::Flush,
                fua: false,
                response: Record::UNSTATED,
            },
        ];
        assert_eq!(read(log), expected);
    }

    #[test]
    fn version_3_has_time_stamps() {
        let log = "fio version 3 iolog\n0 /dev/a add\n7 /dev/a trim 4096 512\n";
        let expected = [Record {
            ticks: 7,
            offset: 4096,
            bytes: 512,
            volume: 0,
            op: Op::Trim,
            fua: false,
            response: Record::UNSTATED,
        }];
        assert_eq!(read(log), expected);
    }
}
