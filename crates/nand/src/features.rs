//! Optional die features beyond single-page and single-block commands.

/// Features of the dies of a device, fixed at compile time, so that unused features cost nothing.
/// For devices that need only [`Basic`], [`Full`] gives the same results.
pub trait Features {
    /// Whether dies use features beyond [`Basic`]: multi-plane and cache commands, copyback,
    /// read-ahead, several dies per package, ready/busy pins, suspension of programs and erases for
    /// reads, operations that wait for a scheduler, or that depend on modes or errors of pages.
    const GENERAL: bool;
}

/// Each command addresses one page or block. A die executes its commands in queue order, without
/// interruption.
#[derive(Clone, Copy, Debug)]
pub struct Basic;

impl Features for Basic {
    const GENERAL: bool = false;
}

/// All features.
#[derive(Clone, Copy, Debug)]
pub struct Full;

impl Features for Full {
    const GENERAL: bool = true;
}
