//! Binary records of blktrace (`struct blk_io_trace` of the kernel's `blktrace_api.h`), in either
//! byte order: 48 bytes each, followed by data that a driver or a message adds.
//!
//! Requests are the same events as in blkparse text: queued (`Q`) if the start of the file has any,
//! otherwise issued (`D`), otherwise completed (`C`). The category bits give the operation:
//! DISCARD, then WRITE, then READ. FLUSH without a range is a flush. With a range, it is a flush
//! that precedes the operation (`REQ_PREFLUSH`), so that the event is two requests. FUA makes a
//! write durable. Messages, driver commands (PC) and all other events are not requests. The volume
//! is the Linux device number, as stored in the records: major times 2^20 plus minor.
//!
//! blktrace writes one file per processor; `blkparse -d` merges them into one in time order.

use super::{BATCH, Placed, Probe, Reader, Record, tick};
use crate::error::{Fault, Place, WorkloadError};
use crate::fields::SECTOR;
use crate::input::{Input, PROBE, Stop};
use wordline_block::Op;

/// Length of a record without added data. Bytes.
const LENGTH: usize = 48;
/// Magic number at the start of every record, with the version in its lowest byte.
const MAGIC: u32 = 0x6561_7400;
const VERSION: u32 = 7;
/// Actions that can represent requests, in order of preference: queue, issue, complete.
const ACTIONS: [u32; 3] = [1, 7, 8];
/// Mask of the action number. It excludes bit 8, which marks control groups, and the category bits.
const ACTION: u32 = 0xff;
/// Category bits, in the upper half of the action.
const READ: u32 = 1;
const WRITE: u32 = 1 << 1;
const FLUSH: u32 = 1 << 2;
const PASS_THROUGH: u32 = 1 << 9;
const NOTIFY: u32 = 1 << 10;
const DISCARD: u32 = 1 << 13;
const FUA: u32 = 1 << 15;

/// Byte order of a record's integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    Little,
    Big,
}

impl Order {
    fn half(self, bytes: &[u8], at: usize) -> u16 {
        let bytes = [bytes[at], bytes[at + 1]];
        match self {
            Self::Little => u16::from_le_bytes(bytes),
            Self::Big => u16::from_be_bytes(bytes),
        }
    }
    fn word(self, bytes: &[u8], at: usize) -> u32 {
        let (low, high) = (self.half(bytes, at), self.half(bytes, at + 2));
        match self {
            Self::Little => u32::from(high) << 16 | u32::from(low),
            Self::Big => u32::from(low) << 16 | u32::from(high),
        }
    }
    fn long(self, bytes: &[u8], at: usize) -> u64 {
        let (low, high) = (self.word(bytes, at), self.word(bytes, at + 4));
        match self {
            Self::Little => u64::from(high) << 32 | u64::from(low),
            Self::Big => u64::from(low) << 32 | u64::from(high),
        }
    }
    /// Detects the byte order from the start of a record; `None` if the magic number is missing.
    fn of(bytes: &[u8]) -> Option<Self> {
        let magic = MAGIC | VERSION;
        let orders = [Self::Little, Self::Big];
        let told = |order: &Self| bytes.len() >= LENGTH && order.word(bytes, 0) == magic;
        orders.into_iter().find(told)
    }
    fn action(self, record: &[u8]) -> (u32, u32) {
        let action = self.word(record, 28);
        (action & ACTION, action >> 16)
    }
    /// Returns the length of a record including its added data. Bytes.
    fn length(self, record: &[u8]) -> usize {
        LENGTH + usize::from(self.half(record, 46))
    }
}

struct Blktrace {
    order: Order,
    action: u32,
}

pub(super) fn detect(probe: &Probe) -> bool {
    Order::of(probe.bytes).is_some()
}

pub(super) fn open(probe: &Probe) -> Box<dyn Reader> {
    let order = Order::of(probe.bytes).unwrap_or(Order::Little);
    let mut there = Vec::new();
    let mut rest = probe.bytes;
    while rest.len() >= LENGTH && Order::of(rest) == Some(order) {
        let (action, category) = order.action(rest);
        if category & (NOTIFY | PASS_THROUGH) == 0 {
            there.push(action);
        }
        rest = rest.get(order.length(rest)..).unwrap_or_default();
    }
    let mut actions = ACTIONS.into_iter();
    let action = actions.find(|action| there.contains(action));
    Box::new(Blktrace {
        order,
        action: action.unwrap_or(ACTIONS[0]),
    })
}

