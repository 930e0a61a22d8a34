//! Block interface of devices: requests, completions, and the trait of block devices.
//!
//! SSDs, hard disks, flash caches and arrays implement [`BlockDevice`], so they nest.

pub mod completion;
pub mod device;
pub mod latency;
pub mod member;
pub mod observation;
pub mod power_cut;
pub mod read_events;
pub mod request;
pub mod specification;
pub mod trim_range;

pub use completion::{Completion, Ticket};
pub use device::{BlockDevice, Busy, Event, Failure, GcObservation};
pub use latency::{LATENCY_COMPONENTS, LatencyComponent, LatencyComponents, PageComponents, Shown};
pub use member::{FromMember, Nested};
pub use observation::{ArrayObservation, DeviceObservation, MemberObservation, RequestObservation};
pub use power_cut::PowerCut;
pub use read_events::ReadEvents;
pub use request::{BeyondEnd, Op, Request};
pub use specification::{PlanError, Specification};
pub use trim_range::TrimRange;
