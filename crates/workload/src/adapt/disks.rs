//! The disks of a trace, each at a place of its own in one address space.

use std::collections::BTreeMap;

use super::{Fit, Fitter, Refusal};

/// Where a disk of a trace (its volume) lies in the address space of what is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Disk {
    /// Its number in the trace.
    pub number: u32,
    /// Where it begins, in bytes.
    pub start: u64,
    /// Its length, in bytes.
    pub bytes: u64,
}

/// Where each disk begins, and how its requests are fitted into it.
pub(crate) struct Disks(BTreeMap<u32, (u64, Fitter)>);

impl Disks {
    /// `ends` is the byte behind the last one of each disk; needed for `Scale` alone.
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
                "the request goes to disk {number}, and there are disks {} only",
                known.join(", ")
            ),
            "name it in array.members.disks, or take one disk of the trace with --volumes and its number",
        )
    }
}