impl Blktrace {
    /// Returns the requests of an event: a flush, an operation, both or neither.
    fn requests(&self, event: &[u8]) -> Result<(Option<Record>, Option<Record>), Fault> {
        let (action, category) = self.order.action(event);
        if action != self.action || category & (NOTIFY | PASS_THROUGH) != 0 {
            return Ok((None, None));
        }
        let bytes = u64::from(self.order.word(event, 24));
        let flush = Record::plain(
            self.order.long(event, 8),
            Op::Flush,
            0,
            0,
            self.order.word(event, 36),
        );
        let before = (category & FLUSH != 0).then_some(flush);
        let op = match category {
            _ if bytes == 0 => return Ok((before, None)),
            _ if category & DISCARD != 0 => Op::Trim,
            _ if category & WRITE != 0 => Op::Write,
            _ if category & READ != 0 => Op::Read,
            _ => return Ok((before, None)),
        };
        let sector = self.order.long(event, 16);
        let offset = sector.checked_mul(SECTOR).ok_or_else(|| {
            Fault::new(format!(
                "the sector {sector} (of 512 bytes) is beyond 2^64 bytes"
            ))
        })?;
        let request = Record {
            offset,
            bytes,
            op,
            fua: op == Op::Write && category & FUA != 0,
            ..flush
        };
        Ok((before, Some(request)))
    }

    /// Returns the length of the next record, with added data. Fails if the record does not start
    /// with the magic number in the byte order of the file, or is longer than [`PROBE`]. If fewer
    /// than [`LENGTH`] bytes are left, returns [`LENGTH`].
    fn length(&self, input: &mut Input) -> Result<usize, Stop> {
        let head = input.peek(LENGTH);
        if head.len() < LENGTH {
            return Ok(LENGTH); // the input reports the missing bytes
        }
        let right = Order::of(head) == Some(self.order);
        let length = self.order.length(head);
        if right && length <= PROBE {
            return Ok(length);
        }
        let reason = if right {
            format!("a record has {length} bytes, and at most {PROBE} bytes are supported")
        } else {
            let magic = self.order.word(head, 0);
            format!(
                "a record starts with 0x{magic:08x} instead of 0x{:08x}",
                MAGIC | VERSION
            )
        };
        let place = match input.place() {
            Place::Record { number, byte } => format!("after record {number} at byte {byte}"),
            _ => "at the start of the file".to_owned(),
        };
        let reason = format!("{reason}, {place}");
        let remedy = "record or copy the file again";
        Err(Stop::Broken(WorkloadError::new(
            input.path(),
            reason,
            remedy,
        )))
    }
}

