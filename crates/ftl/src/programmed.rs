//! Purposes for which bytes are programmed.

use crate::job::GcKind;

/// Purpose of programmed bytes. A byte is counted when the program of its page is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Programmed {
    /// Data of the host, or of the DRAM buffer.
    Host,
    /// Rest of partially written pages: data read from flash before the program, or padding.
    Fill,
    /// Valid pages that GC moves out of a victim.
    Gc,
    /// Pages that merges of logical blocks copy.
    Merge,
    /// Pages moved by wear levelling.
    Wear,
    /// Pages folded out of the SLC cache.
    Fold,
    /// Pages that read reclaim and refresh move before they become unreadable.
    Refresh,
    /// Pages rewritten in a mode with faster reads.
    Rewrite,
    /// Parts of the map, records of erases and of dead pages, and padding of blocks.
    Map,
    /// Block summaries.
    Summary,
    /// Pages copied to a spare block after a failed program, including the page itself.
    Spare,
}

impl Programmed {
    /// All purposes, in order.
    pub const ALL: [Self; 11] = [
        Self::Host,
        Self::Fill,
        Self::Gc,
        Self::Merge,
        Self::Wear,
        Self::Fold,
        Self::Refresh,
        Self::Rewrite,
        Self::Map,
        Self::Summary,
        Self::Spare,
    ];
}

impl From<GcKind> for Programmed {
    fn from(kind: GcKind) -> Self {
        match kind {
            GcKind::Move => Self::Gc,
            GcKind::Switch | GcKind::Partial | GcKind::Full => Self::Merge,
            GcKind::Wear => Self::Wear,
            GcKind::Refresh => Self::Refresh,
            GcKind::Fold => Self::Fold,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_purposes_are_listed_in_order_of_their_discriminants() {
        for (place, kind) in Programmed::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, place);
        }
    }
}
