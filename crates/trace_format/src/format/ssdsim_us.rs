//! Columns of SSDsim with times in microseconds. The implied bandwidth distinguishes them from
//! nanoseconds: see `mqsim`.

use super::{Line, Probe, Reader, Record, mqsim, tick};
use crate::error::Fault;
use crate::fields::Blanks;

struct SsdsimUs;

pub(super) fn detect(probe: &Probe) -> bool {
    mqsim::has_shape(probe) && mqsim::too_fast(probe)
}

pub(super) fn open(_: &Probe) -> Box<dyn Reader> {
    Box::new(SsdsimUs)
}

impl Line for SsdsimUs {
    const TICK_PS: u64 = tick::US;
    type Fields<'a> = Blanks<'a>;

    #[inline]
    fn parse(&mut self, fields: &mut Blanks<'_>) -> Result<Option<Record>, Fault> {
        mqsim::parse(fields)
    }
}
