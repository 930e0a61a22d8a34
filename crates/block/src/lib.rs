//! What a host can talk to: requests, completions, and the trait of whatever serves blocks.
//!
//! SSDs, hard disks, flash in front of another store, and arrays implement [`BlockDevice`], so they nest.

pub mod completion;
pub mod device;
pub mod member;
pub mod met;
pub mod observation;
pub mod part;
pub mod power_cut;
pub mod request;
pub mod trim_range;

pub use completion::{Completion, Ticket};
pub use device::{BlockDevice, Busy, Collecting, Event, Failure};
pub use member::{Member, Nested};
pub use met::Met;
pub use observation::{ArrayObservation, MemberObservation};
pub use part::{PARTS, Part, Parts, Shown};
pub use power_cut::PowerCut;
pub use request::{BeyondEnd, Op, Request};
pub use trim_range::TrimRange;
