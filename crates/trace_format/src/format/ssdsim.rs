//! SSDsim ASCII traces (Hu et al., ICS 2011). Columns: nanoseconds, device, LBA and size in sectors
//! of 512 bytes, 1 = read or 0 = write. The columns and the reader are those of MQSim.

use super::{Probe, Reader, mqsim};

pub(super) fn detect(probe: &Probe) -> bool {
    mqsim::detect(probe)
}

pub(super) fn open(probe: &Probe) -> Box<dyn Reader> {
    mqsim::open(probe)
}
