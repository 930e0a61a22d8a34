//! Purposes of programmed bytes.

use wordline_ftl::GcKind;

/// Purpose of programmed bytes. Each byte counts once, when the program of its page is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Programmed {
    /// Data of the host, or of the DRAM buffer.
    Host,
    /// The rest of pages of which the host wrote a part: read from the flash before, or padding.
    Fill,
    /// Valid pages that garbage collection moves, of a block.
    Gc,
    /// Pages that merges of logical blocks copy.
    Merge,
    /// Pages that move for even wear.
    Wear,
    /// Pages that leave the SLC cache.
    Fold,
    /// Pages that read reclaim and refresh move because their data would become unreadable.
    Refresh,
    /// Pages that are programmed again so that their reads take less time.
    Rewrite,
    /// Parts of the map, records of erases and of dead pages, and pages that only fill a block.
    Map,
    /// Summaries of blocks.
    Summary,
    /// Pages that go to a spare block because a program has failed: those before its own, and its own once more.
    Spare,
}

impl Programmed {
    /// All of them, in order.
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
    fn each_kind_has_the_place_of_its_number() {
        for (place, kind) in Programmed::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, place);
        }
    }
}
