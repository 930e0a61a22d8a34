//! Places in the table of transactions.

/// A place in the table of transactions.
pub(crate) type Slot = u32;
/// No transaction.
pub(crate) const NONE: Slot = Slot::MAX;