impl Reader for Blktrace {
    fn tick_ps(&self) -> u64 {
        tick::NS
    }
    fn read(&mut self, input: &mut Input, records: &mut Vec<Placed>) -> Result<(), Stop> {
        while records.is_empty() || (records.len() < BATCH && input.holds_record(LENGTH)) {
            let length = self.length(input)?;
            let Some(event) = input.record(length)? else {
                break;
            };
            let (before, request) = self.requests(event)?;
            let place = input.place();
            if before.is_none() && request.is_none() {
                input.ignored += 1;
            }
            let both = before.into_iter().chain(request);
            records.extend(both.map(|record| Placed { record, place }));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Format;
    use crate::input::{Input, PROBE, Stop};
    use crate::recording::Recording;
    use crate::{Request, WorkloadError};
    use wordline_kernel::Time;

    /// Event in the layout of `blktrace_api.h`.
    struct Event {
        action: u32,
        category: u32,
        ns: u64,
        sector: u64,
        bytes: u32,
        added: &'static [u8],
    }

    /// Number of the Linux device 8,33.
    const DEVICE: u32 = (8 << 20) + 33;
    const WRITE_EVENT: Event = Event {
        action: 1,
        category: WRITE,
        ns: 1000,
        sector: 8,
        bytes: 4096,
        added: b"",
    };

    fn record(event: &Event, order: Order) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut put = |value: u64, width: usize| match order {
            Order::Little => bytes.extend_from_slice(&value.to_le_bytes()[..width]),
            Order::Big => bytes.extend_from_slice(&value.to_be_bytes()[8 - width..]),
        };
        put(0x6561_7407, 4); // magic and version
        put(1, 4); // sequence
        put(event.ns, 8);
        put(event.sector, 8);
        put(u64::from(event.bytes), 4);
        put(u64::from(event.category << 16 | event.action), 4);
        put(4242, 4); // process
        put(u64::from(DEVICE), 4);
        put(3, 4); // processor
        put(0, 2); // error
        put(event.added.len() as u64, 2);
        bytes.extend_from_slice(event.added);
        bytes
    }

    fn file(events: &[Event], order: Order) -> Vec<u8> {
        events
            .iter()
            .flat_map(|event| record(event, order))
            .collect()
    }

    fn read(bytes: Vec<u8>) -> Result<Vec<Request>, WorkloadError> {
        let mut input = Input::open(&Recording::memory("x", bytes.into()))?;
        let bytes = input.peek(PROBE).to_vec();
        let probe = Probe {
            bytes: &bytes,
            whole: true,
        };
        assert_eq!(input.recognise(&probe)?, Format::Blktrace);
        let mut reader = Format::Blktrace.reader(&probe);
        let (mut all, mut records) = (Vec::new(), Vec::new());
        loop {
            let read = reader.read(&mut input, &mut records);
            all.extend(records.iter().map(|placed| placed.record));
            match read {
                Ok(()) if records.is_empty() => break,
                Ok(()) => records.clear(),
                Err(Stop::Broken(error)) => return Err(error),
                Err(Stop::Bad(fault)) => {
                    let (path, place) = (input.path(), input.place());
                    return Err(WorkloadError::at(
                        path,
                        place,
                        fault.column,
                        fault.reason,
                        "",
                    ));
                }
            }
        }
        let first = all.first().map_or(0, |record| record.ticks);
        let request = |record: &Record| Request {
            arrival: Time::from_ps((record.ticks - first) * reader.tick_ps()),
            offset: record.offset,
            bytes: record.bytes,
            volume: record.volume,
            op: record.op,
            fua: record.fua,
        };
        Ok(all.iter().map(request).collect())
    }

    fn events() -> Vec<Event> {
        let event = |category, ns, bytes| Event {
            category,
            ns,
            bytes,
            ..WRITE_EVENT
        };
        vec![
            Event {
                action: 0,
                category: NOTIFY,
                ns: 0,
                sector: 0,
                bytes: 0,
                added: b"kworker/0:1\0",
            },
            event(READ, 1_000, 512),
            Event {
                action: 1 | 1 << 8,
                ..event(WRITE | FUA, 2_000, 4096)
            },
            Event {
                action: 7,
                ..event(WRITE, 2_100, 4096)
            },
            event(WRITE | FLUSH, 3_000, 4096),
            Event {
                sector: 0,
                ..event(WRITE | FLUSH, 4_000, 0)
            },
            Event {
                added: b"12345678",
                ..event(WRITE | DISCARD, 5_000, 1 << 20)
            },
            event(READ | PASS_THROUGH, 6_000, 36),
            event(READ, 7_000, 512),
        ]
    }

    #[test]
    fn both_byte_orders_give_the_same_requests() {
        for order in [Order::Little, Order::Big] {
            let requests = read(file(&events(), order)).unwrap();
            let told: Vec<_> = requests
                .iter()
                .map(|request| (request.arrival.ns(), request.op, request.bytes, request.fua))
                .collect();
            assert_eq!(
                told,
                [
                    (0, Op::Read, 512, false),
                    (1_000, Op::Write, 4096, true),
                    (2_000, Op::Flush, 0, false),
                    (2_000, Op::Write, 4096, false),
                    (3_000, Op::Flush, 0, false),
                    (4_000, Op::Trim, 1 << 20, false),
                    (6_000, Op::Read, 512, false),
                ],
                "{order:?}"
            );
            assert!(requests.iter().all(|request| request.volume == DEVICE));
            assert_eq!(requests[1].offset, 8 * 512);
        }
    }

    #[test]
    fn issued_events_and_then_completed_events_are_used_if_none_are_queued() {
        for (first, second) in [(1, 7), (7, 8), (7, 12), (8, 2)] {
            let event = |action, bytes| Event {
                action,
                bytes,
                ..WRITE_EVENT
            };
            let events = [event(second, 512), event(first, 1024), event(second, 512)];
            let requests = read(file(&events, Order::Little)).unwrap();
            let sizes: Vec<u64> = requests.iter().map(|request| request.bytes).collect();
            assert_eq!(sizes, [1024], "{first} before {second}");
        }
    }

    #[test]
    fn truncated_and_corrupt_files_are_errors() {
        let mut bytes = file(&events(), Order::Little);
        let length = bytes.len();
        let cut = read(bytes[..length - 8].to_vec()).unwrap_err().to_string();
        assert!(
            cut.contains("the file ends 40 bytes into a record of 48 bytes"),
            "{cut}"
        );
        bytes[length - 48] = 6; // the version of the last record
        let other = read(bytes).unwrap_err().to_string();
        let told =
            "x: a record starts with 0x65617406 instead of 0x65617407, after record 8 at byte ";
        assert!(other.starts_with(told), "{other}");
    }

    #[test]
    fn no_other_format_detects_blktrace() {
        for order in [Order::Little, Order::Big] {
            let bytes = file(&events(), order);
            let probe = Probe {
                bytes: &bytes,
                whole: true,
            };
            let claims = |format: &&Format| format.detects(&probe);
            let found: Vec<_> = Format::ALL.iter().filter(claims).collect();
            assert_eq!(found, [&Format::Blktrace]);
        }
    }
}
