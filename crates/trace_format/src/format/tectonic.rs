//! Meta Tectonic traces in the form that CacheBench reads: a header, then op_time (s), block_id,
//! block_id_size, io_size and io_offset (bytes within the block), user, namespace, op_name,
//! op_count, host, shard.
//!
//! Blocks are divided into shards, which have no address. Each shard gets slots of 16 MiB, in order
//! of first appearance: as many as its first request needs, at least one. (Shards contain 8 MiB and
//! sometimes a little more.) A later request beyond the slots of its shard is a bad line. Memory
//! grows by about 50 bytes per shard. Operations that start with `get` are reads, and operations
//! that start with `put` are writes.

use rustc_hash::FxHashMap;

use super::{Line, Probe, Reader, Record, tick};
use crate::error::{Fault, shown};
use crate::fields::Commas;
use wordline_block::Op;

const HEADER: &[u8] = b"op_time,block_id,block_id_size,io_size,io_offset,";
const SLOT: u64 = 16 << 20;
const HALF: usize = 16; // hexadecimal digits on each side of the dash of a block id

#[derive(Default)]
struct Tectonic {
    shards: FxHashMap<(u128, u64), Slots>,
    next: u64,
}

#[derive(Clone, Copy)]
struct Slots {
    first: u64,
    count: u64,
}

pub(super) fn detect(probe: &Probe) -> bool {
    probe.begins(HEADER)
}

pub(super) fn open(_: &Probe) -> Box<dyn Reader> {
    Box::new(Tectonic::default())
}

/// Parses the 128 bits of an id such as `12ce23eaa5534a38-9e05ce05bc10d4d0`.
fn block_id(field: &[u8]) -> Option<u128> {
    if field.len() != 2 * HALF + 1 || field[HALF] != b'-' {
        return None;
    }
    let mut id = 0_u128;
    for &byte in field[..HALF].iter().chain(&field[HALF + 1..]) {
        id = id << 4 | u128::from((byte as char).to_digit(16)?);
    }
    Some(id)
}

impl Tectonic {
    /// Returns the address of a request to a shard; assigns slots to a new shard. Bytes.
    fn address(&mut self, shard: (u128, u64), offset: u64, bytes: u64) -> Result<u64, String> {
        let end = offset
            .checked_add(bytes)
            .ok_or("offset and size add up to more than 2^64")?;
        let needed = end.div_ceil(SLOT).max(1);
        let slots = match self.shards.get(&shard) {
            Some(known) => *known,
            None => self.place(shard, needed)?,
        };
        if needed > slots.count {
            let room = slots.count * SLOT;
            return Err(format!(
                "the request ends at byte {end} of a shard for which {room} bytes are reserved"
            ));
        }
        Ok(slots.first * SLOT + offset)
    }
    fn place(&mut self, shard: (u128, u64), count: u64) -> Result<Slots, String> {
        let slots = Slots {
            first: self.next,
            count,
        };
        let next = self.next + count;
        if next > u64::MAX / SLOT {
            return Err("all shards together exceed 2^64 bytes".to_owned());
        }
        self.next = next;
        self.shards.insert(shard, slots);
        Ok(slots)
    }
}

impl Line for Tectonic {
    const TICK_PS: u64 = tick::S;
    type Fields<'a> = Commas<'a>;

    fn parse(&mut self, fields: &mut Commas<'_>) -> Result<Option<Record>, Fault> {
        if fields.begin(HEADER) {
            return Ok(None);
        }
        let ticks = fields.stamp("time stamp")?;
        let block = fields.text("block id")?;
        let Some(id) = block_id(block) else {
            let shape = "not 16 hexadecimal digits, a dash and 16 hexadecimal digits";
            return fields.fault(format!("the block id is {}, {shape}", shown(block)));
        };
        fields.skip("size of the block id")?;
        let bytes = fields.number("size")?;
        let within = fields.number("offset")?;
        fields.skip("user")?;
        fields.skip("namespace")?;
        let op = match fields.text("operation")? {
            name if name.starts_with(b"get") => Op::Read,
            name if name.starts_with(b"put") => Op::Write,
            name => {
                let known = "neither get... nor put...";
                return fields.fault(format!("the operation is {}, {known}", shown(name)));
            }
        };
        fields.skip("operation count")?;
        fields.skip("host")?;
        let shard = fields.number("shard")?;
        fields.end()?;
        // A request of zero length is refused, as in every format, and must not get a slot.
        let offset = if bytes == 0 {
            0
        } else {
            self.address((id, shard), within, bytes)
                .map_err(Fault::new)?
        };
        Ok(Some(Record::plain(ticks, op, offset, bytes, 0)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::parsed;
    use super::*;
    use crate::fields::Row;

    fn line(id: u64, bytes: u64, offset: u64, op: &str) -> String {
        format!("1702511878,{id:016x}-9e05ce05bc10d4d0,40,{bytes},{offset},1,2,{op},1,5,4")
    }

    #[test]
    fn shards_get_slots_in_order_of_appearance() {
        let mut trace = Tectonic::default();
        let mut of = |line: String| {
            trace
                .parse(&mut Commas::new(line.as_bytes()))
                .map(|record| record.unwrap())
        };
        assert_eq!(
            of(line(1, SLOT, 0, "getChunkData.Permanent"))
                .unwrap()
                .offset,
            0
        );
        assert_eq!(
            of(line(2, SLOT + 1, 0, "putChunk.Permanent"))
                .unwrap()
                .offset,
            SLOT
        );
        let third = of(line(3, 512, 1024, "putChunk.Permanent")).unwrap();
        assert_eq!(
            (third.offset, third.bytes, third.op),
            (3 * SLOT + 1024, 512, Op::Write)
        );
        assert_eq!(
            of(line(1, 512, 4096, "getChunkData.NotInitialized"))
                .unwrap()
                .offset,
            4096
        );
        assert_eq!(
            of(line(1, 512, SLOT, "getChunkData.Permanent"))
                .unwrap_err()
                .reason,
            "the request ends at byte 16777728 of a shard for which 16777216 bytes are reserved"
        );
    }

    #[test]
    fn bad_lines_state_their_fault() {
        let of = |line: &str| parsed(Tectonic::default(), line).unwrap_err();
        assert_eq!(
            of("1,xyz,40,512,0,1,2,getChunk,1,5,4"),
            "column 2: the block id is `xyz`, not 16 hexadecimal digits, a dash and 16 hexadecimal digits"
        );
        assert_eq!(
            of(&line(1, 512, 0, "delete")),
            "column 8: the operation is `delete`, neither get... nor put..."
        );
    }
}
