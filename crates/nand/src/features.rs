//! Optional die features beyond single-page and single-block commands.

/// Features of the dies of a device, fixed at compile time, so that unused features cost nothing.
/// For devices that need only [`Basic`], [`Planes`] and [`Full`] give the same results; for those
/// that need only [`Planes`], [`Full`] does.
pub trait Features {
    /// Whether commands may address several planes, so that chains have any number of steps.
    const PLANES: bool;
    /// Whether dies use features beyond [`Planes`]: cache commands, copyback, read-ahead, several dies per package, ready/busy pins, suspension of programs and erases for
    /// reads, operations that wait for a scheduler, or that depend on modes or errors of pages.
    const GENERAL: bool;
}

/// Each command addresses one page or block. A die executes its commands in queue order, without
/// interruption.
#[derive(Clone, Copy, Debug)]
pub struct Basic;

impl Features for Basic {
    const PLANES: bool = false;
    const GENERAL: bool = false;
}

/// Each command addresses pages or blocks of one plane or several. A die executes its commands
/// without interruption.
#[derive(Clone, Copy, Debug)]
pub struct Planes;

impl Features for Planes {
    const PLANES: bool = true;
    const GENERAL: bool = false;
}

/// All features.
#[derive(Clone, Copy, Debug)]
pub struct Full;

impl Features for Full {
    const PLANES: bool = true;
    const GENERAL: bool = true;
}
