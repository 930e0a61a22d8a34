//! What dies can be asked for beyond one page or block a command.

/// What the dies of a device do, known when its code is compiled: what they do not do costs nothing. The result does
/// not depend on the choice where [`Basic`] is enough.
pub trait Features {
    /// Whether dies do more than [`Basic`] ones: commands of several planes or steps, moves inside a plane, dies that share a
    /// package, programs and erases that are suspended for reads, operations that wait for a scheduler.
    const GENERAL: bool;
}

/// Each command is one page or block; a die takes them in the order of its queue and carries each out without a break.
#[derive(Clone, Copy, Debug)]
pub struct Basic;

impl Features for Basic {
    const GENERAL: bool = false;
}

/// All that dies can do.
#[derive(Clone, Copy, Debug)]
pub struct Full;

impl Features for Full {
    const GENERAL: bool = true;
}
