//! What a host can talk to: requests, completions, and the trait of whatever serves blocks.
//!
//! SSDs and arrays of block devices implement [`BlockDevice`], so they nest in any way.

pub mod completion;
pub mod device;
pub mod member;
pub mod part;
pub mod power_cut;
pub mod request;

pub use completion::{Completion, Ticket};
pub use device::{BlockDevice, Busy, Event, Failure};
pub use member::{Member, Nested};
pub use part::{PARTS, Part, Parts, Shown};
pub use power_cut::PowerCut;
pub use request::{BeyondEnd, Op, Request};
