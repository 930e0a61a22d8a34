//! Columns after the time stamp in the formats of DiskSim, MQSim and HIL. HIL gives sizes in
//! another unit.

use super::{Record, flag};
use crate::error::Fault;
use crate::fields::{Blanks, SECTOR};
use wordline_block::Op;

/// Parses the columns after the time stamp: device, sector, size in units of `unit` bytes, flag.
#[inline(always)]
pub(super) fn behind_time(
    fields: &mut Blanks,
    ticks: u64,
    unit: u64,
) -> Result<Option<Record>, Fault> {
    let volume = fields.number32("device")?;
    let offset = fields.units("sector", SECTOR)?;
    let bytes = fields.units("size", unit)?;
    let op = flag(fields, Op::Read, Op::Write)?;
    fields.end()?;
    Ok(Some(Record::plain(ticks, op, offset, bytes, volume)))
}
