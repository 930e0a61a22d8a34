//! What dies can be asked for beyond one page or block a command.

/// Features of dies that a device uses, known when its code is compiled: what it does not use costs nothing. The
/// result does not depend on features that are compiled in and not used.
pub trait Features {
    /// Commands of several planes or steps, moves inside a plane, dies that share a package.
    const MULTI_PLANE: bool;
    /// Programs and erases that are suspended for reads.
    const SUSPEND: bool;
    /// Operations that wait for a scheduler.
    const SCHEDULE: bool;
}

/// Each command is one page or block; a die takes them in the order of its queue and carries each out without a break.
#[derive(Clone, Copy, Debug)]
pub struct Basic;

impl Features for Basic {
    const MULTI_PLANE: bool = false;
    const SUSPEND: bool = false;
    const SCHEDULE: bool = false;
}

/// All of them.
#[derive(Clone, Copy, Debug)]
pub struct Full;

impl Features for Full {
    const MULTI_PLANE: bool = true;
    const SUSPEND: bool = true;
    const SCHEDULE: bool = true;
}
