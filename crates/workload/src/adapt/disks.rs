//! Adapter that maps each disk of a trace to a separate range of one address space.

use std::collections::BTreeMap;

use super::{Fit, Fitter, Refusal};

/// Range of the target's address space to which a disk of the trace (its volume) is mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Disk {
    /// Number of the disk in the trace.
    pub number: u32,
    /// Start of the range. Bytes.
    pub start: u64,
    /// Length of the range. Bytes.
    pub bytes: u64,
}

/// Range of each disk, and how its requests are fitted into the range.
pub(crate) struct Disks(BTreeMap<u32, (u64, Fitter)>);

impl Disks {
    /// Creates the mapping. `ends`: end of each disk's addresses in the trace; only [`Fit::Scale`]
    /// needs it.
    pub(crate) fn new(disks: &[Disk], fit: Fit, ends: &BTreeMap<u32, u64>) -> Self {
        let places = disks.iter().map(|disk| {
            let highest = ends.get(&disk.number).copied().unwrap_or(0);
            let fitter = Fitter::new(fit, Some(disk.bytes), highest);
            (disk.number, (disk.start, fitter))
        });
        Self(places.collect())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    #[inline]
    pub(crate) fn find(&self, number: u32) -> Result<(u64, Fitter), Refusal> {
        self.0
            .get(&number)
            .copied()
            .ok_or_else(|| self.unknown(number))
    }

    #[cold]
    fn unknown(&self, number: u32) -> Refusal {
        let known: Vec<String> = self.0.keys().map(u32::to_string).collect();
        Refusal::new(
            format!(
                "the request is for disk {number}, which is not among the disks of the members: {}",
                known.join(", ")
            ),
            "name the disk in array.members.disks, or select one disk of the trace with --volumes and its number",
        )
    }
}
