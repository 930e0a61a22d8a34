//! SSDsim ASCII traces (Hu et al., ICS 2011). Columns: time in nanoseconds, device, LBA and size in
//! sectors of 512 bytes, 1 = read or 0 = write. MQSim has the same columns, and its reader is used.

use super::{Probe, Reader, mqsim};

pub(super) fn detect(probe: &Probe) -> bool {
    mqsim::detect(probe)
}

pub(super) fn open(probe: &Probe) -> Box<dyn Reader> {
    mqsim::open(probe)
}
