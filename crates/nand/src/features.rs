//! Optional die features beyond single-page and single-block commands.

/// Features of the dies of a device, fixed at compile time, so that unused features cost nothing.
/// Unused features do not change results: of [`Basic`], [`Uninterrupted`], [`Scheduled`] and
/// [`Full`], a device may use any that comes after the one that it needs.
pub trait Features {
    /// Whether chains may have any number of steps: commands may address several planes, or depend
    /// on modes, errors or failures of pages.
    const CHAINS: bool;
    /// Whether operations wait for a scheduler, which is notified when a die's array operation
    /// starts and when its command ends.
    const SCHEDULED: bool;
    /// Whether dies use features beyond [`Scheduled`]: cache commands, copyback, read-ahead,
    /// several dies per package, ready/busy pins, or suspension of programs and erases for reads.
    const GENERAL: bool;
}

/// Each command addresses one page or block. A die executes its commands in queue order, without
/// interruption.
#[derive(Clone, Copy, Debug)]
pub struct Basic;

impl Features for Basic {
    const CHAINS: bool = false;
    const SCHEDULED: bool = false;
    const GENERAL: bool = false;
}

/// Commands may address several planes, or depend on the conditions of their pages. A die executes
/// its commands without interruption.
#[derive(Clone, Copy, Debug)]
pub struct Uninterrupted;

impl Features for Uninterrupted {
    const CHAINS: bool = true;
    const SCHEDULED: bool = false;
    const GENERAL: bool = false;
}

/// Like [`Uninterrupted`], with a scheduler.
#[derive(Clone, Copy, Debug)]
pub struct Scheduled;

impl Features for Scheduled {
    const CHAINS: bool = true;
    const SCHEDULED: bool = true;
    const GENERAL: bool = false;
}

/// All features.
#[derive(Clone, Copy, Debug)]
pub struct Full;

impl Features for Full {
    const CHAINS: bool = true;
    const SCHEDULED: bool = true;
    const GENERAL: bool = true;
}
